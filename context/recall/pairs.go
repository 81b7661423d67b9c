package recall

import (
	"math"
	"slices"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
)

// ofPairs is what it adds to the relevance of a hit to have all that hits have of the pairs of a question.
const ofPairs = 0.4

// pair are the stems of two words that stand side by side.
type pair struct{ first, second string }

// pairs adds to the relevance of a hit what share it has of the pairs of words of the question that any hit
// has. Each pair counts by what it tells among the hits (its idf): "first sprint" says more than the two
// words, which the hits may all have somewhere.
func (s *run) pairs() error {
	asked := pairsOf(s.req.Query)
	if len(asked) == 0 {
		return skip("no two words that tell something stand side by side in the question")
	}
	var of []*candidate
	for _, c := range s.list {
		if c.msg != nil {
			of = append(of, c)
		}
	}
	if len(of) == 0 {
		return skip("no messages were found")
	}
	has, count := make([][]int, len(of)), make([]int, len(asked))
	find := finderOf(asked)
	for i, c := range of {
		has[i] = find.in(c.doc)
		for _, p := range has[i] {
			count[p]++
		}
	}
	tells := make([]float64, len(asked))
	all := 0.0
	for p, n := range count {
		if n > 0 {
			tells[p] = math.Log(1 + (float64(len(of)-n)+0.5)/(float64(n)+0.5))
			all += tells[p]
		}
	}
	for i, c := range of {
		if len(has[i]) == 0 {
			continue
		}
		sum := 0.0
		for _, p := range has[i] {
			sum += tells[p]
		}
		more := ofPairs * sum / all
		c.relevance += more
		c.signals = append(c.signals, Signal{Pairs, more})
		c.settle()
		s.changed++
	}
	s.sort()
	return nil
}

// pairsOf returns the pairs of words of a question that stand side by side and both tell something.
func pairsOf(question string) (list []pair) {
	var split text.Splitter
	last := ""
	split.Split(question, func(t text.Token) {
		word := string(t.Text)
		if t.Symbol || !search.IsInformative(word) {
			last = ""
			return
		}
		stem := text.StemEnglish(word)
		if p := (pair{last, stem}); last != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
		last = stem
	})
	return list
}

// finder finds pairs in texts.
type finder struct {
	split text.Splitter
	pairs []pair
	stems map[string]string    // of the words that were looked up
	heads [1 << 16 / 64]uint64 // a bit for the first two bytes of each stem, which no ending takes off

	last  string // stem of the word before; "" for one that is in no pair
	found []int
}

func finderOf(pairs []pair) *finder {
	f := &finder{pairs: pairs, stems: make(map[string]string)}
	for _, p := range pairs {
		for _, stem := range []string{p.first, p.second} {
			head := headOf([]byte(stem))
			f.heads[head/64] |= 1 << (head % 64)
		}
	}
	return f
}

func headOf(word []byte) (head int) {
	head = int(word[0]) << 8
	if len(word) > 1 {
		head |= int(word[1])
	}
	return head
}

// in returns the places of the pairs that a document has. Words of ASCII, as most are, are read without a
// call for each; see text.Splitter.
func (f *finder) in(d text.Doc) []int {
	f.found = nil
	other := func(t text.Token) {
		if !t.Symbol {
			f.take(t.Text)
		}
	}
	d.Fields(func(_ int, s string) bool {
		f.last = ""
		for i := 0; i < len(s); {
			if text.IsBlank(s[i]) {
				i++
				continue
			}
			end := f.split.Plain(s, i)
			if end == i {
				i = f.split.Next(s, i, other)
				continue
			}
			f.take(f.split.Word[:end-i])
			i = end
		}
		return len(f.found) < len(f.pairs)
	})
	return f.found
}

// take takes in the next word of a text.
func (f *finder) take(word []byte) {
	head := headOf(word)
	if f.heads[head/64]&(1<<(head%64)) == 0 {
		f.last = ""
		return
	}
	stem, ok := f.stems[string(word)]
	if !ok {
		w := string(word)
		stem = text.StemEnglish(w)
		f.stems[w] = stem
	}
	if f.last != "" {
		for i, p := range f.pairs {
			if p.first == f.last && p.second == stem && !slices.Contains(f.found, i) {
				f.found = append(f.found, i)
			}
		}
	}
	f.last = stem
}
