// Package inspect is ctxd inspect: what the daemon knows, and why a model sees
// what it sees. Each of its commands asks the daemon and draws the answer.
//
// A file is a command: context.go with the page that --html writes
// (context_page.go and its files, on package page), note.go, entity.go, memory.go with what became of it
// (memory_life.go, on package life), learning.go, graph.go, search.go, index.go, privacy.go, rpc.go, log.go, status.go. A new one is
// a file with a struct that has flags, Run(*Options), Help and Examples, and a line in
// Command (inspect.go). ctxd inspect wql is in package shell, with whose session it
// works, ctxd inspect chat in package traces. ctxd demo and ctxd doctor take drawings
// and views from here.
//
// Commands are used by one goroutine and keep nothing.
//
// # Size
//
// The package is larger than most because each command has its own way to draw
// an answer; no file knows of another command's.
package inspect
