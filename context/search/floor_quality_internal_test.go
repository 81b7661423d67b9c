package search

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/fixtures/facts"
)

// The kinds of questions of TestSRCH46_WhatNothingAnswers, and the halves of each.
const (
	withAnswer  = "answered"
	foreignKind = "foreign"
	nonsense    = "nonsense"

	tuneHalf  = "tune"
	checkHalf = "check"
)

// floorQuestion is a question of one kind.
type floorQuestion struct{ text, kind, half string }

// halves deals texts out to the halves in turn.
func halves(kind string, texts []string) (list []floorQuestion) {
	for i, text := range texts {
		list = append(list, floorQuestion{text, kind, []string{tuneHalf, checkHalf}[i%2]})
	}
	return list
}

// every is every nth text.
func every(n int, texts []string) (some []string) {
	for i := 0; i < len(texts); i += n {
		some = append(some, texts[i])
	}
	return some
}

// floorStore is a store with the questions that it is asked.
type floorStore struct {
	name      string
	full      bool // it takes minutes to encode
	of        []*collection
	questions func(*collection) []floorQuestion
}

// texts are those of the questions of collections that a document answers.
func (c *collection) texts() (list []string) {
	for _, q := range c.questions {
		if len(c.relevant[q.ID]) > 0 {
			list = append(list, q.Text)
		}
	}
	return list
}

// plainQuestions reads fixtures/plain.tsv: the questions that a note answers, with its id, and the others.
func plainQuestions(t *testing.T, ids map[string]string) (answered *collection, others []string) {
	t.Helper()
	answered = &collection{relevant: make(map[string]map[string]float64)}
	eachLine(t, filepath.Join("..", "..", "fixtures", "plain.tsv"), func(line string) {
		text, note, _ := strings.Cut(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case note == "":
			others = append(others, text)
		case ids[note] == "":
			t.Errorf("%q is answered by %q, which is not there", text, note)
		default:
			id := fmt.Sprint("plain", len(answered.questions))
			answered.questions = append(answered.questions, question{id, text})
			answered.relevant[id] = map[string]float64{ids[note]: 1}
		}
	})
	return answered, others
}

// nonsenseQuestions are words that mean nothing, one to four of them, every fifth time behind English ones.
func nonsenseQuestions() (list []string) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(letters string) string { return string(letters[r.IntN(len(letters))]) }
	word := func() (w string) {
		for range 2 + r.IntN(3) {
			w += pick("bcdfghjklmnprstvwxz") + pick("aeiou")
			if r.IntN(3) == 0 {
				w += pick("lmnrstx")
			}
		}
		return w
	}
	for i := range 60 {
		var words []string
		if i%5 == 4 {
			words = strings.Fields("what is the")
		}
		for range 1 + i%4 {
			words = append(words, word())
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// withVaults are documents with those of the two vaults of the test data.
func withVaults(t *testing.T, docs []document) []document {
	t.Helper()
	docs = slices.Clone(docs)
	for _, vault := range []string{"vault-silverbullet", "vault-logseq"} {
		root := filepath.Join(os.Getenv("CTXD_TESTDATA"), vault, "vault")
		must(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".md" {
				return err
			}
			data, err := os.ReadFile(path)
			docs = append(docs, document{fmt.Sprint("other", len(docs)), strings.TrimSuffix(filepath.Base(path), ".md"), string(data)})
			return err
		}))
	}
	return docs
}

// factsCollection are the memories and messages of the labelled facts as documents.
func factsCollection(t *testing.T) (c *collection, questions []floorQuestion) {
	t.Helper()
	set, err := facts.Load()
	must(t, err)
	c = &collection{}
	for _, m := range set.Memories {
		c.docs = append(c.docs, document{m.ID, m.Summary, m.Statement + "\n" + strings.Join(m.Questions, "\n")})
	}
	for _, m := range set.Messages {
		c.docs = append(c.docs, document{strings.ReplaceAll(m.Ref(), "#", "-"), "", m.Text})
	}
	for _, q := range set.Questions {
		questions = append(questions, floorQuestion{q.Text, withAnswer, q.Part})
	}
	for _, q := range set.Unanswered {
		if !q.Near { // nothing tells these apart
			questions = append(questions, floorQuestion{q.Text, foreignKind, q.Part})
		}
	}
	return c, questions
}

