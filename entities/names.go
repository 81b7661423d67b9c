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
// Whole names are found in O(log n). Completion visits the names with the typed
// prefix; only when these are too few it scans all names, O(n).
type NameIndex struct {
	byID  map[string]uint32 // numbers
	list  []*named          // by number; nil where there is none
	free  []uint32          // numbers without a record
	whole startList         // every name from its start
	words startList         // every name from its other word starts

	handles map[string][]string // ids by handle; nil until one is asked for
}

// named is what the index knows of one record.
type named struct {
	id    string
	names []Name    // the title first, then aliases
	time  time.Time // of the last change: recent records come first
	kind  string    // fold of the type; "" when there are no types
}

// Name is a name as written, and its fold.
type Name struct{ Text, Fold string }

// NewNameIndex returns an empty index.
func NewNameIndex() *NameIndex { return &NameIndex{byID: make(map[string]uint32)} }

// Put enters a record or changes what is known of it. The index keeps the strings
// until the next Put of the record.
func (x *NameIndex) Put(id, kind string, changed time.Time, names ...string) {
	if at, ok := x.byID[id]; ok {
		if x.list[at].same(kind, names) {
			x.renew(at, id, changed, names)
			return
		}
		x.Delete(id)
	}
	n := &named{id: id, names: make([]Name, len(names)), time: changed, kind: kind}
	for i, name := range names {
		n.names[i] = Name{name, Fold(name)}
	}
	at := uint32(len(x.list))
	if last := len(x.free) - 1; last >= 0 {
		at, x.free = x.free[last], x.free[:last]
		x.list[at] = n
	} else {
		x.list = append(x.list, n)
	}
	x.byID[id] = at
	for s := range n.starts(at) {
		x.listOf(s).insert(x.list, s)
	}
	x.enterHandle(n)
}

func (n *named) same(kind string, names []string) bool {
	return n.kind == kind && slices.EqualFunc(n.names, names, func(have Name, name string) bool { return have.Text == name })
}

// renew takes the new strings for a record whose names are as they were: the old
// ones are parts of something larger that nobody else may need.
func (x *NameIndex) renew(at uint32, id string, changed time.Time, names []string) {
	n := x.list[at]
	n.id, n.time = id, changed
	for i, name := range names {
		if n.names[i].Text = name; n.names[i].Fold == name {
			n.names[i].Fold = name
		}
	}
	delete(x.byID, id) // a map keeps the key it has
	x.byID[id] = at
}

// Delete takes a record out.
func (x *NameIndex) Delete(id string) {
	at, ok := x.byID[id]
	if !ok {
		return
	}
	n := x.list[at]
	x.leaveHandle(n)
	for s := range n.starts(at) {
		x.listOf(s).remove(x.list, s)
	}
	delete(x.byID, id)
	*n = named{} // it may be one of many in one piece of memory
	x.list[at] = nil
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
	x.whole.ascend(x.list, fold, func(s nameStart) bool {
		if s.key(x.list) != fold {
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
	x.whole.ascend(x.list, fold, func(s nameStart) bool {
		key := s.key(x.list)
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
	for at, r := range fold {
		if at > math.MaxUint16 || len(starts)-begun == maxWords {
			break
		}
		var isWord, begins bool
		if r < utf8.RuneSelf {
			isWord = 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
			begins = isWord && !inWord
		} else {
			mark := unicode.IsMark(r)
			isWord = mark || unicode.IsLetter(r) || unicode.IsDigit(r)
			begins = isWord && !mark && (!inWord || spaceless(r))
		}
		if begins && at > 0 {
			starts = append(starts, uint16(at))
		}
		inWord = isWord
	}
	return starts
}

func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// tier says how well a name matches what was typed; lower is better.
type tier int

const (
	tierPrefix tier = iota
	tierWord
	tierSubstring
	tierFuzzy
	tierNone
)

// Hit is one completion: the record, the name that matched, and the UTF-16
// ranges of that name to highlight.
type Hit struct {
	ID    string
	Name  string
	Match [][2]int
}

// candidate is a hit before its ranges are worked out.
type candidate struct {
	n    *named
	name int
	tier tier
}

// Complete returns the records that typed may mean, at most limit: those with
// a name that begins with it, then those with a word that does, then those
// that contain it, then those that contain its letters in order. Among equals
// the titles come before aliases, then what changed last, then natural order
// and id. An empty text matches everything. keep says whether a record may be
// offered.
func (x *NameIndex) Complete(typed string, limit int, keep func(id, kind string) bool) []Hit {
	fold := Fold(strings.TrimLeftFunc(typed, unicode.IsSpace))
	best := make(map[*named]candidate)
	add := func(n *named, name int, t tier) {
		c := candidate{n, name, t}
		if old, ok := best[n]; (!ok || compareCandidates(c, old) < 0) && keep(n.id, n.kind) {
			best[n] = c
		}
	}
	visit := func(list *startList, t tier) {
		list.ascend(x.list, fold, func(s nameStart) bool {
			if !strings.HasPrefix(s.key(x.list), fold) {
				return false
			}
			add(x.list[s.n], int(s.name), t)
			return true
		})
	}
	visit(&x.whole, tierPrefix)
	visit(&x.words, tierWord)
	if len(best) < limit && fold != "" {
		x.scan(fold, add)
	}
	all := make([]candidate, 0, len(best))
	for _, c := range best {
		all = append(all, c)
	}
	slices.SortFunc(all, compareCandidates)
	if limit = max(limit, 0); len(all) > limit {
		all = all[:limit]
	}
	hits := make([]Hit, len(all))
	for i, c := range all {
		name := c.n.names[c.name].Text
		hits[i] = Hit{ID: c.n.id, Name: name, Match: matchRanges(name, fold, c.tier)}
	}
	return hits
}

// scan looks at every name for the substring and fuzzy tiers.
func (x *NameIndex) scan(fold string, add func(n *named, name int, t tier)) {
	fuzzy := utf8.RuneCountInString(fold) >= 3 // fewer letters are in nearly every name
	for _, n := range x.list {
		if n == nil {
			continue
		}
		for i, name := range n.names {
			switch {
			case strings.Contains(name.Fold, fold):
				add(n, i, tierSubstring)
			case fuzzy && subsequence(name.Fold, fold):
				add(n, i, tierFuzzy)
			}
		}
	}
}

// subsequence reports whether the letters of part stand in s in their order.
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

func compareCandidates(a, b candidate) int {
	if a.tier != b.tier {
		return int(a.tier - b.tier)
	}
	if (a.name == 0) != (b.name == 0) {
		if a.name == 0 {
			return -1
		}
		return 1
	}
	if c := b.n.time.Compare(a.n.time); c != 0 {
		return c
	}
	if c := CompareNatural(a.n.names[a.name].Text, b.n.names[b.name].Text); c != 0 {
		return c
	}
	return strings.Compare(a.n.id, b.n.id)
}
