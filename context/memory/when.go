package memory

// ReadTime reads what a question says of time: the days that it is about, and whether it asks for what is new. It is
// pure; now is the clock and its zone the calendar. Words are those of English, German, French, Spanish and Italian for
// months, weekdays and the words of ranges (before, until, since, after, between), of English and German for all else:
// when_words.go declares them, and another language is added there and nowhere else.
//
// A day or a span of a question restricts softly (README.md of context/recall says how), so a wrong reading costs
// little, and what is doubtful is not read: "may" is a month beside a year or a day or behind "in", "second" is no
// time.

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ctxd/ctxd/entities"
)

// DaySpan is a stretch of whole days, half-open: From is the beginning of its first day, To of the one behind
// its last. A zero To is no end, a zero From no beginning.
type DaySpan struct{ From, To time.Time }

// Holds reports whether a time is in the span.
func (s DaySpan) Holds(t time.Time) bool { return s.Meets(&t, &t) }

// Meets reports whether a validity has a moment in the span; nil is no bound.
func (s DaySpan) Meets(from, to *time.Time) bool {
	return (from == nil || s.To.IsZero() || from.Before(s.To)) && (to == nil || !to.Before(s.From))
}

// OneDay reports whether the span is a day.
func (s DaySpan) OneDay() bool { return !s.To.IsZero() && s.To.Equal(s.From.AddDate(0, 0, 1)) }

// TimeReading is what a question says of time.
type TimeReading struct {
	Span   *DaySpan // what it is about; nil: it does not say
	Recent bool     // it asks for what is new
	Bounds []string // folded words of it that bound Span and say nothing else: before, between
}

// maxQuery is how many words of a question are read.
const maxQuery = 200

// ReadTime reads a question that is asked at a time. The first span of it counts. O(question).
func ReadTime(question string, now time.Time) (r TimeReading) {
	words := questionWords(question)
	words = words[:min(len(words), maxQuery)]
	for i := range words {
		r.Recent = r.Recent || asksRecent(words[i:])
		if r.Span == nil {
			if s, ok := spanAt(words, i, now); ok {
				s, r.Bounds = bounded(words, i, s, now)
				r.Span = &s
			}
		}
	}
	return r
}

// bounded returns the span that the words before a date, and a second date behind it, make of the one that is read at a word;
// and which of them bound it.
func bounded(words []string, i int, s DaySpan, now time.Time) (DaySpan, []string) {
	at := func(k int) string {
		if k < 0 || k >= len(words) {
			return ""
		}
		return words[k]
	}
	if dayBefore(words, i) > 0 {
		return s, []string{"day", "before"}
	}
	k, opens := i-1, ""
	for k > i-6 && (filler[at(k)] || ofRange[at(k)] || figure(at(k)) > 0 || k == i-1 && units[at(i)] > 0 || past[at(k)] || present[at(k)]) {
		if ofRange[at(k)] {
			opens = at(k)
		}
		k--
	}
	w := at(k)
	if first := figure(at(k - 1)); and[w] && first > 0 && s.OneDay() && first <= s.From.Day() { // between 3 and 5 May
		open := at(k - 2)
		if filler[open] {
			open = at(k - 3)
		}
		if between[open] || from[open] {
			return DaySpan{s.From.AddDate(0, 0, first-s.From.Day()), s.To}, []string{open}
		}
	}
	if !bounds[w] {
		w = opens
	}
	switch {
	case units[at(i)] > 0 && ago[at(i-2)]: // its vor is ago
		return s, nil
	case between[w]:
		if end, ok := nextSpan(words, i, now); ok && !end.From.Before(s.From) {
			return DaySpan{s.From, end.To}, []string{w}
		}
	case from[w]:
		if end, ok := nextSpan(words, i, now); ok && end.From.After(s.From) {
			return DaySpan{s.From, end.To}, []string{w}
		}
		if since[w] {
			return DaySpan{From: s.From}, []string{w}
		}
	case before[w]:
		return DaySpan{To: s.From}, []string{w}
	case until[w]:
		return DaySpan{To: s.To}, []string{w}
	case after[w]:
		return DaySpan{From: s.To}, []string{w}
	}
	return s, nil
}

