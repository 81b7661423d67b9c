package entities

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tier says how well a name matches what was typed; lower is better.
type tier int

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

// titleRank is what the rank of a title has and that of an alias has not.
const titleRank = 1 << 63

// rankOf returns what a record counts among equals: more for a later change, to
// two nanoseconds in the years 1678 to 2261; 0 for one that is not offered.
func rankOf(r NameRecord) uint64 {
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

// mark notes, of a record that is offered, which characters and which pairs of them
// its names hold, as bits: a name that lacks a bit of what was typed need not be looked
// at.
func (x *NameIndex) mark(at uint32) {
	letters, pairs := uint64(0), uint64(0)
	if x.ranks[at] > 0 {
		for _, name := range x.list[at].names {
			l, p := marksOf(name.Fold)
			letters, pairs = letters|l, pairs|p
		}
	}
	x.letters[at], x.pairs[at] = letters, pairs
}

// marksOf returns the marks of a folded text. Those of a text that holds the
// characters of another in their order include its letters; those of one that
// holds it whole include its pairs as well.
func marksOf(fold string) (letters, pairs uint64) {
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
			pairs |= 1 << ((uint32(before)*31 + uint32(r)) * 0x9E3779B1 >> 26)
		}
		before = r
	}
	return letters, pairs
}

// Complete returns the records that typed may mean, at most limit: those with
// a name that begins with it, then those with a word that does, then those
// that contain it, then those that contain its characters in order (three or more;
// see maxVain).
// Among equals titles come before aliases, then what changed last, then the order
// of the folds from where they match, then the id. An empty text matches everything.
// Only records of the given kinds are returned, or of any when there are none.
//
// The first two tiers look at the best of each piece of the names with the prefix
// and then into as many pieces as hold the result, in O(n/64) with a factor of
// about a nanosecond. The others look at a word of bits for each record, and at the
// names of those records that these do not rule out.
func (x *NameIndex) Complete(typed string, kinds []string, limit int) []Hit {
	c := completion{
		x: x, limit: limit,
		fold: Fold(strings.ToValidUTF8(strings.TrimLeftFunc(typed, unicode.IsSpace), "\uFFFD")),
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
			c.scan(tierFuzzy, letters, 0)
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
	x     *NameIndex
	fold  string
	kinds []bool // by number; empty: all
	limit int

	found []found // of the tiers so far, best first; a tier is only looked at when those before it are whole
	taken map[uint32]struct{}

	heap []found // of this tier; the worst first
	room int     // of heap
}

// found is a start that matches.
type found struct {
	nameStart
	rank  uint64
	piece int
	tier  tier
}

func (c *completion) better(a, b *found) bool {
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	return compareStarts(c.x, a.nameStart, b.nameStart) < 0
}

// begin begins a tier and reports whether there is use in it.
func (c *completion) begin() bool {
	c.heap, c.room = c.heap[:0], c.limit-len(c.found)
	if c.room <= 0 {
		return false
	}
	if c.heap == nil {
		c.heap = make([]found, 0, min(c.room, 16))
	}
	if c.taken == nil && len(c.found) > 0 {
		c.taken = make(map[uint32]struct{}, c.limit)
	}
	for _, f := range c.found {
		c.taken[f.n] = struct{}{}
	}
	return true
}

// end ends a tier.
func (c *completion) end() {
	slices.SortFunc(c.heap, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), compareStarts(c.x, a.nameStart, b.nameStart))
	})
	if c.found == nil {
		c.found, c.heap = c.heap, nil
		return
	}
	c.found = append(c.found, c.heap...)
}

// list looks for the best starts of a list that begin with what was typed.
func (c *completion) list(l *startList, t tier) {
	from, to := l.prefixed(c.x, c.fold)
	if from == to || !c.begin() {
		return
	}
	part := func(i int) []nameStart {
		starts := l.pieces[i].starts
		if i == to.piece {
			starts = starts[:to.in]
		}
		if i == from.piece {
			starts = starts[from.in:]
		}
		return starts
	}
	last := to.piece
	if to.in == 0 {
		last--
	}
	// The pieces with the best starts first: what they hold rules most others out.
	high := c.high(l.pieces[from.piece : last+1])
	for i := from.piece; i <= last; i++ {
		if l.pieces[i].best >= high {
			c.visit(part(i), i, l.pieces[i].best, t)
		}
	}
	for i := from.piece; i <= last; i++ {
		if l.pieces[i].best < high {
			c.visit(part(i), i, l.pieces[i].best, t)
		}
	}
	c.end()
}

