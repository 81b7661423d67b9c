package exchange_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/exchange"
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
	notes         *notes.Store
	mem           *memory.Store
	local, remote *audience.View
	now           time.Time
	ids           int
	prefix        string // of new ids
	machine       string // of a shared store
}

func open(t testing.TB) *world {
	t.Helper()
	return limited(t, memory.Limits{})
}

func limited(t testing.TB, limits memory.Limits) *world {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	w := &world{TB: t, db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), prefix: "m"}
	ents, err := entities.Open(db, entities.Options{})
	must(t, err)
	w.notes, err = notes.Open(db, ents, notes.Options{})
	must(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.mem, err = memory.Open(db, memory.Options{
		Now: func() time.Time { return w.now }, Limits: limits,
		NewID:  func() string { w.ids++; return fmt.Sprintf("%s%03d", w.prefix, w.ids) },
		Source: noteState, Entity: entities.EntityRecords.Has, Machine: func() string { return w.machine },
	})
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

func (w *world) add(d memory.Draft) *record.Memory {
	w.Helper()
	list, err := w.mem.Add(w.Context(), w.local, []memory.Draft{d})
	must(w, err)
	return list[0].Memory
}

func (w *world) list() []*record.Memory {
	w.Helper()
	list, _, _, err := w.mem.List(w.Context(), w.local,
		memory.Filter{Status: record.MemoryStatuses, Sort: memory.ByCreated}, nil, 1e6)
	must(w, err)
	return list
}

// export returns what an export writes.
func (w *world) export(format string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), "out")
	out, err := exchange.Export(w.Context(), w.mem, w.local, path, exchange.ExportOptions{Format: format})
	must(w, err)
	text, err := os.ReadFile(path)
	must(w, err)
	if out.Bytes != int64(len(text)) {
		w.Errorf("the export says %d bytes, the file has %d", out.Bytes, len(text))
	}
	return string(text)
}

func (w *world) file(text string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), "in")
	must(w, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// take imports a text, after a dry run that must say the same and write nothing.
func (w *world) take(text string) *record.MemoryImported {
	w.Helper()
	path := w.file(text)
	before := w.db.Seq()
	dry, err := exchange.Import(w.Context(), w.mem, w.local, path, exchange.ImportOptions{DryRun: true})
	must(w, err)
	if w.db.Seq() != before {
		w.Error("a dry run wrote something")
	}
	out, err := exchange.Import(w.Context(), w.mem, w.local, path, exchange.ImportOptions{})
	must(w, err)
	dry.DryRun = false
	if a, b := fmt.Sprintf("%+v", *dry), fmt.Sprintf("%+v", *out); a != b {
		w.Errorf("the dry run said\n%s, and it was\n%s", a, b)
	}
	w.sound()
	return out
}

// refused imports a text that is refused as a whole.
func (w *world) refused(text string, kind fault.Kind, field string) {
	w.Helper()
	_ = w.refusal(text, kind, field) // which has looked at it
}

// refusal is refused, and returns the error.
func (w *world) refusal(text string, kind fault.Kind, field string) *fault.Error {
	w.Helper()
	before := w.db.Seq()
	_, err := exchange.Import(w.Context(), w.mem, w.local, w.file(text), exchange.ImportOptions{})
	var f *fault.Error
	if fault.KindOf(err) != kind || !errors.As(err, &f) || f.Field != field {
		w.Fatalf("error %v; want %v of field %q", err, kind, field)
	}
	if w.db.Seq() != before {
		w.Error("what was refused wrote something")
	}
	return f
}

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

func ptr[T any](v T) *T { return &v }
