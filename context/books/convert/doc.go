// Package convert turns the bytes of a file into the neutral form of a book (package block), whatever of the
// eight formats they are in.
//
// # Use
//
// Detect says which format a file has, by its first bytes and its name or content type; an unknown one is
// Invalid. A Converter converts; Close gives back what it holds between two files. It converts files one
// after the other where their library can't do otherwise (see package pdf); what waits can be cancelled.
//
// # Bounds
//
// A file that is broken, encrypted or a bomb ends in a typed error, Invalid or Limit, with a hint. A panic
// of a library is such an error too. The time of one file is bounded by Timeout, its memory by the bounds of
// the packages below: what an archive unpacks to, what PDFium may take, what a Document may hold. Errors
// hold nothing of the file.
package convert
