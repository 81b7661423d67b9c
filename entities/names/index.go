package names

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// An Index finds records by their names. It is not safe for concurrent use; its
// owner locks it.
//
// Whole names are found in O(log n). Completion is described at Complete. To enter
// a record or to take it out is O(log n) for each of its words, and a move of some
// kilobytes.
type Index struct {
	byID  map[string]uint32 // numbers
	list  []named           // by number
	free  []uint32          // numbers without a record
	whole startList         // every name from its start
	words startList         // every name from its other word starts

	// By number; see rankOf and mark. They are slices of their own because completion goes
	// through all of one.
	ranks   [readers][]uint64
	letters []uint64
	pairs   [][2]uint64

	kinds   map[string]uint32   // numbers of kinds
	kindOf  []string            // kinds by number
	handles map[string][]string // ids by handle; nil until one is asked for
}

// Record is what an Index is told of a record beside its names.
type Record struct {
	ID      string
	Kind    string    // fold of the type; "" when there are no types
	Changed time.Time // recent records come first
	Hidden  bool      // found by its whole name, not offered as a completion
	Private bool      // not offered to who asks for public records
}

// named is what the index knows of one record.
type named struct {
	id    string
	names []Name // the title first, then aliases
	kind  uint32
}

// Name is a name as written, and its fold; within an Index the form that is typed (see
// typedAs).
type Name struct{ Text, Fold string }

// New returns an empty Index.
func New() *Index {
	return &Index{byID: make(map[string]uint32), kinds: make(map[string]uint32)}
}

// Put enters a record or changes what is known of it. The index keeps the strings
// until the next Put of the record.
func (x *Index) Put(r Record, names ...string) {
	if at, ok := x.byID[r.ID]; ok {
		if x.same(at, r.Kind, names) {
			x.renew(at, r, names)
			return
		}
		x.Delete(r.ID)
	}
	n := named{id: r.ID, names: make([]Name, len(names)), kind: x.kind(r.Kind)}
	for i, name := range names {
		n.names[i] = Name{name, typedAs(text.Fold(name))}
	}
	at := uint32(len(x.list))
	if last := len(x.free) - 1; last >= 0 {
		at, x.free = x.free[last], x.free[:last]
	} else {
		x.list = append(x.list, named{})
		for who := range x.ranks {
			x.ranks[who] = append(x.ranks[who], 0)
		}
		x.letters, x.pairs = append(x.letters, 0), append(x.pairs, [2]uint64{})
	}
	x.list[at] = n
	x.setRanks(at, ranksOf(r))
	x.mark(at)
	x.byID[r.ID] = at
	for s := range n.starts(at) {
		x.listOf(s).insert(x, s)
	}
	x.enterHandle(&n)
}

// kind returns the number of a kind.
func (x *Index) kind(kind string) uint32 {
	n, ok := x.kinds[kind]
	if !ok {
		n = uint32(len(x.kindOf))
		kind = strings.Clone(kind)
		x.kinds[kind], x.kindOf = n, append(x.kindOf, kind)
	}
	return n
}

func (x *Index) same(at uint32, kind string, names []string) bool {
	n := &x.list[at]
	return x.kindOf[n.kind] == kind &&
		slices.EqualFunc(n.names, names, func(have Name, name string) bool { return have.Text == name })
}

// renew takes the new strings for a record whose names are as they were: the old
// ones are parts of something larger that nobody else may need.
func (x *Index) renew(at uint32, r Record, names []string) {
	n := &x.list[at]
	n.id = r.ID
	for i, name := range names {
		n.names[i].Text = name
		if n.names[i].Fold == name {
			n.names[i].Fold = name
		}
	}
	delete(x.byID, r.ID) // a map keeps the key it has
	x.byID[r.ID] = at
	was := x.ranksAt(at)
	if was != ranksOf(r) {
		x.setRanks(at, ranksOf(r))
		x.mark(at)
		for s := range n.starts(at) {
			x.listOf(s).rerank(x, s, was)
		}
	}
}

