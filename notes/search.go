package notes

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"

	"github.com/ctxd/ctxd/entities"
)

// SearchFilter narrows a search. Empty members choose all.
type SearchFilter struct {
	Tags     []string // all of them
	Folder   []string // any of them
	Types    []string // any of them
	After    time.Time
	Before   time.Time
	Archived bool // archived notes as well
}

// Found is one note that a search found.
type Found struct {
	Note    *Note
	Score   float64
	Snippet string   // of the plain text, one line
	Ranges  [][2]int // matches in Snippet, UTF-16
}

// SnippetSize is the length of a snippet in code points.
const SnippetSize = 200

// titleWeight is how many occurrences in the text one in the title is worth.
const titleWeight = 8

// Search finds notes by the words of a query in their titles and texts. Words
// are ORed; rare words weigh more, and so do words of the title. It reads
// every text: O(bytes of all notes). Ties go by title, then by id.
func (s *Store) Search(ctx context.Context, query string, limit int, f SearchFilter) ([]Found, error) {
	found, terms, err := s.rank(ctx, query, f)
	if err != nil {
		return nil, err
	}
	found = found[:min(len(found), max(limit, 0))]
	for i := range found {
		found[i].Snippet, found[i].Ranges = snippet(found[i].Note.PlainText(), terms)
	}
	return found, nil
}

// Rank is Search without snippets and without a limit.
func (s *Store) Rank(ctx context.Context, query string, f SearchFilter) ([]Found, error) {
	found, _, err := s.rank(ctx, query, f)
	return found, err
}

// maxTerms is how many words of a query count.
const maxTerms = 32

func (s *Store) rank(ctx context.Context, query string, f SearchFilter) ([]Found, []string, error) {
	terms := searchTerms(query)
	if len(terms) == 0 {
		return nil, nil, ctx.Err()
	}
	notes := s.searchable(f)
	type counted struct {
		note   *Note
		counts []float64
	}
	var hits []counted
	df := make([]float64, len(terms))
	var title, body []byte // used again: a search of all texts would leave as much garbage
	counts := make([]float64, len(terms))
	for _, n := range notes {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		title, body = appendFold(title[:0], n.Title), appendFold(body[:0], n.Body)
		for _, alias := range n.Aliases {
			title = appendFold(append(title, '\n'), alias)
		}
		matched := false
		for t, term := range terms {
			counts[t] = float64(titleWeight*countWords(title, term) + countWords(body, term))
			if counts[t] > 0 {
				df[t]++
				matched = true
			}
		}
		if matched {
			hits = append(hits, counted{n, slices.Clone(counts)})
		}
	}
	found := make([]Found, len(hits))
	for i, h := range hits {
		found[i].Note = h.note
		for t, tf := range h.counts {
			idf := math.Log(1 + (float64(len(notes))-df[t]+0.5)/(df[t]+0.5))
			found[i].Score += idf * tf / (tf + 1.2)
		}
	}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), entities.CompareNatural(a.Note.Title, b.Note.Title),
			strings.Compare(a.Note.ID, b.Note.ID))
	})
	return found, terms, nil
}

// searchable returns the notes that the filter lets through, in id order, so
// that sums of scores come out the same each time.
func (s *Store) searchable(f SearchFilter) []*Note {
	var out []*Note
	for n := range s.All() {
		if (n.Live() || f.Archived) && f.keeps(n) {
			out = append(out, n)
		}
	}
	if len(f.Types) > 0 {
		want := make(map[string]bool)
		for _, t := range f.Types {
			want[entities.Fold(t)] = true
		}
		out = slices.DeleteFunc(out, func(n *Note) bool {
			e := s.ents.Get(n.EntityID)
			return e == nil || !want[entities.Fold(e.Type)]
		})
	}
	slices.SortFunc(out, func(a, b *Note) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func (f SearchFilter) keeps(n *Note) bool {
	for _, tag := range f.Tags {
		if !hasTag(n, entities.Fold(strings.TrimPrefix(tag, "#"))) {
			return false
		}
	}
	if len(f.Folder) > 0 && !slices.ContainsFunc(f.Folder, func(folder string) bool { return inFolder(n, folder) }) {
		return false
	}
	return (f.After.IsZero() || !n.UpdatedAt.Before(f.After)) && (f.Before.IsZero() || n.UpdatedAt.Before(f.Before))
}

// frequent are words that say nothing about what is looked for; they count
// only when a query has no others.
var frequent = func() map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(`a an and are as at be but by did do does for from had has have how i if in into is
		it its me my no not of on or our shall she he so that the their them then there these they this to was we were
		what when where which who why will with you your`) {
		set[w] = true
	}
	return set
}()

// searchTerms returns the folded words of a query, each once.
func searchTerms(query string) []string {
	var all, telling []string
	seen := make(map[string]bool)
	for w := range splitWords(entities.Fold(query)) {
		if seen[w] || len(telling) == maxTerms {
			continue
		}
		seen[w] = true
		all = append(all, w)
		if !frequent[w] {
			telling = append(telling, w)
		}
	}
	if len(telling) > 0 {
		return telling
	}
	return all[:min(len(all), maxTerms)]
}

// splitWords yields the words of a text that hold a letter or digit (UAX 29).
func splitWords(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for seg := words.FromString(s); seg.Next(); {
			w := seg.Value()
			if strings.IndexFunc(w, isWordRune) >= 0 && !yield(w) {
				return
			}
		}
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// countWords counts where a word begins in a folded text, at most 255 times.
func countWords(text []byte, word string) int {
	n := 0
	for from := 0; n < 255; {
		at := bytes.Index(text[from:], []byte(word))
		if at < 0 {
			break
		}
		at += from
		if startsWord(text, at) {
			n++
		}
		from = at + len(word)
	}
	return n
}

// startsWord reports whether a word may begin at a byte offset: the character
// before it is none of a word, or the scripts write without blanks.
func startsWord(text []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	first, _ := utf8.DecodeRune(text[at:])
	return at == 0 || !isWordRune(before) || unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// snippet cuts a line out of a plain text around its first match and says
// where the terms stand in it.
func snippet(text string, terms []string) (string, [][2]int) {
	text = strings.Join(strings.Fields(text), " ")
	first := -1
	for _, m := range matches(text, terms) {
		first = m[0]
		break
	}
	start := 0
	if first > SnippetSize/2 {
		start = first - SnippetSize/4
		for start > 0 && text[start-1] != ' ' && first-start < SnippetSize/2 {
			start--
		}
		for !utf8.RuneStart(text[start]) {
			start--
		}
	}
	out := cut(text[start:], SnippetSize)
	if start+len(out) < len(text) {
		out = strings.TrimRight(out, " ") + "…"
	}
	if start > 0 {
		out = "…" + out
	}
	ranges := [][2]int{}
	for _, m := range matches(out, terms) {
		from := entities.UTF16Len(out[:m[0]])
		ranges = append(ranges, [2]int{from, from + entities.UTF16Len(out[m[0]:m[1]])})
	}
	return out, ranges
}

// matches returns the byte ranges of the words of text that begin with a term.
func matches(text string, terms []string) [][2]int {
	var out [][2]int
	for seg := words.FromString(text); seg.Next(); {
		fold := entities.Fold(seg.Value())
		for _, term := range terms {
			if strings.HasPrefix(fold, term) {
				out = append(out, [2]int{seg.Start(), seg.End()})
				break
			}
		}
	}
	return out
}
