package refs

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
)

// Limits of completions.
const (
	DefaultCompletions = 10
	MaxCompletions     = 50
)

// AllKindsLimit is the limit from which on each kind that matches appears.
const AllKindsLimit = handleKinds

// numberMark begins the number of a memory where a handle could stand; see
// ParseMemoryNumber.
const numberMark = "claim_"

// IndexQuery is what Complete looks for.
type IndexQuery struct {
	Typed      string       // with or without the @
	Kinds      []HandleKind // empty: all
	Limit      int
	PublicOnly bool      // private entries do not exist
	Skip       SkipEntry // nil: no more than that
}

// SkipEntry leaves entries out. name is the place in Entry.Names of the name that was found, or
// ByHandle, or ByNumber. It is asked only for what would be found otherwise.
type SkipEntry func(e *Entry, name int) bool

// What an entry was found by, beside its names.
const (
	ByHandle = -1 // or by a former one
	ByNumber = -2
)

// Hit is an entry that was found.
type Hit struct {
	Entry
	Name int // by which it was found; see Skip
}

// tier says how well an entry matches; the lower the better.
type tier int

const (
	exact tier = iota
	ofHandle
	ofWord
	ofName
	tiers
)

// Complete returns what a text may be the beginning of: first the entry that has it for its
// handle, then those whose handle begins with it, then those of which a later word does, then
// those of which a name does. Among equals the last used comes first, then the shorter, then
// the alphabet decides. Nothing typed matches every handle. claim_4 and #4 match numbers that
// begin with 4, and # nothing else. Each entry is there once. With a limit of AllKindsFrom or
// more the best of each kind is among them.
//
// It takes O(n/pieceSize) with a factor of less than a nanosecond, and limit times pieceSize
// with one of a few.
func (x *Index) Complete(q IndexQuery) []Hit {
	c := completion{x: x, q: &q, wanted: wantedKinds(q.Kinds), room: q.Limit}
	c.read(q.Typed)
	for t := exact; t < tiers && c.room > 0; t++ {
		c.tier(t)
	}
	if q.Limit >= AllKindsLimit && c.room == 0 {
		c.addMissing()
	}
	hits := make([]Hit, len(c.out))
	for i, f := range c.out {
		hits[i] = Hit{x.list[f.n].Entry, x.foundBy(f.start)}
	}
	return hits
}

func wantedKinds(list []HandleKind) (wanted [handleKinds]bool) {
	for _, k := range list {
		wanted[k] = true
	}
	if len(list) == 0 {
		for k := range wanted {
			wanted[k] = true
		}
	}
	return wanted
}

// foundBy returns what a start is of: a place in Entry.Names, ByHandle or ByNumber.
func (x *Index) foundBy(s start) int {
	name := int(s.text) - nameTexts
	switch {
	case s.text == numberText:
		return ByNumber
	case s.text == handleText || name >= len(x.list[s.n].Names):
		return ByHandle
	}
	return name
}

// completion is one call of Complete.
type completion struct {
	x      *Index
	q      *IndexQuery
	wanted [handleKinds]bool

	handle, name string // what is typed, as handles and as names are compared
	digits       string // of the number that is typed
	isNumber     bool   // or its mark alone
	onlyNumber   bool

	room int
	out  []found // best first, those of former tiers
	top  []found // best first, those of the tier under way; room at most
}

type found struct {
	start
	tier  tier
	rank  uint64
	order uint64 // see orderOf; 0: not looked up
}

// read says what is typed.
func (c *completion) read(typed string) {
	typed = strings.TrimLeftFunc(strings.ToValidUTF8(typed, "\uFFFD"), unicode.IsSpace)
	typed = strings.TrimPrefix(typed, "@")
	c.handle, c.name = FoldHandle(typed), foldTyped(typed)
	c.onlyNumber = strings.HasPrefix(c.handle, "#")
	if c.handle == "#" || c.handle == numberMark {
		c.isNumber = true
		return
	}
	number, ok := ParseMemoryNumber(c.handle)
	if ok && (c.onlyNumber || strings.HasPrefix(c.handle, numberMark)) {
		c.isNumber = true
		c.digits = formatNumber(number)
	}
}

