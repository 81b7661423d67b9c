package chat

// nameCounters find a name that is free among those that differ by a counter, in a time that does not grow with how
// many are taken: handles of conversations of one title, and hashes of messages of one text.
//
// The Store calls them inside its transactions. They are safe for concurrent use, live as long as the store, and may be
// forgotten at any time.

import "sync"

// nameCounters remember with which counter something was named last, by the name that has the counter 0. That is only
// where the search for the next one begins, so that it may be forgotten, or wrong.
type nameCounters struct {
	mu   sync.Mutex
	last map[string]int
}

// mostCounters is how many of them are remembered.
const mostCounters = 1000

func (n *nameCounters) of(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last[name]
}

func (n *nameCounters) set(name string, counter int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil || len(n.last) >= mostCounters {
		n.last = make(map[string]int)
	}
	n.last[name] = counter
}

// Next returns a name that is free: that of the counter 0, or of one behind a counter that is taken. Names are made
// with the counters from 0 on, so that is the first free one unless something was deleted. A thousand things of one
// name are named in the time of a thousand, and not of a million: BenchmarkCHAT36_OneName.
// O(1), and O(log counter) for what was not named lately.
func (n *nameCounters) Next(called func(counter int) string, taken func(name string) (bool, error)) (string, error) {
	first := called(0)
	is, err := taken(first)
	if err != nil || !is {
		return first, err
	}
	low := 0 // is taken
	if last := n.of(first); last > 0 {
		if is, err = taken(called(last)); err != nil {
			return "", err
		}
		if is {
			low = last
		}
	}
	step := 1
	for {
		if is, err = taken(called(low + step)); err != nil {
			return "", err
		}
		if !is {
			break
		}
		low, step = low+step, 2*step
	}
	for free := low + step; ; {
		middle := low + (free-low)/2
		if middle == low {
			n.set(first, free)
			return called(free), nil
		}
		if is, err = taken(called(middle)); err != nil {
			return "", err
		}
		if is {
			low = middle
		} else {
			free = middle
		}
	}
}
