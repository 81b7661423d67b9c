package kv

import (
	"iter"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// batchSize is how many pairs Decoded decodes in one go.
const batchSize = 256

// decodePairs yields, in the order of scan, what read makes of up to some hundred pairs, which are
// decoded on all processors. decode and read are called by several goroutines at a time; read may
// keep both slices. A pair that can't be decoded ends it after those before it. fail gets the
// error, that of decode or of scan, nil for none.
func decodePairs[T, R any](
	scan func(emit func(key, raw string) bool) error,
	decode func(key, raw string) (id string, record *T, err error),
	read func(ids []string, records []*T) R,
	fail func(error),
) iter.Seq[R] {
	type result struct {
		made R
		err  error
	}
	return func(yield func(R) bool) {
		var failed error
		scan := func(emit func([]disk.Pair) bool) {
			batch := make([]disk.Pair, 0, batchSize)
			failed = scan(func(key, raw string) bool {
				batch = append(batch, disk.Pair{Key: key, Value: raw})
				if len(batch) < batchSize {
					return true
				}
				full := batch
				batch = make([]disk.Pair, 0, batchSize)
				return emit(full)
			})
			if len(batch) > 0 && failed == nil {
				emit(batch)
			}
		}
		decode := func(batch []disk.Pair) result {
			ids, records := make([]string, len(batch)), make([]*T, len(batch))
			for i, p := range batch {
				var err error
				ids[i], records[i], err = decode(p.Key, p.Value)
				if err != nil {
					return result{read(ids[:i], records[:i]), err}
				}
			}
			return result{made: read(ids, records)}
		}
		for r := range disk.InOrder(scan, decode) {
			if !yield(r.made) {
				return
			}
			if r.err != nil {
				fail(r.err)
				return
			}
		}
		fail(failed)
	}
}
