// Package memory keeps what a person told, decided, prefers and learned: memories, each one statement with its number,
// its handle, its status and its versions, and contexts, the tree of parts of a life that memories belong to.
//
// README.md says what a client needs to know, and names the promise behind each id of a test.
//
// # Parts
//
//   - store.go, stored_memory.go, keys.go: the store, and how memories lie in it
//   - add.go, adding.go, draft.go, texts.go, taken.go: a new memory, what one may be, and numbers and statements that
//     are taken
//   - change.go, rename.go, revise.go, delete.go, hide.go: changes by clients, by the daemon, and what goes with a
//     record
//   - read.go, lookup.go, counted.go, standing.go: what a reader gets, also in each prompt without a search
//   - seen.go: a memory as it is for a reader who does not see what ended or contested it
//   - contexts.go, contexts_tree.go: the tree of contexts
//   - owner.go, handled.go: who has which handle
//   - synonyms*.go: words that mean the same to the person
//   - score.go, fade.go, counting.go: the arithmetic of outcomes and of time
//   - differ*.go, naming.go, when*.go: what statements and questions say: differences, entities, times
//   - rows.go, intake*.go: all records as rows, for export and import
//   - indexed.go: memories for an index
//   - clock.go: when memories were written under a clock that was wrong
//   - upkeep.go, check.go, mend.go, upgrade.go: what is due, does not fit together, is mended or comes from an older
//     store
//
// # Who may call it
//
// Handlers of rpc, the rest of context, and chat. The caller passes the View of the reader: a remote reader never sees
// private memories and contexts, and private names are taken out of what others say.
//
// # Records
//
//	memory             a memory as it is, by id
//	memory-use         how it was used, by id: counting changes no memory
//	memory-version     what it said before, by id and version
//	memory-number      the numbers of deleted memories
//	memory-lastnumber  a number behind which others are given, whoever has it: that of a deleted memory or of an import
//	memory-forget      an order to forget that is under way
//	memory-handle      who has a handle, by its fold
//	context            a context, by id
//	context-memory     since when a memory belongs to a context, by both ids
//
// Handles are looked up inside transactions, where two that are under way must not choose the same: so they are
// records, and Check compares them with the memories. So are numbers and statements, but each record more makes a write
// slower (BenchmarkPERF17 in rpc): taken.go knows those that are committed, as all else is a view in memory, and those
// of transactions that are under way.
//
// # Privacy
//
// A memory that comes from something private is private for good: what its transaction finds private is written into
// the record. A note that becomes private later hides its memories from then on, also when it is deleted: package notes
// remembers which ids were private.
//
// # Lifetime and concurrency
//
// A [Store] lives as long as the store of records below it. All methods are safe for concurrent use. Records are
// shared: nobody changes one after it was handed out; Memory is made for each call. Reads never wait for the disk.
//
// Wall: subject: memories and the contexts that they belong to.
package memory
