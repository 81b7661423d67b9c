// Package document is the Source of memories: what of one is searched, and by which weight; and it finds the memories
// that say much the same as another. The names of entities are not indexed: a search for one is answered by what is
// about that entity, so that a rename changes no document.
//
// # Parts
//
//   - document.go: the Source of the index
//   - similar.go: memories that are similar to one
//
// # Who may call it
//
// The daemon, which makes the index; context/recall and context/learn/concepts, which read its hits; handlers of rpc.
//
// # Privacy
//
// A memory is hidden when it is private, and while the note is that it comes from: such a note changes the documents of
// its memories. What names a private record is masked in the public form, as in the answers of package memory.
//
// # Lifetime and concurrency
//
// A [Source] lives as long as the store of memories, and may be used concurrently.
//
// Wall: second user: context/recall and context/learn/concepts both read memories as the index has them.
package document
