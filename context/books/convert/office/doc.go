// Package office converts documents of Word and sheets of Excel, as those programs, LibreOffice and pandoc
// write them, and CSV, into the neutral form of a book.
//
// Sheets are read by excelize, which formats numbers and dates as the sheet shows them; its limits are set
// so that it unpacks nothing to disk. Documents are read here: of the libraries that could be had one gives
// the raw XML, one loads what it knows and leaves out what it does not, and one has a licence that does not
// fit. What is needed of a document is small: paragraphs with their styles, rows of tables, the page breaks
// that the program has written down, and footnotes, which stand where they are referred to.
//
// Errors are Invalid for a broken or encrypted file and Limit for one that is too large. Time is linear in
// what is unpacked; so is the memory of sheets, while a document is read as a stream. Functions may be
// called concurrently.
package office
