package searchtest

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// T is a test of any kind: testing.TB, or a check of package rapid.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Must ends a test that met an error.
func Must(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience is how long Until waits: nothing that comes takes so long.
const patience = 2 * time.Minute

// Until waits for what comes by itself.
func Until(t T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// Rooms are what an index of notes stands on.
type Rooms struct {
	DB       *kv.Store
	Entities *entities.Store
	Notes    *notes.Store
}

// Open opens a store in a folder, or in memory, until the end of a test.
func Open(t testing.TB, dir string) *kv.Store {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	Must(t, err)
	t.Cleanup(func() { Must(t, db.Close()) })
	return db
}

// Over opens the rooms of a store.
func Over(t T, db *kv.Store, opts notes.Options) Rooms {
	t.Helper()
	ents, err := entities.Open(db, entities.Options{})
	Must(t, err)
	ns, err := notes.Open(db, ents, opts)
	Must(t, err)
	return Rooms{db, ents, ns}
}

// Put writes notes, one after the other.
func (r Rooms) Put(t T, drafts ...notes.Draft) {
	t.Helper()
	for _, d := range drafts {
		_, err := r.Notes.Put(context.Background(), d, nil)
		Must(t, err)
	}
}

// PutNumbered writes notes out of what is to be read so, many at a time, of the ids n0, n1
// and so on.
func PutNumbered[D any](t T, r Rooms, all iter.Seq[D], read func(D) (path, body string)) {
	t.Helper()
	var drafts []notes.Draft
	count := 0
	write := func() {
		_, err := r.Notes.PutMany(context.Background(), drafts)
		Must(t, err)
		drafts = drafts[:0]
	}
	for d := range all {
		path, body := read(d)
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", count), Path: path, Body: body})
		count++
		if len(drafts) == entities.MaxMany {
			write()
		}
	}
	write()
	there, _, _ := r.Notes.Count()
	if there != count {
		t.Fatalf("%d notes, want %d", there, count)
	}
}

// BenchmarkSize is how many notes a benchmark has: CTXD_BENCH_NOTES makes it another number.
func BenchmarkSize(b *testing.B) int {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("CTXD_BENCH_NOTES"))
	if err == nil {
		return n
	}
	if testing.Short() {
		return 1000
	}
	return 100_000
}
