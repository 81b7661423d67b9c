package jsonrpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// errNesting is the one scan error that ends the connection: a stack of
// brackets is an attack or a defect, and the next one would cost as much.
var errNesting = errors.New("nested too deeply")

// syntaxError says where bytes stop being JSON.
type syntaxError struct {
	at   int // bytes from the start of the message
	want string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("the message is not valid JSON: %s at byte %d", e.want, e.at+1)
}

// Scanner walks JSON text and checks it, without making anything of it. It
// takes exactly what RFC 8259 allows; that the text is UTF-8 is checked before.
type Scanner struct {
	data  []byte
	pos   int
	depth int
	limit int // of depth

	checked bool // the text has been checked before
}

// NewScanner returns a Scanner at the start of data, which may be nested to a
// depth.
func NewScanner(data []byte, nesting int) Scanner { return Scanner{data: data, limit: nesting} }

// Pos returns the position in bytes.
func (s *Scanner) Pos() int { return s.pos }

// Since returns the bytes from a position to the present one.
func (s *Scanner) Since(start int) []byte { return s.data[start:s.pos] }

// AtEnd reports whether nothing is left.
func (s *Scanner) AtEnd() bool { return s.pos >= len(s.data) }

func (s *Scanner) fail(want string) error { return &syntaxError{at: s.pos, want: want} }

// Space passes over what may stand between two tokens.
func (s *Scanner) Space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// Peek returns the byte at the position, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// End checks that nothing but blanks is left.
func (s *Scanner) End() error {
	s.Space()
	if s.pos < len(s.data) {
		return s.fail("text after the end")
	}
	return nil
}

// Value walks over one value. Blanks before it have been passed.
func (s *Scanner) Value() error {
	switch c := s.Peek(); c {
	case '{':
		return s.Object(nil)
	case '[':
		return s.Array(nil)
	case '"':
		_, err := s.quoted()
		return err
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return s.number()
		}
		return s.fail("a value is expected")
	}
}

func (s *Scanner) word(w string) error {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return s.fail("a value is expected")
	}
	s.pos += len(w)
	return nil
}

func (s *Scanner) enter() error {
	s.pos++
	s.depth++
	if s.depth > s.limit {
		return errNesting
	}
	return nil
}

// Object walks over an object. field is called with each key, its quotes included, when the position is at its value, and has to walk over it;
// nil stands for walking only.
func (s *Scanner) Object(field func(key []byte) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	s.Space()
	if s.Peek() == '}' {
		s.pos++
		s.depth--
		return nil
	}
	for {
		s.Space()
		if s.Peek() != '"' {
			return s.fail("a member name is expected")
		}
		key, err := s.quoted()
		if err != nil {
			return err
		}
		s.Space()
		if s.Peek() != ':' {
			return s.fail("a colon is expected")
		}
		s.pos++
		s.Space()
		if field == nil {
			err = s.Value()
		} else {
			err = field(key)
		}
		if err != nil {
			return err
		}
		s.Space()
		switch s.Peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			s.depth--
			return nil
		default:
			return s.fail("a comma or the end of an object is expected")
		}
	}
}

// Array walks over an array. item is called when the position is at an item and
// has to walk over it; nil stands for walking only.
func (s *Scanner) Array(item func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	s.Space()
	if s.Peek() == ']' {
		s.pos++
		s.depth--
		return nil
	}
	for {
		s.Space()
		var err error
		if item == nil {
			err = s.Value()
		} else {
			err = item()
		}
		if err != nil {
			return err
		}
		s.Space()
		switch s.Peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			s.depth--
			return nil
		default:
			return s.fail("a comma or the end of a list is expected")
		}
	}
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special marks the bytes of an eight that end a run of plain text, each with
// its high bit. Marks above the lowest one may be wrong.
func special(b []byte) uint64 { return specialIn(binary.LittleEndian.Uint64(b)) }

// specialIn is special for eight bytes that were read.
func specialIn(x uint64) uint64 {
	quote, slash := x^(eachByte*'"'), x^(eachByte*'\\')
	return ((quote-eachByte)&^quote | (slash-eachByte)&^slash | (x-eachByte*0x20)&^x) & highBits
}