func (c *completion) who() reader {
	if c.q.PublicOnly {
		return publicOnly
	}
	return everybody
}

// tier adds the best entries of a tier, as many as there is room for.
func (c *completion) tier(t tier) {
	c.top = c.top[:0]
	switch t {
	case exact:
		c.exact()
	default:
		c.prefixed(t)
	}
	c.out = append(c.out, c.top...)
	c.room -= len(c.top)
}

// exact offers the entries that have what is typed for their handle or number.
func (c *completion) exact() {
	if c.isNumber && c.digits != "" && c.wanted[MemoryHandle] {
		l := &c.x.numbers
		from := l.from(c.x, c.digits)
		if from.piece < len(l.pieces) && c.x.text(l.pieces[from.piece][from.in]) == c.digits {
			c.visit(l.pieces[from.piece][from.in:from.in+1], exact)
		}
	}
	if c.onlyNumber {
		return
	}
	for _, n := range c.x.byHandle[c.handle] {
		m := &c.x.list[n]
		if c.wanted[m.Kind] && m.own == c.handle {
			c.visit([]start{{n: n}}, exact)
		}
	}
}

// span is a range of a list.
type span struct {
	l        *list
	from, to place
}

// prefixed offers the entries of a tier that begin with what is typed.
func (c *completion) prefixed(t tier) {
	var spans [handleKinds + 1]span
	all := spans[:0]
	add := func(l *list, prefix string) {
		if len(l.pieces) == 0 {
			return
		}
		from, to := l.prefixed(c.x, prefix)
		if from != to {
			all = append(all, span{l, from, to})
		}
	}
	if t == ofHandle && c.isNumber && c.wanted[MemoryHandle] {
		add(&c.x.numbers, c.digits)
	}
	for kind := range c.wanted {
		switch {
		case !c.wanted[kind] || c.onlyNumber:
		case t == ofHandle:
			add(&c.x.handles[kind], c.handle)
		case t == ofWord && c.handle != "":
			add(&c.x.words[kind], c.handle)
		case t == ofName && c.name != "":
			add(&c.x.names[kind], c.name)
		}
	}
	for _, s := range all {
		c.offerBest(s, t)
	}
	for _, s := range all {
		c.visitBest(s, t)
	}
}

// whole returns the pieces of which all starts are in a range.
func (s *span) whole() (from, to int) {
	from = s.from.piece
	if s.from.in > 0 {
		from++
	}
	return from, max(s.to.piece, from)
}

// offerBest looks into the pieces that a range begins and ends in, and at the best of each
// piece between them: what counts less than as many of those as there is room for need not
// be looked at. It goes from the end: numbers and dates in handles mostly grow with time.
func (c *completion) offerBest(s span, t tier) {
	from, to := s.whole()
	if s.from.piece < from {
		end := len(s.l.pieces[s.from.piece])
		if s.to.piece == s.from.piece {
			end = s.to.in
		}
		c.visit(s.l.pieces[s.from.piece][s.from.in:end], t)
	}
	if s.to.piece >= from && s.to.in > 0 {
		c.visit(s.l.pieces[s.to.piece][:s.to.in], t)
	}
	bests := s.l.best[c.who()]
	for i := to - 1; i >= from; i-- {
		if b := &bests[i]; b.rank >= c.least() {
			c.visit([]start{b.start}, t)
		}
	}
}

// visitBest looks into the pieces whose best is not worse than what was found.
func (c *completion) visitBest(s span, t tier) {
	bests := s.l.best[c.who()]
	from, to := s.whole()
	for i := from; i < to; i++ {
		if b := &bests[i]; b.rank >= c.least() && !c.behind(b, t) {
			c.visit(s.l.pieces[i], t)
		}
	}
}

