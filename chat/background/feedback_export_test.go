package background

import "context"

// Settle returns when all that was queued is done.
func (d *OutcomeDetector) Settle() {
	done := make(chan struct{})
	d.queue.Add(func(context.Context) error { close(done); return nil })
	<-done
}