// Delete takes a record out.
func (x *Index) Delete(id string) {
	at, ok := x.byID[id]
	if !ok {
		return
	}
	n := &x.list[at]
	x.leaveHandle(n)
	for s := range n.starts(at) {
		x.listOf(s).remove(x, s)
	}
	delete(x.byID, id)
	x.list[at] = named{}
	x.setRanks(at, [readers]uint64{})
	x.letters[at], x.pairs[at] = 0, [2]uint64{}
	x.free = append(x.free, at)
}

func (x *Index) ranksAt(at uint32) (ranks [readers]uint64) {
	for who := range ranks {
		ranks[who] = x.ranks[who][at]
	}
	return ranks
}

func (x *Index) setRanks(at uint32, ranks [readers]uint64) {
	for who, rank := range ranks {
		x.ranks[who][at] = rank
	}
}

func (x *Index) listOf(s nameStart) *startList {
	if s.word == 0 {
		return &x.whole
	}
	return &x.words
}

// Exact returns the ids of the records with a name whose fold is folded, in id
// order, without those that skip, which may be nil, tells to leave out. O(log n).
func (x *Index) Exact(folded string, skip func(id string) bool) []string {
	var ids []string
	typed := typedAs(folded)
	x.whole.ascend(x, typed, func(s nameStart) bool {
		if s.key(x) != typed {
			return false
		}
		id := x.list[s.n].id
		if len(ids) > 0 && ids[len(ids)-1] == id || skip != nil && skip(id) {
			return true
		}
		if x.foldOf(s) == folded {
			ids = append(ids, id)
		}
		return true
	})
	slices.Sort(ids) // those of names that are written alike are in order already
	return slices.Compact(ids)
}

// Match reports whether folded is the fold of a name, and whether one begins with
// it, both of the records that skip, which may be nil, does not tell to leave out.
// O(log n), and with the number of names that are skipped.
func (x *Index) Match(folded string, skip func(id string) bool) (whole, beginning bool) {
	typed := typedAs(folded)
	x.whole.ascend(x, typed, func(s nameStart) bool {
		key := s.key(x)
		if !strings.HasPrefix(key, typed) {
			return false
		}
		if skip != nil && skip(x.list[s.n].id) {
			return true
		}
		fold := x.foldOf(s)
		if strings.HasPrefix(fold, folded) {
			whole, beginning = whole || fold == folded, true
		}
		return !whole && (!beginning || key == typed)
	})
	return whole, beginning
}

// foldOf returns the fold of the name of a start.
func (x *Index) foldOf(s nameStart) string {
	name := &x.list[s.n].names[s.name]
	if !hasTypedForm(name.Text) {
		return name.Fold
	}
	return text.Fold(name.Text)
}

// maxWords is how many words of a name can be entered by; further ones are
// found as substrings.
const maxWords = 32

// wordStarts appends the byte offsets of the first words of a folded name, 0
// always the first of them. A character of a script that is written without blanks
// starts a word of its own.
func wordStarts(starts []uint16, folded string) []uint16 {
	begun := len(starts)
	starts = append(starts, 0)
	inWord := false
	for at := 0; at < len(folded) && at <= math.MaxUint16 && len(starts)-begun < maxWords; {
		if c := folded[at]; c < utf8.RuneSelf {
			isWord := asciiWord[c]
			if isWord && !inWord && at > 0 {
				starts = append(starts, uint16(at))
			}
			inWord = isWord
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(folded[at:])
		mark := unicode.IsMark(r)
		isWord := mark || unicode.IsLetter(r) || unicode.IsDigit(r)
		if isWord && !mark && (!inWord || text.IsSpaceless(r)) && at > 0 {
			starts = append(starts, uint16(at))
		}
		inWord = isWord
		at += size
	}
	return starts
}

// asciiWord are the letters and digits of ASCII.
var asciiWord = func() (set [utf8.RuneSelf]bool) {
	for c := range set {
		set[c] = 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z'
	}
	return set
}()
