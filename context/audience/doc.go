// Package audience answers what one reader may see.
//
// A [View] is made for one call, by [Views.View], and is passed to all that reads for that call. The View of a local
// reader is the stores themselves: no record is looked at twice and no text is scanned for it. A remote reader never
// sees private records: they are not found, not counted, not suggested and not linked to, and what is shown of other
// records does not name them.
//
// # Parts
//
//   - audience.go: readers, Views and the View of a call
//   - notes.go, entities.go, types.go, vaults.go: records as a reader sees them
//   - graph.go, query.go, search.go: answers of the graph, of queries and of the index of notes
//   - mask.go, mention.go, spelling.go: private names, which are taken out of texts
//   - past.go: names that private records had
//   - handles.go: memories, contexts and conversations that texts call by a handle
//   - privacy.go, prose.go: what a person is told about what is private
//   - public.go, references.go, namers.go, shown.go, sources.go: what indexes and queries keep of public forms
//   - groups*.go: memories by what they share, and contexts by their names
//
// # Who may call it
//
// Packages that read for a reader hold a View and no store, index or engine: context/gather, chat and the handlers of
// rpc among them. What imports audience is not imported by it: of memories, contexts and conversations
// [Views.SetHandled] is told.
//
// # Lifetime and concurrency
//
// Views live as long as the store that they stand on. A View holds nothing of its own, costs nothing to make, and may
// be used by any number of goroutines.
//
// # Texts
//
// All functions that take names of private records out of texts are in mask.go. They replace the whole place that leads
// to a private record, with its label: too much rather than too little. A title, name, alias or value is masked as well
// when the whole of it, folded, is what a private record is called. Names inside of prose are not searched for: a word
// that somebody wrote is no link. While the store holds no private record, no text is looked at.
//
// What refers to a private memory, context or conversation is masked like what names a private entity. SetHandled is
// told what texts call them (handles.go).
//
// Where no record of today answers to a name, the names are looked up that private records had (past.go). Of a private
// and a public record of one name a link means the public one only where that is a file of a vault: any other could
// have been written by somebody who wants to see what a link says.
//
// # What a person is told
//
// [View.PrivateRecords] and [View.Explain] (privacy.go) say what is private and by which rule, [View.Prose] (prose.go)
// where public texts spell out private names, which no mask takes out. Both are for the local reader; a remote one is
// told nothing.
//
// # What is kept
//
// Queries compare what the reader would be shown (wql.Engine.Showing), and the index of notes learns what is public of
// a note ([Views.Public] and [Views.Revealed] in public.go): which notes may name what is known from when a record is
// private (references.go). How records are shown is kept until a commit renames a record or changes what is private. A
// caller that keeps shown texts itself, as context/gather does, asks [View.Meanings] whether they still hold, or
// [View.Privacy] for texts without links.
//
// # Who writes
//
// A remote reader that writes a private name into a public record, and reads it back, sees it masked, and so learns
// that there is such a record: it was his guess that made something public refer to it.
//
// Wall: promise: what shows records to a reader gets a View of this package, and no store (PRIV-2).
package audience
