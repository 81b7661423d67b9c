package days

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tokens are the parts of a format of moment.js, the longest first, as a layout of the package time or a function, and what
// texts they match. The group of a match is a year, a month or a day of one.
var tokens = []struct {
	token   string
	layout  string
	of      func(time.Time) string
	matches string
}{
	{"YYYY", "2006", nil, `(\d{4})`},
	{"YY", "06", nil, `(\d\d)`},
	{"MMMM", "January", nil, `([A-Z][a-z]+)`},
	{"MMM", "Jan", nil, `([A-Z][a-z]{2})`},
	{"MM", "01", nil, `(\d\d)`},
	{"Mo", "", func(t time.Time) string { return ordinal(int(t.Month())) }, `\d\d?[a-z]{2}`},
	{"M", "1", nil, `(\d\d?)`},
	{"DDDD", "002", nil, `\d{3}`},
	{"DDD", "", func(t time.Time) string { return strconv.Itoa(t.YearDay()) }, `\d{1,3}`},
	{"Do", "", func(t time.Time) string { return ordinal(t.Day()) }, `(\d\d?)[a-z]{2}`},
	{"DD", "02", nil, `(\d\d)`},
	{"D", "2", nil, `(\d\d?)`},
	{"dddd", "Monday", nil, `[A-Z][a-z]+`},
	{"ddd", "Mon", nil, `[A-Z][a-z]{2}`},
	{"dd", "", func(t time.Time) string { return t.Weekday().String()[:2] }, `[A-Z][a-z]`},
	{"E", "", func(t time.Time) string { return strconv.Itoa((int(t.Weekday())+6)%7 + 1) }, `\d`},
	{"e", "", func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) }, `\d`},
	{"d", "", func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) }, `\d`},
	{"GGGG", "", func(t time.Time) string { return padded(isoWeek(t).year, 4) }, `\d{4}`},
	{"GG", "", func(t time.Time) string { return padded(isoWeek(t).year%100, 2) }, `\d\d`},
	{"gggg", "", func(t time.Time) string { return padded(sundayWeek(t).year, 4) }, `\d{4}`},
	{"gg", "", func(t time.Time) string { return padded(sundayWeek(t).year%100, 2) }, `\d\d`},
	{"Wo", "", func(t time.Time) string { return ordinal(isoWeek(t).number) }, `\d\d?[a-z]{2}`},
	{"WW", "", func(t time.Time) string { return padded(isoWeek(t).number, 2) }, `\d\d`},
	{"W", "", func(t time.Time) string { return strconv.Itoa(isoWeek(t).number) }, `\d\d?`},
	{"wo", "", func(t time.Time) string { return ordinal(sundayWeek(t).number) }, `\d\d?[a-z]{2}`},
	{"ww", "", func(t time.Time) string { return padded(sundayWeek(t).number, 2) }, `\d\d`},
	{"w", "", func(t time.Time) string { return strconv.Itoa(sundayWeek(t).number) }, `\d\d?`},
	{"Qo", "", func(t time.Time) string { return ordinal(quarter(t)) }, `\d[a-z]{2}`},
	{"Q", "", func(t time.Time) string { return strconv.Itoa(quarter(t)) }, `\d`},
	{"HH", "15", nil, `\d\d`},
	{"H", "", func(t time.Time) string { return strconv.Itoa(t.Hour()) }, `\d\d?`},
	{"hh", "03", nil, `\d\d`},
	{"h", "3", nil, `\d\d?`},
	{"mm", "04", nil, `\d\d`},
	{"m", "4", nil, `\d\d?`},
	{"ss", "05", nil, `\d\d`},
	{"s", "5", nil, `\d\d?`},
	{"A", "PM", nil, `[AP]M`},
	{"a", "pm", nil, `[ap]m`},
}

func quarter(t time.Time) int { return (int(t.Month())-1)/3 + 1 }

// padded writes a number with zeros before it.
func padded(n, digits int) string { return fmt.Sprintf("%0*d", digits, n) }

