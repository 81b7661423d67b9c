// Package lsptest is what tests of the language server and of its features share: the daemon of rpc/servertest, and an
// editor that speaks the protocol with a server over a pipe.
//
// Nothing but tests imports it. A failure ends the test. What is started ends with the test, and an editor checks that
// its session ended as the protocol says. An Editor may be used by one goroutine at a time.
//
// Wall: test helper: an editor for the tests of rpc/lsp, which no program contains.
package lsptest
