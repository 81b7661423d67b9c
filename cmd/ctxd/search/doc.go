// Package search is ctxd search: hits with their marked snippets, what counted
// for each (signals.go), and what to try when nothing is found.
//
// Commands that list notes by how near they are to something belong here, as
// does the drawing of their hits, which ctxd demo shares. How a search comes to
// its result step by step is ctxd inspect search, in cmd/ctxd/inspect. The
// package keeps no state; a command is used by one goroutine.
package search
