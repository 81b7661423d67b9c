package names

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/text"
)

// A handle names an entity in a message, as @john_smith_person_entity does. It
// is made of the name and the type whenever they are, and stored nowhere: two
// entities can have the same one.

// HandleSuffix ends the handles of entities.
const HandleSuffix = "_entity"

// Limits of handles, in characters.
const (
	MaxHandle     = 60
	maxSpaceless  = 8  // of a run of a script that is written without blanks
	maxHandleType = 40 // of the words of a type
)

// HandleWords is how many words of a name or text a handle takes.
const HandleWords = 3

//go:embed stopwords.txt
var stopwordList string

// stopwords do not tell names apart. Words that say no are none of them.
var stopwords = wordSet(stopwordList)

// reservedWords can't begin a handle: they are marks of other references.
const reservedWords = "claim memory mem conversation conv"

var reserved = wordSet(reservedWords)

// ReservedWords returns the words that no handle begins with.
func ReservedWords() []string { return strings.Fields(reservedWords) }

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
	tail := HandleSuffix
	typeWords := slices.Collect(handleWords(typeName))
	if len(typeWords) > 0 {
		tail = "_" + JoinHandleWords(typeWords, maxHandleType) + HandleSuffix
	}
	words := TellingWords(name, HandleWords)
	if len(words) == 0 {
		words = append(words, "untitled")
	}
	return JoinHandleWords(words, MaxHandle-utf8.RuneCountInString(tail)) + tail
}

// JoinHandleWords joins words by underscores, to at most room characters: words are left
// out from the right, and one that is too long alone is cut.
func JoinHandleWords(words []string, room int) string {
	fit, left := 0, room
	for ; fit < len(words); fit++ {
		left -= utf8.RuneCountInString(words[fit])
		if fit > 0 {
			left--
		}
		if left < 0 {
			break
		}
	}
	if fit == 0 && len(words) > 0 {
		return firstChars(words[0], room)
	}
	return strings.Join(words[:fit], "_")
}

// TellingWords returns up to so many words of a text that a handle takes: no stopword,
// and as the first one none that is reserved or begins with a digit. They are in the
// form in which handles are compared.
func TellingWords(text string, most int) []string {
	words := make([]string, 0, most)
	for w := range handleWords(text) {
		if stopwords[w] {
			continue
		}
		if len(words) == 0 {
			if first, _ := utf8.DecodeRuneInString(w); !unicode.IsLetter(first) || reserved[w] {
				continue
			}
		}
		words = append(words, w)
		if len(words) == most {
			break
		}
	}
	return words
}

// handleWords visits the words of a text: lower-case letters and digits, with the marks
// behind them. Where a script that is written without blanks meets another, one word
// ends.
func handleWords(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := withoutApostrophes(FoldHandle(s))
		start, ofSpaceless := -1, false
		end := func(at int) bool {
			if start < 0 {
				return true
			}
			word := s[start:at]
			if ofSpaceless {
				word = firstChars(word, maxSpaceless)
			}
			start = -1
			return yield(word)
		}
		for at, r := range s {
			switch {
			case unicode.IsMark(r):
				// It begins no word, as the selector behind an emoji, and ends one of another script.
				if text.IsUnspacedScript(r) && !ofSpaceless && !end(at) {
					return
				}
			case !unicode.IsLetter(r) && !unicode.IsDigit(r):
				if !end(at) {
					return
				}
			case start < 0:
				start, ofSpaceless = at, text.IsUnspacedScript(r)
			case ofSpaceless && unicode.Is(unicode.Lm, r): // such as the mark of a long vowel
			case text.IsUnspacedScript(r) != ofSpaceless:
				if !end(at) {
					return
				}
				start, ofSpaceless = at, text.IsUnspacedScript(r)
			}
		}
		end(len(s))
	}
}

// withoutApostrophes returns a folded text without its apostrophes: what stood on both
// sides of one may belong together then.
func withoutApostrophes(text string) string {
	if !strings.ContainsFunc(text, isApostrophe) {
		return text
	}
	return FoldHandle(strings.Map(func(r rune) rune {
		if isApostrophe(r) {
			return -1
		}
		return r
	}, text))
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
// "" when it can't be one.
func HandleAt(text string) string {
	handle := text[:HandleLen(text[:min(len(text), MaxHandle*utf8.UTFMax*4)])]
	if len(handle) <= len(HandleSuffix) || !strings.EqualFold(handle[len(handle)-len(HandleSuffix):], HandleSuffix) {
		return ""
	}
	return handle
}

// HandleLen returns how many bytes a text begins with that can be read as a handle of any
// kind: letters, marks, digits, '_' and '-', the last neither '_' nor '-'. A script without
// blanks directly behind an ASCII letter or digit ends it. Whether it begins with a letter
// and is long enough is not looked at. O(length of the handle and the '_' and '-' behind it).
func HandleLen(s string) int {
	end, last := 0, rune(0)
	for at := 0; at < len(s); {
		if c := s[at]; c < utf8.RuneSelf { // nearly always
			if !asciiWord[c] && c != '_' && c != '-' {
				break
			}
			at++
			if asciiWord[c] {
				end = at
			}
			last = rune(c)
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) ||
			last < utf8.RuneSelf && asciiWord[last] && text.IsUnspacedScript(r) {
			break
		}
		at += size
		end, last = at, r
	}
	return end
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
