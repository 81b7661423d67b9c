package gather_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
)

// BenchmarkPERF22 compares what the two readers pay for the same calls, over records of
// which none or every tenth is private: a prompt, and on the data of PERF-5 and PERF-6
// completions and searches. Rpc measures the same over the socket.
func BenchmarkPERF22(b *testing.B) {
	for _, every := range []int{0, 10} {
		w := audienceWorld(b, every)
		compareReaders(b, "assemble", every, func(reader audience.Reader) func(int) error {
			params := gather.Params{MentionedEntityIDs: []string{"e1", "e2", "e3", "e4", "e5"}, Audience: string(reader)}
			return func(int) error { return second(w.assembled(ctx, w.gather, params)) }
		})
		w = standardWorld(b, every)
		for _, typed := range []string{"k", "ka", "9", "kra", "kro7"} {
			compareReaders(b, "complete="+typed, every, func(reader audience.Reader) func(int) error {
				v := w.rooms.View(reader)
				return func(int) error {
					if len(v.CompleteNotes(typed, 8)) == 0 {
						return fmt.Errorf("nothing is offered")
					}
					return nil
				}
			})
		}
		for _, terms := range []int{3, 6} {
			queries := fixtures.StandardQueries(terms, 100)
			compareReaders(b, fmt.Sprintf("search=%d", terms), every, func(reader audience.Reader) func(int) error {
				v := w.rooms.View(reader)
				return func(i int) error {
					return second(v.Search(ctx, search.Request{Query: queries[i%len(queries)], Plain: true, Limit: 10}))
				}
			})
		}
	}
}

// BenchmarkPERF22_Put compares what a commit costs that makes a private note, of which the
// View and the indexes have to know who names it, with one that makes a public note, in a
// store of which a tenth is private.
func BenchmarkPERF22_Put(b *testing.B) {
	w := standardWorld(b, 10)
	i := 0
	for _, secret := range []bool{false, true} {
		b.Run(fmt.Sprintf("private=%t", secret), func(b *testing.B) {
			for b.Loop() {
				i++
				draft := notes.Draft{ID: fmt.Sprint("new", i), Title: fmt.Sprint("New note ", i), Body: "A text of some words.", Private: secret}
				_, err := w.notes.Put(ctx, draft, nil)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// compareReaders measures a call of both readers; every is that of private.
func compareReaders(b *testing.B, name string, every int, callAs func(audience.Reader) func(i int) error) {
	b.Helper()
	for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
		call := callAs(reader)
		b.Run(fmt.Sprintf("%s/private=%d%%/%s", name, 100*min(every, 1)/max(every, 1), reader), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				err := call(i)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// private says which of numbered records are private when one in every is; 0: none.
func private(i, every int) bool { return every > 0 && i%every == 7 }

// standardWorld has the standard notes, of which one in every is private. There are
// 100,000 of them, or as many as CTXD_BENCH_NOTES says.
func standardWorld(b *testing.B, every int) *world {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("CTXD_BENCH_NOTES"))
	if err != nil {
		n = 100_000
	}
	w := newWorld(b)
	var drafts []notes.Draft
	i := 0
	for d := range fixtures.StandardDocuments(n) {
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Title: d.Title, Path: d.Path, Body: d.Body, Private: private(i, every)})
		i++
		if len(drafts) == 1000 || i == n {
			_, err := w.notes.PutMany(ctx, drafts)
			if err != nil {
				b.Fatal(err)
			}
			drafts = drafts[:0]
		}
	}
	// What is hidden is found beside the first searches.
	if err := second(w.rooms.View(audience.Remote).Search(ctx, search.Request{Query: "k", Limit: 1})); err != nil {
		b.Fatal(err)
	}
	return w
}

// audienceWorld has records of which one in every is private.
func audienceWorld(b *testing.B, every int) *world {
	b.Helper()
	w := newWorld(b)
	if _, _, err := w.ents.PutType(ctx, entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "role", Type: record.Text}, {Name: "boss", Type: record.EntityRef}, {Name: "friend", Type: record.EntityRef},
	}}, nil, false); err != nil {
		b.Fatal(err)
	}
	for at := 0; at < 5000; at += 1000 {
		drafts, list := make([]notes.Draft, 1000), make([]entities.Entity, 1000)
		for i := range 1000 {
			n := at + i
			drafts[i] = notes.Draft{
				ID: fmt.Sprint("n", n), Title: fmt.Sprint("Note ", n), Private: private(n, every),
				Body: fmt.Sprintf("hive %d honey [[Note %d]] and scales %d of @Person%d", n%97, n*7%5000, n%13, n*3%5000),
			}
			list[i] = entities.Entity{ID: fmt.Sprint("e", n), Type: "P", Name: fmt.Sprint("Person", n), Private: private(n, every), Fields: entities.Values{
				"role": fmt.Sprint("keeper of hive ", n), "boss": fmt.Sprint("e", n*7%5000), "friend": fmt.Sprint("e", n*11%5000),
			}}
		}
		if _, err := w.notes.PutMany(ctx, drafts); err != nil {
			b.Fatal(err)
		}
		if _, err := w.ents.PutMany(ctx, list); err != nil {
			b.Fatal(err)
		}
	}
	return w
}
