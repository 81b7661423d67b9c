package gather_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

var person = entities.Type{Name: "P", Fields: []entities.Field{
	{Name: "role", Type: entities.Text},
	{Name: "boss", Type: entities.EntityRef},
	{Name: "team", Type: entities.EntityRefList},
	{Name: "note", Type: entities.NoteRef},
	{Name: "reports", Type: entities.Computed, Query: "SELECT p FROM P WHERE p.boss = {this}"},
	{Name: "young", Type: entities.Computed, Query: "SELECT p FROM P WHERE p.role = 'old' AND p.createdAt < today()"},
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
				unlessMissing(second(w.ents.Trash(ctx, who, nil)))
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
				got, err := w.gather.Assemble(ctx, p)
				must(err)
				want, err := w.fresh().Assemble(ctx, p)
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

// BenchmarkAssemble assembles 5 mentions over 20,000 entities of 8 fields, 2 of
// them references, with the default budgets (CTX-35).
func BenchmarkAssemble(b *testing.B) {
	w := newWorld(b)
	typ := entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "role", Type: entities.Text},
		{Name: "email", Type: entities.Email},
		{Name: "level", Type: entities.Number},
		{Name: "since", Type: entities.Date},
		{Name: "remote", Type: entities.Boolean},
		{Name: "skills", Type: entities.TextList},
		{Name: "boss", Type: entities.EntityRef},
		{Name: "team", Type: entities.EntityRefList},
	}}
	if _, _, err := w.ents.PutType(ctx, typ, nil, false); err != nil {
		b.Fatal(err)
	}
	const n = 20_000
	var list []entities.Entity
	for i := range n {
		list = append(list, entities.Entity{
			ID: fmt.Sprintf("person-%05d", i), Type: "P", Name: fmt.Sprintf("Person Number %05d", i), Fields: entities.Values{
				"role": "Engineer of the third class", "email": fmt.Sprintf("p%d@example.org", i), "level": float64(i % 10),
				"since": "2020-02-03", "remote": i%2 == 0, "skills": []string{"Go", "SQL", "soldering"},
				"boss": fmt.Sprintf("person-%05d", (i*7+1)%n),
				"team": []string{fmt.Sprintf("person-%05d", (i*11+3)%n), fmt.Sprintf("person-%05d", (i*13+5)%n), fmt.Sprintf("person-%05d", (i*17+9)%n)},
			},
		})
		if len(list) == 1000 {
			if _, err := w.ents.PutMany(ctx, list); err != nil {
				b.Fatal(err)
			}
			list = list[:0]
		}
	}
	for _, c := range []struct {
		name string
		p    gather.Params
	}{
		{"ids", gather.Params{MentionedEntityIDs: []string{"person-00010", "person-04000", "person-09000", "person-15000", "person-19000"}}},
		{"text", gather.Params{Text: "What do @Person Number 00010, @Person Number 04000, @Person Number 09000, @Person Number 15000 and @Person Number 19000 share?"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				res, err := w.gather.Assemble(context.Background(), c.p)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(res.Report.Chars), "chars")
				b.ReportMetric(float64(len(res.Report.Dropped)), "dropped")
			}
		})
	}
}
