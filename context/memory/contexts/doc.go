// Package contexts keeps the tree of contexts, the parts of a life that memories belong to:
// what is written of them, below which they lie, and which memory belongs to which.
//
// The room of memories calls it, and nobody else writes contexts. It stands below that room,
// and knows of a memory only its id: the functions of a Tree say whether a reader finds one,
// and what has a handle that a reader does not see. What is shown of a context, and what is
// looked up in memory, is for the room of memories, which keeps a view of both.
//
// A reader is a View: what it does not see is missing, and is neither deleted nor unlinked
// for it. A Tree may be used concurrently: all that it keeps is in transactions.
//
// The records are of the collections context, by id, and context-memory, which says since when
// a memory belongs to a context, by both ids.
package contexts
