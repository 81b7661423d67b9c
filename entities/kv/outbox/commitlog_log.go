package outbox

// commitlog_*.go are the seam where a group of transactions of a store becomes durable
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
// # Where it is
//
//   - commitlog_*.go: Log, Entry, Position, and how machines take turns (Pace)
//   - replicate_*.go: the protocol between one store and its log, in one goroutine
//   - the rest of this package: what waits while the log can't be reached
//   - entities/kv/nats: a Log on NATS servers; machines, their keys, snapshots; seal_*.go
//     compress and encrypt what leaves a machine
//   - entities/kv/kvtest: a Log in memory, with the faults of a cluster, for tests
//   - entities/kv: the store; replica.go, replica_store.go and outbox.go are its part in this
//   - entities/kv/shared: a store and its log together: begin, join, serve, compact, leave
//   - above the store: rpc makes calls again, rpc has sync.*, cmd/ctxd/store the
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
// # Replicas
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

import (
	"context"
	"errors"
)

// Log is the one order of commits of a store that lies on several machines. A store uses it
// from one goroutine for Append, and may call Read at the same time from others. All methods
// must be safe for that.
//
// What an implementation owes:
//
//   - Compare and append. Of all Appends behind one position, on all machines, at most one
//     succeeds, ever. One whose outcome is not known counts: when another entry has got the
//     place, the first can't get it later.
//   - One order. Every Read everywhere hands over the same entries with the same positions.
//   - Durable. An entry whose Append returned nil is read by every later Read.
//   - Fresh, mostly. Read asks for the end after it was called, and it asks who leads. A leader
//     that does not know yet that it is none any more shows an end that is some seconds old, so
//     only an Append that succeeds behind what was read proves that it was everything that had
//     been appended when that Append began.
//   - Whole. An entry is handed over as it was appended, or not at all: sealing, cutting into
//     parts and putting together again, and checking the chain are the log's own.
//
// Errors are *fault.Error or wrap one. Those of kind Unavailable with Retryable set mean that
// the same call may succeed later, and are what a cluster that can't be reached gives, at
// once when that is known. An error that is not Retryable stops the store: it goes on
// reading what it has, takes no writes, and says why.
type Log interface {
	// Append puts entry behind the position after, which is the newest that the store has
	// applied. It returns the entry's position, which is behind after.
	//
	//   - ErrBehind: somebody else's entry stands behind after already. Nothing was appended.
	//     It may also be this very entry, of an earlier Append that seemed to have failed: the
	//     store finds out by the entry's id when it reads.
	//   - ErrUnknown: the entry may or may not be in the log, now or later. An implementation
	//     first tries to settle that itself, by a message id for example, for as long as ctx
	//     allows. The store tells its writers so, reads to the end before it runs anything
	//     else, and appends something else at the same place only by compare and append.
	//   - Kind Limit: the entry is too large, and will be at the next try.
	//   - ErrFull: there is no room for it. What is there can be read.
	//   - Any other error: certainly not appended, not now and not later.
	//
	// ctx bounds the wait. The entry must not be kept or changed.
	Append(ctx context.Context, after Position, entry []byte) (Position, error)
	// Read calls fn with the entries behind after, in order, until the end of the log as it
	// is when Read is called, and with later ones if it likes. An error of fn ends it and is
	// returned as it is. fn may keep the entry.
	//
	//   - ErrGone: the log does not reach back to after. The store has to be replaced by a
	//     newer state (Store.Adopt).
	//   - ErrForked: the log holds other entries up to after than the ones that the store has
	//     applied, as Mark tells. Nothing can be applied on top of them.
	Read(ctx context.Context, after Position, fn func(at Position, entry []byte) error) error
	// Arrived calls fn with the entries behind after that have come to this machine by
	// themselves, in order, and asks nobody, so that it costs no round trip. They are as good as
	// those of Read. Whether more is known to be in the log, or may be, all says: with false, only
	// Read finds out. Nothing is wrong when there are none: what can't be handed over, Read is
	// asked about. An error is one of fn.
	Arrived(after Position, fn func(at Position, entry []byte) error) (all bool, err error)
	// Changes returns a channel that gets a value when there may be something new to read,
	// and when a log that could not be reached can be reached again. It has a buffer of one
	// and is never closed; too many signals only cost a Read. The same channel every time.
	Changes() <-chan struct{}
}

// Position is a place in a log: behind the entry that it names. The zero Position is the
// beginning of a log that began with an empty store; a log that began with the records of a
// store has a position of its own for its beginning (see kv.Options.LogStart).
type Position struct {
	// Seq orders positions of one log. It grows with every entry, maybe by more than one.
	Seq uint64 `json:"seq"`
	// Mark is the log's own, such as a hash of all entries up to here. A store keeps it with
	// the state that it belongs to and gives it back, and never looks at it.
	Mark [32]byte `json:"mark"`
}

// Errors of a Log, to be found with errors.Is in what it returns.
var (
	ErrBehind  = errors.New("somebody else's entry is there first")
	ErrUnknown = errors.New("it is not known whether the entry was appended")
	ErrGone    = errors.New("the log does not reach back that far")
	ErrForked  = errors.New("the log and the store hold different entries")
	// ErrFull says that there is no room for an entry. It was not appended. Somebody has to make
	// room, so what waits for that may wait for long.
	ErrFull = errors.New("the log has no room")
)
