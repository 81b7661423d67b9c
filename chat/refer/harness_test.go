package refer_test

import (
	"context"
	"testing"

	"github.com/ctxd/ctxd/chat/refer"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// world is a store of notes with the Views of both readers.
type world struct {
	testing.TB
	db            *kv.Store
	notes         *notes.Store
	local, remote *audience.View
}

func open(t testing.TB) *world {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	must(t, err)
	ns, err := notes.Open(db, ents, notes.Options{})
	must(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	return &world{TB: t, db: db, notes: ns, local: rooms.View(audience.Local), remote: rooms.View(audience.Remote)}
}

func (w *world) put(d notes.Draft) {
	w.Helper()
	_, err := w.notes.Put(context.Background(), d, nil)
	must(w, err)
}

// body is a Summarise that gives the whole text of a note.
func body(ctx context.Context, v *audience.View, id string) (text, source string, err error) {
	n, err := v.ShownNote(ctx, v.Note(id))
	if n == nil || err != nil {
		return "", "", err
	}
	return n.Body, n.Body, nil
}

// links reads the links of a text.
func (w *world) links(v *audience.View, text string) []refer.Reference {
	list, _ := refer.For(context.Background(), v, body).Links(text)
	return list
}

// shown shows references of a text to a reader.
func shown(v *audience.View, list []refer.Reference, text string) []record.ChatReference {
	_, places := v.Masked(text)
	return refer.Show(v, list, &refer.Message{Content: text, Places: places}, func(string) int64 { return 0 })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
