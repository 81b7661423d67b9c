// Package references is ctxd refs: what a message refers to by @, # and [[.
//
// It finds references with package context/refs, as the daemon does for refs.parse, and so needs
// no daemon. It keeps nothing; one goroutine runs a command.
package references
