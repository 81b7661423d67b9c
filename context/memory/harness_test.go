package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// world is a store with the rooms that memories need, a clock, and the Views of both readers.
type world struct {
	testing.TB
	db            *kv.Store
	ents          *entities.Store
	notes         *notes.Store
	mem           *memory.Store
	local, remote *audience.View

	mu  sync.Mutex
	now time.Time
	ids int

	prefix string // of new ids
}

func open(t testing.TB, limits memory.Limits) *world {
	t.Helper()
	return openIn(t, kv.InMemory, limits)
}

func openIn(t testing.TB, dir string, limits memory.Limits) *world {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	must(t, err)
	return openOver(t, db, memory.Options{Limits: limits})
}

// openOver opens the rooms over a store, which is closed with the test.
func openOver(t testing.TB, db *kv.Store, opts memory.Options) *world {
	t.Helper()
	t.Cleanup(func() { _ = db.Close() })
	w := &world{TB: t, db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), prefix: "m"}
	var err error
	w.ents, err = entities.Open(db, entities.Options{})
	must(t, err)
	w.notes, err = notes.Open(db, w.ents, notes.Options{})
	must(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: w.ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	opts.Now, opts.NewID, opts.Source, opts.Entity = w.clock, w.newID, noteState, entities.EntityRecords.Has
	w.mem, err = memory.Open(db, opts)
	must(t, err)
	return w
}

func noteState(tx *kv.Tx, id string) (private, found bool, err error) {
	source, err := notes.SourceTx(tx, id)
	if err != nil {
		return false, false, err
	}
	found, err = notes.Records.Has(tx, id)
	return source.Private, found, err
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("%s%d", w.prefix, w.ids)
}

// add adds one memory for the local reader.
func (w *world) add(d memory.Draft) *record.Memory {
	w.Helper()
	list, err := w.mem.Add(w.Context(), w.local, []memory.Draft{d})
	must(w, err)
	if list[0].Duplicate {
		w.Fatalf("%q is a duplicate", d.Statement)
	}
	return list[0].Memory
}

func (w *world) say(statement string) *record.Memory {
	w.Helper()
	return w.add(memory.Draft{Statement: statement})
}

func (w *world) get(ref string) *record.Memory {
	w.Helper()
	m, err := w.mem.Get(w.local, ref)
	must(w, err)
	return m
}

// sound fails when the records of the room do not fit together.
func (w *world) sound() {
	w.Helper()
	var problems []string
	must(w, w.db.View(w.Context(), func(tx *kv.Tx) (err error) {
		problems, err = memory.Check(tx)
		return err
	}))
	if len(problems) > 0 {
		w.Errorf("problems:\n%s", strings.Join(problems, "\n"))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused fails unless an error is of a kind, and names a field if there is one.
func refused(t testing.TB, err error, kind fault.Kind, field string) {
	t.Helper()
	var f *fault.Error
	if fault.KindOf(err) != kind || !errors.As(err, &f) || f.Field != field {
		t.Fatalf("error %v, of kind %v; want %v of field %q", err, fault.KindOf(err), kind, field)
	}
	if f.Hint == "" && kind != fault.NotFound && kind != fault.Limit {
		t.Errorf("%v has no hint", err)
	}
}

func ptr[T any](v T) *T { return &v }
