// Package memory keeps what a person told, decided, prefers and learned: memories, each one
// statement with its number, its handle, its status and its versions, and contexts, the tree of
// parts of a life that memories belong to.
//
// README.md says what a client needs to know, and names the promise behind each id of a test.
//
// # Who may call it
//
// Handlers of rpc, and the rooms to its right. Who reads gives the View of the reader: for a remote
// one, private memories and contexts do not exist, and private names are taken out of what others say.
//
// # Records
//
//	memory             a memory as it is, by id
//	memory-use         how it was used, by id: counting changes no memory
//	memory-version     what it said before, by id and version
//	memory-number      the numbers of deleted memories
//	memory-lastnumber  a number behind which others are given, whoever has it: that of a deleted memory or of an import
//	memory-forget      an order to forget that is under way
//
// Contexts, and which memories belong to them, are kept in context/memory, and who has which
// handle in context/memory: they write, and the view of it all is here.
//
// Handles are looked up inside transactions, where two that are under way must not choose the same: so they are
// records, and Check compares them with the memories. So are numbers and statements, but each record more makes a
// write slower (BenchmarkPERF17 in rpc): package taken knows those that are committed, as all else is a view in
// memory, and those of transactions that are under way.
//
// # Privacy
//
// A memory that comes from something private is private for good: what its transaction finds
// private is written into the record. A note that becomes private later hides its memories from
// then on, also when it is deleted: the room of notes remembers which ids were private.
//
// # Concurrency
//
// All methods are safe for concurrent use. Records are shared: nobody changes one after it was handed
// out; Memory is made for each call. Reads never wait for the disk.
//
// # Size
//
// The package has more than 2,500 lines: memories point to each other and are deleted with what points to
// them, each in one transaction, and all that is read of them comes from one view.
package memory