// nextSpan reads the span that follows the one at a word behind an "and" or a "to".
func nextSpan(words []string, i int, now time.Time) (DaySpan, bool) {
	joined := false
	for k := i + 1; k < min(len(words), i+8); k++ {
		joined = joined || and[words[k]]
		if !joined {
			continue
		}
		if s, ok := spanAt(words, k, now); ok {
			return s, true
		}
	}
	return DaySpan{}, false
}

// dayBefore returns how many days back the day before yesterday is if it is at a word, 0 if it is not.
func dayBefore(words []string, i int) int {
	for _, row := range beforeYesterday {
		if i+1 >= len(row) && slices.Equal(words[i+1-len(row):i+1], row) {
			return 2
		}
	}
	return 0
}

// questionWords splits a question into folded words; figures keep the hyphens and slashes inside of them.
func questionWords(text string) []string {
	words := strings.FieldsFunc(entities.Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '-' && r != '.'
	})
	list := words[:0]
	for _, w := range words {
		if w = strings.Trim(w, "-."); w != "" {
			list = append(list, w)
		}
	}
	return list
}

func asksRecent(words []string) bool {
	for _, row := range recent[words[0]] {
		if len(words) > len(row) && slices.Equal(words[1:1+len(row)], row) {
			return true
		}
	}
	return false
}

// spanAt reads the span that begins at a word.
func spanAt(words []string, i int, now time.Time) (DaySpan, bool) {
	at := func(k int) string {
		if k < 0 || k >= len(words) {
			return ""
		}
		return words[k]
	}
	w := at(i)
	today := dayOf(now)
	if back, ok := days[w]; ok {
		back = max(back, dayBefore(words, i))
		return oneDay(today.AddDate(0, 0, -back)), true
	}
	if w == "night" && past[at(i-1)] {
		return oneDay(today.AddDate(0, 0, -1)), true
	}
	if s, ok := writtenDate(w, now.Location()); ok {
		return s, true
	}
	if s, ok := monthAt(at, i, now); ok {
		return s, true
	}
	if day := weekdays[w]; day > 0 && !strings.HasSuffix(w, "days") {
		back := (weekday(today) - day + 7) % 7
		if back == 0 && past[at(i-1)] {
			back = 7
		}
		return oneDay(today.AddDate(0, 0, -back)), true
	}
	if unit := units[w]; unit > 0 {
		return unitAt(at, i, unit, now)
	}
	if y := year(w); y > 0 && (inside[at(i-1)] || bounds[at(i-1)] || and[at(i-1)] && (between[at(i-3)] || from[at(i-3)]) || at(i-1) == "of") {
		return years(y, now.Location()), true
	}
	return DaySpan{}, false
}

// unitAt reads last week, this month, three days ago, in the last two weeks, vor zwei Wochen.
func unitAt(at func(int) string, i, unit int, now time.Time) (DaySpan, bool) {
	today := dayOf(now)
	switch {
	case past[at(i-1)]:
		return unitOf(back(today, unit, 1), unit), true
	case present[at(i-1)]:
		return unitOf(today, unit), true
	}
	n := counts[at(i-1)]
	if n == 0 {
		n, _ = strconv.Atoi(at(i - 1))
	}
	if n < 1 || n > 1000 {
		return DaySpan{}, false
	}
	behind := at(i - 2)
	if behind == "a" { // a couple of
		behind = at(i - 3)
	}
	switch {
	case past[behind]:
		return DaySpan{back(today, unit, n), today.AddDate(0, 0, 1)}, true
	case since[behind] && at(i+1) != "ago":
		return DaySpan{From: back(today, unit, n)}, true
	case at(i+1) == "ago", ago[behind]:
		return unitOf(back(today, unit, n), unit), true
	}
	return DaySpan{}, false
}

