package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/text"
)

// MentionsKey reports whether a text names a key at its head in a way that can't be read as
// a field: what a person meant by it is in doubt. key is in lower case. It is for texts
// without frontmatter that could be read whole. Time is linear.
//
// In frontmatter that is broken, the key stands anywhere as a word. Where no frontmatter
// is found, but the text opens with a line of dashes or pluses, a line up to the next of
// them begins with the key: the frontmatter has line ends of its own, blanks before it,
// or no end.
func MentionsKey(src, key string) bool {
	b, _ := SplitFrontmatter(src)
	if b.Found {
		return hasWord(unescaped(unusual(src[b.Start:b.End])), key)
	}
	head := fromFirstSign(src)
	first, _, _ := strings.Cut(unusual(beginning(head)), "\n")
	if !opensOddly().MatchString(first) {
		return false
	}
	_, rest, _ := strings.Cut(unusual(head), "\n")
	if end := closesOddly().FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return hasLine(rest, key)
}

// MatchesKey reports whether the key of a field means key, written in lower case: letter
// case, signs around it and characters that nobody sees do not count, and neither does a
// value that stands in the key for want of a blank.
func MatchesKey(written, key string) bool {
	text := strings.ToLower(unusual(written))
	return isKey(text, key) || isKey(text+":", key)
}

// isKey reports whether a text begins with the key, signs apart, and a colon or equals
// sign behind it.
func isKey(text, key string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(text, isSign), key)
	rest = strings.TrimLeftFunc(rest, func(r rune) bool { return isSign(r) && r != ':' && r != '=' })
	return ok && rest != "" && (rest[0] == ':' || rest[0] == '=')
}

// IsHeadComplete reports whether the head of a text is complete, so that it says what its writer
// wants it to say. A text that is blank is not whole, nor one that ends within the
// marker that opens frontmatter, or before the one that closes it: a program that
// rewrites a file leaves such a text in it for a moment.
func IsHeadComplete(src string) bool {
	head := fromFirstSign(src)
	first, _, more := strings.Cut(unusual(beginning(head)), "\n")
	switch {
	case head == "", !more && len(head) <= len(marker) && head == marker[:len(head)]:
		return false
	case !isMarker(first, marker):
		return true
	}
	_, rest, _ := strings.Cut(unusual(head), "\n")
	for line := range strings.SplitSeq(rest, "\n") {
		if isMarker(line, marker) || isMarker(line, "...") {
			return true
		}
	}
	return false
}

// fromFirstSign returns a text without the blanks and invisible characters before it.
func fromFirstSign(src string) string {
	return strings.TrimLeftFunc(src, func(r rune) bool { return unicode.IsSpace(r) || visible(r) < 0 })
}

// longestMarker is more bytes than a line that opens frontmatter has.
const longestMarker = 256

// beginning returns the bytes of a text in which a marker would end.
func beginning(head string) string { return head[:min(len(head), longestMarker)] }

// marker opens and closes frontmatter.
const marker = "---"

// blankMark stands for a blank that is none in ASCII, such as a no-break space: YAML
// takes it for a letter, a person does not see it.
const blankMark = "\u00b7"

var (
	opensOddly  = text.Pattern(`^(?:[-+]{3,}|[–—][-–—]*)[\t ` + blankMark + `]*$`)
	closesOddly = text.Pattern(`(?m)^(?:[-+]{3,}|\.{3}|[–—][-–—]*)[\t ` + blankMark + `]*$`)
)

// unusual returns a text with every line end as \n, letters in their compatible form,
// without characters that nobody sees, and with blankMark for blanks beyond ASCII.
func unusual(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if !ascii {
		s = norm.NFKC.String(strings.Map(visible, s))
	}
	if strings.ContainsAny(s, "\r\v\f") {
		s = lineEnds.Replace(s)
	}
	return s
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n")

func visible(r rune) rune {
	switch {
	case r == '\u0085' || r == '\u2028' || r == '\u2029':
		return '\n'
	case r >= 0x80 && unicode.IsSpace(r):
		return '\u00b7'
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return r
}

// isSign reports what is neither a letter nor a digit.
func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// hasLine reports whether a line begins with the key, signs apart, and a colon or equals
// sign behind it. Comments do not count.
func hasLine(text, key string) bool {
	text = strings.ToLower(text)
	if !strings.Contains(text, key) {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(bare, "#") && isKey(bare, key) {
			return true
		}
	}
	return false
}

// hasWord reports whether the key stands in a text with no letter or digit beside it.
func hasWord(text, key string) bool {
	text = strings.ToLower(text)
	for from := 0; ; {
		i := strings.Index(text[from:], key)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(key)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[from:])
		if isSign(before) && isSign(after) { // RuneError at the ends of the text is one
			return true
		}
	}
}

var escapes = text.Pattern(`\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`)

// unescaped returns a text with the letters that YAML's escapes stand for.
func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return escapes().ReplaceAllStringFunc(s, func(escape string) string {
		n, err := strconv.ParseUint(escape[2:], 16, 32)
		if err != nil {
			return escape
		}
		return string(rune(n))
	})
}
