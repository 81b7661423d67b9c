// Package document is the Source of the passages of books: what of one is searched, and by which weight.
//
// # Who may call it
//
// Who makes an index of passages, and who reads the hits of one.
//
// # What it holds
//
// An index asks for documents with locks held. So the Source holds all passages from New until the store is
// closed; their texts are those of the stored records. A document is called by the key of its passage, and is
// found when its book is ready and seen by all. A search that says what to keep finds those of a
// conversation as well.
//
// # Privacy
//
// A passage is hidden while its book is private, and while there is no record of its book: a book that
// becomes private changes its documents. What names a private record is masked in the public form.
//
// # Vectors
//
// A passage has one vector, or one for each part of about 200 tokens where it is longer, behind the prefix
// "Book: TITLE. Section: SECTION." (MEM-12).
//
// # Concurrency
//
// All methods may be called concurrently.
package document
