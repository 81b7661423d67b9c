package kv

// A LoadLock is the lock of a view of a store that opens before all of it is loaded: what nearly
// every call needs is there at once, the rest is built behind the start or when somebody asks for
// it first. Each package that keeps such a view has one; any number of goroutines may use it.

import "sync"

// A LoadLock guards a view of a store that is loaded in two steps. What nearly every
// call needs is there when the view opens; the rest is built when somebody asks for
// it first, or when LoadRest is called because there is time. Lock and RLock see to
// the rest first, so that whoever does not think of it is right; a commit, too, finds
// the view whole. The zero value is the lock of a view without a rest.
//
// The function that builds the rest runs once, without the lock. It may read what
// the first step has loaded, since nothing changes before it has ended, and must
// write to nothing that calls under Early read.
type LoadLock struct {
	mu   sync.RWMutex
	once sync.Once
	rest func()
}

// Later sets what builds the rest. It is to be called before anybody else has the view.
func (l *LoadLock) Later(rest func()) { l.rest = rest }

// LoadRest builds the rest unless that was done, and waits for whoever does it.
func (l *LoadLock) LoadRest() { l.once.Do(l.loadRest) }

func (l *LoadLock) loadRest() {
	if l.rest != nil {
		l.rest()
		l.rest = nil // and what it holds
	}
}

// Early returns the lock itself, for calls that need only what was loaded first.
// To write under it is for the time before the first commit.
func (l *LoadLock) Early() *sync.RWMutex { return &l.mu }

// Lock takes the lock of the whole view for writing.
func (l *LoadLock) Lock() {
	l.LoadRest()
	l.mu.Lock()
}

// Unlock gives up what Lock took.
func (l *LoadLock) Unlock() { l.mu.Unlock() }

// RLock takes the lock of the whole view for reading.
func (l *LoadLock) RLock() {
	l.LoadRest()
	l.mu.RLock()
}

// RUnlock gives up what RLock took.
func (l *LoadLock) RUnlock() { l.mu.RUnlock() }
