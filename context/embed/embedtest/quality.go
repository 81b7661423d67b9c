package embedtest

import (
	"bufio"
	"cmp"
	"encoding/json"
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
	"github.com/ctxd/ctxd/notes/markdown"
)

// SemanticWeight is the share of the vectors in the hybrid beside 1 for words,
// chosen by these measurements.
const SemanticWeight = 0.5

// Collection is a labelled set: texts, questions and how well each text
// answers each question (absent: not at all).
type Collection struct {
	Name      string
	Texts     []string
	Questions []string
	Relevance []map[int]float64
}

// Cranfield reads the collection of that name from its folder.
func Cranfield(t *testing.T, folder string) Collection {
	t.Helper()
	c := Collection{Name: "cranfield"}
	texts, questions := map[string]int{}, map[string]int{}
	EachLine(t, filepath.Join(folder, "docs.jsonl"), func(line string) {
		var d struct{ ID, Title, Body string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		texts[d.ID] = len(c.Texts)
		c.Texts = append(c.Texts, d.Title+" "+d.Body)
	})
	EachLine(t, filepath.Join(folder, "queries.jsonl"), func(line string) {
		var q struct{ ID, Text string }
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		questions[q.ID] = len(c.Questions)
		c.Questions = append(c.Questions, q.Text)
		c.Relevance = append(c.Relevance, map[int]float64{})
	})
	EachLine(t, filepath.Join(folder, "qrels.tsv"), func(line string) {
		f := strings.Split(line, "\t")
		if r, err := strconv.ParseFloat(f[2], 64); err == nil && r > 0 {
			c.Relevance[questions[f[0]]][texts[f[1]]] = r
		}
	})
	return c
}

// Paraphrases are questions in other words than the one note of the vault that answers;
// file has them.
func Paraphrases(t *testing.T, vault fs.FS, file string) Collection {
	t.Helper()
	c := Collection{Name: "paraphrases"}
	at := map[string]int{}
	err := fs.WalkDir(vault, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" || strings.HasPrefix(name, ".") {
			return err
		}
		data, err := fs.ReadFile(vault, name)
		if err != nil {
			return err
		}
		at[name] = len(c.Texts)
		c.Texts = append(c.Texts, strings.TrimSuffix(path.Base(name), ".md")+" "+markdown.Parse(string(data)).
			PlainText())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	EachLine(t, file, func(line string) {
		if strings.HasPrefix(line, "#") {
			return
		}
		question, name, _ := strings.Cut(line, "\t")
		note, ok := at[name]
		if !ok {
			t.Errorf("paraphrase of a note that is not there: %s", name)
		}
		c.Questions = append(c.Questions, question)
		c.Relevance = append(c.Relevance, map[int]float64{note: 1})
	})
	if len(c.Questions) != 200 {
		t.Errorf("%d Paraphrases, want 200", len(c.Questions))
	}
	return c
}

// EachLine calls do with the lines of a file.
func EachLine(t testing.TB, name string, do func(line string)) {
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

// Figures are the means over all questions; see Measure.
type Figures struct{ NDCG, Recall, MRR float64 }

// Measure gives nDCG@10 (linear gain), recall@10 and the mean reciprocal rank.
func Measure(c Collection, ranking [][]int) (sum Figures) {
	for q, order := range ranking {
		relevance := c.Relevance[q]
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
			sum.NDCG += gain / ideal
			sum.Recall += found / float64(len(all))
		}
		if first := slices.IndexFunc(order, func(text int) bool { return relevance[text] > 0 }); first >= 0 {
			sum.MRR += 1 / float64(first+1)
		}
	}
	n := float64(len(ranking))
	return Figures{sum.NDCG / n, sum.Recall / n, sum.MRR / n}
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

// BM25 ranks by plain BM25: k1 1.2, b 0.75, one field, no stemming.
func BM25(c Collection) [][]int {
	type posting struct{ text, count int }
	index, lengths, total := map[string][]posting{}, make([]float64, len(c.Texts)), 0.0
	for i, text := range c.Texts {
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
	n := float64(len(c.Texts))
	ranking := make([][]int, len(c.Questions))
	for q, question := range c.Questions {
		scores := make([]float64, len(c.Texts))
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

// Nearest ranks by Cosine, each text as a whole.
func Nearest(t *testing.T, c Collection, e embed.Embedder) [][]int {
	t.Helper()
	_, texts, err := e.Embed(t.Context(), embed.Passage, c.Texts)
	if err != nil {
		t.Fatal(err)
	}
	_, questions, err := e.Embed(t.Context(), embed.Query, c.Questions)
	if err != nil {
		t.Fatal(err)
	}
	ranking := make([][]int, len(questions))
	for q, question := range questions {
		scores := make([]float64, len(texts))
		for i, text := range texts {
			if text != nil && question != nil {
				scores[i] = 1 + Cosine(question, text)
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

// Fuse adds 1/(60+rank) over the first hundred of both lists, the second
// weighted.
func Fuse(words, vectors [][]int, weight float64) [][]int {
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

// Cosine returns the cosine of two vectors of length 1.
func Cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(float64(a[i]) * float64(b[i])) // not fused: goldens are the same everywhere
	}
	return sum
}
