package gather_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/notes"
)

// late is a search that finds nothing until nobody waits for it, and notes how long it might wait for the vector of its question.
type late struct{ waits []time.Duration }

func (l *late) Search(ctx context.Context, _ *audience.View, r recall.Request) (*recall.Result, error) {
	l.waits = append(l.waits, r.Wait)
	if _, ok := ctx.Deadline(); !ok {
		return &recall.Result{}, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestCTX46_WhatIsLateIsNamed: a search that takes longer than the call allows is left out, and the report says so; all else is
// there.
func TestCTX46_WhatIsLateIsNamed(t *testing.T) {
	w := newWorld(t)
	if _, err := w.notes.Put(ctx, notes.Draft{ID: "n", Title: "Plan", Body: "It begins in May."}, nil); err != nil {
		t.Fatal(err)
	}
	mem, err := memory.Open(w.db, memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	find := &late{}
	for _, c := range []struct {
		standard time.Duration
		asked    int
		late     string // "" for none
	}{
		{0, 0, ""},
		{0, 20, "20ms"},
		{40 * time.Millisecond, 0, "40ms"},
		{time.Hour, 20, "20ms"},
	} {
		find.waits = nil
		g := gather.Open(w.db, w.rooms, gather.Options{Memories: mem, Finder: find, Deadline: c.standard})
		res, err := w.assembled(ctx, g, gather.Params{Text: "when does [[Plan]] begin?", Memories: 3, Passages: 2, DeadlineMS: c.asked})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(res.System, "It begins in May.") {
			t.Errorf("%+v: %s", c, res.System)
		}
		for _, name := range []string{"memories", "passages"} {
			why := ""
			for _, st := range res.Report.Stages {
				if st.Name == name {
					why = st.Why
				}
			}
			if late := strings.HasPrefix(why, prompt.TookLonger); late != (c.late != "") || late && why != prompt.TookLonger+c.late {
				t.Errorf("%+v: %s: %q", c, name, why)
			}
		}
		if c.late != "" && (find.waits[0] <= 0 || len(find.waits) != 2) {
			t.Errorf("%+v: %v", c, find.waits)
		}
	}
	for _, bad := range []int{-1, prompt.MaxDeadlineMS + 1} {
		if _, err := w.assembled(ctx, w.gather, gather.Params{Text: "x", DeadlineMS: bad}); err == nil || !strings.Contains(err.Error(), "deadlineMs") {
			t.Errorf("%d: %v", bad, err)
		}
	}
}
