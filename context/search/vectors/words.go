package vectors

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/text"
)

// RemoveTokens removes the files of vectors of words from a folder, where nobody keeps them any more.
func RemoveTokens(dir string, log *slog.Logger) {
	if dir == "" {
		return
	}
	entries, _ := os.ReadDir(dir) // not there yet
	for _, e := range entries {
		if IsFile(e.Name()) && strings.HasPrefix(e.Name(), TokensPrefix) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				log.Warn("search: a file of vectors can't be removed", "error", withoutPath(err))
			}
		}
	}
}

// WordQuestion is what a search asks the vectors of words; AskWords makes one.
type WordQuestion struct {
	x      *Index
	g      *generation
	asked  []string // the word that each of its tokens is of
	words  *TokenQuestion
	pooled []float32
	public bool
}

// AskWords gets the vectors of the words of a text, and waits for them no longer than ctx allows: nil where they can't be had,
// or where no document has any yet. Of a public question private documents do not exist.
func (x *Index) AskWords(ctx context.Context, text string, public bool) *WordQuestion {
	x.mu.RLock()
	g := x.serving
	ready := x.tokens != nil && g != nil && g.ready
	x.mu.RUnlock()
	if !ready || g.index.Len() == 0 {
		return nil
	}
	asked, ok := x.askedWords.get(g.model, text)
	if !ok {
		got := make(chan embed.QuestionTokens, 1)
		go func() {
			model, asked, err := x.tokens.EmbedQuestion(ctx, text)
			if err != nil || model != g.model {
				asked = embed.QuestionTokens{}
			}
			got <- asked
		}()
		select {
		case <-ctx.Done():
			return nil
		case asked = <-got:
		}
		if asked.Vectors != nil {
			x.askedWords.put(g.model, text, asked)
		}
	}
	q := &WordQuestion{
		x: x, g: g, asked: asked.Words, words: NewTokenQuestion(asked.Vectors), pooled: embed.MeanOf(asked.Vectors), public: public,
	}
	if q.pooled == nil {
		return nil
	}
	return q
}

// Words is how many words the question has.
func (q *WordQuestion) Words() int { return q.words.Words() }

// Matched says how near a part of a document is to each token of the question, as cosines of its nearest word, and which word
// each token is of, see embed.QuestionTokens; nil where that is not known.
func (q *WordQuestion) Matched(id string, part int) (words []string, near []float32) {
	if !q.x.serves(q.g, id) {
		return nil, nil
	}
	near = q.g.index.Matched(q.words, id, part)
	if near == nil {
		return nil, nil
	}
	return q.asked, near
}

// Knows reports whether the vectors of all words of a document are there: of one that is half read the best part may be missing.
func (q *WordQuestion) Knows(id string) bool {
	return q.g.index.Key(id) != TextKey{} && q.g.index.Has(id) && q.x.serves(q.g, id)
}

// Nearest returns the k documents that are nearest by the means of their parts.
func (q *WordQuestion) Nearest(ctx context.Context, k int, f Filter) ([]text.Doc, error) {
	s := &nearSearch{g: q.g, vector: q.pooled, k: k, public: q.public, filter: f, undecided: firstUndecided}
	found, docs, err := q.x.search(ctx, s)
	if err != nil {
		return nil, err
	}
	var list []text.Doc
	for _, h := range found {
		if d := docs(h.ID); d != nil {
			list = append(list, d)
		}
	}
	return list, nil
}

// Interact returns how near documents are by their words, see FlatIndex.Interact; the part is -1 where that is not known.
func (q *WordQuestion) Interact(ids []string) []FlatHit {
	hits := q.g.index.Interact(q.words, ids)
	for i := range hits {
		if !q.x.serves(q.g, hits[i].ID) {
			hits[i].Part = -1
		}
	}
	if q.g.index.Broken() {
		poke(q.x.wake)
	}
	return hits
}
