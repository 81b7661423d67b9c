package gather_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
)

// BenchmarkREF16_Handles is a completion with its labels at 100,000 handles, of which every tenth is
// private. It reports the 99th percentile as p99-µs, for what a person types after another.
func BenchmarkREF16_Handles(b *testing.B) {
	w := open(b, b)
	w.note(notes.Draft{Title: "Hidden Plan", Body: "x", Private: true})
	words := []string{"alpha", "beta", "gamma", "delta", "morning", "evening", "plan", "river", "stone", "cloud"}
	list := make([]entities.Entity, 0, 100)
	for i := range 100_000 {
		list = append(list, entities.Entity{
			Type: "person", Name: fmt.Sprintf("%s %s %d", words[i%10], words[i/10%10], i), Private: i%10 == 0,
		})
		if len(list) == cap(list) {
			_, err := w.ents.PutMany(b.Context(), list)
			w.must(err)
			list = list[:0]
		}
	}
	typed := []string{"", "a", "al", "alpha", "alpha_", "m", "morning_pl", "person", "1", "99", "plan_8", "zz", "riv", "river_stone_4"}
	for name, v := range map[string]*audience.View{"local": w.local, "remote": w.remote} {
		w.typed(v, "")
		b.Run(name, func(b *testing.B) {
			times := make([]time.Duration, 0, b.N)
			for i := range b.N {
				start := time.Now()
				_, err := w.handles.Complete(b.Context(), v, typed[i%len(typed)], nil, refs.DefaultCompletions)
				times = append(times, time.Since(start))
				w.must(err)
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100])/1e3, "p99-µs")
		})
	}
}
