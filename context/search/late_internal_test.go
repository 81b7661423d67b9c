package search

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/notes"
)

// wordly is an encoder for tests: a word is a direction of its own, and words that are the same but for their last letter are
// near to each other.
type wordly struct {
	embedtest.Bags
	mu    sync.Mutex
	known map[string]int
	read  []string // texts that were encoded
}

func (w *wordly) axis(word string) int {
	if w.known == nil {
		w.known = make(map[string]int)
	}
	if _, ok := w.known[word]; !ok {
		w.known[word] = len(w.known)
	}
	return w.known[word] % wordlyDims
}

const wordlyDims = 64

func (w *wordly) Model(context.Context) (embed.Model, error) {
	return embed.Model{Name: "wordly", Dims: wordlyDims, SHA256: "77"}, nil
}

func (w *wordly) words(text string) (all [][]float32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, word := range wordlyFields(text) {
		v := make([]float32, wordlyDims)
		for i := range v {
			v[i] = -1
		}
		v[w.axis(word)] = 10
		v[w.axis(word[:len(word)-1]+"*")] = 30
		all = append(all, v)
	}
	return all
}

func (w *wordly) EmbedTokens(ctx context.Context, texts []string) (embed.Model, []embed.Tokens, error) {
	m, _ := w.Model(ctx)
	out := make([]embed.Tokens, len(texts))
	for i, text := range texts {
		w.mu.Lock()
		w.read = append(w.read, text)
		w.mu.Unlock()
		words := w.words(text)
		out[i].Pooled = embed.MeanOf(words)
		for _, v := range words {
			codes := make([]byte, wordlyDims/4)
			for j, x := range v {
				code := byte(1)
				if x > 0 {
					code = 3
				}
				codes[j%len(codes)] |= code << (2 * (j / len(codes)))
			}
			out[i].Codes = append(out[i].Codes, codes...)
		}
	}
	return m, out, ctx.Err()
}

func (w *wordly) EmbedQuestion(ctx context.Context, text string) (embed.Model, embed.QuestionTokens, error) {
	m, _ := w.Model(ctx)
	words := w.words(text)
	for _, v := range words {
		l := embed.MeanOf([][]float32{v})
		copy(v, l)
	}
	return m, embed.QuestionTokens{Vectors: words, Words: wordlyFields(text)}, ctx.Err()
}

// wordlyFields are the words of a text.
func wordlyFields(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == '.' || r == ',' || r == '\n' })
}

// hives are notes whose words have vectors.
func hives(t *testing.T, drafts ...notes.Draft) (*rooms, *wordly) {
	t.Helper()
	w := new(wordly)
	r := openAll(t, t.TempDir(), Options{Embedder: &embedtest.Bags{Name: "b"}, Words: w})
	r.put(t, drafts...)
	r.settled(t)
	until(t, "all is encoded", func() bool { return r.tokens.Stats().Idle && r.tokens.Stats().Docs == len(drafts) })
	return r, w
}

func ids(res *Result) string {
	var out []string
	for _, h := range res.Hits {
		out = append(out, h.Doc.ID())
	}
	return strings.Join(out, " ")
}

