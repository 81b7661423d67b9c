// Package tempfile names the files that a document is written to before it gets its name, and
// removes those that a process left beside it when it was killed.
//
// Whoever writes a file that a person asked for calls it: exports of memories
// (context/memory/exchange), and the documents of the command line (cmd/ctxd/term). It keeps
// nothing and may be called concurrently. Two processes that write the same document at the same
// time do not remove each other's file, as long as each goes on writing.
//
// Wall: second user: the exports of memories and the documents of the command line, in two layers.
package tempfile
