// Package records is the commands for what is stored: they list and show it, and change it where it is not made from a
// file of a vault. What goes on around a record, its links and what refers to it, is ctxd inspect, in
// cmd/ctxd/inspect.
//
// # Parts
//
//   - notes.go, entities.go, types.go, tags.go: ctxd notes, entities, types and tags; pages.go pages through their
//     lists.
//   - memories*.go: ctxd memory and ctxd contexts: what is remembered about the person, and the parts of a life.
//   - books.go: ctxd books: files that a person asks about.
//   - references_*.go: ctxd refs: what a message refers to.
//   - personalities*.go: ctxd personality: how the assistant is to speak.
//   - templates.go: ctxd templates: the templates of what ctxd itself asks a model.
//   - tools.go: ctxd tools: what a model can call.
//
// Each command is a few calls of the protocol. One that changes a note, an entity, a type, a memory or a context names
// the version that it read, so that somebody else's change in between is a conflict and not lost. Errors are those of
// the daemon, and of files that cannot be found.
//
// The package keeps no state; a command is used by one goroutine. cmd/ctxd calls them; ctxd demo and ctxd chat share
// some drawings.
//
// Wall: subject: the commands that list, show and change what is stored.
package records
