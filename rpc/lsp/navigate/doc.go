// Package navigate answers what an editor asks about a place: what stands there (hover),
// where it leads (definition, documentLink), what leads to it (references), what has a
// name (workspace/symbol), and where else in the document it stands (documentHighlight).
//
// The documents that are open count as they are; all other notes as the daemon has them.
// References read each note that links to the one in question, at most maxNotes of them:
// that is linear in their text. Errors are those of the daemon.
package navigate
