package kv

import (
	"iter"
	"runtime"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
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
		scan := func(emit func([]pair) bool) {
			batch := make([]pair, 0, aheadBatch)
			failed = tx.scan(c.c.prefix, func(key, raw string) (bool, error) {
				if batch = append(batch, pair{key, raw}); len(batch) < aheadBatch {
					return true, nil
				}
				full := batch
				batch = make([]pair, 0, aheadBatch)
				return emit(full), nil
			})
			if len(batch) > 0 && failed == nil {
				emit(batch)
			}
		}
		decode := func(batch []pair) result {
			ids, records := make([]string, len(batch)), make([]*T, len(batch))
			for i, p := range batch {
				v, err := c.decodeSafely(p.raw)
				ids[i] = p.key[len(c.c.prefix):]
				if err != nil {
					return result{read(ids[:i], records[:i]), c.unreadable(ids[i], err)}
				}
				records[i] = v
			}
			return result{made: read(ids, records)}
		}
		for r := range inOrder(scan, decode) {
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

// inOrder yields what work makes of everything that produce emits, in the order
// in which that was emitted. produce runs in one goroutine and work in several,
// a little ahead of the loop. When the loop is left, emit returns false; all have
// ended when inOrder has.
func inOrder[J, R any](produce func(emit func(J) bool), work func(J) R) iter.Seq[R] {
	type job struct {
		in  J
		out chan R
	}
	return func(yield func(R) bool) {
		workers := runtime.GOMAXPROCS(0)
		todo, queue, stop := make(chan job, workers), make(chan job, 2*workers), make(chan struct{})
		var running sync.WaitGroup
		defer running.Wait()
		defer close(stop)
		running.Go(func() {
			defer close(queue)
			defer close(todo)
			produce(func(in J) bool {
				j := job{in, make(chan R, 1)}
				for _, to := range []chan job{queue, todo} {
					select {
					case to <- j:
					case <-stop:
						return false
					}
				}
				return true
			})
		})
		for range workers {
			running.Go(func() {
				for j := range todo {
					j.out <- work(j.in)
				}
			})
		}
		for j := range queue {
			if !yield(<-j.out) {
				return
			}
		}
	}
}
