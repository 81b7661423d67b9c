//go:build !twice

package kv

// twice is for tests, see the file with the other value.
const twice = false
