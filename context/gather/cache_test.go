package gather_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

var person = entities.Type{Name: "P", Fields: []entities.Field{
	{Name: "role", Type: record.Text},
	{Name: "boss", Type: record.EntityRef},
	{Name: "team", Type: record.EntityRefList},
	{Name: "note", Type: record.NoteRef},
	{Name: "reports", Type: record.Computed, Query: "SELECT p FROM P WHERE p.boss = {this}"},
	{Name: "young", Type: record.Computed, Query: "SELECT p FROM P WHERE p.role = 'old' AND p.createdAt < today()"},
}}

// TestCachedBlocksAreNeverStale changes a store at random and compares the
// prompts of a gatherer that keeps blocks with those of one that has none.
func TestCachedBlocksAreNeverStale(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		unlessMissing := func(err error) {
			if err != nil && fault.KindOf(err) != fault.NotFound {
				rt.Fatal(err)
			}
		}
		_, _, err := w.ents.PutType(ctx, person, nil, false)
		must(err)
		ids := []string{"a", "b", "c", "d"}
		id := rapid.SampledFrom(append(ids, "ghost"))
		for i := range rapid.IntRange(1, 20).Draw(rt, "steps") {
			who := rapid.SampledFrom(ids).Draw(rt, "who")
			switch rapid.IntRange(0, 8).Draw(rt, "op") {
			case 0:
				unlessMissing(second(w.ents.Archive(ctx, who, nil)))
			case 1:
				unlessMissing(second(w.ents.Restore(ctx, who, nil)))
			case 2:
				unlessMissing(second(w.ents.Delete(ctx, who, nil)))
			case 3:
				_, err := w.notes.Put(ctx, notes.Draft{ID: "n" + who, Title: fmt.Sprint("N ", i), Private: i%3 == 0}, nil)
				must(err)
			case 4:
				unlessMissing(second(w.notes.Archive(ctx, "n"+who, nil)))
			case 5:
				w.now = w.now.Add(24 * time.Hour)
			case 6:
				typ := person
				typ.Fields = typ.Fields[:rapid.IntRange(1, len(person.Fields)).Draw(rt, "fields")]
				_, _, err := w.ents.PutType(ctx, typ, nil, true)
				must(err)
			default:
				fields := entities.Values{
					"role": rapid.SampledFrom([]string{"old", "new"}).Draw(rt, "role"), "boss": id.Draw(rt, "boss"),
					"team": rapid.SliceOfN(id, 0, 3).Draw(rt, "team"), "note": "n" + id.Draw(rt, "note"),
				}
				for name := range fields {
					if _, ok := w.ents.Type("P").Field(name); !ok {
						delete(fields, name)
					}
				}
				_, err := w.ents.Put(ctx, entities.Entity{ID: who, Type: "P", Name: fmt.Sprint("E", i), Fields: fields, Private: i%5 == 4}, nil)
				must(err)
			}
			for _, audience := range []string{gather.Local, gather.Remote} {
				p := gather.Params{MentionedEntityIDs: ids, Audience: audience}
				got, err := w.assembled(ctx, w.gather, p)
				must(err)
				want, err := w.assembled(ctx, w.fresh(), p)
				must(err)
				if got.System != want.System {
					rt.Fatalf("after step %d the %s prompt is\n%s\nwhere a fresh one is\n%s", i, audience, got.System, want.System)
				}
				if got.Report.Chars > prompt.DefaultBudgets.Total {
					rt.Fatal("over budget")
				}
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestUnrelatedCommitsKeepBlocks: a block is rendered again only when something
// that it shows has changed, computed fields included.
func TestUnrelatedCommitsKeepBlocks(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "mail", Type: record.Email},
		{Name: "boss", Type: record.EntityRef},
		{Name: "reports", Type: record.Computed, Query: "SELECT p FROM P WHERE p.boss = {this}"},
	}})
	w.mustType(t, entities.Type{Name: "Q"})
	w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann", Fields: entities.Values{"mail": "ann@example.org"}})
	w.mustPut(t, entities.Entity{ID: "b", Type: "P", Name: "Bob", Fields: entities.Values{"boss": "a"}})
	zero := 0
	for _, audience := range []string{gather.Local, gather.Remote} {
		p := gather.Params{MentionedEntityIDs: []string{"a"}, MaxDepth: &zero, Audience: audience}
		rendered := func(change func()) int64 {
			t.Helper()
			w.assemble(t, p)
			before := w.gather.Rendered()
			change()
			w.assemble(t, p)
			return w.gather.Rendered() - before
		}
		for name, c := range map[string]struct {
			change func()
			want   int64
		}{
			"another type": {func() { w.mustPut(t, entities.Entity{ID: "q", Type: "Q", Name: "Q"}) }, 0},
			"a note":       {func() { w.mustNote(t, notes.Draft{ID: "n", Title: "N"}) }, 0},
			"the entity": {func() {
				w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann", Fields: entities.Values{"mail": "ann@example.org"}})
			}, 1},
			"what a query gives": {func() {
				w.mustPut(t, entities.Entity{ID: "c", Type: "P", Name: "Cyd " + audience, Fields: entities.Values{"boss": "a"}})
			}, 1},
			"a name that it shows": {func() {
				w.mustPut(t, entities.Entity{ID: "b", Type: "P", Name: "Bo " + audience, Fields: entities.Values{"boss": "a"}})
			}, 1},
		} {
			if got := rendered(c.change); got != c.want {
				t.Errorf("%s: %d blocks are rendered after a change of %s, want %d", audience, got, name, c.want)
			}
		}
	}
}
