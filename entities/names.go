package entities

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A NameIndex finds records by their names: exactly, for mentions and links,
// and by what a person has typed so far, for completion. Entities and notes
// each keep one. It is not safe for concurrent use; its owner locks it.
//
// Whole names are found in O(log n). Completion is described at Complete. To enter
// a record or to take it out is O(log n) for each of its words, and a move of some
// kilobytes.
type NameIndex struct {
	byID  map[string]uint32 // numbers
	list  []named           // by number
	free  []uint32          // numbers without a record
	whole startList         // every name from its start
	words startList         // every name from its other word starts

	// By number; see rankOf and mark. They are slices of their own because completion goes
	// through all of one.
	ranks, letters []uint64
	pairs          [][2]uint64

	kinds   map[string]uint32   // numbers of kinds
	kindOf  []string            // kinds by number
	handles map[string][]string // ids by handle; nil until one is asked for
}

// NameRecord is what a NameIndex is told of a record beside its names.
type NameRecord struct {
	ID      string
	Kind    string    // fold of the type; "" when there are no types
	Changed time.Time // recent records come first
	Hidden  bool      // found by its whole name, not offered as a completion
}

// named is what the index knows of one record.
type named struct {
	id    string
	names []Name // the title first, then aliases
	kind  uint32
}

// Name is a name as written, and its fold.
type Name struct{ Text, Fold string }

// NewNameIndex returns an empty index.
func NewNameIndex() *NameIndex {
	return &NameIndex{byID: make(map[string]uint32), kinds: make(map[string]uint32)}
}

// Put enters a record or changes what is known of it. The index keeps the strings
// until the next Put of the record.
func (x *NameIndex) Put(r NameRecord, names ...string) {
	if at, ok := x.byID[r.ID]; ok {
		if x.same(at, r.Kind, names) {
			x.renew(at, r, names)
			return
		}
		x.Delete(r.ID)
	}
	n := named{id: r.ID, names: make([]Name, len(names)), kind: x.kind(r.Kind)}
	for i, name := range names {
		n.names[i] = Name{name, Fold(name)}
	}
	at := uint32(len(x.list))
	if last := len(x.free) - 1; last >= 0 {
		at, x.free = x.free[last], x.free[:last]
	} else {
		x.list = append(x.list, named{})
		x.ranks, x.letters, x.pairs = append(x.ranks, 0), append(x.letters, 0), append(x.pairs, [2]uint64{})
	}
	x.list[at], x.ranks[at] = n, rankOf(r)
	x.mark(at)
	x.byID[r.ID] = at
	for s := range n.starts(at) {
		x.listOf(s).insert(x, s)
	}
	x.enterHandle(&n)
}

// kind returns the number of a kind.
func (x *NameIndex) kind(kind string) uint32 {
	n, ok := x.kinds[kind]
	if !ok {
		n = uint32(len(x.kindOf))
		kind = strings.Clone(kind)
		x.kinds[kind], x.kindOf = n, append(x.kindOf, kind)
	}
	return n
}

func (x *NameIndex) same(at uint32, kind string, names []string) bool {
	n := &x.list[at]
	return x.kindOf[n.kind] == kind && slices.EqualFunc(n.names, names, func(have Name, name string) bool { return have.Text == name })
}

// renew takes the new strings for a record whose names are as they were: the old
// ones are parts of something larger that nobody else may need.
func (x *NameIndex) renew(at uint32, r NameRecord, names []string) {
	n := &x.list[at]
	n.id = r.ID
	for i, name := range names {
		if n.names[i].Text = name; n.names[i].Fold == name {
			n.names[i].Fold = name
		}
	}
	delete(x.byID, r.ID) // a map keeps the key it has
	x.byID[r.ID] = at
	if was := x.ranks[at]; was != rankOf(r) {
		x.ranks[at] = rankOf(r)
		x.mark(at)
		for s := range n.starts(at) {
			x.listOf(s).rerank(x, s, was)
		}
	}
}

// Delete takes a record out.
func (x *NameIndex) Delete(id string) {
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
	x.ranks[at], x.letters[at], x.pairs[at] = 0, 0, [2]uint64{}
	x.free = append(x.free, at)
}

func (x *NameIndex) listOf(s nameStart) *startList {
	if s.word == 0 {
		return &x.whole
	}
	return &x.words
}

// Exact returns the ids of the records with a name whose fold is fold, in id
// order. O(log n).
func (x *NameIndex) Exact(fold string) []string {
	var ids []string
	x.whole.ascend(x, fold, func(s nameStart) bool {
		if s.key(x) != fold {
			return false
		}
		if id := x.list[s.n].id; len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// Match reports whether fold is the fold of a name, and whether one begins with
// it. O(log n).
func (x *NameIndex) Match(fold string) (whole, beginning bool) {
	x.whole.ascend(x, fold, func(s nameStart) bool {
		key := s.key(x)
		whole, beginning = key == fold, strings.HasPrefix(key, fold)
		return false
	})
	return whole, beginning
}

// HasPrefix reports whether the fold of any name begins with fold. O(log n).
func (x *NameIndex) HasPrefix(fold string) bool {
	_, beginning := x.Match(fold)
	return beginning
}

// maxWords is how many words of a name can be entered by; further ones are
// found as substrings.
const maxWords = 32

// wordStarts appends the byte offsets of the first words of a folded name, 0
// always the first of them. A character of a script that is written without blanks
// starts a word of its own.
func wordStarts(starts []uint16, fold string) []uint16 {
	begun := len(starts)
	starts = append(starts, 0)
	inWord := false
	for at := 0; at < len(fold) && at <= math.MaxUint16 && len(starts)-begun < maxWords; {
		if c := fold[at]; c < utf8.RuneSelf {
			if isWord := asciiWord[c]; isWord != inWord {
				if inWord = isWord; isWord && at > 0 {
					starts = append(starts, uint16(at))
				}
			}
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(fold[at:])
		mark := unicode.IsMark(r)
		isWord := mark || unicode.IsLetter(r) || unicode.IsDigit(r)
		if isWord && !mark && (!inWord || spaceless(r)) && at > 0 {
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

func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
