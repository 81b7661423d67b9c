package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// openMany opens a vault with notes that are written into the store: text gives the path and the text of each.
func openMany(tb testing.TB, count int, text func(i int) (path, body string)) *watchWorld {
	tb.Helper()
	w := open(tb, kv.InMemory)
	res := w.imports(tb, vault.ImportRequest{Path: importFolder(tb, map[string]string{"index.md": "# Index\n"})})
	for at := 0; at < count; {
		must(tb, w.db.Update(ctx, func(tx *kv.Tx) error {
			for end := min(at+1000, count); at < end; at++ {
				p, body := text(at)
				if _, err := w.notes.PutTx(tx, notes.Draft{Vault: res.Vault, Path: p, Body: body}, nil, nil); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return w
}

// BenchmarkProblems lists the problems of 20,000 notes with 12 links each: after a write, and again.
func BenchmarkProblems(b *testing.B) {
	const count = 20_000
	words := strings.Repeat("some plain words about nothing of importance, and then a few more of them; ", 2)
	w := openMany(b, count, func(i int) (string, string) {
		var t strings.Builder
		fmt.Fprintf(&t, "# Note %d\n\n", i)
		for k := range 10 {
			fmt.Fprintf(&t, "%s[[Note %d]]\n\n", words, (i*31+k*977)%count)
		}
		fmt.Fprintf(&t, "[[Missing %d]] [[Note %d#Part %d]]\n\n## Part 1\n\ntext\n", i%3000, (i*7)%count, i%2)
		return fmt.Sprintf("f%d/n%d.md", i%100, i), t.String()
	})
	read := func(b *testing.B) {
		b.Helper()
		list := w.problems(b, vault.Reader{})
		if len(list.All) < count {
			b.Fatal(len(list.All))
		}
		if _, err := list.Describe(ctx, list.All[:100]); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("written", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			_, err := w.notes.Put(ctx, notes.Draft{ID: "x", Title: "x"}, nil)
			must(b, err)
			b.StartTimer()
			read(b)
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			read(b)
		}
	})
}
