package search

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes/markdown"
)

// withoutFrontmatter are the paraphrases over notes whose frontmatter nobody reads.
func withoutFrontmatter(t *testing.T) *collection {
	t.Helper()
	c := paraphrases(t)
	for i, d := range c.docs {
		_, at := markdown.SplitFrontmatter(d.Body)
		c.docs[i].Body = d.Body[at:]
	}
	return c
}

// TestSRCH43_LateInteractionIsBetter pins how well late interaction ranks, alone and with words, beside a search without it. A
// short campaign has the paraphrases; the other sets take minutes to encode.
func TestSRCH43_LateInteractionIsBetter(t *testing.T) {
	campaign.Only(t)
	encoder, err := embed.BuiltinEncoder()
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("the figures are those of amd64", err)
	}
	for _, set := range []struct {
		name string
		full bool
		of   func(t *testing.T) []*collection
	}{
		{"paraphrases", false, func(t *testing.T) []*collection { return []*collection{withoutFrontmatter(t)} }},
		{"cranfield", true, func(t *testing.T) []*collection { return []*collection{cranfield(t)} }},
		{"conversations", true, conversations},
	} {
		t.Run(set.name, func(t *testing.T) {
			if set.full && !campaign.Full() {
				t.Skip("it takes minutes: CTXD_CAMPAIGN=full runs it")
			}
			measureLate(t, set.name, encoder, set.of(t))
		})
	}
}

func measureLate(t *testing.T, name string, encoder *embed.Encoder, sets []*collection) {
	builtin, err := embed.BuiltinTable()
	must(t, err)
	ways := []string{"hybrid without", "late alone", "hybrid"}
	of := make(map[string]*figures)
	asked := 0.0
	for _, c := range sets {
		r := openOverWith(t, c, Options{Embedder: builtin, Words: encoder})
		r.encoded(t)
		n := 0.0
		for _, q := range c.questions {
			if len(c.relevant[q.ID]) > 0 {
				n++
			}
		}
		asked += n
		tokens := r.tokens
		for _, way := range ways {
			rank := func(text string) []string {
				return strings.Split(r.findInTime(t, Request{Query: text, Mode: Hybrid, Plain: true}), " ")
			}
			r.tokens = tokens
			switch way {
			case "hybrid without":
				r.tokens = nil
			case "late alone":
				rank = func(text string) []string { return nearestByWords(t, tokens, c, text) }
			}
			f := c.measure(rank)
			all := of[way]
			if all == nil {
				all = new(figures)
				of[way] = all
			}
			*all = figures{all.ndcg + n*f.ndcg, all.recall + n*f.recall, all.mrr + n*f.mrr, all.first + n*f.first}
		}
		must(t, r.db.Close())
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-16s nDCG@10 recall@1 recall@10 MRR\n", name)
	for _, way := range ways {
		f := of[way]
		fmt.Fprintf(&table, "%-16s %.4f  %.4f   %.4f    %.4f\n", way, f.ndcg/asked, f.first/asked, f.recall/asked, f.mrr/asked)
	}
	if name != "cranfield" && of["hybrid"].ndcg <= of["hybrid without"].ndcg {
		t.Errorf("it is no better:\n%s", &table)
	}
	pinned(t, "late-"+name+".golden", table.String())
}

// encoded waits until all words have their vectors, which takes longer than anybody is waited for.
func (r *rooms) encoded(t *testing.T) {
	t.Helper()
	for !r.tokens.Stats().Idle {
		done := r.tokens.Stats().Docs
		until(t, "another is encoded", func() bool { st := r.tokens.Stats(); return st.Idle || st.Docs > done })
	}
}

// nearestByWords ranks all documents of a collection by late interaction.
func nearestByWords(t *testing.T, x *vectors.Index, c *collection, text string) (list []string) {
	t.Helper()
	q := x.AskWords(ctx, text, false)
	if q == nil {
		t.Fatalf("%q can't be asked", text)
	}
	ids := make([]string, len(c.docs))
	for i, d := range c.docs {
		ids[i] = d.ID
	}
	hits := q.Interact(ids)
	slices.SortStableFunc(hits, func(a, b vectors.FlatHit) int { return cmp.Compare(b.Score, a.Score) })
	for _, h := range hits[:min(10, len(hits))] {
		list = append(list, h.ID)
	}
	return list
}
