package chat

import (
	"strings"
	"sync"

	"github.com/ctxd/ctxd/context/refs/handle"
	"github.com/ctxd/ctxd/entities/kv"
)

// counters remember with which counter something was named last, by the name that has the counter 0. That is only
// where the search for the next one begins, so that it may be forgotten, or wrong.
type counters struct {
	mu   sync.Mutex
	last map[string]int
}

// mostCounters is how many of them are remembered.
const mostCounters = 1000

func (n *counters) of(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last[name]
}

func (n *counters) set(name string, counter int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil || len(n.last) >= mostCounters {
		n.last = make(map[string]int)
	}
	n.last[name] = counter
}

// next returns a name that is free: that of the counter 0, or of one behind a counter that is taken. Names are made
// with the counters from 0 on, so that is the first free one unless something was deleted. A thousand things of one
// name are named in the time of a thousand, and not of a million: BenchmarkCHAT36_OneName.
// O(1), and O(log counter) for what was not named lately.
func (n *counters) next(called func(counter int) string, taken func(name string) (bool, error)) (string, error) {
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

// handleTaken tells inside a transaction whether anything has a handle.
func (s *Store) handleTaken(tx *kv.Tx, h string) (bool, error) {
	key := handle.Fold(h)
	taken, err := handles.Has(tx, key)
	if err != nil || taken || s.opts.HandleTaken == nil {
		return taken, err
	}
	return s.opts.HandleTaken(tx, key)
}

// callNew gives a new conversation a handle that is free, made of a title.
func (s *Store) callNew(tx *kv.Tx, c *conversation, title string) error {
	var err error
	c.Handle, err = s.counters.next(
		func(counter int) string { return handle.ForConversation(title, c.CreatedAt, counter) },
		func(h string) (bool, error) { return s.handleTaken(tx, h) })
	if err != nil {
		return err
	}
	return handles.Put(tx, handle.Fold(c.Handle), &owner{c.ID})
}

// name gives a message a hash that no other one of the conversation has. Which one a public message
// gets does not depend on private ones, which are named by what nobody can guess.
func (n *counters) name(tx *kv.Tx, c *conversation, m *message) error {
	text := m.Content
	if m.private() {
		text = m.ID + "\x00" + text
	}
	key, err := n.next(
		func(counter int) string { return nameKey(c.ID, handle.MessageHash(c.Handle, text, counter)) },
		func(key string) (bool, error) { return hashes.Has(tx, key) })
	m.Hash = strings.TrimPrefix(key, nameKey(c.ID, ""))
	return err
}

// lead stores what leads to a message.
func (m *message) lead(tx *kv.Tx, id string) error {
	p := place{Index: m.Index, Private: m.private()}
	if !m.private() {
		if err := public.Put(tx, messageKey(id, m.PublicIndex), &place{Index: m.Index}); err != nil {
			return err
		}
	}
	if m.ClientMessageID != "" {
		if err := clients.Put(tx, clientKey(m.ClientMessageID, id, m.Index), &p); err != nil {
			return err
		}
	}
	return hashes.Put(tx, nameKey(id, m.Hash), &p)
}
