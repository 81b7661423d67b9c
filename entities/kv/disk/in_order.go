package disk

import (
	"iter"
	"runtime"
	"sync"
)

// InOrder yields what work makes of everything that produce emits, in the order
// in which that was emitted. produce runs in one goroutine and work in several,
// a little ahead of the loop. When the loop is left, emit returns false; all have
// ended when InOrder has.
func InOrder[J, R any](produce func(emit func(J) bool), work func(J) R) iter.Seq[R] {
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
