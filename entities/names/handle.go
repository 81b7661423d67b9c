package names

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A handle names an entity in a message, as @john_smith_person_entity does. It
// is made of the name and the type whenever they are, and stored nowhere: two
// entities can have the same one.

// handleSuffix ends the handles of entities.
const handleSuffix = "_entity"

// Limits of handles, in characters.
const (
	maxHandle    = 60
	maxSpaceless = 8 // of a run of a script that is written without blanks
	handleWords  = 3 // of the name
)

//go:embed stopwords.txt
var stopwordList string

// stopwords do not tell names apart. Words that say no are none of them.
var stopwords = wordSet(stopwordList)

// reserved words can't begin a handle: they are marks of other references.
var reserved = wordSet("claim memory mem conversation conv")

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// Handle returns the handle of an entity: up to three telling words of its name,
// its type and "entity", in lower case, joined by underscores, of at most 60
// characters. A name without any such word counts as "untitled".
func Handle(name, typeName string) string {
	tail := "_" + strings.Join(appendHandleWords(nil, typeName), "_") + handleSuffix
	var space [8]string
	words := telling(appendHandleWords(space[:0], name))
	if len(words) == 0 {
		words = append(words, "untitled")
	}
	room := maxHandle - utf8.RuneCountInString(tail)
	for len(words) > 1 && utf8.RuneCountInString(strings.Join(words, "_")) > room {
		words = words[:len(words)-1]
	}
	return firstChars(strings.Join(words, "_"), max(room, 1)) + tail
}

// telling returns the words of a name that a handle takes. It uses the memory of
// words.
func telling(words []string) []string {
	out := words[:0]
	for _, w := range words {
		if stopwords[w] {
			continue
		}
		if len(out) == 0 {
			if first, _ := utf8.DecodeRuneInString(w); unicode.IsDigit(first) || reserved[w] {
				continue
			}
		}
		out = append(out, w)
		if len(out) == handleWords {
			break
		}
	}
	return out
}

// appendHandleWords splits a text into words of lower-case letters, marks and
// digits. Where a script that is written without blanks meets another, one word
// ends.
func appendHandleWords(words []string, text string) []string {
	text = FoldHandle(text)
	start, spaceless := -1, false
	end := func(at int) {
		if start >= 0 {
			word := strings.Map(func(r rune) rune {
				if isApostrophe(r) {
					return -1
				}
				return r
			}, text[start:at])
			if spaceless {
				word = firstChars(word, maxSpaceless)
			}
			if word != "" {
				words = append(words, word)
			}
		}
		start = -1
	}
	for at, r := range text {
		switch {
		case isApostrophe(r), unicode.IsMark(r):
			if start < 0 && !isApostrophe(r) {
				start, spaceless = at, false
			}
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(at)
		case start < 0:
			start, spaceless = at, withoutBlanks(r)
		case withoutBlanks(r) != spaceless && !unicode.Is(unicode.Lm, r): // such as the mark of a long vowel
			end(at)
			start, spaceless = at, withoutBlanks(r)
		}
	}
	end(len(text))
	return words
}

// FoldHandle returns the form in which handles are compared.
func FoldHandle(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFKC.String(strings.ToLower(norm.NFKC.String(s)))
		}
	}
	return strings.ToLower(s)
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' || r == '＇' }

// withoutBlanks reports the scripts that put no blanks between words.
func withoutBlanks(r rune) bool {
	return r >= 0x0E00 && (spaceless(r) || unicode.Is(unicode.Hangul, r))
}

func firstChars(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at]
		}
		n--
	}
	return s
}

// HandleAt returns the handle of an entity that a text begins with, as written,
// "" when it can't be one. A handle consists of letters, marks, digits, '_' and
// '-', the last neither '_' nor '-'; a script without blanks directly behind an
// ASCII letter or digit ends it.
func HandleAt(text string) string {
	end, last := 0, rune(0)
	for at, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '-' ||
			withoutBlanks(r) && last < utf8.RuneSelf && (unicode.IsLetter(last) || unicode.IsDigit(last)) ||
			at > maxHandle*utf8.UTFMax*4 {
			break
		}
		end, last = at+utf8.RuneLen(r), r
	}
	handle := strings.TrimRight(text[:end], "_-")
	if len(handle) <= len(handleSuffix) || !strings.EqualFold(handle[len(handle)-len(handleSuffix):], handleSuffix) {
		return ""
	}
	return handle
}

// HasHandles reports whether the index of handles is made. While it is not, Handled
// changes the Index.
func (x *Index) HasHandles() bool { return x.handles != nil }

// Handled returns the ids of the records with a handle, in id order. The first
// call makes the index of handles, O(n), which is kept current from then on. Those
// that skip, which may be nil, tells to leave out are not among them.
func (x *Index) Handled(handle string, skip func(id string) bool) []string {
	if x.handles == nil {
		x.handles = make(map[string][]string, len(x.byID))
		for i := range x.list {
			x.enterHandle(&x.list[i])
		}
	}
	ids := slices.Clone(x.handles[FoldHandle(handle)])
	if skip != nil {
		ids = slices.DeleteFunc(ids, skip)
	}
	slices.Sort(ids)
	return ids
}

// enterHandle does nothing before handles are asked for.
func (x *Index) enterHandle(n *named) {
	if x.handles != nil && len(n.names) > 0 {
		handle := Handle(n.names[0].Text, x.kindOf[n.kind])
		x.handles[handle] = append(x.handles[handle], strings.Clone(n.id)) // it may be a part of something larger
	}
}

func (x *Index) leaveHandle(n *named) {
	if x.handles == nil || len(n.names) == 0 {
		return
	}
	handle := Handle(n.names[0].Text, x.kindOf[n.kind])
	ids := slices.DeleteFunc(x.handles[handle], func(id string) bool { return id == n.id })
	x.handles[handle] = ids
	if len(ids) == 0 {
		delete(x.handles, handle)
	}
}