// high returns what the best start of a piece must count for the piece to be one
// of the best, as many as there is room for.
func (c *completion) high(pieces []piece) uint64 {
	if len(pieces) <= c.room {
		return 0
	}
	var space [16]uint64
	best := space[:0] // the highest ones, falling
	for i := range pieces {
		v := pieces[i].best
		if len(best) == min(c.room, len(space)) {
			if v <= best[len(best)-1] {
				continue
			}
			best = best[:len(best)-1]
		}
		at := len(best)
		for at > 0 && best[at-1] < v {
			at--
		}
		best = slices.Insert(best, at, v)
	}
	return best[len(best)-1]
}

// visit takes the starts of a piece that belong to the best so far.
func (c *completion) visit(starts []nameStart, piece int, best uint64, t tier) {
	if best < c.least() || len(c.heap) == c.room && best == c.heap[0].rank && piece > c.heap[0].piece {
		return
	}
	ranks, least := c.x.ranks, c.least()
	for _, s := range starts {
		if rank := rankAs(ranks[s.n], s.name); rank >= least {
			c.offer(found{s, rank, piece, t})
			least = c.least()
		}
	}
}

// least is the rank that a start needs at least.
func (c *completion) least() uint64 {
	if len(c.heap) < c.room {
		return 1 // 0 is not offered
	}
	return c.heap[0].rank
}

// offer takes a start among the best of the tier if it belongs there and its record
// is not there already.
func (c *completion) offer(f found) {
	if f.rank < c.least() || len(c.heap) == c.room && !c.better(&f, &c.heap[0]) {
		return
	}
	if len(c.kinds) > 0 && !c.kinds[c.x.list[f.n].kind] {
		return
	}
	if _, taken := c.taken[f.n]; taken {
		return
	}
	if f.tier <= tierWord && !c.first(f.nameStart, f.tier) {
		return
	}
	if len(c.heap) < c.room {
		c.heap = append(c.heap, f)
		for i := len(c.heap) - 1; i > 0 && c.better(&c.heap[(i-1)/2], &c.heap[i]); i = (i - 1) / 2 {
			c.heap[i], c.heap[(i-1)/2] = c.heap[(i-1)/2], c.heap[i]
		}
		return
	}
	c.heap[0] = f
	for i := 0; ; {
		worst := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(c.heap) && c.better(&c.heap[worst], &c.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		c.heap[i], c.heap[worst] = c.heap[worst], c.heap[i]
		i = worst
	}
}

// first reports whether no other start of the record of s that matches comes before
// s.
func (c *completion) first(s nameStart, t tier) bool {
	n := &c.x.list[s.n]
	if len(n.names) == 1 && t == tierPrefix {
		return true
	}
	for other := range n.starts(s.n) {
		if (other.word == 0) != (t == tierPrefix) || other == s || !strings.HasPrefix(other.key(c.x), c.fold) {
			continue
		}
		if alias := s.name > 0; alias != (other.name > 0) {
			if alias {
				return false
			}
		} else if compareStarts(c.x, other, s) < 0 {
			return false
		}
	}
	return true
}

// scan looks for the best records that hold what was typed, or its characters in
// order, among those that have all of the marks.
func (c *completion) scan(t tier, letters, pairs uint64) {
	if !c.begin() {
		return
	}
	x, vain := c.x, 0
	for at, have := range x.letters {
		if have&letters != letters || x.pairs[at]&pairs != pairs {
			continue
		}
		if x.ranks[at]|titleRank < c.least() {
			continue
		}
		if s, ok := c.holder(uint32(at), t); ok {
			c.offer(found{s, s.rank(x), 0, t})
		} else if vain++; vain == maxVain && t == tierFuzzy {
			break
		}
	}
	c.end()
}

// holder returns the best name of a record that holds what was typed.
func (c *completion) holder(at uint32, t tier) (best nameStart, ok bool) {
	for i, name := range c.x.list[at].names {
		if t == tierSubstring && !strings.Contains(name.Fold, c.fold) || t == tierFuzzy && !subsequence(name.Fold, c.fold) {
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
