package memory

// [Differences] tells in what two statements that look alike say different things: "I eat meat" and "I do not eat meat"
// are near to each other for every embedder, as are "25 days of leave" and "28 days of leave". It is pure, and reads
// the words alone: a difference is a reason to look, not a proof that one of the two is wrong.
//
// One of two statements may say more than the other without saying anything else. So they differ in numbers, dates or
// names only where each has one that the other has not, and in negation where one of them denies. What counts is
// declared in differ_words.go: negations of ten languages and number words of five; months and weekdays are those of
// when_words.go. Names are words with a capital letter that do not begin a sentence, so the nouns of German are among
// them.
//
// [IsExcerpt] asks for more: that one text is the other with words left out, and no denial among them.

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
)

// What two statements differ in.
const (
	DifferenceNegation = "negation"
	DifferenceNumber   = "number"
	DifferenceDate     = "date"
	DifferenceName     = "name"
)

// DifferenceKinds are all values that In returns, in its order.
var DifferenceKinds = []string{DifferenceNegation, DifferenceNumber, DifferenceDate, DifferenceName}

// Differences returns in what two statements differ, in the order of All. It is symmetric, and the same statement
// differs in nothing from itself. O(text).
func Differences(a, b string) []string { return ReadStatement(a).In(ReadStatement(b)) }

// Statement is what a statement says that another may say otherwise. Read makes one; it may be kept and used
// concurrently.
type Statement struct {
	denies                bool
	numbers, dates, names map[string]bool
}

// In returns in what two statements differ; see the function In.
func (s Statement) In(other Statement) []string {
	list := []string{}
	for i, differs := range [...]bool{
		s.denies != other.denies, apart(s.numbers, other.numbers), apartDates(s.dates, other.dates), apart(s.names, other.names),
	} {
		if differs {
			list = append(list, DifferenceKinds[i])
		}
	}
	return list
}

// apart reports whether each of two sets has what the other has not.
func apart(a, b map[string]bool) bool { return more(a, b) && more(b, a) }

// apartDates is apart for one part of dates at a time: a weekday does not differ from a month.
func apartDates(a, b map[string]bool) bool {
	ours, theirs := byPart(a), byPart(b)
	for part, values := range ours {
		if apart(values, theirs[part]) {
			return true
		}
	}
	return false
}

func byPart(dates map[string]bool) map[string]map[string]bool {
	parts := make(map[string]map[string]bool)
	for date := range dates {
		part, value, _ := strings.Cut(date, " ")
		if parts[part] == nil {
			parts[part] = make(map[string]bool)
		}
		parts[part][value] = true
	}
	return parts
}

func more(a, b map[string]bool) bool {
	for x := range a {
		if !b[x] {
			return true
		}
	}
	return false
}

// ReadStatement reads a statement. O(text).
func ReadStatement(text string) Statement {
	s := Statement{numbers: make(map[string]bool), dates: make(map[string]bool), names: make(map[string]bool)}
	var before word // of the text, zero at the beginning
	w, ok := next(text, 0)
	for ok {
		after, more := next(text, w.end)
		s.take(before, w, after)
		before, w, ok = w, after, more
	}
	return s
}

// word is a word or a number of a text.
type word struct {
	text  string
	fold  string // without case, width and apostrophes of whatever form
	end   int
	first bool // of its sentence
}

// next returns the next word behind an offset: letters, marks and digits, with what joins them inside.
func next(text string, from int) (w word, ok bool) {
	begins := from == 0
	start := -1
	for i, r := range text[from:] {
		i += from
		if isWord(r) {
			if start >= 0 && figureEnds(text[start:i], r) {
				return made(text, start, i, begins), true
			}
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			size := utf8.RuneLen(r)
			if size > 0 && strings.ContainsRune(joins, r) && joined(text[start:i], r, text[i+size:]) {
				continue
			}
			return made(text, start, i, begins), true
		}
		if strings.ContainsRune(".!?\n。！？", r) {
			begins = true
		}
	}
	if start < 0 {
		return word{}, false
	}
	return made(text, start, len(text), begins), true
}

// figureEnds reports whether a number ends or begins before a letter of a script that sets no blanks: 25日, 家賃は9万円.
func figureEnds(before string, r rune) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	unblanked := func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }
	return unicode.IsDigit(last) && unblanked(r) || unblanked(last) && unicode.IsDigit(r)
}

