package memory_test

import (
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

const benchText = "I prefer morning workouts in the park by the river, and I never train on the day before a long run %d"

// BenchmarkAdd writes memories, and notes of the same text, with which it is compared: without
// the indexes, which both have behind them, on disk and in memory.
func BenchmarkAdd(b *testing.B) {
	for _, where := range []struct{ name, dir string }{{"memory", kv.InMemory}, {"disk", b.TempDir()}} {
		b.Run(where.name+"/note", func(b *testing.B) {
			w := openIn(b, where.dir, memory.Limits{})
			for i := 0; b.Loop(); i++ {
				text := fmt.Sprintf(benchText, i)
				_, err := w.notes.Put(b.Context(), notes.Draft{Title: text, Body: text}, nil)
				must(b, err)
			}
		})
		if where.dir != kv.InMemory {
			where.dir = b.TempDir()
		}
		b.Run(where.name+"/memory", func(b *testing.B) {
			w := openIn(b, where.dir, memory.Limits{Bank: 1 << 30})
			for i := 0; b.Loop(); i++ {
				w.say(fmt.Sprintf(benchText, i))
			}
		})
	}
}

// BenchmarkGet reads a memory by its number among 10,000.
func BenchmarkGet(b *testing.B) {
	w := open(b, memory.Limits{Bank: 1 << 30})
	drafts := make([]memory.Draft, memory.MaxMany)
	for i := range 10 {
		for j := range drafts {
			drafts[j] = memory.Draft{Statement: fmt.Sprintf(benchText, i*len(drafts)+j)}
		}
		_, err := w.mem.Add(b.Context(), w.local, drafts)
		must(b, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := w.mem.Get(w.local, "#4711")
		must(b, err)
	}
}

// BenchmarkMany lists, counts and ranks 100,000 memories.
func BenchmarkMany(b *testing.B) {
	w := open(b, memory.Limits{Bank: 1 << 30})
	drafts := make([]memory.Draft, memory.MaxMany)
	for i := range 100 {
		for j := range drafts {
			drafts[j] = memory.Draft{Statement: fmt.Sprintf(benchText, i*len(drafts)+j)}
		}
		_, err := w.mem.Add(b.Context(), w.local, drafts)
		must(b, err)
	}
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, _, err := w.mem.List(b.Context(), w.local, memory.Filter{}, nil, 100)
			must(b, err)
		}
	})
	b.Run("stats", func(b *testing.B) {
		for b.Loop() {
			w.mem.Stats(w.local)
		}
	})
	b.Run("profile", func(b *testing.B) {
		for b.Loop() {
			w.mem.Profile(w.local, memory.MaxProfile)
		}
	})
	b.Run("add", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			w.say(fmt.Sprintf("This is new %d", i))
		}
	})
}
