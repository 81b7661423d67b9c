package learn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/search"
)

// retirable is a pair with what is tricky of it: "plain" for nothing.
type retirable struct {
	labelled
	kind string
}

// loadRetirable are all pairs: those of the rules, and those by which it is seen what must not be superseded.
func loadRetirable(t *testing.T) (list []retirable) {
	t.Helper()
	for _, p := range load(t) {
		list = append(list, retirable{p, "plain"})
	}
	text, err := os.ReadFile(filepath.Join("testdata", "upkeep.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 6 {
			t.Fatalf("%q has %d columns", line, len(f))
		}
		list = append(list, retirable{labelled{f[0], f[1], f[2], f[3], f[4]}, f[5]})
	}
	return list
}

// TestMEM94_NothingTrueIsSuperseded judges 400 pairs of five languages, however alike the model finds them. Nothing that
// holds is superseded or merged, and at least 90 % of what changed is superseded or waits for a decision.
func TestMEM94_NothingTrueIsSuperseded(t *testing.T) {
	list := loadRetirable(t)
	tricky, plain := 0, make([]labelled, len(list))
	for i, p := range list {
		plain[i] = p.labelled
		if p.kind != "plain" {
			tricky++
		}
	}
	if len(list) < 400 || tricky < 120 {
		t.Fatalf("%d pairs, %d of them tricky", len(list), tricky)
	}
	cos, level := cosines(t, models[0].open(t), plain), search.LevelsOf(search.BuiltInModel)
	type group struct{ part, language, kind string }
	type outcome struct{ all, superseded, queued int }
	counted := make(map[group]*outcome)
	for i, p := range list {
		older, newer := learn.ReadStatement(p.older), learn.ReadStatement(p.newer)
		for _, like := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
			j := learn.JudgePair(older, newer, like)
			if p.label != "update" && j.Verdict == learn.VerdictUpdate {
				t.Errorf("%q is superseded by %q: %s", p.older, p.newer, j.Why)
			}
			if p.label != "duplicate" && j.Verdict == learn.VerdictDuplicate {
				t.Errorf("%q is merged with %q: %s", p.older, p.newer, j.Why)
			}
		}
		of := group{p.part, p.language, "others"}
		switch {
		case p.kind != "plain":
			of.kind = "tricky"
		case p.label == "update":
			of.kind = "updates"
		}
		n := counted[of]
		if n == nil {
			n = &outcome{}
			counted[of] = n
		}
		n.all++
		switch j := learn.JudgePair(older, newer, level.Likeness(cos[i])); j.Verdict {
		case learn.VerdictUpdate:
			n.superseded++
		case learn.VerdictUnsure, learn.VerdictContradiction:
			n.queued++
		default:
			if p.label == "update" && p.part == tune {
				t.Logf("%q is not found to be over by %q: %s", p.older, p.newer, j.Why)
			}
		}
	}
	var got strings.Builder
	fmt.Fprintf(&got, "%-8s%-6s%-14s%8s%12s%10s%10s\n", "part", "of", "pairs", "all", "superseded", "queued", "left")
	for _, part := range []string{tune, check} {
		for _, language := range []string{"en", "de", "fr", "es", "ja"} {
			for _, kind := range []string{"updates", "tricky", "others"} {
				n := counted[group{part, language, kind}]
				fmt.Fprintf(&got, "%-8s%-6s%-14s%8d%12d%10d%10d\n", part, language, kind, n.all, n.superseded, n.queued, n.all-n.superseded-n.queued)
				if kind == "updates" && 10*(n.superseded+n.queued) < 9*n.all {
					t.Errorf("%s, %s: of %d updates %d are found", part, language, n.all, n.superseded+n.queued)
				}
			}
		}
	}
	pinned(t, "upkeep.golden", got.String())
}
