package refs

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

// nearText is a text that Near compares: a handle, a handle without its random end, a name
// or a former handle.
type nearText struct {
	letters uint64 // see lettersOf
	n       number
	text    uint16 // in item.texts
	size    uint8  // in bytes; 0: deleted
	length  uint8  // in code points
}

// maxNear is the longest text that Near looks at, in bytes.
const maxNear = 250

// Distances within which Near looks, and from how many characters on it looks further.
const (
	distance      = 2
	shortDistance = 1
	longFrom      = 6
)

// enterNear notes the texts of an entry.
func (x *Index) enterNear(at number) {
	m := &x.list[at]
	m.near = int32(len(x.near))
	add := func(text string, of int) {
		if text == "" || len(text) > maxNear || of > maxPlaces {
			return
		}
		x.near = append(x.near, nearText{
			letters: lettersOf(text), n: at, text: uint16(of), size: uint8(len(text)), length: uint8(utf8.RuneCountInString(text)),
		})
	}
	for i, text := range m.texts {
		if i == numberText {
			continue
		}
		add(text, i)
		if base := withoutHex(text); i == handleText && m.Kind == MemoryHandle && base != text {
			add(base, i)
		}
	}
}

// leaveNear deletes them, and makes room when half of all are deleted.
func (x *Index) leaveNear(at number) {
	for i := int(x.list[at].near); i < len(x.near) && x.near[i].n == at && x.near[i].size > 0; i++ {
		x.near[i].size = 0
		x.dead++
	}
	if x.dead <= len(x.near)/2 {
		return
	}
	x.near, x.dead = x.near[:0:0], 0
	for _, other := range x.byKey {
		if other != at {
			x.enterNear(other)
		}
	}
}

// withoutHex returns a handle without _ and the 4 or 8 hexadecimal digits at its end.
func withoutHex(text string) string {
	for _, size := range []int{ShortHandleHex, LongHandleHex} {
		at := len(text) - size - 1
		if at > 0 && text[at] == '_' && allHex(text[at+1:]) {
			return text[:at]
		}
	}
	return text
}

func allHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// lettersOf returns a set of the characters of a text, as bits. An edit of one character
// changes two of them at most: that is what it rules texts out by.
func lettersOf(text string) (set uint64) {
	const again = 26 // the bits of letters that are there twice follow those of letters
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z':
			bit := uint64(1) << (r - 'a')
			set |= bit | set&bit<<again
		case '0' <= r && r <= '9':
			set |= 1 << (2*again + r - '0')
		case r < utf8.RuneSelf:
			set |= 1 << 62
		default:
			set |= 1 << (uint32(r) * 0x9E3779B1 >> 26)
		}
	}
	return set
}

// Near returns the entries that have a handle, with or without its random end, or a name that
// differs from a text by two insertions, deletions or exchanges of a character at most; by one
// in texts under six characters. The nearest come first, then the last used. Each is there
// once. It looks at all of them: O(n) with a factor of some nanoseconds.
func (x *Index) Near(text string, limit int, public bool, skip SkipEntry) []Hit {
	s := search{x: x, limit: limit, who: everybody, skip: skip}
	if public {
		s.who = publicOnly
	}
	asHandle, asName := newPattern(FoldHandle(text)), newPattern(foldName(text))
	if limit <= 0 || len(asHandle.text) > maxNear+distance || asHandle.text == "" {
		return nil
	}
	for i := range x.near {
		c := &x.near[i]
		p := &asHandle
		if c.text >= nameTexts && int(c.text)-nameTexts < len(x.list[c.n].Names) {
			p = &asName
		}
		if c.size == 0 || bits.OnesCount64(c.letters^p.letters) > 2*p.within || abs(int(c.length)-p.length) > p.within {
			continue
		}
		s.offer(c, p)
	}
	hits := make([]Hit, len(s.top))
	for i, f := range s.top {
		hits[i] = Hit{x.list[f.n].Entry, x.foundBy(start{n: f.n, text: f.text})}
	}
	return hits
}

// pattern is a text that others are compared with.
type pattern struct {
	text    string
	letters uint64
	length  int // in code points
	within  int
}

func newPattern(text string) pattern {
	p := pattern{text: text, letters: lettersOf(text), length: utf8.RuneCountInString(text), within: distance}
	if p.length < longFrom {
		p.within = shortDistance
	}
	return p
}

// search is one call of Near.
type search struct {
	x     *Index
	who   reader
	limit int
	skip  SkipEntry
	top   []nearFound // best first, limit at most
}

type nearFound struct {
	n    number
	text uint16
	d    int
}

// offer takes a text in if it is near enough and belongs to the best.
func (s *search) offer(c *nearText, p *pattern) {
	if s.x.ranks[s.who][c.n] == 0 {
		return
	}
	text := s.x.list[c.n].texts[c.text][:c.size]
	d, ok := editDistance(p.text, text, p.within)
	f := nearFound{c.n, c.text, d}
	if !ok || len(s.top) == s.limit && s.compare(f, s.top[len(s.top)-1]) >= 0 {
		return
	}
	if s.skip != nil && s.skip(&s.x.list[c.n].Entry, s.x.foundBy(start{n: c.n, text: c.text})) {
		return
	}
	same := slices.IndexFunc(s.top, func(other nearFound) bool { return other.n == c.n })
	switch {
	case same >= 0 && s.top[same].d <= d:
		return
	case same >= 0:
		s.top = slices.Delete(s.top, same, same+1)
	case len(s.top) == s.limit:
		s.top = s.top[:len(s.top)-1]
	}
	at, _ := slices.BinarySearchFunc(s.top, f, s.compare)
	s.top = slices.Insert(s.top, at, f)
}

func (s *search) compare(a, b nearFound) int {
	return cmp.Or(a.d-b.d, s.x.compare(s.who, a.n, b.n))
}

func abs(n int) int { return max(n, -n) }

func formatNumber(n uint64) string { return strconv.FormatUint(n, 10) }
