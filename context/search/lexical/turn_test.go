package lexical_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/context/search/lexical"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/source"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// turn says whether a commit has its turn.
type turn struct {
	on     atomic.Bool
	in, at atomic.Int64 // texts asked for in a turn, and at all
}

// turned is a Source whose documents tell a turn when their texts are asked for.
type turned struct {
	source.Source
	*turn
}

type turnedDoc struct {
	source.Doc
	*turn
}

func (d turnedDoc) Fields(visit func(int, string) bool) {
	if d.on.Load() {
		d.in.Add(1)
	}
	d.at.Add(1)
	d.Doc.Fields(visit)
}

func (s turned) of(d source.Doc) source.Doc {
	if d == nil {
		return nil
	}
	return turnedDoc{d, s.turn}
}

func (s turned) All() iter.Seq[source.Doc] {
	return func(yield func(source.Doc) bool) {
		for d := range s.Source.All() {
			if !yield(s.of(d)) {
				return
			}
		}
	}
}

func (s turned) Get(id string) source.Doc { return s.of(s.Source.Get(id)) }

func (s turned) Changes(cs *kv.ChangeSet) []source.Change {
	list := s.Source.Changes(cs)
	for i := range list {
		list[i].Old, list[i].Now = s.of(list[i].Old), s.of(list[i].Now)
	}
	return list
}

func (s turned) Public(d source.Doc) source.Doc {
	public := s.Source.Public(d.(turnedDoc).Doc)
	if public == d.(turnedDoc).Doc {
		return d
	}
	return s.of(public)
}

// TestREL7_NoTextIsTokenisedInTheTurnOfAWriter writes small and large texts in scripts of
// all kinds, changes and deletes them: no
// commit waits for any of that.
func TestREL7_NoTextIsTokenisedInTheTurnOfAWriter(t *testing.T) {
	ctx := context.Background()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := new(turn)
	db.OnCommit(func(*kv.ChangeSet) { now.on.Store(true) })
	x := lexical.Open(db, turned{notedoc.New(ns, notedoc.Options{}), now}, lexical.Options{})
	db.OnCommit(func(*kv.ChangeSet) { now.on.Store(false) })
	finds := func(words string, want int) {
		t.Helper()
		res, err := x.Search(ctx, lexical.Query{Words: []string{words}, Limit: 1000, Keep: func(source.Doc) bool { return true }})
		if err != nil || len(res.Hits) != want {
			t.Errorf("%s finds %d, want %d (%v)", words, len(res.Hits), want, err)
		}
	}
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
				_, err = ns.PutMany(ctx, drafts)
				if err != nil {
					t.Fatal(err)
				}
				finds(word, len(drafts))
			}
			for i := range drafts {
				_, err = ns.Delete(ctx, drafts[i].ID, nil)
				if err != nil {
					t.Fatal(err)
				}
			}
			finds("first", 0)
		}
	}
	if now.in.Load() > 0 {
		t.Errorf("%d of %d texts were tokenised while a commit had its turn", now.in.Load(), now.at.Load())
	}
	if now.at.Load() < 5*2*(1+1+20+20) {
		t.Errorf("%d texts were tokenised", now.at.Load())
	}
}
