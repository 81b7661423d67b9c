package learn

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/text"
)

// Statement is what a statement says, as far as rules look at it. Read makes one; it may be kept and used concurrently.
type Statement struct {
	said     memory.Statement
	things   []string // what it is about, in its order, each once
	of       []string // of these, the relations and animals that it is about
	only     []string // of these, what a person has one of at a time
	subject  []string // of these, what stands before "is", of "my key is …"
	names    []string // of these, those with a capital letter
	years    []string
	first    bool // it says I or we
	placed   bool // behind "is" it names a place
	denies   bool // an odd number of opposites and denials
	twice    bool // it denies an opposite, of which nobody knows what it means
	changed  bool // it says that something is not as it was
	renewed  bool // it says so only by calling something new
	adds     bool // it says that what held before still holds
	limited  bool // it holds at times only
	supposed bool // it says what might be
	slot     *slotValue
	amount   *amount
}

// maxThings is how much of a statement is compared.
const maxThings = 64

// ReadStatement reads a statement. O(text).
func ReadStatement(statement string) *Statement {
	words := wordsOf(statement)
	s := &Statement{said: memory.ReadStatement(statement)}
	s.changed, s.adds, s.limited = has(words, changes()), has(words, additions()), has(words, limits())
	s.renewed = s.changed && !has(words, changesButNew())
	s.supposed = has(words, suppositions())
	if japanese(statement) {
		s.changed = s.changed || containsAny(statement, japaneseChanges)
		s.adds, s.limited = s.adds || containsAny(statement, japaneseAdditions), s.limited || containsAny(statement, japaneseLimits)
	}
	s.slot, s.amount = slotOf(statement), amountOf(statement)
	negations, turned := 0, 0
	for i := 0; i < len(words); {
		w := words[i]
		if name, n := nameOf(words[i:], oppositeNames()); n > 0 {
			s.take(name)
			turned++
			i += n
			continue
		}
		if name, n := nameOf(words[i:], groupNames()); n > 0 {
			for part := range strings.FieldsSeq(name) {
				s.take(part)
			}
			i += n
			continue
		}
		month, certain := memory.ParseMonth(w)
		certain = certain || month > 0 && (isFigure(words, i-1) || isFigure(words, i+1)) // may and mars are words as well
		switch first, _ := utf8.DecodeRuneInString(w); {
		case memory.DeniesWord(w) || w == "n't":
			negations++
		case unicode.IsDigit(first):
			if len(w) == len("2024") && (w[:2] == "19" || w[:2] == "20") {
				s.years = append(s.years, w)
			}
		case memory.ParseWeekday(w) > 0 || certain:
		case !filler()[w] && memory.ParseNumberWord(w) == 0 && !inRow(words, i, changes()) && !inRow(words, i, additions()) && !inRow(words, i, limits()):
			s.take(w)
		}
		i++
	}
	s.readSubject(words)
	s.readNames(statement)
	s.readOwners(statement)
	s.twice = turned > 0 && negations > 0
	s.denies = turned > 0 != (negations > 0)
	return s
}

func (s *Statement) take(thing string) {
	if len(s.things) >= maxThings || slices.Contains(s.things, thing) {
		return
	}
	s.things = append(s.things, thing)
	if relations()[thing] {
		s.of = append(s.of, thing)
	}
	if thing[0] == '@' {
		s.only = append(s.only, thing)
	}
}

func isFigure(words []string, i int) bool {
	return i >= 0 && i < len(words) && words[i][0] >= '0' && words[i][0] <= '9'
}

// readSubject reads "my key is under the mat".
func (s *Statement) readSubject(words []string) {
	s.first = slices.ContainsFunc(words, func(w string) bool { return persons()[w] })
	if len(words) == 0 || !definite()[words[0]] {
		return
	}
	at := slices.IndexFunc(words, func(w string) bool { return copulas()[w] })
	if at < 0 || at+1 >= len(words) {
		return
	}
	s.placed = places()[words[at+1]] || memory.DeniesWord(words[at+1]) && at+2 < len(words) && places()[words[at+2]]
	for _, w := range words[1:at] {
		if slices.Contains(s.things, w) {
			s.subject = append(s.subject, w)
		}
	}
}

