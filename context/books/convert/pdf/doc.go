// Package pdf converts PDF files into the neutral form of a book: the text of each page, with headings,
// paragraphs, tables and code as far as they can be told from where the letters stand.
//
// The text comes from PDFium, the reader of Chromium, by github.com/klippa-app/go-pdfium. It runs as
// WebAssembly inside of wazero, which is pure Go: without cgo, without files, with a bound on its memory,
// and so that it can be stopped in the middle of a page. The libraries in Go that could be had lost up to a
// quarter of the words of a file that Chromium prints, and none of them can be stopped.
//
// # Use
//
// An Engine compiles PDFium when it first needs it, which takes about 3 s of processor time and 200 MiB of
// memory that Close gives back. Close it when nothing is left to convert. An Engine converts one file at a
// time; the next one waits.
//
// # What is found
//
// Headings are the outline of the file; in one without an outline the short lines in larger letters. What
// most pages have in the same place, but for its digits, is left out as head or foot of a page. Lines whose
// words stand in the same columns are rows of a table. Lines in a font of one width are code.
//
// Errors are Invalid for a broken or encrypted file, Limit for one that has too many pages or needs too much
// memory, and that of a context that has ended. Time is linear in the number of letters.
package pdf
