// Package commitlog is the seam where a group of transactions of a store becomes durable
// for several machines: the one order of commits that all of them share (Log), and what
// stands in one entry of it (Entry).
//
// A store without a log keeps its transactions in its own journal, which is then the truth.
// A store with one is a replica: its journal holds what the log had up to a Position, and
// both change in the same record of the journal, so that a start knows exactly where to go
// on reading. Whoever keeps the entries (a stream of a cluster, memory in tests) implements
// Log; it never looks into an entry.
//
// An Entry is a group of transactions, each a list of absolute writes: keys and new values,
// never differences. Encoding and decoding are O(size); a decoded entry keeps no part of
// what it was decoded from. Errors of decoding are of kind Invalid: nothing of a damaged
// entry is applied. Sizes are in bytes, times in Unix nanoseconds.
package commitlog
