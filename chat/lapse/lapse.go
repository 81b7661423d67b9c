package lapse

import (
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

// Lapses remember which actions were found expired. The zero value knows none.
type Lapses struct {
	mu    sync.Mutex
	known map[string]bool // by id
}

// most is how many of them are remembered.
const most = 100_000

// Lapsed reports whether the time of an action is over. One for which more than two days are left was proposed by a
// clock that stood in the future: nobody knows how old it is.
func (l *Lapses) Lapsed(a *record.ChatAction, now time.Time) bool {
	if a.Status != record.ActionProposed {
		return false
	}
	if a.ExpiresAt == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[a.ID] {
		return true
	}
	if left := a.ExpiresAt.Sub(now); left > 0 && left <= 2*record.ActionTime {
		return false
	}
	if l.known == nil {
		l.known = make(map[string]bool)
	}
	if len(l.known) < most {
		l.known[a.ID] = true
	}
	return true
}
