package term

import "sync"

// Interrupts says what an interrupt does. It may be used concurrently.
type Interrupts struct {
	mu    sync.Mutex // guards what follows
	other func()     // nil: it ends the command
}

// Divert has an interrupt call fn, until restore is called, instead of ending
// the command.
func (i *Interrupts) Divert(fn func()) (restore func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.other = fn
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.other = nil
	}
}

// Taken reports whether an interrupt did something else than end the command.
func (i *Interrupts) Taken() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.other != nil {
		i.other()
	}
	return i.other != nil
}
