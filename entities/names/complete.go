package names

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// tier says how well a name matches what was typed; lower is better.
type tier uint8

const (
	tierPrefix tier = iota
	tierWord
	tierSubstring
	tierFuzzy
)

// minFuzzy is how many characters must be typed for the last tier: fewer are in
// nearly every name.
const minFuzzy = 3

// maxVain is at how many names the last tier looks in vain before it gives up: the
// marks rule nearly all others out, unless all names are much the same.
const maxVain = 20_000

// Hit is one completion: the record, the name that matched, and the UTF-16
// ranges of that name to highlight.
type Hit struct {
	ID    string
	Name  string
	Match [][2]int
}

// reader is whose completions they are.
type reader int

const (
	everybody reader = iota // who is offered all records
	public                  // who is offered those that are not private
	readers
)

// titleRank is what the rank of a title has and that of an alias has not.
const titleRank = 1 << 63

// rankOf returns what a record counts among equals: more for a later change, to
// two nanoseconds in the years 1678 to 2261; 0 for one that is not offered.
func rankOf(r Record) uint64 {
	if r.Hidden {
		return 0
	}
	nanos := r.Changed.UnixNano()
	switch year := r.Changed.UTC().Year(); {
	case year < 1678:
		nanos = math.MinInt64
	case year > 2261:
		nanos = math.MaxInt64
	}
	return max(1, (uint64(nanos)^1<<63)>>1)
}

// rankAs returns the rank of a name of a record with a rank.
func rankAs(rank uint64, name uint16) uint64 {
	if rank > 0 && name == 0 {
		rank |= titleRank
	}
	return rank
}

// ranksOf returns what a record counts for each reader.
func ranksOf(r Record) (ranks [readers]uint64) {
	ranks[everybody] = rankOf(r)
	if !r.Private {
		ranks[public] = ranks[everybody]
	}
	return ranks
}

// mark notes, of a record that is offered, which characters and which pairs of them
// its names hold, as bits: a name that lacks a bit of what was typed need not be looked
// at.
func (x *Index) mark(at uint32) {
	letters, pairs := uint64(0), [2]uint64{}
	if x.ranks[everybody][at] > 0 {
		for _, name := range x.list[at].names {
			l, p := marksOf(name.Fold)
			letters, pairs[0], pairs[1] = letters|l, pairs[0]|p[0], pairs[1]|p[1]
		}
	}
	x.letters[at], x.pairs[at] = letters, pairs
}

// marksOf returns the marks of a folded text. Those of a text that holds the
// characters of another in their order include its letters; those of one that
// holds it whole include its pairs as well.
func marksOf(fold string) (letters uint64, pairs [2]uint64) {
	const again = 26 // the bits of letters that are there twice follow those of letters
	before := rune(-1)
	for _, r := range fold {
		var bit uint64
		switch {
		case 'a' <= r && r <= 'z':
			bit = 1 << (r - 'a')
			bit |= letters & bit << again
		case '0' <= r && r <= '9':
			bit = 1 << (2*again + r - '0')
		case r < utf8.RuneSelf:
			bit = 1 << 62
		default:
			bit = 1 << (uint32(r) * 0x9E3779B1 >> 26)
		}
		letters |= bit
		if before >= 0 {
			hash := (uint32(before)*31 + uint32(r)) * 0x9E3779B1 >> 25
			pairs[hash>>6] |= 1 << (hash & 63)
		}
		before = r
	}
	return letters, pairs
}

// Complete returns the records that typed may mean, at most limit: those with a name that
// begins with it, then those with a word that does, then those that contain it, then those
// that contain its characters in order (three or more; see maxVain). Within a tier titles
// come before aliases, then what changed last comes first. What is equal in that is in the
// order of the folds from where they match, then of the folds, the names, the kinds and the
// ids. An empty text matches everything. Only records of the given kinds are returned, or of
// any when there are none. With publicOnly private records do not exist: they take no place
// within limit and change no other's, and nothing is paid for them.
//
// The first two tiers look at the best of each piece of the names with the prefix
// and then into those pieces of which more than the best belongs to the result, in
// O(n/64) with a factor of about a nanosecond. The others look at a word of bits for
// each record, the last ones entered first, and at the names of those records that
// these do not rule out.
func (x *Index) Complete(typed string, kinds []string, limit int, publicOnly bool) []Hit {
	who := everybody
	if publicOnly {
		who = public
	}
	return x.complete(typed, kinds, limit, who, nil)
}

