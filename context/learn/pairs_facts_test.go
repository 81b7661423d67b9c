package learn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/fixtures/facts"
)

// TestMEM61_FactsOfAnotherSet judges each two memories of a set that was made for something else, of which it is known
// what no longer holds. Nothing was chosen by it. Nothing of it says the same twice, so whatever is merged is wrong.
func TestMEM61_FactsOfAnotherSet(t *testing.T) {
	set, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	stale := make(map[string]bool) // the older, then the newer
	isMemory := make(map[string]bool)
	for _, m := range set.Memories {
		isMemory[m.ID] = true
	}
	for _, q := range set.Questions {
		for _, old := range q.Stale {
			for _, now := range q.Relevant {
				if isMemory[old] && isMemory[now] {
					stale[old+" "+now] = true
				}
			}
		}
	}
	e, err := embed.BuiltinTable()
	if err != nil {
		t.Fatal(err)
	}
	texts, read := make([]string, len(set.Memories)), make([]*learn.Statement, len(set.Memories))
	for i, m := range set.Memories {
		texts[i], read[i] = m.Statement, learn.ReadStatement(m.Statement)
	}
	_, v, err := e.Embed(t.Context(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	level := search.LevelsOf(search.BuiltInModel)
	n := map[string]map[learn.Verdict]int{"stale": {}, "others": {}}
	for i, a := range set.Memories {
		for j, b := range set.Memories {
			if i == j || !a.CreatedAt.Before(b.CreatedAt) {
				continue
			}
			label := "others"
			if stale[a.ID+" "+b.ID] {
				label = "stale"
			}
			got := learn.JudgePair(read[i], read[j], level.Likeness(cosine(v[i], v[j])))
			n[label][got.Verdict]++
			if label == "stale" != (got.Verdict != learn.VerdictBoth) {
				t.Logf("%s: %s at %.2f: %s | %s | %s %q", label, got.Verdict, level.Likeness(cosine(v[i], v[j])), a.Statement, b.Statement, got.Why, got.Differs)
			}
			if got.Verdict == learn.VerdictDuplicate {
				t.Errorf("%q and %q would be merged", a.Statement, b.Statement)
			}
		}
	}
	var got strings.Builder
	fmt.Fprintf(&got, "%-28s", "facts, "+search.BuiltInModel)
	for _, v := range verdicts {
		fmt.Fprintf(&got, "%15s", v)
	}
	for _, l := range []string{"stale", "others"} {
		fmt.Fprintf(&got, "\n%-28s", l)
		for _, v := range verdicts {
			fmt.Fprintf(&got, "%15d", n[l][v])
		}
	}
	fmt.Fprintln(&got)
	pinned(t, "facts.golden", got.String())
}
