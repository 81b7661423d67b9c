// Package search finds documents of any kind by their words and by what they mean.
//
// An Index serves one text.Source: notes (package notedoc), and memories, messages and books,
// each kind with an index of its own over the same machinery. This package reads queries,
// makes one list of those by words and by meaning, cuts snippets, and says what counted. The
// words are in context/search/words, the vectors in context/search/vectors; indexes that one
// embedder serves share a vectors.Scheduler. Open an Index after
// the records of its Source; whoever finds documents for people or prompts asks it, through
// package audience where the reader may not see everything, and, by words alone, WQL through
// a hook. All methods may be called concurrently; the store's closing ends its work.
//
//   - index.go, search.go, inspect.go: the Index, a search, what lies in its files
//   - query.go, operators.go, moment.go, correct.go: reading a query
//   - hybrid.go, fuse.go, floor.go, reach.go, near.go, alike.go: words and meaning made one list; likeness
//   - signals.go, understand.go, stopwatch.go: what counted, how a query was read, how long stages took
//   - passages*.go: what of a found note answers a message
//   - entities.go: the hook by which WQL asks for words
//
// # Queries
//
//	hive scale            any of the words; the last one may be unfinished
//	"load cell"           these words in this order, as they are written
//	-word -"two words"    not these
//	tag:work path:2025 type:person conflict:alice before:2026-02 after:2025-12-24
//
// Phrases and filters are met by every hit; with a - before it, a filter is
// turned round. A Source says which operators there are beside before: and after:. Words
// that no document has count as the words that differ by one
// edit, but only when the query finds nothing otherwise.
//
// # Fusion
//
// A hybrid search makes one list of the documents that have its words and of those that are
// nearest to it, by a weighted sum of both scores, each in proportion to the best of its
// list (Bruch, Gai, Ingber 2022). How near a document is, is the mean of two cosines: of its
// nearest chunk, and of all of its chunks together; what is nearer by chance is taken
// off. The weights of 1 for words and 0.7 for meaning did well on all labelled sets in
// testdata. Words count the less, the fewer of them are in any document, and meaning the
// less, the further the nearest document is: the one says little of a question in another
// language, the other where the model does not know it. Filters, phrases and what must not
// be there are met by every document before it is ranked. Meaning has no part in queries
// that say exactly what they want: phrases and filters alone, names such as ERR-4711, a word
// that was only begun. A document that has none of the words counts above a minimum
// similarity, which is higher for one word than for a sentence. A search waits 150 ms for the vector
// of its query, and within that for documents that were just written.
//
// What counts is declared in Signals, once; README.md says how to add to it.
//
// Wall: subject: how documents are found and ranked.
package search
