package text

import (
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// What a character is, as flags: Unicode's tables are looked up once for each.
const (
	inWord     uint16 = 1 << iota // see isWord
	isMark                        // it belongs to the character before it
	isUnseen                      // it controls how others are shown
	isPaired                      // see inPairs
	isJoined                      // see isJoining, isVoiced
	isSymbolic                    // see isSymbol
	isInner                       // no word ends beside it; see findBounds
	isOuter                       // all words end beside it; see findBounds
	isNormal                      // whatever stands beside it, NFKC leaves it as it is
)

// How a character folds.
const (
	withOthers uint8 = iota // as its neighbours let it: the word is folded as a whole
	alone                   // into a text of its own, whatever stands beside it
	ontoBase                // a mark that is dropped, or stays, as the letter before it says
	away                    // it is always dropped
)

// class is what is known of one character.
type class struct {
	is  uint16
	how uint8
	// bare says of a letter that it loses its marks, strict of a mark that it stays even so.
	bare, strict bool
	// composes says of a mark that some character before it composes with it (NFC), takes
	// of a character that some mark behind it composes with it, marked of a character that
	// its decomposition begins with a mark.
	composes, takes, marked bool
	// combining is the combining class of the end of the fold: marks stand in its order.
	combining uint8
	size      uint8 // of fold
	fold      [9]byte
}

// Classes lie in pages, which are made when a character of theirs is met: 4 KiB each, of
// which a text in one language needs a few, and one in Chinese about eighty.
const (
	pageSize  = 256
	pageCount = 0x20000 / pageSize // of the planes that scripts have; others are worked out each time
)

var pages [pageCount]atomic.Pointer[[pageSize]class]

// classOf returns what is known of a character.
func classOf(r rune) *class {
	at := uint32(r) / pageSize
	if at >= pageCount {
		c := findClass(r)
		return &c
	}
	p := pages[at].Load()
	if p == nil { // two goroutines that come at once make the same
		p = new([pageSize]class)
		for i := range p {
			p[i] = findClass(rune(at*pageSize) + rune(i))
		}
		pages[at].Store(p)
	}
	return &p[r%pageSize]
}

func findClass(r rune) (c class) {
	flag := func(is uint16, has bool) {
		if has {
			c.is |= is
		}
	}
	flag(inWord, isWord(r))
	flag(isMark, unicode.IsMark(r))
	flag(isUnseen, unicode.Is(unicode.Cf, r))
	flag(isPaired, inPairs(r))
	flag(isJoined, isJoining(r) || isVoiced(r))
	flag(isSymbolic, isSymbol(r))
	flag(isNormal, norm.NFKC.IsNormalString(string(r)) && norm.NFKC.PropertiesString(string(r)).BoundaryBefore())
	if r != utf8.RuneError {
		c.findBounds(r)
	}
	c.findFold(r)
	return c
}

// findBounds finds whether the rules of UAX 29 cut a text beside a character wherever it
// stands. Of a letter and of a number they say so by both of its neighbours, and Hebrew has
// rules of its own.
func (c *class) findBounds(r rune) {
	c.is |= isInner | isOuter
	for _, beside := range [...]string{"a", "1", "א"} {
		count := 0
		for seg := words.FromString(beside + string(r) + beside); seg.Next(); {
			count++
		}
		if count != 1 || c.is&(inWord|isUnseen) == 0 || c.is&(isPaired|isJoined|isSymbolic) != 0 || r == keycap {
			c.is &^= isInner
		}
		if count != 3 {
			c.is &^= isOuter
		}
	}
}

// findFold finds how a character folds. Composition and the order of marks are what makes
// a fold depend on its neighbours.
func (c *class) findFold(r rune) {
	text := string(r)
	decomposed := decompose(text)
	if unicode.Is(unicode.Mn, r) {
		switch {
		case decomposed != text:
		case isPoint(r):
			c.how = away
		default:
			c.how, c.strict, c.composes = ontoBase, unicode.Is(unicode.Devanagari, r), compositions().marks[r]
			c.combining = norm.NFC.PropertiesString(text).CCC()
			c.size = uint8(copy(c.fold[:], text))
		}
		return
	}
	folded, bare := strip(nil, decomposed)
	folded = norm.NFC.Bytes(folded)
	switch {
	case len(folded) == 0:
		c.how = away
	case len(folded) > len(c.fold) || r == '’' || folded[0] == ' ': // an accent alone is one on a blank
	case norm.NFKC.PropertiesString(text).BoundaryBefore() && norm.NFC.Properties(folded).BoundaryBefore():
		parts := norm.NFD.Bytes(folded)
		last, _ := utf8.DecodeLastRune(parts)
		for _, part := range string(folded) + string(parts) {
			c.takes = c.takes || compositions().bases[part]
		}
		first, _ := utf8.DecodeRuneInString(decomposed)
		c.how, c.bare, c.marked = alone, bare, unicode.Is(unicode.Mn, first)
		c.combining = norm.NFC.PropertiesString(string(last)).CCC()
		c.size = uint8(copy(c.fold[:], folded))
	}
}

// composed are the characters of which others are made: marks, and what they stand on.
type composed struct{ bases, marks map[rune]bool }

var compositions = sync.OnceValue(func() composed {
	set := composed{make(map[rune]bool), make(map[rune]bool)}
	for _, part := range [...][2]rune{{0x00C0, 0x3100}, {0x11000, 0x12000}} { // where such characters are
		for r := part[0]; r < part[1]; r++ {
			parts := norm.NFC.PropertiesString(string(r)).Decomposition()
			if parts == nil || norm.NFC.String(string(parts)) != string(r) {
				continue
			}
			last, size := utf8.DecodeLastRune(parts)
			set.marks[last] = true
			for _, base := range norm.NFC.String(string(parts[:len(parts)-size])) {
				set.bases[base] = true
			}
		}
	}
	return set
})

// decode returns the first character of a text and its size. The way through package utf8
// is longer.
func decode(text string) (rune, int) {
	if len(text) >= 2 && 0xC2 <= text[0] && text[0] < 0xE0 && int8(text[1]) < -0x40 {
		return rune(text[0]&0x1F)<<6 | rune(text[1]&0x3F), 2
	}
	if len(text) >= 3 && text[0]&0xF0 == 0xE0 && int8(text[1]) < -0x40 && int8(text[2]) < -0x40 {
		r := rune(text[0]&0xF)<<12 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F)
		if 0x800 <= r && r < 0xD800 {
			return r, 3
		}
	}
	return utf8.DecodeRuneInString(text)
}

