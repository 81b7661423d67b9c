// Package books keeps books: their records, their passages, and the files that are still to be read. README.md names
// the promises.
//
// # Parts
//
//   - store.go, record.go: the books of a store, as they are stored, listed and removed
//   - put.go, spool.go: a file that becomes a book, and its bytes until it is read
//   - child.go, child_serve.go, child_wire.go: the process that files are read in, from both sides
//   - attached.go, attached_follow.go: attachments of vaults, which are books that follow their files
//   - passages_cut.go: passages that a text is cut into
//   - document.go, document_library.go: passages as they are indexed and found
//   - check.go: what does not fit together in the records
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader, and the daemon, which opens the [Store], the [Source] of the index, the
// [Library] of the ranking and the [Follower] of attachments.
//
// # What is kept
//
// A book is a record in the collection "book", by id. Its passages are records of the collection "book-passage", by the
// id of the book and their number, which sort in the order of the book. The bytes of a file are no record: a store is
// held in memory. They lie in the folder "books" beside the store, one file a book, from before the book has a record
// until it is ready, failed or removed. So a file that was given by its path may change or go meanwhile. A backup has
// no such files: a restored book that was pending has failed, and says so.
//
// # All or nothing
//
// Passages are written in groups, so that nobody waits long for a commit, and a book is seen only when all are there:
// its state becomes ready in the last transaction. A failure, a cancelled call or a kill before that leaves passages
// that nobody sees; they are deleted at once, or by the next start, which begins the book anew. To remove a book is to
// delete its record; its passages go in groups behind it, and at the next start if that is killed.
//
// # Who sees a book
//
// A remote reader never sees a private book. A book that was put for a conversation is seen with that conversation
// alone, until it is published; it is private when the conversation is, and stays so. When the conversation is deleted,
// such a book is seen by nobody, and goes with the next upkeep.
//
// # Concurrency
//
// All methods may be called concurrently. Files are read by processes of their own, two at once at most (child.go); those that
// wait can be cancelled. Close ends the process that waits for a file; a Store may be used after it.
//
// Wall: subject: books, from the file that a person gives to the passages that a search finds.
package books
