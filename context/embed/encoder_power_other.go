//go:build !linux && !windows && !darwin

package embed

// lowestClass does nothing here.
func lowestClass() {}

// onBattery is not known here.
func onBattery() bool { return false }
