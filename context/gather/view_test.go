package gather_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// metered is a store that counts what is allocated in its Views, for which commits wait.
type metered struct {
	*kv.Store
	inside uint64         // bytes
	left   func(view int) // called behind each View with its number; may be nil
	views  int
}

func (m *metered) View(ctx context.Context, fn func(*kv.Tx) error) error {
	var before, after runtime.MemStats
	err := m.Store.View(ctx, func(tx *kv.Tx) error {
		runtime.ReadMemStats(&before)
		defer runtime.ReadMemStats(&after)
		return fn(tx)
	})
	m.inside += after.TotalAlloc - before.TotalAlloc
	m.views++
	if m.left != nil {
		m.left(m.views)
	}
	return err
}

// gathererOver makes a gatherer over another view of the store of a world.
func (w *world) gathererOver(m *metered) *gather.Gatherer {
	return gather.Open(m, w.rooms, gather.Options{NewSecret: func() []byte { return []byte("thirty-two bytes for all of them") }})
}

// texts fills a world with an entity and a note whose texts are made of a part that
// comes again and again, beside something private, and returns what asks for both.
func (w *world) texts(t testing.TB, part string, size int) gather.Params {
	t.Helper()
	const inFields = 150 << 10 // what an entity can hold of it
	long := func(n int) string { return "[[Secret]] " + strings.Repeat(part, n/len(part)) }
	fields := []entities.Field{{Name: "text", Type: "text"}}
	_, _, err := w.ents.PutType(ctx, entities.Type{Name: "Thing", Fields: fields}, nil, false)
	if err == nil {
		_, err = w.notes.Put(ctx, notes.Draft{ID: "secret", Title: "Secret", Private: true}, nil)
	}
	if err == nil {
		_, err = w.notes.Put(ctx, notes.Draft{ID: "long", Title: "Long", Body: long(size)}, nil)
	}
	if err == nil {
		_, err = w.ents.Put(ctx, entities.Entity{
			ID: "thing", Type: "Thing", Name: "Thing", Fields: entities.Values{"text": long(min(size, inFields))},
		}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.index.Size() // waits for the words of the note, which are made in the background
	return gather.Params{MentionedNoteIDs: []string{"long"}, MentionedEntityIDs: []string{"thing"}}
}

// TestREL7_NoTextIsReadInAView shows by what is allocated that a View, for which all
// writes wait, does not take longer because the texts of a prompt do.
func TestREL7_NoTextIsReadInAView(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, part := range []string{"<a href=xxxx", "](", "a.md ", "[[a]] ", "[a][b] "} {
		for _, reader := range []string{gather.Remote, gather.Local} {
			t.Run(fmt.Sprintf("%q for %s", part, reader), func(t *testing.T) {
				var inside []uint64
				for _, size := range []int{16 << 10, 512 << 10} {
					w := newWorld(t)
					p := w.texts(t, part, size)
					p.Audience = reader
					m := &metered{Store: w.db}
					res, err := w.assembled(ctx, w.gathererOver(m), p)
					if err != nil {
						t.Fatal(err)
					}
					if reader == gather.Remote && strings.Contains(res.System, "Secret") {
						t.Errorf("the prompt names the private note: %.300s", res.System)
					}
					inside = append(inside, m.inside)
				}
				const noise = 32 << 10 // of what else runs in the process
				if inside[1] > inside[0]+noise {
					t.Errorf("with long texts %d bytes were allocated in the View, with short ones %d", inside[1], inside[0])
				}
			})
		}
	}
}

// TestPRIV4_WhatWasPrivateWhileAPromptIsMadeStaysPrivate renames a private note, between the moment at which a prompt finds its notes and that at which
// their texts are looked through for private names.
func TestPRIV4_WhatWasPrivateWhileAPromptIsMadeStaysPrivate(t *testing.T) {
	rename := func(w *world, view int) error {
		_, err := w.notes.Put(ctx, notes.Draft{ID: "secret", Title: fmt.Sprint("Other ", view), Private: true}, nil)
		return err
	}
	for name, c := range map[string]struct {
		change func(w *world, view int) error
		until  int // the number of the last View that it follows
		texts  bool
	}{
		"renamed once":   {rename, 1, true},
		"always renamed": {rename, 1 << 30, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.texts(t, "word ", 1<<10)
			p.MentionedEntityIDs, p.Audience = nil, gather.Remote
			m := &metered{Store: w.db}
			m.left = func(view int) {
				if view > c.until {
					return
				}
				err := c.change(w, view)
				if err != nil {
					t.Error(err)
				}
			}
			res, err := w.assembled(ctx, w.gathererOver(m), p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(res.System, "word"); got != c.texts {
				t.Errorf("the prompt shows the text: %v, want %v", got, c.texts)
			}
			skipped := slices.ContainsFunc(res.Report.Stages, func(s prompt.Stage) bool { return s.Name == "notes" && s.Skipped })
			if skipped == c.texts {
				t.Errorf("the report says that texts were left out: %v", skipped)
			}
		})
	}
}

// ending is a context that ends after it was looked at a number of times.
type ending struct {
	context.Context
	looks, end int
}

func (e *ending) Err() error {
	e.looks++
	if e.looks > e.end {
		return context.Canceled
	}
	return nil
}

// TestREL8_AssemblyEndsWhereverItIsWithdrawn ends the context of an assembly at each of
// the places where it is looked at.
func TestREL8_AssemblyEndsWhereverItIsWithdrawn(t *testing.T) {
	w := newWorld(t)
	p := w.texts(t, "[[a]] ", 64<<10)
	p.Audience = gather.Remote
	whole := &ending{Context: ctx, end: 1 << 30}
	_, err := w.assembled(whole, w.fresh(), p)
	if err != nil {
		t.Fatal(err)
	}
	for end := range whole.looks {
		e := &ending{Context: ctx, end: end}
		_, err := w.assembled(e, w.fresh(), p)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("withdrawn at look %d of %d: %v", end, whole.looks, err)
		}
		const more = 8 // looks on the way out
		if e.looks > end+more {
			t.Errorf("withdrawn at look %d, it was looked at %d times more", end, e.looks-end)
		}
	}
}
