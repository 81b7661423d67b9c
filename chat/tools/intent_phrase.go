package tools

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities"
)

//go:embed phrases.txt
var phrasesText string

// place stands in a phrase for what is said.
const place = "…"

// phrase is a way to order something in words.
type phrase struct {
	language string
	kind     turn.Intent
	words    string // normal
	opens    bool   // it stands before what is said, not behind it
	apart    bool   // no letter follows it, or stands before it
}

// longest is how many characters of a sentence are compared with phrases.
const longest = 64

// phrases are those of phrases.txt, the longest first.
var phrases = sync.OnceValue(func() []phrase {
	list, err := readPhrases(phrasesText)
	if err != nil {
		panic(err) // a defect of the file, seen by any test
	}
	return list
})

// readPhrases reads the file.
func readPhrases(file string) (list []phrase, err error) {
	number := 0
	for s := range strings.Lines(file) {
		number++
		if s = strings.TrimSpace(s); s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		p, words, err := readPhrase(s)
		switch {
		case err != nil:
			return nil, fmt.Errorf("phrases.txt, line %d: %w", number, err)
		case slices.ContainsFunc(list, func(o phrase) bool { return o.words == p.words && o.opens == p.opens && o.language == p.language }):
			return nil, fmt.Errorf("phrases.txt, line %d: %s is there twice", number, words)
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
	return list, nil
}

func readPhrase(s string) (p phrase, words string, err error) {
	language, s, _ := strings.Cut(s, " ")
	kind, words, _ := strings.Cut(s, " ")
	p = phrase{language: language, kind: turn.Intent(kind)}
	before, opens := strings.CutSuffix(words, place)
	after, ends := strings.CutPrefix(words, place)
	said := before
	if ends {
		said = after
	}
	p.opens, p.words = opens, normal(strings.TrimSpace(said)).text
	switch {
	case opens == ends || p.words == "" || strings.Contains(said, place):
		return p, words, fmt.Errorf("%q has no … at one of its ends", words)
	case len(language) != 2:
		return p, words, fmt.Errorf("%q is no language", language)
	case !slices.Contains([]turn.Intent{turn.Remember, turn.Forget, turn.Goal, turn.Value}, p.kind):
		return p, words, fmt.Errorf("%q is nothing that phrases order", kind)
	case uniseg.GraphemeClusterCount(p.words) > longest:
		return p, words, fmt.Errorf("%q is longer than %d characters", words, longest)
	}
	edge, _ := utf8.DecodeLastRuneInString(p.words)
	if ends {
		edge, _ = utf8.DecodeRuneInString(p.words)
	}
	p.apart = strings.TrimSpace(said) != said && isWord(edge)
	return p, words, nil
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// normalised is a text in the form in which phrases are compared, with the places of its characters.
type normalised struct {
	text string
	from []int // by byte of text: where in the text that it was made of the character begins
	size int   // of that text
}

// normal folds case and width, makes one space of each run of blanks, and one apostrophe of the two.
func normal(s string) normalised {
	n := normalised{size: len(s)}
	var b strings.Builder
	add := func(folded string, at int) {
		b.WriteString(folded)
		for range len(folded) {
			n.from = append(n.from, at)
		}
	}
	blank := false
	at, state := 0, -1
	for rest := s; rest != ""; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		is := strings.TrimSpace(c) == ""
		switch {
		case is && !blank:
			add(" ", at)
		case is:
		case c == "’":
			add("'", at)
		default:
			add(entities.Fold(norm.NFKC.String(c)), at)
		}
		blank, at = is, at+len(c)
	}
	n.text = b.String()
	return n
}

// at returns where in the original text a byte of the normal form lies.
func (n *normalised) at(i int) int {
	if i >= len(n.from) {
		return n.size
	}
	return n.from[i]
}

// matched is a phrase that a sentence has, with the place of what is said.
type matched struct {
	phrase
	start, end int
}

// Marks that may stand around what is said.
const (
	marksBefore = " \t:,，：、-–—"
	marksEnd    = " \t.!。！…"
	asks        = "?？؟\u037e" // the last is the Greek question mark
)

// phraseIn returns the longest phrase that a sentence opens or ends with. One that asks something orders nothing. A
// phrase may say nothing only when it ends with a colon or is all of the sentence.
func phraseIn(sentence string) (m matched, ok bool) {
	bare := strings.TrimRight(sentence, marksEnd+`"'”»`)
	if last, _ := utf8.DecodeLastRuneInString(bare); strings.ContainsRune(asks, last) {
		return m, false
	}
	head, tail := normal(front(sentence)), normal(back(bare))
	offset := len(bare) - tail.size
	for _, p := range phrases() {
		if p.opens && strings.HasPrefix(head.text, p.words) {
			if next, _ := utf8.DecodeRuneInString(head.text[len(p.words):]); p.apart && isWord(next) {
				continue
			}
			m = matched{p, head.at(len(p.words)), len(sentence)}
			m.start += len(sentence[m.start:]) - len(strings.TrimLeft(sentence[m.start:], marksBefore))
			return m, true
		}
		if !p.opens && strings.HasSuffix(tail.text, p.words) {
			end := len(tail.text) - len(p.words)
			if prev, _ := utf8.DecodeLastRuneInString(tail.text[:end]); p.apart && isWord(prev) {
				continue
			}
			m = matched{p, 0, offset + tail.at(end)}
			m.end = len(strings.TrimRight(sentence[:m.end], marksBefore))
			return m, m.end > 0
		}
	}
	return m, false
}

// front returns the beginning of a text that phrases are compared with, back its end.
func front(s string) string {
	n := 0
	for i := range s {
		if n++; n > 2*longest {
			return s[:i]
		}
	}
	return s
}

func back(s string) string {
	n := 0
	for i := len(s); i > 0; {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		if n++; n >= 2*longest {
			return s[i:]
		}
	}
	return s
}
