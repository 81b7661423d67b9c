package kv

import (
	"iter"

	"github.com/ctxd/ctxd/entities/fault"
)

// LoadAhead reads a whole collection for a room that opens: it decodes the records
// on all processors and yields, in the byte order of ids, what read makes of up to
// some hundred of them. read is called by several goroutines at a time and may
// keep both slices.
//
// It is for a View only; the loop must not use tx. A record that can't be decoded
// ends the loop after those before it; the error is kept in Tx.Err.
func LoadAhead[T, R any](tx *Tx, c Collection[T], read func(ids []string, records []*T) R) iter.Seq[R] {
	scan := func(emit func(key, raw string) bool) error {
		if tx.writable {
			return fault.New(fault.Internal, "records were loaded ahead in an Update")
		}
		return tx.scan(c.c.Prefix, func(key, raw string) (bool, error) { return emit(key, raw), nil })
	}
	decode := func(key, raw string) (string, *T, error) {
		id := key[len(c.c.Prefix):]
		v, err := c.decodeSafely(raw)
		if err != nil {
			err = c.unreadable(id, err)
		}
		return id, v, err
	}
	return decodePairs(scan, decode, read, tx.fail)
}

// fail keeps the first error.
func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// decodeSafely turns a panic of a codec into an error: there is nobody above a
// goroutine of ours to take it.
func (c Collection[T]) decodeSafely(raw string) (*T, error) {
	v, err := decodeSafely(c.c, raw)
	record, _ := v.(*T)
	return record, err
}
