package text

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/names"
)

// SnippetSize is the length of a snippet in code points.
const SnippetSize = 200

// Matcher finds the words of a query in a text, as the index does: by their
// stems, without case and accents. It is not safe for concurrent use.
type Matcher struct {
	stem     func(string) string
	stems    map[string]bool
	prefixes []string
	words    map[string]bool // that stand for a mistaken one
	begins   [256]bool       // first bytes of all of them: most words are none
	known    map[string]string
	split    Splitter
}

// NewMatcher returns a Matcher of no words, which stems them so.
func NewMatcher(stem func(string) string) *Matcher {
	return &Matcher{stem: stem, stems: make(map[string]bool), words: make(map[string]bool)}
}

// AddWord has all words match that have the stem of a folded word. Words are added
// before the first text is looked at.
func (m *Matcher) AddWord(w string) { m.stems[m.stem(w)] = true }

// AddPrefix has all words match that begin so.
func (m *Matcher) AddPrefix(w string) { m.prefixes = append(m.prefixes, w) }

// AddExact has a word match as it is written.
func (m *Matcher) AddExact(w string) { m.words[w] = true }

// Only returns a Matcher of a word, and of this Matcher's exact ones if so wished.
func (m *Matcher) Only(w string, exact bool) *Matcher {
	one := NewMatcher(m.stem)
	one.AddWord(w)
	if exact {
		one.words = m.words
	}
	return one
}

// Count returns how many words of a text match.
func (m *Matcher) Count(text string) int { return len(m.all(text)) }

// match is one place of a text that matches.
type match struct {
	start, end int    // bytes
	key        string // what of the query it matches
}

// Matches returns the places of a text that match, in bytes, in order and apart
// from each other.
func (m *Matcher) Matches(text string) [][2]int {
	var out [][2]int
	for _, at := range m.all(text) {
		if n := len(out); n > 0 && at.start <= out[n-1][1] && at.start < out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], at.end)
			continue
		}
		out = append(out, [2]int{at.start, at.end})
	}
	return out
}

// all returns the words of a text that match; pairs of characters may overlap.
func (m *Matcher) all(text string) (out []match) {
	if m.known == nil {
		m.known = make(map[string]string)
		for _, set := range []map[string]bool{m.stems, m.words} {
			for w := range set {
				m.begin(w)
			}
		}
		for _, w := range m.prefixes {
			m.begin(w)
		}
	}
	m.split.Split(text, func(t Token) {
		if !m.begins[t.Text[0]] {
			return
		}
		key, ok := m.known[string(t.Text)]
		if !ok {
			key = m.keyOf(string(t.Text))
			m.known[string(t.Text)] = key
		}
		if key == "" {
			return
		}
		end := t.End
		if IsCharacter(key) { // one of the pair
			_, size := utf8.DecodeRuneInString(text[t.Start:])
			end = t.Start + size
		}
		out = append(out, match{t.Start, end, key})
	})
	return out
}

func (m *Matcher) begin(w string) {
	if w != "" {
		m.begins[w[0]] = true
	}
}

// keyOf returns what of the query a word matches, "" for nothing.
func (m *Matcher) keyOf(w string) string {
	if stem := m.stem(w); m.stems[stem] {
		return stem
	}
	if m.words[w] {
		return w
	}
	for _, p := range m.prefixes {
		if strings.HasPrefix(w, p) {
			return p
		}
	}
	return ""
}

// Snippet cuts a line out of a plain text where most of the query stands, and
// says where that is in it: half-open ranges of UTF-16 units.
func (m *Matcher) Snippet(text string) (string, [][2]int) {
	text = strings.Join(strings.Fields(text), " ")
	start := m.bestPlace(text)
	out := text[start:]
	size := 0
	for i := range out {
		size++
		if size > SnippetSize {
			out = out[:i]
			if at := strings.LastIndexByte(out, ' '); at > len(out)*3/4 && text[start+i] != ' ' {
				out = out[:at] // no half words
			}
			break
		}
	}
	if start+len(out) < len(text) {
		out = strings.TrimRight(out, " ") + "…"
	}
	if start > 0 {
		out = "…" + out
	}
	ranges := [][2]int{}
	units, at := 0, 0
	for _, r := range m.Matches(out) {
		units += names.UTF16Len(out[at:r[0]])
		width := names.UTF16Len(out[r[0]:r[1]])
		ranges = append(ranges, [2]int{units, units + width})
		units, at = units+width, r[1]
	}
	return out, ranges
}

// bestPlace returns where a snippet begins: where the most words of the query
// stand together, then the most matches, then the first.
func (m *Matcher) bestPlace(text string) int {
	list := m.all(text)
	if len(list) == 0 || utf8.RuneCountInString(text) <= SnippetSize {
		return 0
	}
	const room = SnippetSize * 3 / 4 // a quarter is for what stands before
	best, most := 0, -1
	counts := make(map[string]int, len(m.stems))
	distinct, end := 0, 0
	for i, first := range list {
		for end < len(list) &&
			(end <= i || list[end].end-first.start <= room*utf8.UTFMax &&
				utf8.RuneCountInString(text[first.start:list[end].end]) <= room) {
			counts[list[end].key]++
			if counts[list[end].key] == 1 {
				distinct++
			}
			end++
		}
		if value := distinct*1000 + min(end-i, 999); value > most {
			best, most = first.start, value
		}
		counts[first.key]--
		if counts[first.key] == 0 {
			distinct--
		}
	}
	return before(text, best)
}

// before returns the beginning of a word a quarter of a snippet before a place,
// or of the text when that is about as near.
func before(text string, at int) int {
	start, runes := at, 0
	for start > 0 && runes < SnippetSize/4 {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
		runes++
	}
	if utf8.RuneCountInString(text[:start]) <= SnippetSize/4 && at <= SnippetSize/2 {
		return 0
	}
	if space := strings.IndexByte(text[start:at], ' '); space >= 0 && start > 0 {
		return start + space + 1
	}
	return start
}
