package vault_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
)

// BenchmarkSRCH31_Sweep looks once through 10,000 files in 100 folders, of which
// none has changed.
func BenchmarkSRCH31_Sweep(b *testing.B) {
	files := make(map[string]string)
	for i := range 10_000 {
		files[fmt.Sprintf("folder %d/note %d.md", i%100, i)] = "text"
	}
	w := follows(b, importFolder(b, files), kv.InMemory, time.Hour, vault.Seam{})
	for b.Loop() {
		if err := w.im.Walk(ctx, "my-vault"); err != nil {
			b.Fatal(err)
		}
	}
}
