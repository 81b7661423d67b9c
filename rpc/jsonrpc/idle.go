package jsonrpc

import (
	"sync"
	"time"
)

// idleWatch calls a function once when nobody has been connected for a while.
type idleWatch struct {
	after  time.Duration // 0: never
	notify func()
	busy   func() bool // jobs go on when their connection is gone

	mu      sync.Mutex // guards what follows
	open    int
	timer   *time.Timer // nil until the first listener
	stopped bool
}

// begin starts the clock.
func (w *idleWatch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.after > 0 && w.timer == nil && !w.stopped {
		w.timer = time.AfterFunc(w.after, w.expire)
		if w.open > 0 {
			w.timer.Stop()
		}
	}
}

// enter counts a connection that opens.
func (w *idleWatch) enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open++
	if w.timer != nil {
		w.timer.Stop()
	}
}

// leave counts a connection that is over.
func (w *idleWatch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open--
	if w.open == 0 && w.timer != nil && !w.stopped {
		w.timer.Reset(w.after)
	}
}

// expire is called by the timer, which may have lost a race with enter.
func (w *idleWatch) expire() {
	w.mu.Lock()
	due := w.open == 0 && !w.stopped
	if due && w.busy() {
		due = false
		w.timer.Reset(w.after)
	}
	w.stopped = w.stopped || due
	w.mu.Unlock()
	if due {
		w.notify()
	}
}

// stop ends the watch: the server is ending for another reason.
func (w *idleWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
