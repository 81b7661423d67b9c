//go:build !windows

package term

// noTime stands for a time of less than half a microsecond.
const noTime = "0 µs"
