package entities

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/btree"
)

// A NameIndex finds records by their names: exactly, for mentions and links,
// and by what a person has typed so far, for completion. Entities and notes
// each keep one. It is not safe for concurrent use; its owner locks it.
//
// Exact look-up is one map access. Completion visits the names with the typed
// prefix; only when these are too few it scans all names, O(n).
type NameIndex struct {
	byID   map[string]*named
	exact  map[string][]string         // fold of a name to ids, sorted
	whole  btree.Map[string, struct{}] // the keys of exact, in order
	starts *btree.BTreeG[nameStart]    // every word start of every name
}

// named is what the index knows of one record.
type named struct {
	id    string
	names []string // as written: the title first, then aliases
	folds []string
	time  time.Time // of the last change: recent records come first
	kind  string    // fold of the type; "" when there are no types
}

// nameStart is one place where a name can be entered: its start or the start
// of one of its words. key is the folded name from there on.
type nameStart struct {
	key  string
	id   string
	name int // index into named.names
	word int // byte offset of key in the folded name
}

// NewNameIndex returns an empty index.
func NewNameIndex() *NameIndex {
	return &NameIndex{
		byID:  make(map[string]*named),
		exact: make(map[string][]string),
		starts: btree.NewBTreeGOptions(func(a, b nameStart) bool {
			if a.key != b.key {
				return a.key < b.key
			}
			if a.id != b.id {
				return a.id < b.id
			}
			if a.name != b.name {
				return a.name < b.name
			}
			return a.word < b.word
		}, btree.Options{NoLocks: true}),
	}
}

// Put enters a record or changes what is known of it.
func (x *NameIndex) Put(id, kind string, changed time.Time, names ...string) {
	if old := x.byID[id]; old != nil {
		if slices.Equal(old.names, names) && old.kind == kind {
			old.time = changed
			return
		}
		x.Delete(id)
	}
	n := &named{id: id, names: names, time: changed, kind: kind, folds: make([]string, len(names))}
	for i, name := range names {
		fold := Fold(name)
		n.folds[i] = fold
		ids := x.exact[fold]
		if at, found := slices.BinarySearch(ids, id); !found {
			x.exact[fold] = slices.Insert(slices.Clone(ids), at, id)
			x.whole.Set(fold, struct{}{})
		}
		for _, at := range wordStarts(fold) {
			x.starts.Set(nameStart{key: fold[at:], id: id, name: i, word: at})
		}
	}
	x.byID[id] = n
}

// Delete takes a record out.
func (x *NameIndex) Delete(id string) {
	n := x.byID[id]
	if n == nil {
		return
	}
	delete(x.byID, id)
	for i, fold := range n.folds {
		if at, found := slices.BinarySearch(x.exact[fold], id); found {
			if ids := slices.Delete(slices.Clone(x.exact[fold]), at, at+1); len(ids) == 0 {
				delete(x.exact, fold)
				x.whole.Delete(fold)
			} else {
				x.exact[fold] = ids
			}
		}
		for _, at := range wordStarts(fold) {
			x.starts.Delete(nameStart{key: fold[at:], id: id, name: i, word: at})
		}
	}
}

// Exact returns the ids of the records with a name whose fold is fold, in id
// order.
func (x *NameIndex) Exact(fold string) []string { return x.exact[fold] }

// HasPrefix reports whether the fold of any name begins with fold. O(log n).
func (x *NameIndex) HasPrefix(fold string) bool {
	found := false
	x.whole.Ascend(fold, func(key string, _ struct{}) bool {
		found = strings.HasPrefix(key, fold)
		return false
	})
	return found
}

// maxWords is how many words of a name can be entered by; further ones are
// found as substrings.
const maxWords = 32

// wordStarts returns the byte offsets of the first words of a folded name, 0
// always among them. A character of a script that is written without blanks
// starts a word of its own.
func wordStarts(fold string) []int {
	starts := []int{0}
	inWord := false
	for at, r := range fold {
		isWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if at > 0 && isWord && (!inWord || spaceless(r)) && !unicode.IsMark(r) {
			if starts = append(starts, at); len(starts) == maxWords {
				break
			}
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
	best := make(map[string]candidate)
	add := func(n *named, name int, t tier) {
		c := candidate{n, name, t}
		if old, ok := best[n.id]; (!ok || compareCandidates(c, old) < 0) && keep(n.id, n.kind) {
			best[n.id] = c
		}
	}
	x.starts.Ascend(nameStart{key: fold}, func(s nameStart) bool {
		if !strings.HasPrefix(s.key, fold) {
			return false
		}
		t := tierWord
		if s.word == 0 {
			t = tierPrefix
		}
		add(x.byID[s.id], s.name, t)
		return true
	})
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
		hits[i] = Hit{ID: c.n.id, Name: c.n.names[c.name], Match: matchRanges(c.n.names[c.name], fold, c.tier)}
	}
	return hits
}

// scan looks at every name for the substring and fuzzy tiers.
func (x *NameIndex) scan(fold string, add func(n *named, name int, t tier)) {
	fuzzy := utf8.RuneCountInString(fold) >= 3 // fewer letters are in nearly every name
	for _, n := range x.byID {
		for i, name := range n.folds {
			switch {
			case strings.Contains(name, fold):
				add(n, i, tierSubstring)
			case fuzzy && subsequence(name, fold):
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
	if c := CompareNatural(a.n.names[a.name], b.n.names[b.name]); c != 0 {
		return c
	}
	return strings.Compare(a.n.id, b.n.id)
}
