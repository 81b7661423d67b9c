// Package demo is ctxd demo: the calls of a note app, made over a real socket on the sample vault, with what the
// daemon answers. README.md of the repository shows a part of what it prints.
//
// demo.go starts a daemon with a store and a socket of its own and makes the calls, memories.go those about memories,
// references.go those of a message that refers to some, books.go those of a book; screen.go draws them as they come.
// shared.go is ctxd demo --shared, two daemons with one store, of which one is cut off by proxy.go. cmd/ctxd runs the
// command, on one goroutine; all that it made is removed when it ends.
//
// Wall: promise: this command alone imports the fixtures, which tests use besides.
package demo
