package search

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
)

// languages are the sets of fixtures/multilingual.tsv, in order.
func languages(t *testing.T) (names []string, sets map[string]*collection) {
	t.Helper()
	vault, ids := vaultDocuments(t)
	both := slices.Clone(vault)
	text, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "german.md"))
	must(t, err)
	for part := range strings.SplitSeq(strings.TrimPrefix(string(text), "# "), "\n# ") {
		title, body, _ := strings.Cut(part, "\n")
		ids[title] = fmt.Sprint("note", len(both))
		both = append(both, document{ids[title], title, body})
	}
	sets = make(map[string]*collection)
	eachLine(t, filepath.Join("..", "..", "fixtures", "multilingual.tsv"), func(line string) {
		if strings.HasPrefix(line, "#") {
			return
		}
		f := strings.Split(line, "\t")
		c := sets[f[0]]
		if c == nil {
			c = &collection{docs: vault, relevant: make(map[string]map[string]float64)}
			if f[0] == "on german" {
				c.docs = both
			}
			names, sets[f[0]] = append(names, f[0]), c
		}
		if ids[f[2]] == "" {
			t.Errorf("a question about a note that is not there: %s", f[2])
		}
		id := fmt.Sprint(len(c.questions))
		c.questions = append(c.questions, question{id, f[1]})
		c.relevant[id] = map[string]float64{ids[f[2]]: 1}
	})
	return names, sets
}

// TestSRCH13_QuestionsInOtherLanguages pins what the search makes of questions in
// another language than the notes: with the built-in table, which is English, and
// with the multilingual one where it was made.
func TestSRCH13_QuestionsInOtherLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	t.Run("builtin", func(t *testing.T) {
		e, err := embed.BuiltinTable()
		must(t, err)
		for name, f := range measureLanguages(t, "builtin", e) {
			// Of 60 questions and fewer one found makes 0.02 of recall.
			hybrid, words, near := f[string(Hybrid)], f[string(Lexical)], f[string(Semantic)]
			if hybrid.ndcg < max(words.ndcg, near.ndcg) {
				t.Errorf("%s: hybrid %+v, words %+v, meaning %+v", name, hybrid, words, near)
			}
		}
	})
	t.Run("multilingual", func(t *testing.T) {
		e := multilingualTable(t)
		measured := measureLanguages(t, "multilingual", e)
		for name, f := range measured {
			if words := f[string(Lexical)]; f[string(Semantic)].ndcg < 2*words.ndcg || f[string(Hybrid)].ndcg <= words.ndcg {
				t.Errorf("%s: %+v", name, f)
			}
		}
	})
}

// TestSRCH13_EnglishWithTheMultilingualTable pins what that table costs English.
func TestSRCH13_EnglishWithTheMultilingualTable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	e := multilingualTable(t)
	var table strings.Builder
	for _, set := range []struct {
		name string
		of   func(*testing.T) *collection
	}{{"paraphrases", paraphrases}, {"cranfield", cranfield}} {
		measureModes(t, &table, set.name, set.of(t), e)
	}
	pinned(t, "languages-english.golden", table.String())
}

// multilingualTable is the table that task model:multilingual makes.
func multilingualTable(t *testing.T) *embed.StaticTable {
	t.Helper()
	path := os.Getenv("CTXD_MULTILINGUAL_TABLE")
	if path == "" {
		path = filepath.Join("..", "..", "bin", "models", "multilingual.bin")
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("the multilingual table is not there: task model:multilingual makes it")
	}
	e, err := embed.OpenTable(path)
	must(t, err)
	return e
}

func measureLanguages(t *testing.T, name string, e embed.Embedder) map[string]map[string]figures {
	t.Helper()
	var table strings.Builder
	measured := make(map[string]map[string]figures)
	names, sets := languages(t)
	for _, set := range names {
		measured[set] = measureModes(t, &table, set, sets[set], e)
	}
	pinned(t, "languages-"+name+".golden", table.String())
	return measured
}

// measureModes writes a row for each way to search, and gives them by their names.
func measureModes(t *testing.T, table *strings.Builder, name string, c *collection, e embed.Embedder) map[string]figures {
	t.Helper()
	r := openOver(t, c, e)
	fmt.Fprintf(table, "%-26s nDCG@10 recall@10 MRR\n", fmt.Sprintf("%s, %d questions", name, len(c.questions)))
	rows := make(map[string]figures)
	row := func(name string, mode Mode) {
		f := c.measure(func(text string) []string {
			return strings.Split(r.findInTime(t, Request{Query: text, Mode: mode, Plain: true}), " ")
		})
		rows[name] = f
		fmt.Fprintf(table, "%-26s %.4f  %.4f    %.4f\n", name, f.ndcg, f.recall, f.mrr)
	}
	for _, mode := range []Mode{Lexical, Semantic, Hybrid} {
		row(string(mode), mode)
	}
	for _, w := range []float64{1, 2, 4} {
		r.opts.Weights.Semantic = w
		row(fmt.Sprintf("hybrid, semantic x %.1f", w), Hybrid)
	}
	return rows
}

func pinned(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("write it anew with -update if it should be so:\n%s\nwant\n%s", got, want)
	}
}