// back returns the day that lies so many units before another one.
func back(day time.Time, unit, n int) time.Time {
	switch unit {
	case 1:
		return day.AddDate(0, 0, -n)
	case 2:
		return day.AddDate(0, 0, -7*n)
	case 3:
		// The first of the month, because 31 March less a month is 3 March.
		first := time.Date(day.Year(), day.Month()-time.Month(n), 1, 0, 0, 0, 0, day.Location())
		last := first.AddDate(0, 1, -1).Day()
		return first.AddDate(0, 0, min(day.Day(), last)-1)
	}
	return back(day, 3, 12*n)
}

// unitOf returns the day, week, month or year that a day is in. Weeks begin on Monday (ISO 8601).
func unitOf(day time.Time, unit int) DaySpan {
	switch unit {
	case 1:
		return oneDay(day)
	case 2:
		monday := day.AddDate(0, 0, 1-weekday(day))
		return DaySpan{monday, monday.AddDate(0, 0, 7)}
	case 3:
		return month(day.Year(), int(day.Month()), day.Location())
	}
	return years(day.Year(), day.Location())
}

// monthAt reads May 2024, May 1st 2024, 1 May, in May: without a year the last one that has begun.
func monthAt(at func(int) string, i int, now time.Time) (DaySpan, bool) {
	m, certain := ParseMonth(at(i))
	if m == 0 {
		return DaySpan{}, false
	}
	day, rest := figure(at(i+1)), 2
	if day == 0 {
		day, rest = figure(at(i-1)), 1
	}
	if day == 0 && of[at(i-1)] { // 1st of May, 1 de mayo
		day = figure(at(i - 2))
	}
	if of[at(i+rest)] {
		rest++
	}
	y := year(at(i + rest))
	if !certain && day == 0 && y == 0 && !inside[at(i-1)] && !past[at(i-1)] {
		return DaySpan{}, false
	}
	if y == 0 {
		y = now.Year()
		if time.Date(y, time.Month(m), max(1, day), 0, 0, 0, 0, now.Location()).After(now) {
			y--
		}
	}
	if day == 0 {
		return month(y, m, now.Location()), true
	}
	on := time.Date(y, time.Month(m), day, 0, 0, 0, 0, now.Location())
	if int(on.Month()) != m {
		return DaySpan{}, false
	}
	return oneDay(on), true
}

// figure returns the day of a month that is written in digits, 0 for none: 1, 1st.
func figure(w string) int {
	for _, ending := range [...]string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, ending)
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || n > 31 {
		return 0
	}
	return n
}

// year returns the year that a word is, 0 for none.
func year(w string) int {
	n, err := strconv.Atoi(w)
	if err != nil || len(w) != 4 || n < 1900 || n > 2100 {
		return 0
	}
	return n
}

// writtenDate reads 2024-05-01, 2024-05 and 1.5.2024.
func writtenDate(w string, in *time.Location) (DaySpan, bool) {
	for _, layout := range [...]string{"2006-1-2", "2.1.2006"} {
		if t, err := time.ParseInLocation(layout, w, in); err == nil && year(strconv.Itoa(t.Year())) > 0 {
			return oneDay(t), true
		}
	}
	t, err := time.ParseInLocation("2006-1", w, in)
	if err != nil || year(strconv.Itoa(t.Year())) == 0 {
		return DaySpan{}, false
	}
	return month(t.Year(), int(t.Month()), in), true
}

// weekday is that of a day, Monday being 1.
func weekday(day time.Time) int { return (int(day.Weekday())+6)%7 + 1 }

func dayOf(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

func oneDay(day time.Time) DaySpan { return DaySpan{day, day.AddDate(0, 0, 1)} }

func month(y, m int, in *time.Location) DaySpan {
	first := time.Date(y, time.Month(m), 1, 0, 0, 0, 0, in)
	return DaySpan{first, first.AddDate(0, 1, 0)}
}

func years(y int, in *time.Location) DaySpan {
	first := time.Date(y, time.January, 1, 0, 0, 0, 0, in)
	return DaySpan{first, first.AddDate(1, 0, 0)}
}