func made(text string, start, end int, first bool) word {
	t := text[start:end]
	fold := strings.ReplaceAll(entities.Fold(t), "’", "'")
	return word{text: t, fold: fold, end: end, first: first}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

// joins are what stands in words and numbers: don't, 2,5, 1.000, 9:30, 2024-05-01, 4/1/2022.
const joins = "'’.,:-/"

// joined reports whether a mark belongs to the word before it: an apostrophe between letters, the others
// between digits.
func joined(before string, mark rune, rest string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(rest)
	if mark == '\'' || mark == '’' {
		return unicode.IsLetter(a) && unicode.IsLetter(b)
	}
	return unicode.IsDigit(a) && unicode.IsDigit(b)
}

// take adds what a word says, between two others.
func (s *Statement) take(before, w, after word) {
	if denial(w) {
		s.denies = true
		return
	}
	if month, ok := monthOf(before, w, after); ok {
		s.dates["month "+strconv.Itoa(month)] = true
		return
	}
	if day := ParseWeekday(w.fold); day > 0 {
		s.dates["weekday "+strconv.Itoa(day)] = true
		return
	}
	if n, ok := numberWords[w.fold]; ok {
		s.numbers[strconv.Itoa(n)] = true
		return
	}
	first, _ := utf8.DecodeRuneInString(w.text)
	switch {
	case unicode.IsDigit(first):
		s.figure(before, w, after)
	case isName(before, w, first):
		s.names[strings.TrimSuffix(w.fold, "'s")] = true
	}
}

// isName reports whether a word is written as names are: with a capital letter, behind the first word of a
// sentence, or with several, as NHS.
func isName(before, w word, first rune) bool {
	if w.fold == "i" || strings.HasPrefix(w.fold, "i'") {
		return false
	}
	behind := w.text[utf8.RuneLen(first):]
	if strings.ContainsFunc(behind, unicode.IsUpper) {
		return true
	}
	return (!w.first || titles[before.fold]) && unicode.IsUpper(first)
}

// monthOf returns the month that a word names. "May" and "march" are words as well: the first is a month
// where it is written with a capital letter inside a sentence, or beside a figure, as others that are words.
func monthOf(before, w, after word) (month int, ok bool) {
	month, certain := ParseMonth(w.fold)
	if month == 0 || certain {
		return month, certain
	}
	first, _ := utf8.DecodeRuneInString(w.text)
	beside := isFigure(before.text) || isFigure(after.text)
	return month, beside || unicode.IsUpper(first) && !w.first
}

func isFigure(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsDigit(r)
}

// figure adds what is written in digits: a date, a time, or a number.
func (s *Statement) figure(before, w, after word) {
	if y, m, d, ok := dateOf(w.fold); ok {
		s.dates["year "+strconv.Itoa(y)] = true
		s.dates["month "+strconv.Itoa(m)] = true
		s.dates["day "+strconv.Itoa(d)] = true
		return
	}
	if strings.ContainsAny(w.fold, ":/-") || strings.Count(w.fold, ".") == 2 && len(w.fold) <= len("31.12.2024") {
		s.dates["written "+w.fold] = true // a time, a span, or a date of which nobody knows the order
		return
	}
	digits, unit := digitsOf(w.fold)
	n, err := strconv.Atoi(digits)
	nearMonth := isMonth(before) || isMonth(after)
	switch {
	case err == nil && unit == "" && len(digits) == 4 && n >= 1900 && n < 2100:
		s.dates["year "+digits] = true
	case err == nil && n >= 1 && n <= 31 && nearMonth && (unit == "" || ordinals[unit]):
		s.dates["day "+strconv.Itoa(n)] = true
	case (unit == "am" || unit == "pm") && err == nil:
		s.dates["hour "+digits+unit] = true
	case utf8.RuneCountInString(unit) == 1: // 6b
		s.numbers[plain(digits)+unit] = true
	default:
		s.numbers[plain(digits)] = true
	}
}

func isMonth(w word) bool {
	month, _ := ParseMonth(w.fold)
	return month > 0
}

// digitsOf parts a figure from what is written behind it: 1st, 5km.
func digitsOf(figure string) (digits, unit string) {
	end := strings.IndexFunc(figure, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' })
	if end < 0 {
		return figure, ""
	}
	return figure[:end], figure[end:]
}

// plain writes a number without the marks between thousands and without zeros that say nothing. Where a
// mark may be of thousands or of a fraction, three digits behind it make it one of thousands.
func plain(digits string) string {
	parts := strings.FieldsFunc(digits, func(r rune) bool { return r == '.' || r == ',' })
	last := len(parts) - 1
	if last < 1 {
		return strings.TrimLeft(digits, "0")
	}
	if len(parts[last]) == len("000") {
		return strings.TrimLeft(strings.Join(parts, ""), "0")
	}
	whole := strings.TrimLeft(strings.Join(parts[:last], ""), "0")
	part := strings.TrimRight(parts[last], "0")
	if part == "" {
		return whole
	}
	return whole + "." + part
}

// dateOf reads 2024-05-01, and 1.5.2024 as most of Europe writes it.
func dateOf(figure string) (y, m, d int, ok bool) {
	parts := strings.Split(figure, "-")
	if len(parts) != 3 || len(parts[0]) != 4 {
		parts = strings.Split(figure, ".")
		if len(parts) != 3 || len(parts[2]) != 4 {
			return 0, 0, 0, false
		}
		parts[0], parts[2] = parts[2], parts[0]
	}
	var n [3]int
	for i, part := range parts {
		var err error
		n[i], err = strconv.Atoi(part)
		if err != nil || len(part) > 4 {
			return 0, 0, 0, false
		}
	}
	return n[0], n[1], n[2], n[1] >= 1 && n[1] <= 12 && n[2] >= 1 && n[2] <= 31
}
