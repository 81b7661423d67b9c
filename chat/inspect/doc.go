// Package inspect tells what a model got for an answer, and why: it finds the answer and shows its trace, which package
// trace keeps, to the reader of a View.
//
// It reads conversations as chat.get does, so whoever does not see an answer is not told that there is one. A trace is
// read after its answer was: one that is deleted in between has none.
//
// Handlers of rpc call it. An [Inspector] is safe for concurrent use and keeps nothing.
package inspect
