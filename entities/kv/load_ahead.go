package kv

import (
	"iter"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// aheadBatch is how many records LoadAhead decodes in one go.
const aheadBatch = 256

// LoadAhead reads a whole collection for a room that opens: it decodes the records
// on all processors and yields, in the byte order of ids, what read makes of up to
// some hundred of them. read is called by several goroutines at a time and may
// keep both slices.
//
// It is for a View only; the loop must not use tx. A record that can't be decoded
// ends the loop after those before it; the error is kept in Tx.Err.
func LoadAhead[T, R any](tx *Tx, c Collection[T], read func(ids []string, records []*T) R) iter.Seq[R] {
	type result struct {
		made R
		err  error
	}
	return func(yield func(R) bool) {
		if tx.writable {
			tx.fail(fault.New(fault.Internal, "records were loaded ahead in an Update"))
			return
		}
		var failed error
		scan := func(emit func([]disk.Pair) bool) {
			batch := make([]disk.Pair, 0, aheadBatch)
			failed = tx.scan(c.c.prefix, func(key, raw string) (bool, error) {
				batch = append(batch, disk.Pair{Key: key, Value: raw})
				if len(batch) < aheadBatch {
					return true, nil
				}
				full := batch
				batch = make([]disk.Pair, 0, aheadBatch)
				return emit(full), nil
			})
			if len(batch) > 0 && failed == nil {
				emit(batch)
			}
		}
		decode := func(batch []disk.Pair) result {
			ids, records := make([]string, len(batch)), make([]*T, len(batch))
			for i, p := range batch {
				v, err := c.decodeSafely(p.Value)
				ids[i] = p.Key[len(c.c.prefix):]
				if err != nil {
					return result{read(ids[:i], records[:i]), c.unreadable(ids[i], err)}
				}
				records[i] = v
			}
			return result{made: read(ids, records)}
		}
		for r := range disk.InOrder(scan, decode) {
			if !yield(r.made) {
				return
			}
			if r.err != nil {
				tx.fail(r.err)
				return
			}
		}
		tx.fail(failed)
	}
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
