package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// piece is a JSON string that may hold a part of a character: servers cut texts between tokens,
// and a token may end within one. Bytes that are no UTF-8 are kept, and half of a surrogate
// pair (\ud83d) becomes the three bytes that it would have in UTF-8. A joiner puts the
// halves together.
type piece string

var errNoText = errors.New("a text is none")

// UnmarshalJSON reads a string; null is none.
func (p *piece) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	if len(raw) < 2 || raw[0] != '"' {
		return errNoText
	}
	halves := bytes.Contains(raw, []byte(`\ud`)) || bytes.Contains(raw, []byte(`\uD`))
	if !halves && utf8.Valid(raw) {
		var s string
		err := json.Unmarshal(raw, &s)
		*p = piece(s)
		return err
	}
	return p.unquote(raw[1 : len(raw)-1])
}

// unquote reads what stands between the quotes of a string that encoding/json has checked.
func (p *piece) unquote(raw []byte) error {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		if raw[0] != '\\' {
			out = append(out, raw[0])
			raw = raw[1:]
			continue
		}
		if len(raw) < 2 {
			return errNoText
		}
		if raw[1] != 'u' {
			at := strings.IndexByte(`"\/bfnrt`, raw[1])
			if at < 0 {
				return errNoText
			}
			out = append(out, "\"\\/\b\f\n\r\t"[at])
			raw = raw[2:]
			continue
		}
		if len(raw) < 6 {
			return errNoText
		}
		unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
		if err != nil {
			return errNoText
		}
		out = appendUnit(out, rune(unit))
		raw = raw[6:]
	}
	*p = piece(out)
	return nil
}

// appendUnit appends a character, or half of one in the three bytes that it would have.
func appendUnit(out []byte, r rune) []byte {
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r)
	}
	return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
}

// half returns the surrogate that a text begins with, 0 for none.
func half(s string) rune {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}

// joiner makes valid UTF-8 of pieces: it holds a part of a character back until the rest
// of it comes, and replaces what is none by U+FFFD. The zero value is ready.
type joiner struct{ held string }

// add returns what is known of the text after a piece.
func (j *joiner) add(s string) string {
	s = j.held + s
	j.held = ""
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch first := half(s); {
		case r != utf8.RuneError || n > 1:
			b.WriteString(s[:n])
			s = s[n:]
		case first != 0 && len(s) == 3 && first < 0xDC00: // its other half may come
			j.held = s
			return b.String()
		case first != 0 && utf16.DecodeRune(first, half(s[3:])) != utf8.RuneError:
			b.WriteRune(utf16.DecodeRune(first, half(s[3:])))
			s = s[6:]
		case first != 0:
			b.WriteRune(utf8.RuneError)
			s = s[3:]
		case !utf8.FullRuneInString(s):
			j.held = s
			return b.String()
		default:
			b.WriteRune(utf8.RuneError)
			s = s[1:]
		}
	}
	return b.String()
}

// rest returns what is left when no piece comes any more: U+FFFD for a part of a character.
func (j *joiner) rest() string {
	if j.held == "" {
		return ""
	}
	j.held = ""
	return string(utf8.RuneError)
}