// floorStores are the stores of TestSRCH46_WhatNothingAnswers.
func floorStores(t *testing.T) []floorStore {
	t.Helper()
	vault, ids := vaultDocuments(t)
	plain, others := plainQuestions(t, ids)
	reworded, bare, cran, talks := paraphrases(t), withoutFrontmatter(t), cranfield(t), conversations(t)
	var far, asked []string
	eachLine(t, filepath.Join("..", "..", "fixtures", "nothing.tsv"), func(line string) {
		if text, ok := strings.CutPrefix(line, foreignKind+"\t"); ok {
			far = append(far, text)
		}
	})
	for _, c := range talks {
		asked = append(asked, c.texts()...)
	}
	away := func(more ...string) []floorQuestion {
		return slices.Concat(halves(foreignKind, slices.Concat(far, others, more)), halves(nonsense, nonsenseQuestions()))
	}
	var small []*collection
	for part := range 6 {
		c := &collection{relevant: make(map[string]map[string]float64)}
		in := make(map[string]bool)
		for i := part; i < len(vault) && len(c.docs) < 12; i += 6 {
			c.docs, in[vault[i].ID] = append(c.docs, vault[i]), true
		}
		for _, of := range []*collection{plain, reworded} {
			for _, q := range of.questions {
				for id := range of.relevant[q.ID] {
					if in[id] {
						q.ID = fmt.Sprint(len(c.questions))
						c.questions, c.relevant[q.ID] = append(c.questions, q), map[string]float64{id: 1}
					}
				}
			}
		}
		small = append(small, c)
	}
	remembered, about := factsCollection(t)
	return []floorStore{
		{"sample vault, plain", false, []*collection{{docs: vault}}, func(*collection) []floorQuestion {
			return append(halves(withAnswer, plain.texts()), away()...)
		}},
		{"sample vault, paraphrases", false, []*collection{bare}, func(*collection) []floorQuestion {
			return append(halves(withAnswer, reworded.texts()), halves(foreignKind, append(every(4, cran.texts()), every(3, asked)...))...)
		}},
		{"three vaults, plain", false, []*collection{{docs: withVaults(t, vault)}}, func(*collection) []floorQuestion {
			return append(halves(withAnswer, plain.texts()), away()...)
		}},
		{"twelve notes", false, small, func(c *collection) []floorQuestion { return append(halves(withAnswer, c.texts()), away()...) }},
		{"facts", false, []*collection{remembered}, func(*collection) []floorQuestion { return append(about, away()...) }},
		{"cranfield", true, []*collection{cran}, func(c *collection) []floorQuestion {
			return append(halves(withAnswer, c.texts()), away(append(plain.texts(), every(2, asked)...)...)...)
		}},
		{"conversations", true, talks, func(c *collection) []floorQuestion {
			return append(halves(withAnswer, c.texts()), away(append(every(2, plain.texts()), every(8, cran.texts())...)...)...)
		}},
	}
}

// TestSRCH46_WhatNothingAnswers pins how many questions are refused, of those that a document answers and of those that none
// does, with late interaction and without it. The levels were chosen on one half of the questions. A short campaign leaves out
// what takes minutes to encode.
func TestSRCH46_WhatNothingAnswers(t *testing.T) {
	campaign.Only(t)
	encoder, err := embed.BuiltinEncoder()
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("the figures are those of amd64", err)
	}
	builtin, err := embed.BuiltinTable()
	must(t, err)
	for _, full := range []bool{false, true} {
		if full && !campaign.Full() {
			continue
		}
		var out strings.Builder
		fmt.Fprintf(&out, "%-26s %-9s %-6s %9s %9s %5s\n", "store", "questions", "part", "by table", "by words", "all")
		for _, s := range floorStores(t) {
			if s.full == full {
				measureFloor(t, &out, s, builtin, encoder)
			}
		}
		name := "floor.golden"
		if full {
			name = "floor-full.golden"
		}
		pinned(t, name, out.String())
	}
}

func measureFloor(t *testing.T, out *strings.Builder, s floorStore, builtin embed.Embedder, encoder *embed.Encoder) {
	t.Helper()
	type row struct{ kind, half string }
	counts := make(map[row]*[3]int) // refused by the table, by late interaction, and all
	for _, c := range s.of {
		r := openOverWith(t, c, Options{Embedder: builtin, Words: encoder})
		r.encoded(t)
		tokens := r.tokens
		for _, q := range s.questions(c) {
			n := counts[row{q.kind, q.half}]
			if n == nil {
				n = new([3]int)
				counts[row{q.kind, q.half}] = n
			}
			for way, with := range []bool{false, true} {
				r.tokens = nil
				if with {
					r.tokens = tokens
				}
				if r.findInTime(t, Request{Query: q.text, Mode: Hybrid, Plain: true}) == "" {
					n[way]++
				}
			}
			n[2]++
		}
		r.tokens = tokens
		must(t, r.db.Close())
	}
	for _, kind := range []string{withAnswer, foreignKind, nonsense} {
		for _, half := range []string{tuneHalf, checkHalf, facts.Held} {
			if n := counts[row{kind, half}]; n != nil {
				fmt.Fprintf(out, "%-26s %-9s %-6s %9d %9d %5d\n", s.name, kind, half, n[0], n[1], n[2])
			}
		}
	}
}
