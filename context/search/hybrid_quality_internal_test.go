package search

import (
	"fmt"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

// vaultDocuments are the notes of the sample vault, and their ids by path.
func vaultDocuments(t *testing.T) (docs []document, ids map[string]string) {
	t.Helper()
	ids = make(map[string]string)
	must(t, fs.WalkDir(fixtures.Vault(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slashpath.Ext(name) != ".md" || strings.HasPrefix(name, ".") {
			return err
		}
		data, err := fs.ReadFile(fixtures.Vault(), name)
		ids[name] = fmt.Sprint("note", len(ids))
		docs = append(docs, document{ids[name], strings.TrimSuffix(slashpath.Base(name), ".md"), string(data)})
		return err
	}))
	return docs, ids
}

// paraphrases are questions in other words than the one note that answers.
func paraphrases(t *testing.T) *collection {
	t.Helper()
	docs, ids := vaultDocuments(t)
	c := &collection{docs: docs, relevant: make(map[string]map[string]float64)}
	eachLine(t, filepath.Join("..", "..", "fixtures", "paraphrases.tsv"), func(line string) {
		if strings.HasPrefix(line, "#") {
			return
		}
		text, note, _ := strings.Cut(line, "\t")
		id := fmt.Sprint(len(c.questions))
		c.questions = append(c.questions, question{id, text})
		c.relevant[id] = map[string]float64{ids[note]: 1}
	})
	return c
}

// TestSRCH13_HybridIsBetterThanWords pins how well the whole search does on judged
// questions, with the built-in model.
func TestSRCH13_HybridIsBetterThanWords(t *testing.T) {
	campaign.Only(t)
	for _, set := range []struct {
		name string
		of   func(*testing.T) *collection
	}{{"paraphrases", paraphrases}, {"cranfield", cranfield}} {
		t.Run(set.name, func(t *testing.T) { measureHybrid(t, set.name, set.of(t)) })
	}
}

// openOver opens the rooms over the documents of a collection, embedded.
func openOver(t *testing.T, c *collection, e embed.Embedder) *rooms {
	t.Helper()
	return openOverWith(t, c, Options{Embedder: e})
}

// openOverWith is openOver with further options.
func openOverWith(t *testing.T, c *collection, opts Options) *rooms {
	t.Helper()
	r := openAll(t, kv.InMemory, opts)
	var drafts []notes.Draft
	for _, d := range c.docs {
		drafts = append(drafts, notes.Draft{ID: d.ID, Title: d.Title, Body: d.Body})
	}
	for part := range slices.Chunk(drafts, 500) {
		_, err := r.notes.PutMany(ctx, part)
		must(t, err)
	}
	r.settled(t)
	return r
}

func measureHybrid(t *testing.T, name string, c *collection) {
	builtin, err := embed.BuiltinTable()
	must(t, err)
	r := openOver(t, c, builtin)
	var table strings.Builder
	fmt.Fprintf(&table, "%-24s nDCG@10 recall@10 MRR\n", name)
	row := func(name string, rank func(string) []string) figures {
		f := c.measure(rank)
		fmt.Fprintf(&table, "%-24s %.4f  %.4f    %.4f\n", name, f.ndcg, f.recall, f.mrr)
		return f
	}
	by := func(mode Mode) func(string) []string {
		return func(text string) []string {
			return strings.Split(r.findInTime(t, Request{Query: text, Mode: mode, Plain: true}), " ")
		}
	}
	bm25 := row("plain BM25", plainBM25(c.docs))
	words := row("lexical", by(Lexical))
	near := row("semantic", by(Semantic))
	for _, w := range []float64{0.3, 0.5, 1, 1.4} {
		r.opts.Weights.Semantic = w
		row(fmt.Sprintf("hybrid, semantic x %.1f", w), by(Hybrid))
	}
	r.opts.Weights, r.opts.Fusion = DefaultWeights, ByRank
	row("hybrid by rank", by(Hybrid))
	r.opts.Fusion = ByScore
	hybrid := row("hybrid", by(Hybrid))
	if hybrid.ndcg < near.ndcg || hybrid.recall < near.recall || hybrid.ndcg <= words.ndcg || hybrid.recall <= words.recall || hybrid.mrr <= words.mrr || hybrid.ndcg < 1.05*bm25.ndcg {
		t.Errorf("hybrid %+v, words %+v, meaning %+v, plain BM25 %+v", hybrid, words, near, bm25)
	}
	golden := filepath.Join("testdata", "hybrid-"+name+".golden")
	if *update {
		must(t, os.WriteFile(golden, []byte(table.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	if err != nil || table.String() != string(want) {
		t.Errorf("write it anew with -update if it should be so:\n%s\nwant\n%s", &table, want)
	}
}
