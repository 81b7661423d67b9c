package notes

import "github.com/ctxd/ctxd/entities/record"

// What is told of notes beside them is declared in package record, because clients see
// it.

type (
	// Link is one wikilink of a note and what it leads to.
	Link = record.NoteLink
	// Backlink is a note that links to another.
	Backlink = record.NoteBacklink
	// Unresolved is a name that wikilinks have and no note.
	Unresolved = record.NoteUnresolved
)
