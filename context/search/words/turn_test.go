package words_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/words"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// turn says whether a commit has its turn.
type turn struct {
	over   atomic.Pointer[chan struct{}] // closed at the end of the turn; nil: no commit has it
	in, at atomic.Int64                  // texts that a turn waits for, and that were asked for at all

	titled func(id string) // when the title of a document is asked for; nil: nothing
}

func (t *turn) begin(*kv.ChangeSet) {
	over := make(chan struct{})
	t.over.Store(&over)
}

func (t *turn) end(*kv.ChangeSet) { close(*t.over.Swap(nil)) }

// await returns when no commit has its turn. A turn that waits for that does not end.
func (t *turn) await() {
	over := t.over.Load()
	if over == nil || t.in.Load() > 0 {
		return
	}
	select {
	case <-*over:
	case <-time.After(10 * time.Second):
		t.in.Add(1)
	}
}

// turned is a Source whose documents give their texts when no commit has its turn.
type turned struct {
	text.Source
	*turn
}

type turnedDoc struct {
	text.Doc
	*turn
}

func (d turnedDoc) Fields(visit func(int, string) bool) {
	d.await()
	d.at.Add(1)
	d.Doc.Fields(visit)
}

func (d turnedDoc) Title() string {
	if d.titled != nil {
		d.titled(d.ID())
	}
	return d.Doc.Title()
}

func (s turned) of(d text.Doc) text.Doc {
	if d == nil {
		return nil
	}
	return turnedDoc{d, s.turn}
}

func (s turned) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for d := range s.Source.All() {
			if !yield(s.of(d)) {
				return
			}
		}
	}
}

func (s turned) Get(id string) text.Doc { return s.of(s.Source.Get(id)) }

func (s turned) Changes(cs *kv.ChangeSet) []text.Change {
	list := s.Source.Changes(cs)
	for i := range list {
		list[i].Old, list[i].Now = s.of(list[i].Old), s.of(list[i].Now)
	}
	return list
}

func (s turned) Public(d text.Doc) text.Doc {
	public := s.Source.Public(d.(turnedDoc).Doc)
	if public == d.(turnedDoc).Doc {
		return d
	}
	return s.of(public)
}

// openTurned opens a store of notes, and an index of them that tells a turn. What it returns
// beside the notes tells whether a search finds so many of them.
func openTurned(t *testing.T, now *turn) (ns *notes.Store, finds func(terms string, want int)) {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns, err = notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db.OnCommit(now.begin)
	x := words.Open(db, turned{notedoc.New(ns, notedoc.Options{}), now}, words.Options{})
	db.OnCommit(now.end)
	return ns, func(terms string, want int) {
		t.Helper()
		q := words.Query{Words: []string{terms}, Limit: 1000, Keep: func(text.Doc) bool { return true }}
		res, err := x.Search(context.Background(), q)
		if err != nil || len(res.Hits) != want {
			t.Errorf("%s finds %d, want %d (%v)", terms, len(res.Hits), want, err)
		}
	}
}

// TestREL7_NoTextIsTokenisedInTheTurnOfAWriter writes small and large texts in scripts of
// all kinds, changes and deletes them: no
// commit waits for any of that.
func TestREL7_NoTextIsTokenisedInTheTurnOfAWriter(t *testing.T) {
	ctx := context.Background()
	now := new(turn)
	ns, finds := openTurned(t, now)
	for _, said := range []string{"hives and bees ", "मधुमक्खी पालक ", "คนเลี้ยงผึ้ง", "养蜂人", "양봉가들은 "} {
		for _, size := range []struct{ notes, bytes int }{{1, 100}, {1, 300_000}, {20, 100}, {20, 20_000}} {
			var drafts []notes.Draft
			for i := range size.notes {
				drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Body: strings.Repeat(said, size.bytes/len(said))})
			}
			for _, word := range []string{"first", "second"} {
				for i := range drafts {
					drafts[i].Body += " " + word
				}
				_, err := ns.PutMany(ctx, drafts)
				if err != nil {
					t.Fatal(err)
				}
				finds(word, len(drafts))
			}
			for i := range drafts {
				_, err := ns.Delete(ctx, drafts[i].ID, nil)
				if err != nil {
					t.Fatal(err)
				}
			}
			finds("first", 0)
		}
	}
	if now.in.Load() > 0 {
		t.Error("a commit waited in its turn for a text to be tokenised")
	}
	if now.at.Load() < 5*2*(1+1+20+20) {
		t.Errorf("%d texts were tokenised", now.at.Load())
	}
}

// TestREL7_NoWriterWaitsWhileALargeWriteIsEntered stops the index amid a large write: others
// write, change and delete meanwhile, small and large, and a search finds all of that.
func TestREL7_NoWriterWaitsWhileALargeWriteIsEntered(t *testing.T) {
	ctx := context.Background()
	begun, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	now := new(turn)
	now.titled = func(id string) {
		if id == "first0" {
			first.Do(func() {
				close(begun)
				<-goOn
			})
		}
	}
	ns, finds := openTurned(t, now)
	large := func(id, word string) {
		var drafts []notes.Draft
		for i := range 20 {
			drafts = append(drafts, notes.Draft{ID: fmt.Sprint(id, i), Body: "hives and bees " + word})
		}
		_, err := ns.PutMany(ctx, drafts)
		if err != nil {
			t.Error(err)
		}
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		large("first", "colony")
		<-begun
		for i := range 50 {
			_, err := ns.Put(ctx, notes.Draft{ID: fmt.Sprint("small", i), Body: "a small note"}, nil)
			if err != nil {
				t.Error(err)
			}
		}
		large("first", "swarm") // the same notes
		for _, id := range []string{"first0", "small0"} {
			_, err := ns.Delete(ctx, id, nil)
			if err != nil {
				t.Error(err)
			}
		}
		large("second", "colony")
	}()
	select {
	case <-written:
	case <-time.After(30 * time.Second):
		t.Error("others wait until a large write is entered")
	}
	close(goOn)
	<-written
	finds("small", 49)
	finds("swarm", 19)
	finds("colony", 20)
	finds("hives", 39)
}
