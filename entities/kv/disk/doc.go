// Package disk is what a store has on disk: the seam to the file system, the
// names and headers of files, records, and the reading and writing of whole files.
// It knows keys and values, and nothing of transactions under way, of the store in
// memory, or of what is done about damage: that is package kv, which alone may call
// it and whose documentation draws the files byte by byte.
//
// # Reading
//
// A Window reads a file through a buffer. Record says what stands at a place: a
// record whose checksums are right, the end, the beginning of a record (Torn), or
// anything else (Bad); Resync finds the next good record behind damage. Replay
// reads journal segments in their order, notes where and why that ended, and what
// proves that more had been acknowledged; it writes the transactions to a Sink.
// SnapshotPairs reads a snapshot with all processors; IntactPieces reads what is
// left of a damaged one. Inspect looks at one file of any kind.
//
// # Writing
//
// A State is a file that holds a whole state, a snapshot or a backup. It gets its
// name once it is whole and durable. WriteClean marks a store that was closed.
// NoteUnfinished says where a backup is being written, and RemoveUnfinished what is left.
// Transactions are appended by package kv, as records that Finish completes.
//
// # Lock and errors
//
// LockDir keeps other processes out of a folder. Unavailable and Says put into words what a
// disk refuses.
//
// # Lifetime and concurrency
//
// Windows, Replays and States are for one goroutine. The lists of SnapshotPairs are
// valid until the next; keys and values stay valid and are parts of the memory that
// the file was read into.
//
// An error is ErrDamaged when a file is not what was written, a fault.Error of kind
// Unavailable when its layout is newer than this program, and otherwise what the
// file system said.
package disk
