// Package records is ctxd notes, entities, types and tags: what is stored, listed
// and shown, and changed where it is not made from a file of a vault.
//
// Each command is one or two calls of the protocol. list pages through records
// (pages.go). set reads a record first and names its version in the change, so
// that somebody else's change in between is a conflict and not lost. What goes on
// around a record, its links and what refers to it, is ctxd inspect, in
// cmd/ctxd/inspect. The package keeps no state; a command is used by one
// goroutine.
package records
