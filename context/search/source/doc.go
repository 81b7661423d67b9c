// Package source says what can be searched: a Source gives the documents of one kind
// (notes, memories, messages, passages of books), a Doc is one of them.
//
// An index knows documents by these interfaces only, so that a new kind is a new Source
// and nothing else: it declares its fields with their weights, says what a commit changes,
// and how a document is cut into chunks. Package notedoc is the Source of notes and the
// example to follow; other Sources live with their records, in rooms to the right. One
// index (see package search) serves one Source.
//
// A Source must be opened, and take its part in commits, before the index of it. What it
// gives is asked for with locks held: its methods are quick, and ask no index.
//
// # Privacy
//
// Public is the one place where an index learns what a reader sees for whom private
// records do not exist. The words of a document that differs from its public form are
// counted and found for the others only, and its vectors are made of the public form. When
// that changes without the document, as when the target of a link becomes private,
// Revealed names the document.
package source
