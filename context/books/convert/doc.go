// Package convert turns the bytes of a file into the neutral form of a book, a [Document], whatever of the eight
// formats they are in.
//
// # Parts
//
//   - convert.go: the formats, how one is recognised, and the Converter of all of them
//   - block*.go: the neutral form: headings, texts, rows of tables, code
//   - markup_*.go: plain text, Markdown, HTML and EPUB
//   - office_*.go: documents of Word, sheets of Excel, CSV
//   - pdf_*.go: PDF
//   - parts.go: archives and XML, with bounds
//
// # Use
//
// Package books calls it. Detect says which format a file has, by its first bytes and its name or content type; an
// unknown one is Invalid. A Converter converts; Close gives back what it holds between two files. It may be called
// concurrently. It converts files one after the other where their library can't do otherwise (see pdf_build.go); a call
// that waits can be cancelled.
//
// # Bounds
//
// A file that is broken, encrypted or a bomb ends in a typed error, Invalid or Limit, with a hint. A panic of a library
// is such an error too. The time of one file is bounded by TimeoutOf, what is made of it by TextOf, and by the bounds of its
// parts: what an archive unpacks to, how many cells a row has, what PDFium may take. The memory of the libraries is not bounded
// here: package books has a process of its own convert, which ends over MemoryOf. Errors hold nothing of the file.
//
// Wall: dependency: PDFium, run by wazero, and excelize, which no other package may bring in.
package convert
