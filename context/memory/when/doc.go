// Package when reads what a question says of time: the days that it is about, and whether it asks for what
// is new. It is pure; Now is the clock and its zone the calendar. Words are those of English, German, French,
// Spanish and Italian for months and weekdays, of English and German for all else: words.go declares them,
// and another language is added there and nowhere else.
//
// A day or a span of a question restricts softly (package doc of the ranking says how), so a wrong reading
// costs little, and what is doubtful is not read: "may" is a month beside a year or a day or behind "in",
// "second" is no time.
package when