// CompleteShown is Complete of public records, of which the names that hides tells of do not exist: a record is found by
// another one of its names, in the place that it has by that. hides must not ask the owner of the Index, who holds its lock.
func (x *Index) CompleteShown(typed string, kinds []string, limit int, hides func(id, name string) bool) []Hit {
	return x.complete(typed, kinds, limit, public, hides)
}

func (x *Index) complete(typed string, kinds []string, limit int, who reader, hides func(id, name string) bool) []Hit {
	c := completion{
		x: x, limit: limit, who: who, ranks: x.ranks[who], hides: hides,
		fold: typedAs(text.Fold(strings.ToValidUTF8(strings.TrimLeftFunc(typed, unicode.IsSpace), "\uFFFD"))),
	}
	if len(kinds) > 0 {
		c.kinds = make([]bool, len(x.kindOf)+1) // one more: it is not empty then
		for _, kind := range kinds {
			if n, ok := x.kinds[kind]; ok {
				c.kinds[n] = true
			}
		}
	}
	c.list(&x.whole, tierPrefix)
	c.list(&x.words, tierWord)
	if c.fold != "" {
		letters, pairs := marksOf(c.fold)
		c.scan(tierSubstring, letters, pairs)
		if utf8.RuneCountInString(c.fold) >= minFuzzy {
			c.scan(tierFuzzy, letters, [2]uint64{})
		}
	}
	hits := make([]Hit, len(c.found))
	ranges := make([][2]int, len(hits)) // most have one
	for i, f := range c.found {
		n := &x.list[f.n]
		name := n.names[f.name]
		hits[i] = Hit{ID: n.id, Name: name.Text, Match: matchRanges(ranges[i:i:i+1], name, c.fold, f.tier)}
	}
	return hits
}

// completion is a call of Complete under way.
type completion struct {
	x     *Index
	fold  string
	kinds []bool // by number; empty: all
	limit int
	who   reader
	ranks []uint64                   // of who, by number
	hides func(id, name string) bool // nil: nothing

	found []found // best first, each record once, limit at most
	begun int     // where those of the tier under way begin
}

// found is a start that matches.
type found struct {
	nameStart
	rank  uint64
	piece int32
	tier  tier
}

// compare orders the starts of one tier, the best first.
func (c *completion) compare(a, b *found) int {
	if a.rank != b.rank {
		return cmp.Compare(b.rank, a.rank)
	}
	return compareStarts(c.x, a.nameStart, b.nameStart)
}

// begin begins a tier and reports whether there is room for what it finds.
func (c *completion) begin() bool {
	c.begun = len(c.found)
	if c.found == nil && c.limit > 0 {
		c.found = make([]found, 0, min(c.limit, 16))
	}
	return c.begun < c.limit
}

// list looks for the best starts of a list that begin with what was typed.
func (c *completion) list(l *startList, t tier) {
	from, to := l.prefixed(c.x, c.fold)
	if from == to || !c.begin() {
		return
	}
	if from.piece == to.piece {
		c.visit(l.pieces[from.piece].starts[from.in:to.in], from.piece, t)
		return
	}
	whole := from.piece // the first piece of which all starts match
	if from.in > 0 {
		whole++
	}
	// The best of the pieces first, and of them the highest: they rule most others out.
	high := c.high(l.pieces[whole:to.piece])
	c.tops(l, whole, to.piece, t, high)
	if len(c.found) < c.limit && high > 1 {
		c.tops(l, whole, to.piece, t, 1)
	}
	if from.in > 0 && l.pieces[from.piece].of(c.who).best >= c.least() {
		c.visit(l.pieces[from.piece].starts[from.in:], from.piece, t)
	}
	if to.in > 0 && l.pieces[to.piece].of(c.who).best >= c.least() {
		c.visit(l.pieces[to.piece].starts[:to.in], to.piece, t)
	}
	least := c.least()
	for i := whole; i < to.piece; i++ {
		next := l.pieces[i].of(c.who).next
		if next >= least && !c.behind(next, i) {
			c.visit(l.pieces[i].starts, i, t)
			least = c.least()
		}
	}
}

// high returns what the best start of a piece must count to be one of the best of
// them, as many as there is room for, or some. It begins at the end: numbers and
// dates in names mostly grow with time.
func (c *completion) high(pieces []piece) uint64 {
	var best [16]uint64 // falling
	n := min(c.limit-c.begun, len(best))
	least := uint64(0)
	for i := len(pieces) - 1; i >= 0; i-- {
		v := pieces[i].of(c.who).best
		if v <= least {
			continue
		}
		at := n - 1
		for ; at > 0 && best[at-1] < v; at-- {
			best[at] = best[at-1]
		}
		best[at], least = v, best[n-1]
	}
	return max(1, least)
}

