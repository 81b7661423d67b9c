package jsonrpc

import "sync"

// idleWorkers is how many goroutines may wait for work.
const idleWorkers = 16

// workers runs functions on goroutines that are used again: their stacks have
// grown to what a call needs, which costs a new goroutine more than the call.
// There is no limit on how many run; what may run is limited by connection.
type workers struct {
	work sync.WaitGroup // functions that run, and whatever else must end

	mu      sync.Mutex // guards what follows
	idle    []chan func()
	stopped bool
}

// run starts f and does not wait for it.
func (w *workers) run(f func()) {
	w.work.Add(1)
	w.mu.Lock()
	if n := len(w.idle); n > 0 {
		next := w.idle[n-1]
		w.idle = w.idle[:n-1]
		w.mu.Unlock()
		next <- f
		return
	}
	w.mu.Unlock()
	go w.serve(f)
}

// serve runs f, then whatever it is handed.
func (w *workers) serve(f func()) {
	next := make(chan func(), 1)
	for f != nil {
		f()
		w.work.Done()
		w.mu.Lock()
		if w.stopped || len(w.idle) >= idleWorkers {
			w.mu.Unlock()
			return
		}
		w.idle = append(w.idle, next)
		w.mu.Unlock()
		f = <-next
	}
}

// stop lets the waiting goroutines end, and later ones when they are done.
func (w *workers) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	for _, next := range w.idle {
		next <- nil
	}
	w.idle = nil
}
