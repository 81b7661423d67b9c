package embed_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes/markdown"
)

var update = flag.Bool("update", false, "write the golden files")

// semanticWeight is the share of the vectors in the hybrid beside 1 for words,
// chosen by these measurements.
const semanticWeight = 0.5

// collection is a labelled set: texts, questions and how well each text
// answers each question (absent: not at all).
type collection struct {
	name      string
	texts     []string
	questions []string
	relevance []map[int]float64
}

func TestSRCH20_QualityOnCranfield(t *testing.T) {
	root := os.Getenv("CTXD_TESTDATA")
	if root == "" {
		t.Skip("CTXD_TESTDATA is not set: the Cranfield collection is not part of the repository")
	}
	c := cranfield(t, filepath.Join(root, "cranfield"))
	lexical, hybrid := measureModes(t, c)
	if got := fmt.Sprintf("%.4f %.4f %.4f", lexical.ndcg, lexical.recall, lexical.mrr); got != "0.3356 0.3722 0.4979" {
		t.Errorf("plain BM25 measures %s, published for this copy are 0.3356 0.3722 0.4979", got)
	}
	if hybrid.ndcg < 1.05*lexical.ndcg {
		t.Errorf("hybrid has nDCG@10 %.4f, less than 5%% above %.4f of plain BM25", hybrid.ndcg, lexical.ndcg)
	}
}

func TestSRCH20_QualityOnParaphrases(t *testing.T) {
	measureModes(t, paraphrases(t))
}

