package words_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/words"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// largeWrite is how much text a call can bring.
const largeWrite = 14_500_000

// BenchmarkLargeWrite writes as much text as a call can bring, in scripts that are split in
// different ways, and says how long the part of the index in the commit takes (turn-ms),
// how long another writer waits at most for a small note meanwhile (other-ms), and how long
// the write takes as a whole. In no script shall it be more than five times what it is in
// English.
func BenchmarkLargeWrite(b *testing.B) {
	for _, c := range searchtest.Scripts {
		for _, notes := range []int{4, 500} {
			b.Run(fmt.Sprintf("%s/%d", c.Name, notes), func(b *testing.B) { benchLargeWrite(b, c, notes) })
		}
	}
}

func benchLargeWrite(b *testing.B, in searchtest.Script, count int) {
	var turn, other, whole time.Duration
	for b.Loop() {
		b.StopTimer()
		drafts := largeDrafts(in, count)
		ctx := context.Background()
		db, err := kv.Open(kv.InMemory, kv.Options{Format: 2, SnapshotAfter: -1})
		if err != nil {
			b.Fatal(err)
		}
		ents, err := entities.Open(db, entities.Options{})
		if err != nil {
			b.Fatal(err)
		}
		ns, err := notes.Open(db, ents, notes.Options{})
		if err != nil {
			b.Fatal(err)
		}
		accepted := make(chan struct{}, 1)
		db.OnPrepare(func(cs *kv.ChangeSet) {
			if len(cs.Changes) == count {
				accepted <- struct{}{}
			}
		})
		var began time.Time
		db.OnCommit(func(*kv.ChangeSet) { began = time.Now() })
		words.Open(db, notedoc.New(ns, notedoc.Options{}), words.Options{})
		db.OnCommit(func(cs *kv.ChangeSet) {
			if len(cs.Changes) == count {
				turn += time.Since(began)
			}
		})
		b.StartTimer()
		start := time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := ns.PutMany(ctx, drafts)
			done <- err
		}()
		<-accepted
		asked := time.Now()
		_, err = ns.Put(ctx, notes.Draft{Body: "A small note."}, nil)
		other += time.Since(asked)
		if err != nil {
			b.Fatal(err)
		}
		err = <-done
		if err != nil {
			b.Fatal(err)
		}
		whole += time.Since(start)
		b.StopTimer()
		err = db.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	perLoop := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(perLoop(turn), "turn-ms")
	b.ReportMetric(perLoop(other), "other-ms")
	b.ReportMetric(perLoop(whole), "write-ms")
}

// largeDrafts are so many notes in a script.
func largeDrafts(in searchtest.Script, count int) (drafts []notes.Draft) {
	for i := range count {
		body := fmt.Sprintf("# Note %d\n\n", i) + in.Text(largeWrite/count, uint64(i))
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Body: body})
	}
	return drafts
}
