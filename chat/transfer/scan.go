package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
)

const (
	windowSize = 256 << 10 // bytes of the read buffer
	stepBack   = 256       // bytes before the current position that the buffer keeps
	lookAhead  = 160       // bytes in which the start of an object is told
	maxDepth   = 512       // objects and arrays within each other
	maxToken   = 64        // bytes of a number or literal that are checked
)

// outcome says how the reading of a value ended.
type outcome uint8

const (
	whole  outcome = iota
	broken         // at a byte that JSON does not allow there
	cut            // the input ended inside the value
)

// scanner splits JSON into values and holds one of them. It checks the syntax as it goes
// and needs no more memory than its limit, whatever the input is.
type scanner struct {
	ctx   context.Context
	in    io.Reader
	moved func(n int)
	limit int // bytes of a value that are held

	buf      []byte
	pos, end int   // of the next byte, of the bytes read
	base     int64 // offset of buf[0] in the input
	err      error // of the last read, io.EOF at the end

	held     []byte // the value, as far as it was taken from buf
	from     int    // first byte in buf that is not yet in held; -1 when nothing is held
	tooLarge bool   // the value is over the limit, held is empty
	tooDeep  bool   // the value is nested deeper than maxDepth
	stack    []byte // the open brackets of the value
	token    []byte
}

func newScanner(ctx context.Context, in io.Reader, limit int, moved func(n int)) *scanner {
	return &scanner{ctx: ctx, in: in, moved: moved, limit: limit, buf: make([]byte, windowSize), from: -1}
}

// offset returns that of the next byte.
func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// fill reads more and keeps the bytes from stepBack before the position on. It reports
// whether there was more.
func (s *scanner) fill() bool {
	if s.err != nil {
		return false
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return false
	}
	s.hold()
	if drop := s.pos - stepBack; drop > 0 {
		copy(s.buf, s.buf[drop:s.end])
		s.base += int64(drop)
		s.pos -= drop
		s.end -= drop
		if s.from >= 0 {
			s.from -= drop
		}
	}
	for range 100 {
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		s.err = err
		if n > 0 {
			s.moved(n)
			return true
		}
		if err != nil {
			return false
		}
	}
	s.err = io.ErrNoProgress
	return false
}

// hold takes what was passed since the last call into held.
func (s *scanner) hold() {
	if s.from < 0 {
		return
	}
	part := s.buf[s.from:s.pos]
	if len(s.held)+len(part) > s.limit {
		s.tooLarge = true
		s.held, s.from = s.held[:0], -1
		return
	}
	s.held = append(s.held, part...)
	s.from = s.pos
}

func (s *scanner) peek() (byte, bool) {
	if s.pos == s.end && !s.fill() {
		return 0, false
	}
	return s.buf[s.pos], true
}

// space passes white space and returns the byte after it without passing that.
func (s *scanner) space() (byte, bool) {
	for {
		c, ok := s.peek()
		if !ok || !isSpace(c) {
			return c, ok
		}
		s.pos++
	}
}

// value passes one value, which then is in held unless it is too large or too deep. After
// broken the position is that of the byte at fault.
func (s *scanner) value() outcome {
	const keepBuffer = 1 << 20 // a larger one is given back after its value
	if cap(s.held) > keepBuffer {
		s.held = nil
	}
	s.held, s.from, s.tooLarge, s.tooDeep = s.held[:0], s.pos, false, false
	result := s.walk()
	s.hold()
	s.from = -1
	return result
}

// want is what may come next in a value.
type want uint8

const (
	wantValue want = 1 << iota
	wantKey
	wantColon
	wantComma
	wantEnd
)

func (s *scanner) walk() outcome {
	s.stack = s.stack[:0]
	for next := wantValue; ; {
		c, ok := s.space()
		if !ok {
			return cut
		}
		result := whole
		switch c {
		case '{', '[':
			if next&wantValue == 0 {
				return broken
			}
			s.pos++
			s.stack = append(s.stack, c)
			if len(s.stack) > maxDepth {
				s.tooDeep = true
				return s.passDeep(len(s.stack))
			}
			next = wantValue | wantEnd
			if c == '{' {
				next = wantKey | wantEnd
			}
			continue
		case '}', ']':
			if next&wantEnd == 0 || !closes(s.stack[len(s.stack)-1], c) {
				return broken
			}
			s.pos++
			s.stack = s.stack[:len(s.stack)-1]
		case ',':
			if next&wantComma == 0 {
				return broken
			}
			s.pos++
			next = wantValue
			if s.stack[len(s.stack)-1] == '{' {
				next = wantKey
			}
			continue
		case ':':
			if next&wantColon == 0 {
				return broken
			}
			s.pos++
			next = wantValue
			continue
		case '"':
			if next&(wantValue|wantKey) == 0 {
				return broken
			}
			result = s.text()
			if result == whole && next&wantKey != 0 {
				next = wantColon
				continue
			}
		default:
			if next&wantValue == 0 {
				return broken
			}
			result = s.scalar()
		}
		if result != whole || len(s.stack) == 0 {
			return result
		}
		next = wantComma | wantEnd
	}
}

