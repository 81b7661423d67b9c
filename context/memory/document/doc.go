// Package document is the Source of memories: what of one is searched, and by which weight. The names
// of entities are not indexed: who asks with one is answered by what is about that entity, so that a
// rename changes no document.
//
// # Privacy
//
// A memory is hidden when it is private, and while the note is that it comes from: such a note changes
// the documents of its memories. What names a private record is masked in the public form, as in the
// answers of package memory.
package document
