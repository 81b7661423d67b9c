// Package references is ctxd refs: what a message refers to by @, # and [[, what that leads to, what of it a
// model gets, and which handles begin with what was typed.
//
// parse finds references with package context/refs, as the daemon does for refs.parse, and so needs
// no daemon; complete, gather, resolve and rename ask it. The package keeps nothing; one goroutine runs a command.
package references
