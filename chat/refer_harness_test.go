package chat_test

import (
	"context"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// referWorld is a store of notes with the Views of both readers.
type referWorld struct {
	testing.TB
	db            *kv.Store
	notes         *notes.Store
	local, remote *audience.View
}

func openReferences(t testing.TB) *referWorld {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	mustRefer(t, err)
	t.Cleanup(func() { _ = db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	mustRefer(t, err)
	ns, err := notes.Open(db, ents, notes.Options{})
	mustRefer(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	return &referWorld{TB: t, db: db, notes: ns, local: rooms.View(audience.Local), remote: rooms.View(audience.Remote)}
}

func (w *referWorld) put(d notes.Draft) {
	w.Helper()
	_, err := w.notes.Put(context.Background(), d, nil)
	mustRefer(w, err)
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
func (w *referWorld) links(v *audience.View, text string) []chat.Reference {
	list, _ := chat.NewReferenceReader(context.Background(), v, body).Links(text)
	return list
}

// shown shows references of a text to a reader.
func shown(v *audience.View, list []chat.Reference, text string) []record.ChatReference {
	_, places := v.Masked(text)
	return chat.RenderReferences(v, list, &chat.RenderedMessage{Content: text, Places: places}, func(string) int64 { return 0 })
}

func mustRefer(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
