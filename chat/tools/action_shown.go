package tools

import (
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// ExpiredActions remember which actions were found expired: whatever the clock says later, they are. The zero value is ready,
// and safe for concurrent use.
type ExpiredActions struct {
	mu    sync.Mutex
	known map[string]bool // by id
}

// mostLapses is how many of them are remembered.
const mostLapses = 100_000

// Over reports whether the time of an action is over. One for which more than two days are left was proposed by a
// clock that stood in the future: nobody knows how old it is.
func (l *ExpiredActions) Over(a *record.ChatAction, now time.Time) bool {
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
	if len(l.known) < mostLapses {
		l.known[a.ID] = true
	}
	return true
}

// RenderActions makes of the actions of a message what a reader is shown of them. Those whose time is over are expired, also
// where nobody has stored that.
func RenderActions(v *audience.View, list []record.ChatAction, l *ExpiredActions, now func() time.Time) {
	for i := range list {
		a := &list[i]
		if l.Over(a, now()) {
			a.Status = record.ActionExpired
		}
		a.Names = NamesIn(v, a.Args)
		a.Args, _ = masked(v, a.Args).(map[string]any)
		a.Reason, a.Failure = v.TextOf("", a.Reason), v.TextOf("", a.Failure)
		if a.Edit != nil && v.Note(a.Edit.NoteID) == nil {
			a.Edit = nil // the note is gone, or private by now
		}
		if a.Edit != nil && a.Type == record.ProposeTask {
			edit := *a.Edit
			edit.Line = v.TextOf("", edit.Line)
			a.Edit = &edit
		}
	}
}

// NamesIn returns what the records are called whose ids are args of an action; nil for none that the reader sees.
func NamesIn(v *audience.View, args map[string]any) (names map[string]string) {
	take := func(value any) {
		id, ok := value.(string)
		if !ok {
			return
		}
		name := ""
		if e := v.Entity(id); e != nil {
			name = v.NameOf(e)
		} else if n := v.Note(id); n != nil {
			name = v.TitleOf(n)
		}
		if name == "" {
			return
		}
		if names == nil {
			names = make(map[string]string)
		}
		names[id] = name
	}
	for _, member := range []string{"entityId", "targetId", "noteId"} {
		take(args[member])
	}
	list, _ := args["entityIds"].([]any)
	for _, id := range list {
		take(id)
	}
	return names
}

// masked masks the strings of a JSON value, in place.
func masked(v *audience.View, value any) any {
	switch x := value.(type) {
	case string:
		return v.TextOf("", x)
	case []any:
		for i := range x {
			x[i] = masked(v, x[i])
		}
	case map[string]any:
		for name := range x {
			x[name] = masked(v, x[name])
		}
	}
	return value
}
