// Package markup converts texts with marks into the neutral form of a book: plain text, Markdown, HTML, and
// the HTML pages of an EPUB.
//
// HTML is parsed by golang.org/x/net/html, Markdown by the scanner of notes (notes/markdown), so that a book
// reads like a note. An EPUB is a zip of HTML pages; package parts opens it with bounds, and the libraries
// for it that could be had were no more than such a loop.
//
// Bytes become text by their byte order mark, by what the file declares, and else by what they look like
// (golang.org/x/net/html/charset). Errors are Invalid for a broken or encrypted file and Limit for one that
// is too large; their texts hold nothing of the file. Time and memory are linear in what is unpacked, which
// is bounded. Functions may be called concurrently.
package markup
