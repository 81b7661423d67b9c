// Package target finds what stands at a place of a document and where it leads: a wikilink
// or a link to a file, a mention behind @, the number of a memory behind #, a tag, a query.
//
// At looks at the document alone, as it is open; Resolve asks the daemon, which decides as
// it does for files: nearer notes win, several that remain are candidates. Offsets are
// bytes of the document, half-open. A target that leads nowhere gives a zero Found;
// errors are those of the daemon. Any goroutine may call.
package target