// readNames reads which of the things are written with a capital letter.
func (s *Statement) readNames(statement string) {
	for _, word := range strings.FieldsFunc(statement, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		fold := entities.Fold(word)
		if isCapital(word) && slices.Contains(s.things, fold) && !relations()[fold] && !slices.Contains(s.names, fold) {
			s.names = append(s.names, fold)
		}
	}
}

// owners are names with 's, as in Ida's passport.
var owners = text.Pattern(`(\p{Lu}\p{L}+)['’]s\b`)

// readOwners reads whose things the statement is about.
func (s *Statement) readOwners(statement string) {
	for _, m := range owners().FindAllStringSubmatch(statement, maxThings) {
		fold := entities.Fold(m[1])
		if slices.Contains(s.things, fold) && !slices.Contains(s.of, fold) {
			s.of = append(s.of, fold)
		}
	}
}

// Topics are what the statement is about that a person has one of at a time, with whose it is, and behind them all that it
// is about. Statements that share a topic are worth comparing however far their vectors are.
func (s *Statement) Topics() []string {
	list := make([]string, 0, len(s.only)+1)
	for _, only := range s.only {
		list = append(list, only+" "+strings.Join(s.of, " "))
	}
	if len(s.things) > 0 {
		things := slices.Sorted(slices.Values(s.things))
		list = append(list, "= "+strings.Join(things, " "))
	}
	return list
}

// Changed reports whether the statement says that something is not as it was.
func (s *Statement) Changed() bool { return s.changed }

// wordsOf splits a text into folded words; don't becomes don and n't.
func wordsOf(text string) []string {
	fold := strings.ReplaceAll(strings.ReplaceAll(entities.Fold(text), "’", "'"), "n't", " n't ")
	words := strings.FieldsFunc(fold, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\''
	})
	var list []string
	for _, w := range words {
		if w == "n't" {
			list = append(list, w)
			continue
		}
		if japanese(w) {
			list = append(list, japaneseWords(w)...)
			continue
		}
		for part := range strings.SplitSeq(w, "'") {
			if part != "" {
				list = append(list, part)
			}
		}
	}
	return list
}

// has reports whether words have one of some rows.
func has(words []string, of map[string][][]string) bool {
	for i := range words {
		if rowAt(words[i:], of) > 0 {
			return true
		}
	}
	return false
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// rowAt returns the length of the longest row that words begin with, 0 for none.
func rowAt(words []string, of map[string][][]string) (longest int) {
	for _, row := range of[words[0]] {
		if len(row) > longest && len(row) <= len(words) && slices.Equal(words[:len(row)], row) {
			longest = len(row)
		}
	}
	return longest
}

// inRow reports whether the word at a place is of a row that stands there.
func inRow(words []string, at int, of map[string][][]string) bool {
	for from := max(0, at-3); from <= at; from++ {
		if n := rowAt(words[from:], of); n > 0 && from+n > at {
			return true
		}
	}
	return false
}

// nameOf returns the name of the longest row of a group that words begin with, and its length; 0 for none.
func nameOf(words []string, of map[string][]namedWords) (name string, longest int) {
	for _, g := range of[words[0]] {
		if n := len(g.row); n > longest && n <= len(words) && slices.Equal(words[:n], g.row) {
			name, longest = g.name, n
		}
	}
	return name, longest
}

// maxSentences is how many sentences of a text are read.
const maxSentences = 64

// ReadSentences reads the sentences of a text that state something: those that end with a question mark are left out. Of a
// long text the first 64 are read.
func ReadSentences(text string) (list []*Statement) {
	for text != "" && len(list) < maxSentences {
		end := strings.IndexAny(text, ".!?\n。！？")
		if end < 0 {
			list = append(list, ReadStatement(text))
			break
		}
		mark, size := utf8.DecodeRuneInString(text[end:])
		rest := text[end+size:]
		inside := mark == '.' && rest != "" && !unicode.IsSpace([]rune(rest[:min(len(rest), utf8.UTFMax)])[0])
		if s := strings.TrimSpace(text[:end]); s != "" && mark != '?' && mark != '？' && !inside {
			list = append(list, ReadStatement(s))
		} else if inside { // 2.5, or a name of a file
			next := strings.IndexAny(rest, " \n")
			if next < 0 {
				next = len(rest)
			}
			list = append(list, ReadStatement(text[:end+size+next]))
			rest = rest[next:]
		}
		text = rest
	}
	return list
}