// yearWeek is a week, of a year that may be another one than that of its days.
type yearWeek struct{ year, number int }

// isoWeek returns the week by ISO 8601: from Monday, the first one has a Thursday of its year.
func isoWeek(t time.Time) yearWeek {
	year, number := t.ISOWeek()
	return yearWeek{year, number}
}

// sundayWeek returns the week as moment.js counts where nobody has set a language: from Sunday, the first one has 1 January.
func sundayWeek(t time.Time) yearWeek {
	saturday := t.AddDate(0, 0, 6-int(t.Weekday()))
	return yearWeek{saturday.Year(), (saturday.YearDay()-1)/7 + 1}
}

func ordinal(n int) string {
	ending := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		ending = "st"
	case n%10 == 2:
		ending = "nd"
	case n%10 == 3:
		ending = "rd"
	}
	return strconv.Itoa(n) + ending
}

// parts yields the parts of a format of moment.js: the place of one in tokens, or -1 and a text that is written as it is, as
// what stands in brackets.
func parts(format string, yield func(token int, text string)) {
next:
	for format != "" {
		if end := strings.IndexByte(format, ']'); format[0] == '[' && end > 0 {
			yield(-1, format[1:end])
			format = format[end+1:]
			continue
		}
		for i, t := range tokens {
			if strings.HasPrefix(format, t.token) {
				yield(i, "")
				format = format[len(t.token):]
				continue next
			}
		}
		yield(-1, format[:1])
		format = format[1:]
	}
}

// format writes a day as a format of moment.js says.
func format(format string, day time.Time) string {
	var b strings.Builder
	parts(format, func(token int, text string) {
		switch {
		case token < 0:
			b.WriteString(text)
		case tokens[token].of != nil:
			b.WriteString(tokens[token].of(day))
		default:
			b.WriteString(day.Format(tokens[token].layout))
		}
	})
	return b.String()
}

// parser reads days that a format has written.
type parser struct {
	format string
	like   *regexp.Regexp
	groups []string // layouts of what the groups of like match
}

// newParser returns the parser of a format. It reports false for a format that tells no day from all others, such as one
// without a year.
func newParser(as string) (parser, bool) {
	p := parser{format: as}
	var like strings.Builder
	parts(as, func(token int, text string) {
		if token < 0 {
			like.WriteString(regexp.QuoteMeta(text))
			return
		}
		t := tokens[token]
		like.WriteString(t.matches)
		switch {
		case t.token == "Do":
			p.groups = append(p.groups, "2")
		case t.matches[0] == '(':
			p.groups = append(p.groups, t.layout)
		}
	})
	p.like = regexp.MustCompile(`\A` + like.String() + `\z`)
	some := time.Date(2001, 2, 3, 0, 0, 0, 0, time.UTC)
	day, ok := p.day(format(as, some))
	return p, ok && day.Equal(some)
}

// day returns the day that a text is.
func (p parser) day(text string) (time.Time, bool) {
	m := p.like.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	day, err := time.Parse(strings.Join(p.groups, " "), strings.Join(m[1:], " "))
	return day, err == nil && format(p.format, day) == text // else its weekday is another one
}

// momentOfJava returns a format of Java, as Logseq has it, in the letters of moment.js.
func momentOfJava(format string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(format); {
		c := format[i]
		n := 1
		for c != '\'' && i+n < len(format) && format[i+n] == c {
			n++
		}
		switch {
		case c == '\'' && quoted:
			b.WriteByte(']')
			quoted = false
		case c == '\'':
			b.WriteByte('[')
			quoted = true
		case quoted:
			b.WriteString(format[i : i+n])
		case c == 'd' && n == 1 && strings.HasPrefix(format[i+1:], "o"):
			b.WriteString("Do")
			n = 2
		case c == 'E' && n >= 4:
			b.WriteString("dddd")
		case c == 'E':
			b.WriteString("ddd")
		default:
			b.WriteString(strings.ToUpper(format[i : i+n]))
		}
		i += n
	}
	return b.String()
}
