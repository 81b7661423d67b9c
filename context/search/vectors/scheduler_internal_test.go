package vectors

import (
	"context"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/search/searchtest"
)

// queue are indexes that wait for one embedder, or have it.
type queue struct {
	*Scheduler
	t     *testing.T
	names map[*Index]string
	ctx   context.Context
	got   chan had
}

// had is a turn that came.
type had struct {
	x    *Index
	done func()
}

func newQueue(t *testing.T, names ...string) (q *queue, all []*Index) {
	q = &queue{NewScheduler(), t, make(map[*Index]string), t.Context(), make(chan had)}
	for _, name := range names {
		x := new(Index)
		q.names[x] = name
		all = append(all, x)
	}
	return q, all
}

// wait has an index wait, and returns when it does.
func (q *queue) wait(x *Index, fresh bool) {
	q.t.Helper()
	before := q.length()
	go func() {
		done := q.take(q.ctx, x, fresh)
		q.got <- had{x, done}
	}()
	searchtest.Until(q.t, "an index waits", func() bool { return q.length() == before+1 })
}

func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// TestSRCH14_TheEmbedderGoesRound has indexes wait again as soon as they have their turn, for
// edits or for a backlog, and looks at who has it when.
func TestSRCH14_TheEmbedderGoesRound(t *testing.T) {
	for _, c := range []struct {
		name  string
		fresh string // the indexes that wait for edits, of a, b and c
		want  string
	}{
		{"backlogs alone", "", "b c a b c a b c"},
		{"edits alone", "abc", "b c a b c a b c"},
		{"one has edits: every fourth call is for a backlog", "b", "b b b c b b b a b b b"},
		{"two have edits", "bc", "b c b a c b c a b c b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, all := newQueue(t, "a", "b", "c")
			has := had{all[0], q.take(q.ctx, all[0], strings.Contains(c.fresh, "a"))}
			for _, x := range all[1:] {
				q.wait(x, strings.Contains(c.fresh, q.names[x]))
			}
			var got []string
			for range strings.Fields(c.want) {
				q.wait(has.x, strings.Contains(c.fresh, q.names[has.x]))
				has.done()
				has = <-q.got
				got = append(got, q.names[has.x])
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
			for range all[1:] {
				has.done()
				has = <-q.got
			}
			has.done()
		})
	}
}

// TestSRCH14_WhoeverHadItLastComesLast has an index wait again before another comes that had
// no turn yet.
func TestSRCH14_WhoeverHadItLastComesLast(t *testing.T) {
	q, all := newQueue(t, "a", "b")
	done := q.take(q.ctx, all[0], true)
	q.wait(all[0], true)
	q.wait(all[1], true)
	done()
	for _, want := range all[1:] {
		has := <-q.got
		if has.x != want {
			t.Errorf("%s is next", q.names[has.x])
		}
		has.done()
	}
	(<-q.got).done()
}

// TestSRCH14_WhoeverWaitsCanLeave withdraws an index that waits, and one whose turn came
// meanwhile: the others have the embedder as if it had never come.
func TestSRCH14_WhoeverWaitsCanLeave(t *testing.T) {
	q, all := newQueue(t, "a", "b", "c")
	has := q.take(q.ctx, all[0], false)
	ctx, cancel := context.WithCancel(t.Context())
	q.ctx = ctx
	q.wait(all[1], true)
	q.ctx = t.Context()
	q.wait(all[2], false)
	cancel()
	left := <-q.got
	left.done()
	if n := q.length(); n != 1 {
		t.Errorf("%d wait", n)
	}
	q.mu.Lock()
	_, served := q.served[all[1]]
	q.mu.Unlock()
	if left.x != all[1] || served {
		t.Errorf("%s left, and had been served: %t", q.names[left.x], served)
	}
	has()
	next := <-q.got
	if next.x != all[2] {
		t.Errorf("%s is next", q.names[next.x])
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	q.ctx = ended
	late := make(chan func())
	go func() { late <- q.take(ended, all[1], true) }()
	(<-late)()  // it does not wait,
	next.done() // and gives back nothing that it had not
	q.ctx = t.Context()
	q.take(q.ctx, all[0], false)()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy || len(q.waiting) > 0 {
		t.Errorf("busy %t, %d wait", q.busy, len(q.waiting))
	}
	q.mu.Unlock()
	q.leave(all[0])
	q.leave(all[2])
	q.mu.Lock()
	if len(q.served) > 0 {
		t.Errorf("%d indexes are remembered", len(q.served))
	}
}
