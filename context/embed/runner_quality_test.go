package embed_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// The model of the runner beside the built-in one on the labelled sets. The
// embedtest.Figures are printed rather than pinned: another processor rounds the vectors
// otherwise. Some minutes on one core.
func TestSRCH21_QualityOfTheRunner(t *testing.T) {
	if !campaign.Full() {
		t.Skip("takes minutes: CTXD_CAMPAIGN=full runs it")
	}
	r := run(t, native(t, converted("all-MiniLM-L6-v2-f16.gguf")))
	sets := []embedtest.Collection{embedtest.Paraphrases(t, fixtures.Vault(), "../../fixtures/paraphrases.tsv")}
	if root := os.Getenv("CTXD_TESTDATA"); root != "" {
		sets = append(sets, embedtest.Cranfield(t, filepath.Join(root, "cranfield")))
	}
	builtin, err := embed.BuiltinTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range sets {
		words, ours, theirs := embedtest.BM25(c), embedtest.Nearest(t, c, builtin), embedtest.Nearest(t, c, r)
		t.Logf("%-12s %-34s nDCG@10 recall@10 MRR", c.Name, "")
		row := func(name string, ranking [][]int) embedtest.Figures {
			f := embedtest.Measure(c, ranking)
			t.Logf("%-12s %-34s %.4f  %.4f    %.4f", c.Name, name, f.NDCG, f.Recall, f.MRR)
			return f
		}
		row("plain BM25", words)
		builtIn := row("semantic, built-in", ours)
		model := row("semantic, runner", theirs)
		row("hybrid, built-in", embedtest.Fuse(words, ours, embedtest.SemanticWeight))
		row("hybrid, runner", embedtest.Fuse(words, theirs, embedtest.SemanticWeight))
		row("hybrid, runner, semantic x 1", embedtest.Fuse(words, theirs, 1))
		if model.NDCG <= builtIn.NDCG {
			t.Errorf("%s: the model of the runner has nDCG@10 %.4f, the built-in one %.4f", c.Name, model.NDCG, builtIn.NDCG)
		}
	}
}
