package transfer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// fataler is a test or a check of rapid.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// world is a store with the rooms that conversations need, a clock, and the Views of both readers.
type world struct {
	testing.TB
	db            *kv.Store
	notes         *notes.Store
	mem           *memory.Store
	chat          *chat.Store
	exporter      *transfer.Exporter
	local, remote *audience.View
	now           time.Time
	ids           int
}

func open(t testing.TB, limits chat.Limits) *world {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	w := &world{TB: t, db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	ents, err := entities.Open(db, entities.Options{})
	must(t, err)
	w.notes, err = notes.Open(db, ents, notes.Options{})
	must(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	clock := func() time.Time { return w.now }
	id := func() string { w.ids++; return fmt.Sprintf("r%d", w.ids) }
	pins := new(chat.Pins)
	w.mem, err = memory.Open(db, memory.Options{
		Now: clock, NewID: id, HandleTaken: chat.HasHandle, Conversation: chat.State,
		Deleted: pins.Unpin,
	})
	must(t, err)
	w.chat, err = chat.Open(db, chat.Options{
		Now: clock, NewID: id, Limits: limits,
		Pins: pins, Memories: w.mem, Remote: w.remote,
	})
	must(t, err)
	w.exporter = transfer.NewExporter(w.chat, w.mem)
	return w
}

func (w *world) say(v *audience.View, said chat.AppendRequest) *chat.Added {
	w.Helper()
	w.now = w.now.Add(time.Second)
	out, err := w.chat.Append(w.Context(), v, said)
	must(w, err)
	return out
}

func (w *world) remember(statement string, private bool) *record.Memory {
	w.Helper()
	list, err := w.mem.Add(w.Context(), w.local, []memory.Draft{{
		Statement: statement, Private: private, Handle: fmt.Sprintf("memory_%d", w.ids),
	}})
	must(w, err)
	return list[0].Memory
}

// export returns all pieces of an export, joined.
func (w *world) export(v *audience.View, ref, format string) string {
	w.Helper()
	text, err := w.tryExport(v, ref, format)
	must(w, err)
	return text
}

func (w *world) tryExport(v *audience.View, ref, format string) (string, error) {
	var b strings.Builder
	for after := (transfer.ExportCursor{}); ; {
		p, err := w.exporter.Export(w.Context(), v, ref, format, after)
		if err != nil {
			return "", err
		}
		b.WriteString(p.Text)
		if !p.More {
			return b.String(), nil
		}
		after = p.End
	}
}

func (w *world) tryTake(text string, o transfer.JSONImportOptions) (*transfer.JSONImportResult, error) {
	return transfer.ImportJSON(w.Context(), w.chat, w.local, strings.NewReader(text), int64(len(text)), o)
}

// take imports an export.
func (w *world) take(text string, o transfer.JSONImportOptions) *transfer.JSONImportResult {
	w.Helper()
	out, err := w.tryTake(text, o)
	must(w, err)
	w.sound(w)
	return out
}

// sound fails when the records of conversations do not fit together.
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

// all are the ids of all conversations.
func (w *world) all() (ids []string) {
	for _, c := range w.chat.Records() {
		ids = append(ids, c.ID)
	}
	return ids
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// refused fails unless an error is of a kind, names a field, and has a hint.
func refused(t fataler, err error, kind fault.Kind, field string) {
	t.Helper()
	var f *fault.Error
	if fault.KindOf(err) != kind || !errors.As(err, &f) || f.Field != field {
		t.Fatalf("error %v, of kind %v; want %v of field %q", err, fault.KindOf(err), kind, field)
	}
	if f.Hint == "" {
		t.Errorf("%v has no hint", err)
	}
}

func user(text string) chat.Draft { return chat.Draft{Role: record.RoleUser, Content: text} }

func answer(text string) chat.Draft {
	return chat.Draft{Role: record.RoleAssistant, Content: text}
}

func ptr[T any](v T) *T { return &v }
