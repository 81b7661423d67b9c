package transfer

import (
	"bytes"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file read values that the scanner found to be valid JSON. They
// return parts of them, so nothing is decoded that isn't used. A value of another type than
// the one asked for counts as absent.

// members goes over the members of an object: their keys without quotes, and their values.
func members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if !isKind(raw, '{') {
			return
		}
		for i := passSpace(raw, 1); raw[i] != '}'; {
			start := i
			i = passText(raw, i)
			key := raw[start+1 : i-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = []byte(text(raw[start:i]))
			}
			i = passSpace(raw, i)
			i = passSpace(raw, i+1) // after the colon
			start = i
			i = passValue(raw, i)
			if !yield(key, raw[start:i]) {
				return
			}
			i = passComma(raw, i)
		}
	}
}

// items goes over the values of an array.
func items(raw []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		if !isKind(raw, '[') {
			return
		}
		for i := passSpace(raw, 1); raw[i] != ']'; {
			start := i
			i = passValue(raw, i)
			if !yield(raw[start:i]) {
				return
			}
			i = passComma(raw, i)
		}
	}
}

// objects goes over those values of an array that are objects.
func objects(raw []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		for value := range items(raw) {
			if isKind(value, '{') && !yield(value) {
				return
			}
		}
	}
}

// member returns the value of a member of an object, nil if it has none of that name. Of
// several the last one counts.
func member(raw []byte, name string) []byte {
	var found []byte
	for key, value := range members(raw) {
		if string(key) == name {
			found = value
		}
	}
	return found
}

// isKind reports whether a value begins with the byte that marks its type.
func isKind(raw []byte, first byte) bool { return len(raw) > 0 && raw[0] == first }

func passSpace(b []byte, i int) int {
	for isSpace(b[i]) {
		i++
	}
	return i
}

func passComma(b []byte, i int) int {
	i = passSpace(b, i)
	if b[i] == ',' {
		i = passSpace(b, i+1)
	}
	return i
}

func passText(b []byte, i int) int {
	for start := i + 1; ; {
		i += 1 + bytes.IndexByte(b[i+1:], '"')
		escapes := i
		for escapes > start && b[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return i + 1
		}
	}
}

func passValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return passText(b, i)
	case '{', '[':
		for depth := 0; ; {
			switch b[i] {
			case '"':
				i = passText(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
	}
	for i < len(b) && isScalar(b[i]) {
		i++
	}
	return i
}

// text returns the text of a string, "" for another type. What is no character (half a
// surrogate pair, invalid UTF-8, NUL) becomes U+FFFD.
func text(raw []byte) string {
	if !isKind(raw, '"') {
		return ""
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return strings.ToValidUTF8(string(inner), string(utf8.RuneError))
	}
	return strings.ToValidUTF8(unescaped(inner), string(utf8.RuneError))
}

// unescaped returns the text of a string between its quotes. It is twice as fast as
// json.Unmarshal (BenchmarkCHAT36_Read), since the scanner has checked the escapes.
func unescaped(inner []byte) string {
	var b strings.Builder
	b.Grow(len(inner))
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			b.Write(inner)
			return b.String()
		}
		b.Write(inner[:i])
		c := inner[i+1]
		if c != 'u' {
			b.WriteByte(escapes[c])
			inner = inner[i+2:]
			continue
		}
		r := hexRune(inner[i+2 : i+6])
		inner = inner[i+6:]
		if utf16.IsSurrogate(r) {
			var low rune
			if bytes.HasPrefix(inner, []byte(`\u`)) {
				low = hexRune(inner[2:6])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				inner = inner[6:]
			}
		}
		if r == 0 {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
}

// escapes are the characters that stand for another behind a backslash.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hexRune returns the value of four hexadecimal digits.
func hexRune(digits []byte) rune {
	var r rune
	for _, c := range digits {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune((c|0x20)-'a'+10)
		}
	}
	return r
}

// truth reports whether a value is true.
func truth(raw []byte) bool { return string(raw) == "true" }

// timeLayouts are those of times in strings. One without a zone is in UTC.
var timeLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"}

// maxSeconds is the end of the year 9999, in seconds since 1970.
const maxSeconds = 253_402_300_800

// instant returns the time of a number of seconds since 1970 or of a string, zero for
// anything else and for times after the year 9999 or before 1970.
func instant(raw []byte) time.Time {
	if isKind(raw, '"') {
		written := text(raw)
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, written); err == nil {
				return known(t.UTC())
			}
		}
		raw = []byte(written)
	}
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(seconds > 0 && seconds < maxSeconds) {
		return time.Time{}
	}
	second, fraction := math.Modf(seconds)
	return known(time.Unix(int64(second), int64(math.Round(fraction*1e6))*1e3).UTC())
}

// known returns the time, or zero when it can't be one of a message.
func known(t time.Time) time.Time {
	if t.Unix() <= 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
