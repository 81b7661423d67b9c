package search

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

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
	var drafts []notes.Draft
	i := 0
	for d := range fixtures.StandardDocuments(n) {
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Path: d.Path, Body: d.Body})
		if i++; len(drafts) == 1000 {
			_, err := r.notes.PutMany(ctx, drafts)
			must(b, err)
			drafts = drafts[:0]
		}
	}
	_, err = r.notes.PutMany(ctx, drafts)
	must(b, err)
	if count, _, _ := r.notes.Count(); count != n {
		b.Fatalf("%d notes, want %d", count, n)
	}
	if standard.rooms == nil {
		standard.rooms = make(map[int]*rooms)
	}
	standard.rooms[n] = r
	return r
}

// sizeOf is how many notes the benchmarks have: CTXD_BENCH_NOTES makes it
// another number.
func sizeOf(b *testing.B) int {
	b.Helper()
	if n, err := strconv.Atoi(os.Getenv("CTXD_BENCH_NOTES")); err == nil {
		return n
	}
	if testing.Short() {
		return 1000
	}
	return 100_000
}

// BenchmarkPERF6_Search is the engine alone: the ten best for 1, 3 and 6 words.
// fixtures/peers measures the same against SQLite.
func BenchmarkPERF6_Search(b *testing.B) {
	r := standardIndex(b, sizeOf(b))
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
	for _, n := range []int{sizeOf(b) / 10, sizeOf(b)} {
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
	r := standardIndex(b, sizeOf(b))
	for name, req := range map[string]Request{
		"words":   {Query: fixtures.StandardQueries(3, 1)[0] + " ", Limit: 10, Snippets: true},
		"prefix":  {Query: "sha", Limit: 10},
		"letter":  {Query: "s", Limit: 10},
		"phrase":  {Query: `"` + fixtures.StandardQueries(2, 1)[0] + `"`, Limit: 10},
		"mistake": {Query: "prosqa prosza", Limit: 10},
		"filter":  {Query: fixtures.StandardQueries(3, 1)[0] + " ", Limit: 10, Filter: notes.SearchFilter{Folder: []string{"folder-07"}}},
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

// BenchmarkApply is what the index adds to the commit of one changed note.
func BenchmarkApply(b *testing.B) {
	r := standardIndex(b, sizeOf(b))
	n := r.notes.Get("n5")
	other := *n
	other.Body += "\nLooked at again."
	turn := []*notes.Note{&other, n}
	i := 0
	for b.Loop() {
		r.takeAll(r.readAll([]change{{id: n.ID, now: turn[i%2], was: r.held(n.ID)}}, 1))
		i++
	}
	_, err := r.notes.Get("n5"), error(nil)
	must(b, err)
}

// BenchmarkMemory reports what the index takes beside the texts.
func BenchmarkMemory(b *testing.B) {
	r := standardIndex(b, sizeOf(b))
	_, _, texts := r.notes.Count()
	postings, blockCount, data := 0, 0, 0
	for i := range r.x.lists {
		postings += r.x.lists[i].docs()
		for _, bl := range r.x.lists[i].blocks() {
			blockCount++
			data += cap(bl.data)
		}
	}
	var with, without runtime.MemStats
	for b.Loop() {
		runtime.GC()
	}
	runtime.ReadMemStats(&with)
	r.Index.x, r.Index.number, r.Index.docs = newInverted(stemEnglish), nil, nil
	delete(standard.rooms, sizeOf(b))
	runtime.GC()
	runtime.ReadMemStats(&without)
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/float64(texts), "index/text")
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/(1<<20), "index-MiB")
	b.ReportMetric(float64(data)/float64(postings), "B/posting")
	b.ReportMetric(float64(postings)/float64(blockCount), "postings/block")
}