func closes(open, c byte) bool {
	return open == '{' && c == '}' || open == '[' && c == ']'
}

// passDeep passes the rest of a value with so many open brackets and counts only these.
func (s *scanner) passDeep(depth int) outcome {
	for depth > 0 {
		c, ok := s.peek()
		if !ok {
			return cut
		}
		switch c {
		case '"':
			if result := s.text(); result != whole {
				return result
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.pos++
	}
	return whole
}

// plain are the bytes that may stand in a string without an escape and don't end it.
var plain = func() (table [256]bool) {
	for c := range table {
		table[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return table
}()

func (s *scanner) text() outcome {
	s.pos++
	for {
		c, ok := s.peek()
		if !ok {
			return cut
		}
		switch {
		case plain[c]:
			rest := s.buf[s.pos:s.end]
			n := 1
			for n < len(rest) && plain[rest[n]] {
				n++
			}
			s.pos += n
		case c == '"':
			s.pos++
			return whole
		case c == '\\':
			if result := s.escape(); result != whole {
				return result
			}
		default:
			return broken
		}
	}
}

func (s *scanner) escape() outcome {
	s.pos++
	c, ok := s.peek()
	if !ok {
		return cut
	}
	if c != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), c) < 0 {
			return broken
		}
		s.pos++
		return whole
	}
	s.pos++
	for range 4 {
		c, ok := s.peek()
		if !ok {
			return cut
		}
		if !isHex(c) {
			return broken
		}
		s.pos++
	}
	return whole
}

func (s *scanner) scalar() outcome {
	s.token = s.token[:0]
	for {
		c, ok := s.peek()
		if !ok {
			return cut
		}
		if !isScalar(c) {
			break
		}
		if len(s.token) <= maxToken {
			s.token = append(s.token, c)
		}
		s.pos++
	}
	if len(s.token) <= maxToken && !json.Valid(s.token) {
		return broken
	}
	return whole
}

// seekObject moves to the next object that begins at the offset or after it and whose first
// key is a word, as the keys of both forms are. The offset may lie up to stepBack bytes
// before the position. In valid JSON no string holds such a beginning, since a quote in it
// is escaped, so it is found even where it is unknown whether a string is open.
func (s *scanner) seekObject(offset int64) bool {
	s.pos = max(0, min(s.pos, int(offset-s.base)))
	for {
		i := bytes.IndexByte(s.buf[s.pos:s.end], '{')
		if i < 0 {
			s.pos = s.end
			if !s.fill() {
				return false
			}
			continue
		}
		s.pos += i
		for s.end-s.pos < lookAhead && s.fill() {
		}
		if beginsObject(s.buf[s.pos:s.end]) {
			return true
		}
		s.pos++
	}
}

// beginsObject reports whether there is an object at the start of b: its bracket, its first
// key and the colon.
func beginsObject(b []byte) bool {
	b = bytes.TrimLeft(b[1:], " \t\r\n")
	if len(b) == 0 || b[0] != '"' {
		return false
	}
	n := 1
	for n < len(b) && (b[n] == '_' || b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z') {
		n++
	}
	if n == 1 || n == len(b) || b[n] != '"' {
		return false
	}
	b = bytes.TrimLeft(b[n+1:], " \t\r\n")
	return len(b) > 0 && b[0] == ':'
}

// lastByte returns the last byte before the position that is no white space, 0 if there is
// none in the last stepBack bytes.
func (s *scanner) lastByte() byte {
	before := bytes.TrimRight(s.buf[:s.pos], " \t\r\n")
	if len(before) == 0 {
		return 0
	}
	return before[len(before)-1]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func isScalar(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.'
}
