// Package memories is ctxd memory and ctxd contexts: what is remembered about the
// person, and the parts of a life that it belongs to.
//
// Each command is a few calls of the protocol. A command takes a memory by its id,
// handle or number, and a context by its id or handle; the daemon says which record
// that is (connect.FindMemory, connect.FindContext), and the call that follows names
// it by its id. A command that changes a record names the version that it read, so
// that somebody else's change in between is a conflict and not lost.
//
// add.go writes memories, change.go changes them, delete.go deletes them, list.go
// and show.go show them, contexts.go does all of it for contexts. What goes on around
// a memory is ctxd inspect memory, in cmd/ctxd/inspect, whose drawing show shares. The
// package keeps no state; a command is used by one goroutine.
//
// # Size
//
// The package has more than 2,500 lines: a file for each group of commands, which share how a memory is named, read
// and drawn.
//
// # Size
//
// The package has more than 2,500 lines: it has a command for each method of memories, contexts and learning, each with its
// help, examples and drawing, and they share how a memory is named and shown.
package memories
