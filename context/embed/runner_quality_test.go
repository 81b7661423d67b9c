package embed_test

import (
	"os"
	"path/filepath"
	"testing"
)

// The model of the runner beside the built-in one on the labelled sets. The
// figures are printed rather than pinned: another processor rounds the vectors
// otherwise. Some minutes on one core.
func TestSRCH21_QualityOfTheRunner(t *testing.T) {
	if os.Getenv("CTXD_CAMPAIGN") != "full" {
		t.Skip("takes minutes: CTXD_CAMPAIGN=full runs it")
	}
	r := run(t, native(t, converted("all-MiniLM-L6-v2-f16.gguf")))
	sets := []collection{paraphrases(t)}
	if root := os.Getenv("CTXD_TESTDATA"); root != "" {
		sets = append(sets, cranfield(t, filepath.Join(root, "cranfield")))
	}
	for _, c := range sets {
		words, ours, theirs := bm25(c), nearest(t, c, builtin(t)), nearest(t, c, r)
		t.Logf("%-12s %-34s nDCG@10 recall@10 MRR", c.name, "")
		row := func(name string, ranking [][]int) figures {
			f := measure(c, ranking)
			t.Logf("%-12s %-34s %.4f  %.4f    %.4f", c.name, name, f.ndcg, f.recall, f.mrr)
			return f
		}
		row("plain BM25", words)
		builtIn := row("semantic, built-in", ours)
		model := row("semantic, runner", theirs)
		row("hybrid, built-in", fuse(words, ours, semanticWeight))
		row("hybrid, runner", fuse(words, theirs, semanticWeight))
		row("hybrid, runner, semantic x 1", fuse(words, theirs, 1))
		if model.ndcg <= builtIn.ndcg {
			t.Errorf("%s: the model of the runner has nDCG@10 %.4f, the built-in one %.4f", c.name, model.ndcg, builtIn.ndcg)
		}
	}
}