// least is what an entry counts at least that belongs to the best. It is never 0, which one
// counts that does not exist for the reader.
func (c *completion) least() uint64 {
	if len(c.top) < c.room {
		return 1
	}
	return c.top[len(c.top)-1].rank
}

// behind reports whether all of the best are better than a start that is the best of a piece.
func (c *completion) behind(b *best, t tier) bool {
	if len(c.top) < c.room || b.rank != c.top[len(c.top)-1].rank {
		return false
	}
	f := found{start: b.start, tier: t, rank: b.rank}
	return c.compare(&f, &c.top[len(c.top)-1]) > 0
}

func has(list []found, n number) bool {
	for i := range list {
		if list[i].n == n {
			return true
		}
	}
	return false
}

// visit takes the starts that belong to the best so far.
func (c *completion) visit(starts []start, t tier) {
	ranks, least := c.x.ranks[c.who()], c.least()
	for _, s := range starts {
		rank := ranks[s.n]
		if rank < least || has(c.top, s.n) || has(c.out, s.n) {
			continue
		}
		f := found{start: s, tier: t, rank: rank}
		if len(c.top) == c.room && c.compare(&f, &c.top[len(c.top)-1]) > 0 {
			continue
		}
		if c.q.Skip != nil && c.q.Skip(&c.x.list[s.n].Entry, c.x.foundBy(s)) {
			continue
		}
		c.take(&f)
		least = c.least()
	}
}

func (c *completion) take(f *found) {
	if len(c.top) == c.room {
		c.top = c.top[:len(c.top)-1]
	}
	at := sort.Search(len(c.top), func(i int) bool { return c.compare(f, &c.top[i]) < 0 })
	c.top = slices.Insert(c.top, at, *f)
}

// compare orders what was found, the best first. Handles of one tier are compared by their keys where these differ:
// each look at a text is a wait for memory (BenchmarkREF16_Complete/equals/fifty).
func (c *completion) compare(a, b *found) int {
	switch {
	case a.tier != b.tier:
		return int(a.tier - b.tier)
	case a.rank != b.rank:
		return cmp.Compare(b.rank, a.rank)
	case a.tier == exact:
		return c.x.compare(c.who(), a.n, b.n)
	}
	if byKey := cmp.Compare(c.orderOf(a), c.orderOf(b)); byKey != 0 {
		return byKey
	}
	return c.x.compare(c.who(), a.n, b.n)
}

// orderOf returns the key of a handle, behind what all of its tier begin with.
func (c *completion) orderOf(f *found) uint64 {
	if f.order > 0 {
		return f.order
	}
	common := 0
	if f.tier == ofHandle && !c.isNumber {
		common = len(c.handle)
	}
	if f.text == handleText && f.off == 0 && common < keySize {
		f.order = f.key << (8 * common)
	} else {
		f.order = keyOf(c.x.list[f.n].own[common:])
	}
	return f.order
}

// addMissing puts the best of each kind that was not found in the place of the last entries
// of which there are others of their kind.
func (c *completion) addMissing() {
	var count [handleKinds]int
	for _, f := range c.out {
		count[c.x.list[f.n].Kind]++
	}
	var missing []found
	for kind := range count {
		if count[kind] > 0 || !c.wanted[kind] {
			continue
		}
		one := completion{
			x: c.x, q: c.q, room: 1, handle: c.handle, name: c.name, digits: c.digits, isNumber: c.isNumber, onlyNumber: c.onlyNumber,
		}
		one.wanted[kind] = true
		for t := exact; t < tiers && one.room > 0; t++ {
			one.tier(t)
		}
		missing = append(missing, one.out...)
	}
	for i := len(c.out) - 1; i >= 0 && len(c.out)+len(missing) > c.q.Limit; i-- {
		kind := c.x.list[c.out[i].n].Kind
		if count[kind] > 1 {
			count[kind]--
			c.out = slices.Delete(c.out, i, i+1)
		}
	}
	c.out = append(c.out, missing...)
	slices.SortFunc(c.out, func(a, b found) int { return c.compare(&a, &b) })
}
