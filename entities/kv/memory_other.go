//go:build !linux

package kv

// adviseHuge does nothing here: the system decides by itself.
func adviseHuge([]byte) {}
