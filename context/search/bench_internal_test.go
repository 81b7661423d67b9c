package search

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
)

var standard struct {
	sync.Mutex
	rooms map[int]*rooms
}

// standardIndex returns an index over n standard notes, made once in a process.
func standardIndex(b *testing.B, n int) *rooms {
	b.Helper()
	standard.Lock()
	defer standard.Unlock()
	if r := standard.rooms[n]; r != nil {
		return r
	}
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(b, err)
	r := over(b, db, Options{})
	on := searchtest.Rooms{DB: db, Entities: r.ents, Notes: r.notes}
	searchtest.PutNumbered(b, on, fixtures.StandardDocuments(n), func(d fixtures.Document) (path, body string) { return d.Path, d.Body })
	if standard.rooms == nil {
		standard.rooms = make(map[int]*rooms)
	}
	standard.rooms[n] = r
	return r
}

// BenchmarkPERF6_Search is the engine alone: the ten best for 1, 3 and 6 words.
// fixtures/peers measures the same against SQLite.
func BenchmarkPERF6_Search(b *testing.B) {
	r := standardIndex(b, searchtest.BenchmarkSize(b))
	for _, terms := range []int{1, 3, 6} {
		queries := fixtures.StandardQueries(terms, 100)
		b.Run(fmt.Sprint("terms=", terms), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				_, err := r.Search(ctx, Request{Query: queries[i%len(queries)], Plain: true, Limit: 10})
				must(b, err)
				times = append(times, time.Since(start))
				i++
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2])/1e3, "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100])/1e3, "p99-µs")
		})
	}
}

// BenchmarkPERF16_Growth is a search of 3 words among 10,000 and ten times as many.
func BenchmarkPERF16_Growth(b *testing.B) {
	for _, n := range []int{searchtest.BenchmarkSize(b) / 10, searchtest.BenchmarkSize(b)} {
		r := standardIndex(b, n)
		queries := fixtures.StandardQueries(3, 100)
		b.Run(fmt.Sprint("notes=", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				_, err := r.Search(ctx, Request{Query: queries[i%len(queries)], Plain: true, Limit: 10})
				must(b, err)
				i++
			}
		})
	}
}

// BenchmarkAsked is a search as a client asks for it, with snippets, by the last
// word still being typed, by a phrase, and with a filter.
func BenchmarkAsked(b *testing.B) {
	r := standardIndex(b, searchtest.BenchmarkSize(b))
	for name, req := range map[string]Request{
		"words":   {Query: fixtures.StandardQueries(3, 1)[0] + " ", Limit: 10, Snippets: true},
		"prefix":  {Query: "sha", Limit: 10},
		"letter":  {Query: "s", Limit: 10},
		"phrase":  {Query: `"` + fixtures.StandardQueries(2, 1)[0] + `"`, Limit: 10},
		"mistake": {Query: "prosqa prosza", Limit: 10},
		"filter":  {Query: fixtures.StandardQueries(3, 1)[0] + " ", Limit: 10, Keep: r.chosen(notes.SearchFilter{Folder: []string{"folder-07"}})},
		"explain": {Query: fixtures.StandardQueries(3, 1)[0], Limit: 10, Explain: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := r.Search(ctx, req)
				must(b, err)
			}
		})
	}
}
