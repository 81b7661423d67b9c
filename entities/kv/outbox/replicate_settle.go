package outbox

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// settleWait is for how long a log is asked before an upgrade.
const settleWait = 10 * time.Second

// SettleFormat takes a store whose records have an older format to where those of the newer one
// begin: it hands over everything of the older format that the store has not applied, and has the
// log say that the older format ends there, unless another machine has. What was handed over, the
// upgrade and what is returned are to be made durable in one step. Records are handed over as
// they are, with the name of their transaction.
//
// An error is why the log could not be read to there; what is returned is then how far it was
// handed over. An upgrade from there is right if no other machine has written anything of the
// older format behind it.
func SettleFormat(log Log, from Applied, older, newer int, apply func(SentTransaction, *Transaction) error) (Applied, error) {
	ctx, cancel := context.WithTimeout(context.Background(), settleWait)
	defer cancel()
	s := settling{log: log, at: from, older: older, newer: newer, apply: apply}
	for {
		found, err := s.read(ctx)
		if found || err != nil {
			return s.at, err
		}
		at, err := log.Append(ctx, s.at.Position, (&Entry{ID: NewWriterID().NewID(), Format: newer}).Encode())
		if err == nil {
			s.at = Applied{Position: at}
			return s.at, nil
		}
		// Another machine was first, or maybe this one: what is there is read. An entry that is
		// on its way still can't get in behind the next one.
		again := errors.Is(err, ErrBehind) || errors.Is(err, ErrUnknown)
		if !again || ctx.Err() != nil {
			return s.at, err
		}
	}
}

// settling is a Settle under way.
type settling struct {
	log          Log
	at           Applied
	older, newer int
	apply        func(SentTransaction, *Transaction) error
}

var errNewer = errors.New("the records of the newer format begin here")

// read hands over the entries that are not applied yet. It stops where newer records begin, and
// reports whether it has found that.
func (s *settling) read(ctx context.Context) (found bool, err error) {
	err = s.log.Read(ctx, s.at.Position, func(at Position, b []byte) error {
		e, err := DecodeEntry(b)
		switch {
		case err != nil:
			return err
		case e.Format >= s.newer:
			return errNewer
		case e.Format != s.older && len(e.Transactions) > 0:
			return fault.New(fault.Unavailable, "other machines have written records of format %d since, the store here has format %d", e.Format, s.older)
		}
		for i := s.at.Done; i < len(e.Transactions); i++ {
			t := &e.Transactions[i]
			for _, w := range t.Writes {
				collection, _, ok := strings.Cut(w.Key, "/")
				if !ok || collection == "" || strings.HasPrefix(collection, "!") {
					return fault.New(fault.Unavailable, "another machine wrote a record that this one can't have")
				}
			}
			if err := s.apply(SentTransaction{Entry: e.ID, Index: i}, t); err != nil {
				return err
			}
		}
		s.at = Applied{Position: at}
		return nil
	})
	if errors.Is(err, errNewer) {
		return true, nil
	}
	return false, err
}