// plainRun returns how many bytes of b come before the first quote, backslash
// or control character. Eight bytes are looked at together, and more of them in
// a run that is long: most of a message is the text of notes.
func plainRun(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if hit := special(b[i : i+8 : i+8]); hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
		if i < 64 {
			continue
		}
		for len(b)-i >= 40 {
			w := b[i+8 : i+40 : i+40]
			if special(w[0:8])|special(w[8:16])|special(w[16:24])|special(w[24:32]) != 0 {
				break
			}
			i += 32
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}

// ValidUTF8 reports whether b is UTF-8. Unlike utf8.Valid it does not go byte
// by byte from the first letter on that has several.
func ValidUTF8(b []byte) bool {
	for len(b) > 0 {
		for len(b) >= 32 && (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|
			binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:]))&highBits == 0 {
			b = b[32:]
		}
		for len(b) >= 8 && binary.LittleEndian.Uint64(b)&highBits == 0 {
			b = b[8:]
		}
		for len(b) > 0 && b[0] < utf8.RuneSelf {
			b = b[1:]
		}
		for len(b) > 0 && b[0] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(b)
			if r == utf8.RuneError && size == 1 {
				return false
			}
			b = b[size:]
		}
	}
	return true
}

// quoted walks over a string and returns it with its quotes.
func (s *Scanner) quoted() ([]byte, error) {
	if s.checked {
		return s.checkedString(), nil
	}
	start := s.pos
	s.pos++
	for {
		s.pos += plainRun(s.data[s.pos:])
		if s.pos >= len(s.data) {
			return nil, s.fail("a string is not closed")
		}
		switch s.data[s.pos] {
		case '"':
			s.pos++
			return s.data[start:s.pos], nil
		case '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			return nil, s.fail("a string contains a control character")
		}
	}
}

// checkedString is quoted where only the end of the string has to be found: at a
// quote that no backslash, or an even number of them, comes before.
func (s *Scanner) checkedString() []byte {
	start := s.pos
	for at := start + 1; ; at++ {
		at += bytes.IndexByte(s.data[at:], '"')
		slashes := 0
		for s.data[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			s.pos = at + 1
			return s.data[start:s.pos]
		}
	}
}

func (s *Scanner) escape() error {
	s.pos++
	switch s.Peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		for i := 1; i <= 4; i++ {
			if s.pos+i >= len(s.data) || unhex(s.data[s.pos+i]) < 0 {
				return s.fail("four hexadecimal digits are expected")
			}
		}
		s.pos += 5
		return nil
	}
	return s.fail("a backslash is followed by no valid escape")
}

func unhex(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

func (s *Scanner) number() error {
	if s.Peek() == '-' {
		s.pos++
	}
	if s.Peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.Peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.Peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.Peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

func (s *Scanner) digits() error {
	start := s.pos
	for c := s.Peek(); c >= '0' && c <= '9'; c = s.Peek() {
		s.pos++
	}
	if s.pos == start {
		return s.fail("a digit is expected")
	}
	return nil
}

// Unquote returns what a checked string with its quotes stands for. Half of a
// surrogate pair becomes U+FFFD, as everywhere in Go.
func Unquote(quoted []byte) string {
	b := quoted[1 : len(quoted)-1]
	n := bytes.IndexByte(b, '\\')
	if n < 0 {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b))
	for {
		out.Write(b[:n])
		b = b[n:]
		switch c := b[1]; c {
		case 'u':
			r := hex4(b[2:])
			b = b[6:]
			if utf16.IsSurrogate(r) {
				if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
					if both := utf16.DecodeRune(r, hex4(b[2:])); both != utf8.RuneError {
						r, b = both, b[6:]
					}
				}
			}
			out.WriteRune(r) // a lone surrogate is written as U+FFFD
		default:
			out.WriteByte(escaped(c))
			b = b[2:]
		}
		n = bytes.IndexByte(b, '\\')
		if n < 0 {
			out.Write(b)
			return out.String()
		}
	}
}

func escaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(b []byte) rune {
	return unhex(b[0])<<12 | unhex(b[1])<<8 | unhex(b[2])<<4 | unhex(b[3])
}