func cranfield(t *testing.T, folder string) collection {
	t.Helper()
	c := collection{name: "cranfield"}
	texts, questions := map[string]int{}, map[string]int{}
	eachLine(t, filepath.Join(folder, "docs.jsonl"), func(line string) {
		var d struct{ ID, Title, Body string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		texts[d.ID] = len(c.texts)
		c.texts = append(c.texts, d.Title+" "+d.Body)
	})
	eachLine(t, filepath.Join(folder, "queries.jsonl"), func(line string) {
		var q struct{ ID, Text string }
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		questions[q.ID] = len(c.questions)
		c.questions = append(c.questions, q.Text)
		c.relevance = append(c.relevance, map[int]float64{})
	})
	eachLine(t, filepath.Join(folder, "qrels.tsv"), func(line string) {
		f := strings.Split(line, "\t")
		if r, err := strconv.ParseFloat(f[2], 64); err == nil && r > 0 {
			c.relevance[questions[f[0]]][texts[f[1]]] = r
		}
	})
	return c
}

// paraphrases are questions in other words than the one note that answers.
func paraphrases(t *testing.T) collection {
	t.Helper()
	c := collection{name: "paraphrases"}
	at := map[string]int{}
	err := fs.WalkDir(fixtures.Vault(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" || strings.HasPrefix(name, ".") {
			return err
		}
		data, err := fs.ReadFile(fixtures.Vault(), name)
		if err != nil {
			return err
		}
		at[name] = len(c.texts)
		c.texts = append(c.texts, strings.TrimSuffix(path.Base(name), ".md")+" "+markdown.Parse(string(data)).PlainText())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	eachLine(t, "../../fixtures/paraphrases.tsv", func(line string) {
		if strings.HasPrefix(line, "#") {
			return
		}
		question, name, _ := strings.Cut(line, "\t")
		note, ok := at[name]
		if !ok {
			t.Errorf("paraphrase of a note that is not there: %s", name)
		}
		c.questions = append(c.questions, question)
		c.relevance = append(c.relevance, map[int]float64{note: 1})
	})
	if len(c.questions) != 200 {
		t.Errorf("%d paraphrases, want 200", len(c.questions))
	}
	return c
}

func eachLine(t *testing.T, name string, do func(line string)) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		do(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

type figures struct{ ndcg, recall, mrr float64 }

// measureModes compares the figures of all modes with the golden file, and
// fails if hybrid is not better than words alone in each of them.
func measureModes(t *testing.T, c collection) (lexical, hybrid figures) {
	t.Helper()
	words, vectors := bm25(c), nearest(t, c, builtin(t))
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s nDCG@10 recall@10 MRR\n", c.name)
	row := func(name string, ranking [][]int) figures {
		f := measure(c, ranking)
		fmt.Fprintf(&table, "%-28s %.4f  %.4f    %.4f\n", name, f.ndcg, f.recall, f.mrr)
		return f
	}
	lexical = row("plain BM25", words)
	row("semantic", vectors)
	for _, w := range []float64{0.2, 0.3, 0.4, 0.5, 1} {
		f := row(fmt.Sprintf("hybrid, semantic x %.1f", w), fuse(words, vectors, w))
		if w == semanticWeight {
			hybrid = f
		}
	}
	if hybrid.ndcg <= lexical.ndcg || hybrid.recall <= lexical.recall || hybrid.mrr <= lexical.mrr {
		t.Errorf("%s: hybrid %+v is not better than words alone %+v", c.name, hybrid, lexical)
	}
	golden := filepath.Join("testdata", "quality-"+c.name+".golden")
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

// measure gives nDCG@10 (linear gain), recall@10 and the mean reciprocal rank.
func measure(c collection, ranking [][]int) (sum figures) {
	for q, order := range ranking {
		relevance := c.relevance[q]
		var gain, ideal, found float64
		var all []float64
		for _, r := range relevance {
			all = append(all, r)
		}
		slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
		for i := range min(10, len(all)) {
			ideal += all[i] / math.Log2(float64(i+2))
		}
		for i := range min(10, len(order)) {
			if r := relevance[order[i]]; r > 0 {
				found++
				gain += r / math.Log2(float64(i+2))
			}
		}
		if len(all) > 0 {
			sum.ndcg += gain / ideal
			sum.recall += found / float64(len(all))
		}
		if first := slices.IndexFunc(order, func(text int) bool { return relevance[text] > 0 }); first >= 0 {
			sum.mrr += 1 / float64(first+1)
		}
	}
	n := float64(len(ranking))
	return figures{sum.ndcg / n, sum.recall / n, sum.mrr / n}
}

var word = regexp.MustCompile(`[a-z0-9]+`)

var stopWords = strings.Fields("a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with")

func terms(text string) (found []string) {
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		if !slices.Contains(stopWords, w) {
			found = append(found, w)
		}
	}
	return found
}

// bm25 ranks by plain BM25: k1 1.2, b 0.75, one field, no stemming.
func bm25(c collection) [][]int {
	type posting struct{ text, count int }
	index, lengths, total := map[string][]posting{}, make([]float64, len(c.texts)), 0.0
	for i, text := range c.texts {
		for _, w := range terms(text) {
			lengths[i]++
			total++
			if p := index[w]; len(p) > 0 && p[len(p)-1].text == i {
				p[len(p)-1].count++
			} else {
				index[w] = append(p, posting{i, 1})
			}
		}
	}
	n := float64(len(c.texts))
	ranking := make([][]int, len(c.questions))
	for q, question := range c.questions {
		scores := make([]float64, len(c.texts))
		for _, w := range terms(question) {
			df := float64(len(index[w]))
			idf := math.Log(1 + (n-df+0.5)/(df+0.5))
			for _, p := range index[w] {
				tf := float64(p.count)
				scores[p.text] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*lengths[p.text]/(total/n)))
			}
		}
		ranking[q] = ranked(scores)
	}
	return ranking
}

// nearest ranks by cosine, each text as a whole.
func nearest(t *testing.T, c collection, e embed.Embedder) [][]int {
	t.Helper()
	_, texts, err := e.Embed(t.Context(), embed.Passage, c.texts)
	if err != nil {
		t.Fatal(err)
	}
	_, questions, err := e.Embed(t.Context(), embed.Query, c.questions)
	if err != nil {
		t.Fatal(err)
	}
	ranking := make([][]int, len(questions))
	for q, question := range questions {
		scores := make([]float64, len(texts))
		for i, text := range texts {
			if text != nil && question != nil {
				scores[i] = 1 + cosine(question, text)
			}
		}
		ranking[q] = ranked(scores)
	}
	return ranking
}

// ranked gives the texts with a score, best first, ties in their order.
func ranked(scores []float64) (order []int) {
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// fuse adds 1/(60+rank) over the first hundred of both lists, the second
// weighted.
func fuse(words, vectors [][]int, weight float64) [][]int {
	ranking := make([][]int, len(words))
	for q := range words {
		texts := 1 + max(slices.Max(append(words[q], 0)), slices.Max(append(vectors[q], 0)))
		scores := make([]float64, texts)
		for i, text := range words[q][:min(100, len(words[q]))] {
			scores[text] += 1 / float64(61+i)
		}
		for i, text := range vectors[q][:min(100, len(vectors[q]))] {
			scores[text] += weight / float64(61+i)
		}
		ranking[q] = ranked(scores)
	}
	return ranking
}
