package notes_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREL7_ManyNamesWithSources writes notes with many names that were links: other
// writes wait for it, so what is allocated grows with their number and not faster.
func TestREL7_ManyNamesWithSources(t *testing.T) {
	for _, family := range []string{"aliases:\n- \"a%d [x]\"\n", "tags:\n- \"[[a%d]]\"\n", "aliases:\n- \"[[a%d]]\"\n"} {
		key, item, _ := strings.Cut(family, "\n")
		allocated := func(names int) uint64 {
			s, _, _ := open(t, kv.InMemory)
			var b strings.Builder
			b.WriteString("---\n" + key + "\n")
			for i := range names {
				fmt.Fprintf(&b, item, i)
			}
			b.WriteString("---\n[x]: other.md\n")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := s.Put(t.Context(), notes.Draft{ID: "n", Body: b.String()}, nil)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			return after.TotalAlloc - before.TotalAlloc
		}
		few, many := allocated(1000), allocated(4000)
		if many > 6*few {
			t.Errorf("%q: %d bytes for four times as many names, %d before", family, many, few)
		}
	}
}
