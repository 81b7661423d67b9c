// Package past keeps what private records were called: the names that one has lost, or
// had when it was deleted. A link by such a name leads nowhere, and would still tell a
// reader who sees no private record what that record was called (PRIV-4).
//
// # What is stored
//
// No name is stored in clear, so that the title of a deleted note is not left on the
// disk. A record of the collection "private-past" has for its id the hash of the record
// that had the name, a slash and the hash of the name: the first 16 bytes of a SHA-256
// over the salt of the store, the kind and the folded text, in base64. The salt is drawn
// when the first name is kept, and lies beside them ("private-past-salt"). Who has the
// store can still test a guess: that is what the hashes are for.
//
// Of names that mentions may have the length is stored too, rounded up, so that it is
// known how far to look.
//
// A name costs about 180 bytes of memory (BenchmarkNames), and 80 on the disk; a note has
// one for each title and alias, and one for each folder that its path ends with. Nothing takes one
// away but the publication of its record: who renames a private note a million times
// makes the store 200 MB larger.
//
// # Who may call it
//
// The stores of entities and of notes keep names in the transactions that take them
// from a record, and know which names refer to a record and how they are looked up
// (past.go of each); those of memories, contexts and conversations do so by what
// context/audience knows of theirs (handles.go there). Names belongs to the store of entities, lives as long, and may be
// used concurrently; it takes no lock of others.
package past
