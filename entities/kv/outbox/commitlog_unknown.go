package outbox

import (
	"errors"
	"fmt"
)

// SentTransaction names a transaction that was sent to a log: by the id of its entry, and its place there.
type SentTransaction struct {
	Entry [16]byte
	Index int
}

// String returns it as a part of a key.
func (s SentTransaction) String() string { return fmt.Sprintf("%x %d", s.Entry, s.Index) }

// UnknownError says that a transaction may be in the log or not, now or later. It is there when its
// entry is read. It will never be there once another entry is read at the place of that one.
type UnknownError struct {
	SentTransaction
	Err error
}

func (e *UnknownError) Error() string { return e.Err.Error() }

func (e *UnknownError) Unwrap() error { return e.Err }

// TransactionError returns the error of an entry as that of its transaction with an index.
func TransactionError(err error, index int) error {
	var unknown *UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	return &UnknownError{SentTransaction{unknown.Entry, index}, unknown.Err}
}
