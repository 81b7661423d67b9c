// Package parts opens archives that books come in (docx, xlsx, epub) with bounds on what they unpack to, and
// reads the XML in them with a bound on its depth.
//
// A bomb is refused by what its directory declares before anything is unpacked, and by what is really read
// as well. What is read of one part is bounded by its caller. Entities of a DTD are not expanded: the reader
// of the standard library knows none, and a document that needs one is broken. Errors are Invalid or Limit
// and hold nothing of the file. Opening is linear in the number of parts, reading in their size. An Archive
// may be read concurrently.
package parts