// folding is what is known of a word that is folded character by character.
type folding struct {
	bare, takes bool  // of its last letter
	combining   uint8 // of its end
}

// add appends what a character folds to; false when that depends on its neighbours. What it
// has appended then is of no use.
func (f *folding) add(b []byte, c *class) ([]byte, bool) {
	switch c.how {
	case alone:
		if f.bare && c.marked {
			return b, false
		}
		*f = folding{c.bare, c.takes, c.combining}
	case ontoBase:
		if f.bare && !c.strict {
			return b, true
		}
		if c.composes && f.takes || c.combining > 0 && c.combining < f.combining {
			return b, false
		}
		f.combining = c.combining
	case away:
		return b, true
	default:
		return b, false
	}
	return c.appendFold(b), true
}

// appendFold appends what a character folds to: all bytes that there may be at once, where
// there is room, since how many count differs from one to the next.
func (c *class) appendFold(b []byte) []byte {
	const most = len(c.fold)
	from := len(b)
	if cap(b)-from < most {
		return append(b, c.fold[:c.size]...)
	}
	b = b[:from+most]
	*(*[most]byte)(b[from:]) = c.fold
	return b[:from+int(c.size)]
}

// appendClassed is appendFolded by classes; false when some character needs its
// neighbours to be folded. What it has appended then is of no use.
func appendClassed(b []byte, word string) ([]byte, bool) {
	var f folding
	for len(word) > 0 {
		r, size := rune(word[0]), 1
		if r >= utf8.RuneSelf {
			r, size = decode(word)
			if r == utf8.RuneError {
				return b, false
			}
		}
		word = word[size:]
		folded, ok := f.add(b, classOf(r))
		if !ok {
			return b, false
		}
		b = folded
	}
	return b, true
}
