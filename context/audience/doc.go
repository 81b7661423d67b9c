// Package audience answers what one reader may see.
//
// A View is made for one call, by Rooms.View, and is passed to all that reads for
// that call. The View of a local reader is the rooms themselves: no record is
// looked at twice and no text is scanned for it. For a remote reader private
// records do not exist: they are not found, not counted, not suggested and not
// linked to, and what is shown of other records does not name them.
//
// # Who may call it
//
// Rooms that read for a reader hold a View and no store, index or engine: gather
// and the handlers of rpc. Audience imports none of the rooms to its right.
//
// # Lifetime and concurrency
//
// Rooms live as long as the store that they stand on. Views hold nothing of their
// own, cost nothing to make, and may be used by any number of goroutines.
//
// # Texts
//
// All functions that take names of private records out of texts are in mask.go.
// They replace the whole place that leads to a private record, with its label:
// too much rather than too little. A title, name, alias or value is masked as well
// when the whole of it, folded, is what a private record is called. Names inside of
// prose are not searched for: a word that somebody wrote is no link. While the store
// holds no private record, no text is looked at.
//
// Of memories, contexts and conversations, whose rooms stand to the right, SetHandled is told what texts
// call them (handles.go): what refers to a private one is masked as what names a private entity is.
//
// Where no record of today answers to a name, the names are looked up that private
// records had (past.go). Of a private and a public record of one name a link means the
// public one only where that is a file of a vault: any other could have been written by
// who wants to see what a link says.
//
// # What a person is told
//
// PrivateRecords and Explain (privacy.go) say what is private and by which rule, Prose
// (prose.go) where public texts spell out private names, which no mask takes out. Both
// are for the local reader; a remote one is told nothing.
//
// # What is kept
//
// Queries compare what the reader would be shown (wql.Engine.Showing), and the index
// of notes learns what is public of a note (Public, Revealed in public.go): which notes
// may name what is known from when a record is private (references.go). How
// records are shown is kept until a commit renames a record or changes what is
// private; whoever keeps shown texts by himself, as gather does, asks View.Meanings
// whether they still hold, or View.Privacy for texts without links.
//
// # Who writes
//
// A remote reader that writes a private name into a public record, and reads it
// back, sees it masked, and so learns that there is such a record: it was his guess
// that made something public refer to it.
//
// # Size
//
// The package has more than 2,500 lines: a View answers for notes, entities, queries and
// the graph, and each answer asks the same masks and the same lists of what is private.
// Rooms that decided it apart would decide it differently.
package audience
