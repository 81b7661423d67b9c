package embed_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/fixtures"
)

var update = flag.Bool("update", false, "write the golden files")

func TestSRCH20_QualityOnCranfield(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	root := os.Getenv("CTXD_TESTDATA")
	if root == "" {
		t.Skip("CTXD_TESTDATA is not set: the Cranfield embedtest.Collection is not part of the repository")
	}
	c := embedtest.Cranfield(t, filepath.Join(root, "cranfield"))
	lexical, hybrid := measureModes(t, c)
	if got := fmt.Sprintf("%.4f %.4f %.4f", lexical.NDCG, lexical.Recall, lexical.MRR); got != "0.3356 0.3722 0.4979" {
		t.Errorf("plain BM25 measures %s, published for this copy are 0.3356 0.3722 0.4979", got)
	}
	if hybrid.NDCG < 1.05*lexical.NDCG {
		t.Errorf("hybrid has nDCG@10 %.4f, less than 5%% above %.4f of plain BM25", hybrid.NDCG, lexical.NDCG)
	}
}

func TestSRCH20_QualityOnParaphrases(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	measureModes(t, embedtest.Paraphrases(t, fixtures.Vault(), "../../fixtures/paraphrases.tsv"))
}

// measureModes compares the embedtest.Figures of all modes with the golden file, and
// fails if hybrid is not better than words alone in each of them.
func measureModes(t *testing.T, c embedtest.Collection) (lexical, hybrid embedtest.Figures) {
	t.Helper()
	words, vectors := embedtest.BM25(c), embedtest.Nearest(t, c, builtin(t))
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s nDCG@10 recall@10 MRR\n", c.Name)
	row := func(name string, ranking [][]int) embedtest.Figures {
		f := embedtest.Measure(c, ranking)
		fmt.Fprintf(&table, "%-28s %.4f  %.4f    %.4f\n", name, f.NDCG, f.Recall, f.MRR)
		return f
	}
	lexical = row("plain BM25", words)
	row("semantic", vectors)
	for _, w := range []float64{0.2, 0.3, 0.4, 0.5, 1} {
		f := row(fmt.Sprintf("hybrid, semantic x %.1f", w), embedtest.Fuse(words, vectors, w))
		if w == embedtest.SemanticWeight {
			hybrid = f
		}
	}
	if hybrid.NDCG <= lexical.NDCG || hybrid.Recall <= lexical.Recall || hybrid.MRR <= lexical.MRR {
		t.Errorf("%s: hybrid %+v is not better than words alone %+v", c.Name, hybrid, lexical)
	}
	golden := filepath.Join("testdata", "quality-"+c.Name+".golden")
	if *update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if table.String() != string(want) {
		t.Errorf("quality changed; -update if it is meant to\n got\n%s\nwant\n%s", table.String(), want)
	}
	return lexical, hybrid
}
