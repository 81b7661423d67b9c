package loading

import "sync"

// A Lock guards a view of a store that is loaded in two steps. What nearly every
// call needs is there when the view opens; the rest is built when somebody asks for
// it first, or when LoadRest is called because there is time. Lock and RLock see to
// the rest first, so that whoever does not think of it is right; a commit, too, finds
// the view whole. The zero value is the lock of a view without a rest.
//
// The function that builds the rest runs once, without the lock. It may read what
// the first step has loaded, since nothing changes before it has ended, and must
// write to nothing that calls under Early read.
type Lock struct {
	mu   sync.RWMutex
	once sync.Once
	rest func()
}

// Later sets what builds the rest. It is to be called before anybody else has the view.
func (l *Lock) Later(rest func()) { l.rest = rest }

// LoadRest builds the rest unless that was done, and waits for whoever does it.
func (l *Lock) LoadRest() { l.once.Do(l.loadRest) }

func (l *Lock) loadRest() {
	if l.rest != nil {
		l.rest()
		l.rest = nil // and what it holds
	}
}

// Early returns the lock itself, for calls that need only what was loaded first.
// To write under it is for the time before the first commit.
func (l *Lock) Early() *sync.RWMutex { return &l.mu }

// Lock takes the lock of the whole view for writing.
func (l *Lock) Lock() {
	l.LoadRest()
	l.mu.Lock()
}

// Unlock gives up what Lock took.
func (l *Lock) Unlock() { l.mu.Unlock() }

// RLock takes the lock of the whole view for reading.
func (l *Lock) RLock() {
	l.LoadRest()
	l.mu.RLock()
}

// RUnlock gives up what RLock took.
func (l *Lock) RUnlock() { l.mu.RUnlock() }
