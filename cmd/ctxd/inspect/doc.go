// Package inspect is ctxd inspect: what the daemon knows, and why a model sees what it sees; and ctxd search and ctxd
// similar, which list notes by how near they are to something. Each command asks the daemon and draws the answer.
//
// # Parts
//
//   - context*.go: the prompt for a message, with the page that --html writes.
//   - note.go, entity.go, memory*.go: a record with what goes on around it.
//   - graph*.go, index.go, learning.go, privacy.go, status.go, rpc.go, log.go: what the daemon knows as a whole.
//   - search.go: ctxd inspect search, how a search comes to its result step by step.
//   - search_*.go: ctxd search and ctxd similar.
//
// A new command is a file with a struct that has flags, Run(*Options), Help and Examples, and a line in Command
// (inspect.go). ctxd inspect wql is in cmd/ctxd/shell, with whose session it works, ctxd inspect chat in
// cmd/ctxd/page. ctxd demo, ctxd doctor and ctxd chat take drawings and views from here.
//
// Commands are used by one goroutine and keep nothing.
//
// Wall: subject: ctxd inspect and ctxd search.
package inspect