// tops takes the best starts of some pieces that belong to the best so far and count
// so much at least.
func (c *completion) tops(l *startList, from, to int, t tier, least uint64) {
	for i := from; i < to; i++ {
		p := l.pieces[i].of(c.who)
		if p.best >= least && !c.behind(p.best, i) {
			c.offer(found{p.top, p.best, int32(i), t})
			least = max(least, c.least())
		}
	}
}

// behind reports whether the starts of a piece stand behind all that were found, for
// which there is no more room, if they count this much at most.
func (c *completion) behind(rank uint64, piece int) bool {
	if len(c.found) < c.limit {
		return false
	}
	last := &c.found[len(c.found)-1]
	return rank == last.rank && piece > int(last.piece)
}

// visit takes the starts of a piece that belong to the best so far.
func (c *completion) visit(starts []nameStart, piece int, t tier) {
	ranks, least := c.ranks, c.least()
	for _, s := range starts {
		if rank := rankAs(ranks[s.n], s.name); rank >= least {
			c.offer(found{s, rank, int32(piece), t})
			least = c.least()
		}
	}
}

// least is the rank that a start needs at least.
func (c *completion) least() uint64 {
	if len(c.found) < c.limit {
		return 1 // 0 is not offered
	}
	return c.found[len(c.found)-1].rank
}

// hidden reports whether a name of a record does not exist for who asks.
func (c *completion) hidden(at uint32, name int) bool {
	if c.hides == nil {
		return false
	}
	r := &c.x.list[at]
	return c.hides(r.id, r.names[name].Text)
}

// offer takes a start among the best of the tier if it belongs there and no better
// one of its record is there already.
func (c *completion) offer(f found) {
	full := len(c.found) == c.limit
	if f.rank < c.least() || full && c.compare(&f, &c.found[len(c.found)-1]) >= 0 {
		return
	}
	if len(c.kinds) > 0 && !c.kinds[c.x.list[f.n].kind] || c.hidden(f.n, int(f.name)) {
		return
	}
	for i := range c.found {
		if c.found[i].n != f.n {
			continue
		}
		if i < c.begun || c.compare(&f, &c.found[i]) >= 0 {
			return
		}
		c.found, full = slices.Delete(c.found, i, i+1), false
		break
	}
	at := len(c.found)
	if full {
		at--
	} else {
		c.found = append(c.found, f)
	}
	for ; at > c.begun && c.compare(&f, &c.found[at-1]) < 0; at-- {
		c.found[at] = c.found[at-1]
	}
	c.found[at] = f
}

// scan looks for the best records that hold what was typed, or its characters in
// order, among those that have all of the marks. It begins with the records that came
// last, which most likely changed last: they rule most others out.
func (c *completion) scan(t tier, letters uint64, pairs [2]uint64) {
	if !c.begin() {
		return
	}
	const chunk = 1024
	x, vain := c.x, 0
	for to := len(x.letters); to > 0; to -= chunk {
		from := max(0, to-chunk)
		chunkPairs := x.pairs[from:to]
		for i, have := range x.letters[from:to] {
			if have&letters != letters || chunkPairs[i][0]&pairs[0] != pairs[0] ||
				chunkPairs[i][1]&pairs[1] != pairs[1] {
				continue
			}
			at := from + i
			// What is not offered does not count as looked at in vain, or it would decide what else is found.
			if rank := c.ranks[at]; rank == 0 || rank|titleRank < c.least() {
				continue
			}
			if s, ok := c.holder(uint32(at), t); ok {
				c.offer(found{s, rankAs(c.ranks[at], s.name), 0, t})
			} else if vain++; vain == maxVain && t == tierFuzzy {
				return
			}
		}
	}
}

// holder returns the best name of a record that holds what was typed.
func (c *completion) holder(at uint32, t tier) (best nameStart, ok bool) {
	for i, name := range c.x.list[at].names {
		if t == tierSubstring && !strings.Contains(name.Fold, c.fold) ||
			t == tierFuzzy && !subsequence(name.Fold, c.fold) || c.hidden(at, i) {
			continue
		}
		s := nameStart{head(name.Fold), at, uint16(i), 0}
		if i == 0 {
			return s, true
		}
		if !ok || compareStarts(c.x, s, best) < 0 {
			best, ok = s, true
		}
	}
	return best, ok
}

// subsequence reports whether the characters of part stand in s in their order.
func subsequence(s, part string) bool {
	for _, r := range part {
		at := strings.IndexRune(s, r)
		if at < 0 {
			return false
		}
		s = s[at+utf8.RuneLen(r):]
	}
	return true
}
