package search

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

var update = flag.Bool("update", false, "write the golden files anew")

// collection is a set of texts with questions and judged answers.
type collection struct {
	docs      []document
	questions []question
	relevant  map[string]map[string]float64 // by question and document
}

type document struct{ ID, Title, Body string }

type question struct{ ID, Text string }

// cranfield reads the Cranfield collection.
func cranfield(t *testing.T) *collection {
	t.Helper()
	data := os.Getenv("CTXD_TESTDATA")
	if data == "" {
		t.Skip("CTXD_TESTDATA does not say where the Cranfield collection is")
	}
	dir := filepath.Join(data, "cranfield")
	c := &collection{relevant: make(map[string]map[string]float64)}
	eachLine(t, filepath.Join(dir, "docs.jsonl"), func(line string) {
		var d document
		must(t, json.Unmarshal([]byte(line), &d))
		c.docs = append(c.docs, d)
	})
	eachLine(t, filepath.Join(dir, "queries.jsonl"), func(line string) {
		var q question
		must(t, json.Unmarshal([]byte(line), &q))
		c.questions = append(c.questions, q)
	})
	eachLine(t, filepath.Join(dir, "qrels.tsv"), func(line string) {
		var q, d string
		var grade float64
		_, err := fmt.Sscan(line, &q, &d, &grade)
		must(t, err)
		if c.relevant[q] == nil {
			c.relevant[q] = make(map[string]float64)
		}
		c.relevant[q][d] = grade
	})
	return c
}

func eachLine(t *testing.T, name string, visit func(string)) {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		visit(lines.Text())
	}
	must(t, lines.Err())
}

// figures are means over the questions.
type figures struct {
	ndcg, recall, mrr float64 // of the first ten
	first             float64 // recall of the first
}

// measure gives the figures of a way to rank.
func (c *collection) measure(rank func(text string) []string) (f figures) {
	n := 0.0
	for _, q := range c.questions {
		grades := c.relevant[q.ID]
		var best []float64
		for _, g := range grades {
			if g > 0 {
				best = append(best, g)
			}
		}
		if len(best) == 0 {
			continue
		}
		n++
		slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
		ideal, gain, found := 0.0, 0.0, 0.0
		for i, g := range best[:min(10, len(best))] {
			ideal += g / math.Log2(float64(i+2))
		}
		for i, id := range rank(q.Text) {
			gain += max(0, grades[id]) / math.Log2(float64(i+2))
			if grades[id] > 0 {
				found++
				if i == 0 {
					f.first += 1 / float64(len(best))
				}
				if found == 1 {
					f.mrr += 1 / float64(i+1)
				}
			}
		}
		f.ndcg += gain / ideal
		f.recall += found / float64(len(best))
	}
	return figures{f.ndcg / n, f.recall / n, f.mrr / n, f.first / n}
}

// plainBM25 is the baseline: k1 1.2, b 0.75, words as they are, title and text
// as one.
func plainBM25(docs []document) func(string) []string {
	var tf []map[string]float64
	var lengths []float64
	df := make(map[string]float64)
	total := 0.0
	for _, d := range docs {
		counts, length := make(map[string]float64), 0.0
		for _, w := range strings.FieldsFunc(strings.ToLower(d.Title+" "+d.Body), notWord) {
			counts[w]++
			length++
		}
		for w := range counts {
			df[w]++
		}
		tf, lengths, total = append(tf, counts), append(lengths, length), total+length
	}
	average := total / float64(len(docs))
	return func(text string) []string {
		type hit struct {
			doc   int
			score float64
		}
		hits := make([]hit, len(docs))
		for i := range docs {
			hits[i].doc = i
			for _, w := range strings.FieldsFunc(strings.ToLower(text), notWord) {
				if f := tf[i][w]; f > 0 {
					idf := math.Log(1 + (float64(len(docs))-df[w]+0.5)/(df[w]+0.5))
					hits[i].score += idf * f * 2.2 / (f + 1.2*(0.25+0.75*lengths[i]/average))
				}
			}
		}
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
		var ids []string
		for _, h := range hits[:10] {
			ids = append(ids, docs[h.doc].ID)
		}
		return ids
	}
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }

// TestSRCH3_Quality pins how well the ranking does on judged questions.
func TestSRCH3_Quality(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	c := cranfield(t)
	r := openAll(t, kv.InMemory, Options{})
	var drafts []notes.Draft
	for _, d := range c.docs {
		drafts = append(drafts, notes.Draft{ID: d.ID, Title: d.Title, Body: d.Body})
	}
	for part := range slices.Chunk(drafts, 500) {
		_, err := r.notes.PutMany(ctx, part)
		must(t, err)
	}
	base := c.measure(plainBM25(c.docs))
	ours := c.measure(func(text string) []string { return strings.Fields(r.find(t, Request{Query: text, Plain: true})) })
	got := fmt.Sprintf("Cranfield     nDCG@10  recall@10\nplain BM25      %.4f     %.4f\nlexical         %.4f     %.4f\n", base.ndcg, base.recall, ours.ndcg, ours.recall)
	golden := filepath.Join("testdata", "quality.golden")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got != string(want) {
		t.Errorf("write it anew with -update if it should be so:\n%s\nwant\n%s", got, want)
	}
	if ours.ndcg < base.ndcg*1.05 {
		t.Errorf("nDCG@10 is %.4f, that of plain BM25 %.4f", ours.ndcg, base.ndcg)
	}
}
