// Package lsptest is what tests of the language server and of its features share: the
// daemon of package rpctest, and an editor that speaks the protocol with a server over a pipe.
//
// Nothing but tests imports it. A failure ends the test. What is started ends with the
// test, and an editor checks that its session ended as the protocol says. An Editor may be
// used by one goroutine at a time.
package lsptest
