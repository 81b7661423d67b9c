package learn_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/search"
)

var update = flag.Bool("update", false, "write the goldens anew")

// labelled is a pair of statements with what is true of it.
type labelled struct {
	language, part, label, older, newer string
}

// The parts of the set. Words and levels are chosen by the first; the second decides.
const (
	tune  = "tune"
	check = "check"
)

func load(t *testing.T) (list []labelled) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "pairs.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 {
			t.Fatalf("%q has %d columns", line, len(f))
		}
		list = append(list, labelled{f[0], f[1], f[2], f[3], f[4]})
	}
	return list
}

// cosines are those of the pairs by a model.
func cosines(t *testing.T, e embed.Embedder, list []labelled) []float64 {
	t.Helper()
	out := make([]float64, len(list))
	for i, p := range list {
		_, v, err := e.Embed(context.Background(), embed.Passage, []string{p.older, p.newer})
		if err != nil {
			t.Fatal(err)
		}
		if len(v[0]) > 0 && len(v[1]) > 0 { // a table knows no word of some languages
			out[i] = cosine(v[0], v[1])
		}
	}
	return out
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// models are what the pairs are judged with, by the names of their goldens.
var models = []struct {
	name string
	open func(t *testing.T) embed.Embedder
}{
	{"builtin", func(t *testing.T) embed.Embedder {
		e, err := embed.BuiltinTable()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}},
	{"encoder", func(t *testing.T) embed.Embedder { // by the means of words
		e, err := embed.BuiltinEncoder()
		if err != nil || runtime.GOARCH != "amd64" {
			t.Skip("the figures are those of amd64", err)
		}
		return e
	}},
	{"multilingual", func(t *testing.T) embed.Embedder {
		path := os.Getenv("CTXD_MULTILINGUAL_TABLE")
		if path == "" {
			path = filepath.Join("..", "..", "bin", "models", "multilingual.bin")
		}
		if _, err := os.Stat(path); err != nil {
			t.Skip("the multilingual table is not there: task model:multilingual makes it")
		}
		e, err := embed.OpenTable(path)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}},
	{"minilm", func(t *testing.T) embed.Embedder {
		program, library, model := os.Getenv("CTXD_RUNNER"), os.Getenv("CTXD_LLAMA_DIR"), os.Getenv("CTXD_MINILM")
		if program == "" || library == "" || model == "" {
			t.Skip("CTXD_RUNNER, CTXD_LLAMA_DIR and CTXD_MINILM name the program, its library and the model all-MiniLM-L6-v2")
		}
		e := embed.StartRunner(embed.RunnerOptions{Path: program, Library: library, ModelFile: model, StartWait: patience, Stall: patience})
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	}},
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// levels measures a model: the median cosine of statements of different pairs, and that of English duplicates.
func measure(t *testing.T, e embed.Embedder, list []labelled) search.Levels {
	t.Helper()
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.older
	}
	_, v, err := e.Embed(context.Background(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	var far, same []float64
	for i := range list {
		for j := range i {
			if list[i].language == list[j].language && list[i].label != list[j].label {
				far = append(far, cosine(v[i], v[j]))
			}
		}
	}
	for i, c := range cosines(t, e, list) {
		if list[i].label == "duplicate" && list[i].language == "en" {
			same = append(same, c)
		}
	}
	slices.Sort(far)
	slices.Sort(same)
	return search.Levels{Far: far[len(far)/2], Same: same[len(same)/2]}
}

// table of what becomes of pairs.
type counts map[string]map[learn.Verdict]int

var labels = []string{"duplicate", "contradiction", "update", "both"}

var verdicts = []learn.Verdict{learn.VerdictDuplicate, learn.VerdictContradiction, learn.VerdictUpdate, learn.VerdictBoth, learn.VerdictUnsure}

// TestMEM61_PairsAreJudged judges the labelled pairs with each model. The goals are those of the part that nothing was
// chosen by.
func TestMEM61_PairsAreJudged(t *testing.T) {
	list := load(t)
	if len(list) < 200 {
		t.Fatalf("only %d pairs", len(list))
	}
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) {
			e := m.open(t)
			model, err := e.Model(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			cos, level := cosines(t, e, list), search.LevelsOf(model.Name)
			measured := measure(t, e, slices.DeleteFunc(slices.Clone(list), func(p labelled) bool { return p.part != tune }))
			if off := max(math.Abs(measured.Far-level.Far), math.Abs(measured.Same-level.Same)); off > 0.01 {
				t.Errorf("%s: the table of levels has %+v, and its texts have %+v", model.Name, level, measured)
			}
			var got strings.Builder
			for _, part := range []string{tune, check} {
				n := counts{}
				for i, p := range list {
					if p.part != part {
						continue
					}
					j := learn.JudgePair(learn.ReadStatement(p.older), learn.ReadStatement(p.newer), level.Likeness(cos[i]))
					if n[p.label] == nil {
						n[p.label] = map[learn.Verdict]int{}
					}
					n[p.label][j.Verdict]++
					if part == tune && string(j.Verdict) != p.label {
						t.Logf("%s is %s at %.2f: %s | %s | %s %q", p.label, j.Verdict, level.Likeness(cos[i]), p.older, p.newer, j.Why, j.Differs)
					}
				}
				n.print(&got, model.Name+", "+part)
				n.goals(t)
			}
			pinned(t, m.name+".golden", got.String())
		})
	}
}

func (n counts) print(to *strings.Builder, title string) {
	fmt.Fprintf(to, "%-28s", title)
	for _, v := range verdicts {
		fmt.Fprintf(to, "%15s", v)
	}
	for _, l := range labels {
		fmt.Fprintf(to, "\n%-28s", l)
		for _, v := range verdicts {
			fmt.Fprintf(to, "%15d", n[l][v])
		}
	}
	fmt.Fprint(to, "\n\n")
}

// goals are those of the specification.
func (n counts) goals(t *testing.T) {
	t.Helper()
	all, unsure := 0, 0
	for _, l := range labels {
		for v, count := range n[l] {
			if l != "update" { // of these, rules decide those of MEM-94 alone
				all += count
				if v == learn.VerdictUnsure {
					unsure += count
				}
			}
			if v == learn.VerdictDuplicate && l != "duplicate" {
				t.Errorf("%d of %s would be merged", count, l)
			}
		}
	}
	if 10*unsure > all {
		t.Errorf("%d of %d wait for a model", unsure, all)
	}
	for _, l := range []string{"duplicate", "update"} {
		of := 0
		for _, count := range n[l] {
			of += count
		}
		found := n[l][learn.Verdict(l)] + n[l][learn.VerdictUnsure]
		if l == "update" {
			found += n[l][learn.VerdictContradiction] // queued for the person
		}
		if 100*found < 85*of {
			t.Errorf("of %d of %s only %d are found", of, l, found)
		}
	}
}

func pinned(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nand was\n%s", name, got, want)
	}
}
