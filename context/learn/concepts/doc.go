// Package concepts knows what memories and messages speak of: their concepts, which of them stand together, what of
// them has helped, and what was done about them.
//
// README.md says what a concept is, and names the promise behind each id of a test.
//
// # Who may call it
//
// Handlers of rpc and, by way of the daemon, the ranking of context/recall, with the View of the reader. chat/document
// gives it the messages.
//
// # What it is made of
//
// Each memory and each message gives terms: phrases of its text (learn.PhraseReader), tags and domains, and the
// entities that a memory is about. An Index holds, for each term, the documents that have it. It is a view of the
// records: nothing of it is stored, and what it says of a document goes with the document. Concepts are made of terms
// when somebody asks: those that an entity or a set of synonyms joins are one. So another name of a record changes
// nothing here.
//
// # When it is made
//
// Behind the start of a daemon, or by who asks before, of all documents, which takes about 3 µs for each 100 bytes of text.
// Until then a commit costs nothing. From then on a commit notes the ids of what it changes, and the next question reads
// those: a write never waits for it, and an answer is as new as the records.
//
// # Privacy
//
// A document has one list of terms for a local reader and one for a remote one, made of its public form; of a private
// one the latter is empty. All counts, times, labels and edges are made, at each call, of the documents that the reader
// sees. A label or alias that a private record is called by is not shown, and a concept that would be shown by it is
// not there.
//
// # Lifetime and concurrency
//
// An [Index] lives as long as the store. All methods may be called concurrently. A question is O(documents that have
// the concept), a list O(terms in all documents). Errors are NotFound for a concept that the reader does not see, and
// that of a context that has ended.
//
// Wall: subject: the concepts that memories and messages share.
package concepts
