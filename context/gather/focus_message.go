package gather

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
)

// messageWord is a word of a message, or what it refers to by a mark.
type messageWord struct {
	text, fold string
	name       bool   // it is marked: a mention or a link
	capital    bool   // it begins with a capital letter
	pause      bool   // a mark of punctuation stands before it
	gap        string // what stands before it
}

// wordsOf returns the words of a message, of which places are references, in their order.
func wordsOf(message string, places [][2]int) (words []messageWord) {
	var split text.Splitter
	at := 0
	plain := func(end int) {
		part := message[at:end]
		behind := 0
		split.Split(part, func(t text.Token) {
			if t.Symbol || len(words) >= maxMessageWords {
				return
			}
			w := messageWord{text: part[t.Start:t.End], fold: string(t.Text), gap: part[min(behind, t.Start):t.Start]}
			first, _ := utf8.DecodeRuneInString(w.text)
			w.capital = unicode.IsUpper(first)
			w.pause = strings.ContainsAny(w.gap, ".,;:?!()\n…–—。，？！")
			words = append(words, w)
			behind = t.End
		})
	}
	for _, p := range places {
		if p[0] < at {
			continue
		}
		plain(p[0])
		words = append(words, messageWord{text: message[p[0]:p[1]], name: true})
		at = p[1]
	}
	plain(len(message))
	return words
}

// maxMessageWords is how many words of a message are looked at: it is a question.
const maxMessageWords = 400

// readMessage is how a message was read.
type readMessage struct {
	words    []messageWord
	content  []string // folded words that say what it is about, each once
	known    []string // those of them that the notes know
	weights  []float64
	language *followLanguage

	idle     bool // it greets, thanks or agrees
	back     bool // it stands on what was said before
	opening  bool // it goes on with what was said before
	compares bool // it looks at two things together
	elliptic bool // it asks of what is not in it: "which decision followed?", "on what condition?"
	other    bool // it says that it is about another thing
}

// alone reports whether a message that names nothing can stand alone. Two words that no note knows are a subject, too, for which
// the words of another are no help.
func (m *readMessage) alone() bool {
	return !m.back && !m.opening && !m.compares && !m.elliptic && (len(m.known) > 0 || len(m.content) >= 2)
}

// read reads a message. before is the language of the message before, nil for none.
func read(v *audience.View, message string, places [][2]int, before *followLanguage) *readMessage {
	m := &readMessage{words: wordsOf(message, places)}
	m.language = languageOfWords(m.words)
	if m.language == nil {
		m.language = before
	}
	if m.language == nil {
		m.language = followLanguages[0]
	}
	l := m.language
	for i := range m.words {
		w := &m.words[i]
		switch {
		case w.name:
		case l.compares[w.fold]:
			m.compares = true
		case isContent(l, w.fold) && !slices.Contains(m.content, w.fold):
			m.content = append(m.content, w.fold)
		}
	}
	m.know(v)
	m.idle = search.IsSmallTalk(message)
	m.other = has(m.words, l.others)
	m.opening = begins(m.words, l.openings)
	m.elliptic = l.isElliptic(m.words)
	for i := range m.words {
		if l.pointsBack(m.words, i) && !m.hasAntecedent(i) {
			m.back = true
			break
		}
	}
	return m
}

func isContent(l *followLanguage, fold string) bool {
	return !l.function[fold] && !l.compares[fold] && (len(fold) > 1 || !isLatin(fold))
}

func isLatin(s string) bool { return s != "" && s[0] < utf8.RuneSelf }

// know finds which of the content words the notes know, and what each tells. Without an index all are known.
func (m *readMessage) know(v *audience.View) {
	docs, all := v.WordCounts(m.content)
	if docs == nil {
		m.known = m.content
		m.weights = make([]float64, len(m.known))
		for i := range m.weights {
			m.weights[i] = 1
		}
		return
	}
	for i, w := range m.content {
		if docs[i] > 0 {
			m.known, m.weights = append(m.known, w), append(m.weights, search.WordTells(docs[i], all))
		}
	}
}

// hasAntecedent reports whether the message itself has named what a word stands for: before it, and in a clause before it, since
// a pronoun does not stand for what its own clause names, but for the owner of a possessive.
func (m *readMessage) hasAntecedent(at int) bool {
	l, w := m.language, &m.words[at]
	if !l.pronouns[w.fold] {
		return false
	}
	boundary := m.words[at].pause || l.clauses[w.fold]
	for i := at - 1; i >= 0; i-- {
		b := &m.words[i]
		named := b.name || b.capital && i > 0
		if named && l.possessive[w.fold] {
			return true
		}
		if boundary && (named || !l.persons[w.fold] && slices.Contains(m.known, b.fold)) {
			return true
		}
		boundary = boundary || b.pause || l.clauses[b.fold]
	}
	return false
}

// mostElliptic is of how many words a question is that says nothing of its own, beside those that ask.
const mostElliptic = 2

// isElliptic reports whether a question asks of what is not in it: it is made of words that ask and of one or two others, and has
// neither an object nor a name. "What is creep?" says what it is about.
func (l *followLanguage) isElliptic(words []messageWord) bool {
	asks, others := 0, 0
	for i := range words {
		w := &words[i]
		switch {
		case w.name:
			return false
		case l.asking[w.fold]:
			if others > 0 {
				return false
			}
			asks++
		case asks == 0 && i == 0 && l.leading[w.fold]:
		case asks > 0 && others == 0 && l.been[w.fold]: // what was done is asked, not what something is
			if i+1 >= len(words) || !strings.HasSuffix(words[i+1].fold, l.participle) {
				return false
			}
		case l.function[w.fold], w.capital && !l.capitals:
			return false
		default:
			others++
		}
	}
	chooses := slices.ContainsFunc(words, func(w messageWord) bool { return l.choosing[w.fold] })
	return asks > 0 && others > 0 && others <= mostElliptic && (others == 1 || asks > 1 || chooses)
}