// TestSRCH43_LateInteractionRanks: what has words that are near to those of the question comes first, though another has more of
// the question's own; what says so is told.
func TestSRCH43_LateInteractionRanks(t *testing.T) {
	r, _ := hives(
		t,
		notes.Draft{ID: "near", Title: "One", Body: "weights of hivex under scalex"},
		notes.Draft{ID: "other", Title: "Two", Body: "the weekly market and its stalls"},
		notes.Draft{ID: "third", Title: "Three", Body: "of hats, coats and umbrellas"},
	)
	res, err := r.Search(ctx, Request{Query: "hives scales umbrellas", Mode: Hybrid, Plain: true, Limit: 5, Explain: true})
	must(t, err)
	if len(res.Hits) == 0 || res.Hits[0].Doc.ID() != "near" || res.Hits[0].Late == nil || res.Hits[0].Fused == nil {
		t.Fatalf("found %q: %+v", ids(res), res)
	}
	tokens := r.tokens
	r.tokens = nil
	without, err := r.Search(ctx, Request{Query: "hives scales umbrellas", Mode: Hybrid, Plain: true, Limit: 5})
	must(t, err)
	if ids(without) == "" || without.Hits[0].Doc.ID() != "third" {
		t.Errorf("words and vectors alone find %q", ids(without))
	}
	r.tokens = tokens
	told := false
	for _, s := range Signals {
		s.each(&res.Hits[0], func(string, float64) { told = told || s.Name == "late" })
	}
	if !told {
		t.Error("what late interaction gave is not told")
	}
	for i := 1; i < len(res.Hits); i++ {
		if res.Hits[i].Score > res.Hits[i-1].Score {
			t.Errorf("the scores are not in order: %+v", res.Hits)
		}
	}
	r.opts.Weights.Semantic = 0 // words alone
	res, err = r.Search(ctx, Request{Query: "umbrellas", Mode: Hybrid, Plain: true, Limit: 3})
	must(t, err)
	if ids(res) != "third" || res.Hits[0].Late != nil {
		t.Errorf("by words alone %q", ids(res))
	}
}

// TestPRIV8_PrivateNotesAreNoCandidates: a private note is no candidate of a public search, and a deleted one of none.
func TestPRIV8_PrivateNotesAreNoCandidates(t *testing.T) {
	r, _ := hives(
		t,
		notes.Draft{ID: "open", Title: "Open", Body: "bees in the garden"},
		notes.Draft{ID: "secret", Title: "Secret", Body: "bees in the cellar", Private: true},
	)
	for _, public := range []bool{false, true} {
		res, err := r.Search(ctx, Request{Query: "bees in the cellar", Mode: Hybrid, Plain: true, Limit: 5, Public: public})
		must(t, err)
		if strings.Contains(ids(res), "secret") == public {
			t.Errorf("public %t: found %q", public, ids(res))
		}
	}
	_, err := r.notes.Delete(ctx, "open", nil)
	must(t, err)
	res, err := r.Search(ctx, Request{Query: "bees in the garden", Mode: Hybrid, Plain: true, Limit: 5})
	must(t, err)
	if strings.Contains(ids(res), "open") {
		t.Errorf("a deleted note is found: %q", ids(res))
	}
}

// TestSRCH43_TokensStayOverAStart: nothing is encoded again, but for what was changed.
func TestSRCH43_TokensStayOverAStart(t *testing.T) {
	dir := t.TempDir()
	w := new(wordly)
	opts := Options{Dir: filepath.Join(dir, "index"), Embedder: &embedtest.Bags{Name: "b"}, Words: w}
	r := openAll(t, dir, opts)
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: "bees"}, notes.Draft{ID: "b", Title: "B", Body: "wasps"})
	until(t, "all is encoded", func() bool { return r.tokens.Stats().Idle && r.tokens.Stats().Docs == 2 })
	must(t, r.db.Close())
	files := func() (tokens int) {
		all, err := Inspect(opts.Dir)
		must(t, err)
		for _, f := range all {
			if f.Kind == KindTokens {
				tokens++
				if f.Vectors != 2 || f.Notes != 2 || f.Wrong != "" {
					t.Errorf("a file holds %+v", f)
				}
			}
		}
		return tokens
	}
	if files() != 1 {
		t.Error("there is no file of tokens")
	}
	w.read = nil
	r = openAll(t, dir, opts)
	until(t, "all is read", func() bool { return r.tokens.Stats().Idle })
	r.put(t, notes.Draft{ID: "b", Title: "B", Body: "hornets"})
	until(t, "it is encoded", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.read) > 0 && r.tokens.Stats().Idle
	})
	must(t, r.db.Close())
	must(t, openAll(t, dir, Options{Dir: opts.Dir, Embedder: opts.Embedder}).db.Close())
	if files() != 0 {
		t.Error("without an encoder its files stay, and with them what is deleted later")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.read) != 1 || !strings.Contains(w.read[0], "hornets") {
		t.Errorf("encoded %q", w.read)
	}
}
