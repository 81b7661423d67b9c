package convert

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hyphens decides what becomes of a hyphen at the end of a line: it goes where a word was taken apart, and stays where the word
// has it. What the rest of the file writes decides; then what kind of word it is.
type hyphens struct {
	words map[string]bool // of the file, in lower case, as they are written
	keeps bool            // what nothing decides keeps its hyphen
}

const (
	maxKnownWords = 200_000 // words of a file that are remembered
	maxWord       = 80      // bytes of one of them
)

// hyphensOf reads the words of a file.
func hyphensOf(lines iter.Seq[string]) *hyphens {
	h := &hyphens{words: make(map[string]bool)}
	for line := range lines {
		for word := range strings.FieldsSeq(line) {
			word = strings.Trim(word, punctuation)
			if word == "" || strings.HasSuffix(word, "-") || len(word) > maxWord || len(h.words) == maxKnownWords {
				continue
			}
			h.words[strings.ToLower(word)] = true
		}
	}
	return h
}

// punctuation is what may stand around a word.
const punctuation = ".,;:!?()[]\"'“”‘’«»„"

// shared are words before which the end of another word is left out: pre- and post-war.
var shared = map[string]bool{
	"and": true, "or": true, "nor": true, "to": true, "und": true, "oder": true, "bzw": true, "bis": true, "et": true, "ou": true, "y": true, "o": true,
	"e": true, "en": true, "of": true, "och": true, "og": true, "eller": true, "i": true, "a": true, "lub": true, "и": true, "или": true,
}

// prefixes are words that nearly always have a hyphen behind them.
var prefixes = map[string]bool{"self": true, "well": true, "half": true, "quasi": true}

// between returns what stands between two parts of a text that had a hyphen and the end of a line between them.
func (h *hyphens) between(before, after string) string {
	a, b := lastWord(before[max(0, len(before)-maxWord):]), firstWord(after[:min(len(after), maxWord)])
	low := strings.ToLower(a)
	first, _ := utf8.DecodeRuneInString(b)
	switch {
	case h.words[low+strings.ToLower(b)]:
		return ""
	case h.words[low+"-"+strings.ToLower(b)]:
		return "-"
	case shared[strings.ToLower(b)]:
		return "- "
	case strings.Contains(a, "-"), prefixes[low], unicode.IsUpper(first) && strings.ToUpper(a) != a, h.keeps:
		return "-"
	}
	return ""
}

func lastWord(s string) string {
	return strings.Trim(s[strings.LastIndexFunc(s, unicode.IsSpace)+1:], punctuation)
}

func firstWord(s string) string {
	if end := strings.IndexFunc(s, unicode.IsSpace); end >= 0 {
		s = s[:end]
	}
	return strings.Trim(s, punctuation)
}

// unwrapped is a text whose lines were broken by a program, with the words whole that stood at the ends of its lines.
func (h *hyphens) unwrapped(s string) string {
	var b strings.Builder
	at := 0
	for before, after := range lineHyphens(s) {
		if before > at {
			b.WriteString(s[at:before])
			b.WriteString(h.between(s[at:before], s[after:]))
			at = after
		}
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// lineHyphens yields where words end in a hyphen at the end of a line, and where the next line goes on.
func lineHyphens(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for from := 0; ; {
			n := strings.Index(s[from:], "-\n")
			if n < 0 {
				return
			}
			n += from
			from = n + len("-\n")
			last, _ := utf8.DecodeLastRuneInString(s[:n])
			after := from + len(s[from:]) - len(strings.TrimLeft(s[from:], " \t"))
			next, _ := utf8.DecodeRuneInString(s[after:])
			if unicode.IsLetter(last) && unicode.IsLetter(next) && !yield(n, after) {
				return
			}
		}
	}
}

// hyphensOfText reads the words of a text whose lines may have been broken; nil when none of its lines ends in a hyphen. In a
// text that takes no word apart a hyphen at the end of a line is one of the word.
func hyphensOfText(s string) *hyphens {
	found := false
	for range lineHyphens(s) {
		found = true
		break
	}
	if !found {
		return nil
	}
	h := hyphensOf(strings.Lines(s))
	apart, own := 0, 0
	for before, after := range lineHyphens(s) {
		first, last := s[max(0, before-maxWord):before], s[after:min(len(s), after+maxWord)]
		switch {
		case h.words[strings.ToLower(lastWord(first)+firstWord(last))]:
			apart++
		case h.between(first, last) == "-":
			own++
		}
	}
	h.keeps = own >= apart
	return h
}
