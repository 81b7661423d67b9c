//go:build !linux

package disk

// adviseHuge does nothing here: the system decides by itself.
func adviseHuge([]byte) {}
