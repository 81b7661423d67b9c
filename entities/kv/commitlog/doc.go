// Package commitlog is the seam where a group of transactions of a store becomes durable
// for several machines: the one order of commits that all of them share (Log), and what
// stands in one entry of it (Entry). Whoever is new to the shared store begins here.
//
// # How a write travels
//
// Machine A has applied the log up to entry 7, and so has machine B. Somebody calls Update on A.
//
//	   machine A                        servers                      machine B
//
//	1  run fn on the state at 7
//	2  append, behind 7   ---------->   entry 8, on two of three
//	3  journal, apply     <- taken --   servers        -- 8 -->   4  journal, apply
//	   answer                                                        change sets, events
//
// The steps are:
//
//  1. The function of Update runs on the records of A. What it wrote is queued.
//  2. All that is queued becomes one entry. It is appended only if 7 is still the newest entry
//     (compare and append).
//  3. A writes the transactions to its journal together with their position, applies them, and
//     answers. Nobody has seen anything of them before.
//  4. B gets entry 8 by itself and applies it like a commit of its own.
//
// Somebody else was first: the servers do not take the entry of A, since theirs is entry 8. A
// applies that one, and runs its function again on the new state, at most 64 times.
//
// Offline: nothing can be appended. Most writes are refused as retryable. With kv.Options.Queue,
// what only adds is journaled and applied on A without the log, together with an item of the
// outbox that says how to do it again. It is provisional. When the servers are back, A takes back
// all that is provisional, applies the entries of others, and does each item again as an ordinary
// write. An item that is refused then stays in the outbox, as a conflict.
//
// Join: a machine takes the newest snapshot from the servers, replaces its store by it in one
// step, and reads the entries behind it.
//
// # Packages
//
//   - commitlog: Log, Entry, Position, and how machines take turns (Pace)
//   - seal: what leaves a machine is compressed and encrypted
//   - stream: a Log on NATS servers; machines, their keys, snapshots
//   - logtest: a Log in memory, with the faults of a cluster, for tests
//   - replicate: the protocol between one store and its log, in one goroutine
//   - outbox: what waits while the log can't be reached
//   - kv: the store; replica.go, replica_store.go and outbox.go are its part in this
//   - shared: a store and its stream together: begin, join, serve, compact, leave
//   - above the store: rpc/waiting makes calls again, rpc/syncing has sync.*, cmd/ctxd/syncs the
//     commands
//
// # Words
//
//   - log: the one order of entries. It lies on the servers, as one stream.
//   - entry: a group of transactions of one machine. It is one message of the stream, or several
//     parts if it is large.
//   - sequence: the number of a message in the stream. kv.ChangeSet.Seq is something else: it
//     counts the transactions of one machine.
//   - position: the sequence of the last message of an entry, and its mark.
//   - mark: a hash over all entries up to there.
//   - writer: a process that appends. It has a new random name after each start.
//   - gate: while it is closed, no transaction begins.
//   - abort: everything that is accepted and not in the log is taken back, since others were
//     first. Its functions run again.
//   - turn: the time in which one machine appends and the others wait. A machine that has lost
//     often reserves the next one with an entry that has a Hold.
//   - prove: to append an entry that changes nothing. If that succeeds, everything was read.
//   - provisional: applied on this machine and not in the log. Clients see it as pending.
//   - item: a call in the outbox. It waits, or it was refused.
//   - base: what a record is according to the log, while a provisional write covers it.
//   - snapshot, or state: the whole store, at a position, on the servers. kv calls its own files
//     snapshots, too.
//   - epoch: the time of one key. The removal of a machine begins another one.
//   - lease: held by the one machine that makes a snapshot.
//   - machine: a data folder that takes part, with a number from 1.
//
// # This package
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
