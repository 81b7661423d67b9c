// Package vectors finds documents by what they mean: it keeps the vectors of their chunks
// current in the background, and asks them.
//
// An Index serves one Source. It commits only ids: one goroutine embeds what changed, the
// latest edit first, when documents have been quiet for 50 ms or somebody waits, and after
// an import has ended or went on for 30 s. What a document lacks is found by comparing keys
// of its texts with those that its vectors were put with, so the queue needs no file:
// whatever a crash leaves, a start finds what is missing, and a chunk whose text was
// embedded before is not embedded again.
//
//   - index.go, work.go, reindex.go, scheduler.go: an Index, kept current in the background
//   - question.go, settle.go, alike.go: asking it
//   - vector_*.go: the flat index of vectors in memory, its file and its scan
//
// When the embedder has another model than the vectors are of, a second index is made
// beside, and takes the place of the first when every document is in it; queries go to the
// built-in model meanwhile if the first is of that, and are by words otherwise. A start
// goes on with a second index that was begun.
//
// Indexes that one embedder serves share a Scheduler, which takes turns between them.
//
// Private documents are never shown to a remote embedder, and are called back from one that has
// them in its queue. Documents that hide a part from others are embedded without it.
//
// Open it after the Source's records, call Begin once, and ask it from package search only.
// All methods may be called concurrently. The store's closing ends its goroutine.
//
// Wall: subject: search by meaning, and the vectors that it keeps.
package vectors
