//go:build !linux || !amd64

package main

// otherPrograms are programs of this binary that not every system has.
var otherPrograms map[string]func()
