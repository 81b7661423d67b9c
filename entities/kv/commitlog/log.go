package commitlog

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
