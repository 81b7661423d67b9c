package words

import (
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	decl "github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// BenchmarkTokenise tokenises as much text as a call can bring, by script, on one processor.
// In none it shall take more than five times what it takes in English: a few words in the
// one, and nearly all combinations of the characters of a sentence in the other, are further
// apart than texts that people write.
func BenchmarkTokenise(b *testing.B) {
	const size, count = 14_500_000, 4
	for _, c := range searchtest.Scripts {
		b.Run(c.Name, func(b *testing.B) {
			x := openAll(b, kv.InMemory, Options{})
			var list []change
			for i := range count {
				n := &notes.Note{Note: decl.Note{ID: fmt.Sprint(i), Body: c.Text(size/count, uint64(i))}}
				list = append(list, change{id: n.ID, now: notedoc.Of(n)})
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				x.complete(entry{prepared: &prepared{list: list}})
			}
		})
	}
}
