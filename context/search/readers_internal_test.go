package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH1_ReadersDuringCommits searches while others write.
func TestSRCH1_ReadersDuringCommits(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	var readers sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				query := []string{"akword blword", `"akword blword"`, "ak -bkword", "amwordd tag:x", "zzkword"}[(n+i)%5]
				res, err := r.Search(ctx, Request{Query: query, Limit: 5, Snippets: true, Explain: true})
				if err != nil {
					t.Error(err)
					return
				}
				for _, h := range res.Hits {
					if h.Doc == nil {
						t.Error("a hit without a note")
					}
				}
			}
		}()
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 300 {
		var b strings.Builder
		for range 20 {
			b.WriteString(fmt.Sprintf("%c%cword ", 'a'+rng.IntN(5), 'k'+rng.IntN(8)))
		}
		r.put(t, notes.Draft{ID: fmt.Sprint("n", i%40), Title: "T", Body: b.String()})
		if i%5 == 0 {
			_, err := r.notes.Delete(ctx, fmt.Sprint("n", i%40), nil)
			must(t, err)
		}
	}
	close(done)
	readers.Wait()
}

func FuzzQuery(f *testing.F) {
	r := openAll(f, kv.InMemory, Options{})
	r.put(f, notes.Draft{ID: "a", Title: "Alpha beta", Body: "gamma 東京 delta", Path: "x/a.md", Tags: []string{"t"}})
	for _, q := range []string{`"alpha beta" -gamma`, "tag:t path:x", "before:2026 after:x", `-"`, `“`, "tag:", "-tag:t", `type:"a b" c`, "東", "a:b:c", "--", "\xff\"\xfe"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, plain := range []bool{true, false} {
			q := parse(r.src, text, plain)
			if len(q.words) > maxTerms || q.prefix != "" && !slices.Contains(q.words, q.prefix) {
				t.Fatalf("%q: %+v", text, q)
			}
			res, err := r.Search(ctx, Request{Query: text, Plain: plain, Limit: 3, Snippets: true, Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range res.Hits {
				end := 0
				for _, at := range h.Ranges {
					if at[0] < end || at[1] <= at[0] || at[1] > names.UTF16Len(h.Snippet) {
						t.Fatalf("%q: ranges %v of %q", text, h.Ranges, h.Snippet)
					}
					end = at[1]
				}
			}
		}
		NewMatcher(r.src, text).Matches("alpha 東京")
	})
}
