package chat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// fataler is a test or a check of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a store with the rooms that chat needs, a clock, and the Views of both readers.
type world struct {
	*testing.T
	db            *kv.Store
	notes         *notes.Store
	chat          *chat.Store
	pins          chat.Pins
	memories      namedMemories // of remembering
	local, remote *audience.View
	now           time.Time
	ids           int
}

func open(t *testing.T, dir string, limits chat.Limits) *world {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	w := &world{T: t, db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	ents, err := entities.Open(db, entities.Options{})
	must(t, err)
	w.notes, err = notes.Open(db, ents, notes.Options{})
	must(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.chat, err = chat.Open(db, chat.Options{Now: func() time.Time { return w.now }, NewID: w.newID, Limits: limits})
	must(t, err)
	return w
}

func (w *world) newID() string {
	w.ids++
	return fmt.Sprintf("c%d", w.ids)
}

func (w *world) say(v *audience.View, said chat.AppendRequest) *chat.Added {
	w.Helper()
	w.now = w.now.Add(time.Second)
	out, err := w.chat.Append(w.Context(), v, said)
	must(w, err)
	w.sound(w)
	return out
}

func (w *world) get(v *audience.View, id string) *record.Conversation {
	w.Helper()
	c, err := w.chat.Get(w.Context(), v, id)
	must(w, err)
	return c
}

func (w *world) page(v *audience.View, id string, after, limit int) *chat.Page {
	w.Helper()
	p, err := w.chat.Messages(w.Context(), v, id, "", after, limit)
	must(w, err)
	return p
}

// sound fails when the records of the room do not fit together.
func (w *world) sound(t fataler) {
	t.Helper()
	var problems []string
	must(t, w.db.View(w.Context(), func(tx *kv.Tx) (err error) {
		problems, err = chat.Check(tx)
		return err
	}))
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", strings.Join(problems, "\n"))
	}
}

func user(text string) chat.Draft { return chat.Draft{Role: record.RoleUser, Content: text} }

func secret(text string) chat.Draft {
	return chat.Draft{Role: record.RoleUser, Content: text, Private: true}
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused fails unless an error is of a kind, names a field, and has a hint.
func refused(t *testing.T, err error, kind fault.Kind, field string) {
	t.Helper()
	var f *fault.Error
	if fault.KindOf(err) != kind || !errors.As(err, &f) || f.Field != field {
		t.Fatalf("error %v, of kind %v; want %v of field %q", err, fault.KindOf(err), kind, field)
	}
	if f.Hint == "" {
		t.Errorf("%v has no hint", err)
	}
}

func ptr[T any](v T) *T { return &v }
