package words

import (
	"runtime"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
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

// BenchmarkApply is what the index adds to the commit of one changed note.
func BenchmarkApply(b *testing.B) {
	r := standardIndex(b, searchtest.BenchmarkSize(b))
	n := r.notes.Get("n5")
	other := *n
	other.Body += "\nLooked at again."
	turn := []text.Doc{notedoc.Of(&other), notedoc.Of(n)}
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
	r := standardIndex(b, searchtest.BenchmarkSize(b))
	_, _, texts := r.notes.Count()
	postings, blockCount, data := 0, 0, 0
	for i := range r.x.lists {
		postings += r.x.lists[i].Docs()
		for _, bl := range r.x.lists[i].Blocks() {
			blockCount++
			data += cap(bl.Data)
		}
	}
	var with, without runtime.MemStats
	for b.Loop() {
		runtime.GC()
	}
	runtime.ReadMemStats(&with)
	r.Index.x, r.Index.number, r.Index.docs = newInverted(text.StemEnglish), nil, nil
	delete(standard.rooms, searchtest.BenchmarkSize(b))
	runtime.GC()
	runtime.ReadMemStats(&without)
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/float64(texts), "index/text")
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/(1<<20), "index-MiB")
	b.ReportMetric(float64(data)/float64(postings), "B/posting")
	b.ReportMetric(float64(postings)/float64(blockCount), "postings/block")
}
