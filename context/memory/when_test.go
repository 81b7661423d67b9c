package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
)

// now is a Wednesday.
var now = time.Date(2025, time.March, 12, 15, 4, 5, 0, time.UTC)

func TestMEM32_WhatAQuestionSaysOfTime(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"what did I eat", "always"},
		{"what did I eat today", "2025-03-12 +1 recent"},
		{"What did I eat yesterday?", "2025-03-11 +1 recent"},
		{"the day before yesterday", "2025-03-10 +1 recent"},
		{"last night", "2025-03-11 +1 recent"},
		{"what I said last week", "2025-03-03 +7 recent"},
		{"this week's plan", "2025-03-10 +7"},
		{"last month", "2025-02-01 +28 recent"},
		{"this month", "2025-03-01 +31"},
		{"last year", "2024-01-01 +366 recent"},
		{"three days ago", "2025-03-09 +1"},
		{"two weeks ago", "2025-02-24 +7"},
		{"a month ago", "2025-02-01 +28"},
		{"5 years ago", "2020-01-01 +366"},
		{"in the last two weeks", "2025-02-26 +15 recent"},
		{"the past 3 days", "2025-03-09 +4"},
		{"the last couple days", "2025-03-10 +3 recent"},
		{"0 days ago", "always"},
		{"2000 years ago", "always"},
		{"in May", "2024-05-01 +31"},
		{"in march", "2025-03-01 +31"},
		{"I may go", "always"},
		{"the march of time", "always"},
		{"May 2023", "2023-05-01 +31"},
		{"on 1 May 2023", "2023-05-01 +1"},
		{"May 1st, 2023", "2023-05-01 +1"},
		{"on May 1st", "2024-05-01 +1"},
		{"on March 13", "2024-03-13 +1"},
		{"on March 12", "2025-03-12 +1"},
		{"30 February 2024", "always"},
		{"September", "2024-09-01 +30"},
		{"2024-05-01?", "2024-05-01 +1"},
		{"notes of 2024-05", "2024-05-01 +31"},
		{"am 1.5.2024", "2024-05-01 +1"},
		{"ERR-4711 and 10.0.0.1", "always"},
		{"2024-13-01", "always"},
		{"in 2019", "2019-01-01 +365"},
		{"room 2019", "always"},
		{"on Monday", "2025-03-10 +1"},
		{"on Wednesday", "2025-03-12 +1"},
		{"last Wednesday", "2025-03-05 +1 recent"},
		{"on Mondays", "always"},
		{"when did I move", "always recent"},
		{"when do I move", "always"},
		{"how long ago was that", "always recent"},
		{"my most recent dentist", "always recent"},
		{"gestern", "2025-03-11 +1 recent"},
		{"letzte Woche", "2025-03-03 +7 recent"},
		{"vor zwei Wochen", "2025-02-24 +7"},
		{"im Mai", "2024-05-01 +31"},
		{"", "always"},
	} {
		r := memory.ReadTime(c.question, now)
		got := "always"
		if r.Span != nil && (r.Span.From.IsZero() || r.Span.To.IsZero()) {
			t.Errorf("%q has no bound", c.question)
		} else if r.Span != nil {
			got = fmt.Sprintf("%s +%d", r.Span.From.Format(time.DateOnly), int(r.Span.To.Sub(r.Span.From).Hours()/24))
		}
		if r.Recent {
			got += " recent"
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.question, got, c.want)
		}
	}
}

func TestMEM32_AMonthAgoIsTheMonthBefore(t *testing.T) {
	for day := time.Date(2023, time.January, 1, 12, 0, 0, 0, time.UTC); day.Year() < 2025; day = day.AddDate(0, 0, 1) {
		span := memory.ReadTime("a month ago", day).Span
		want := time.Date(day.Year(), day.Month()-1, 1, 0, 0, 0, 0, time.UTC)
		if span == nil || !span.From.Equal(want) {
			t.Fatalf("%s: %v, want %s", day, span, want)
		}
	}
}

func TestMEM32_DaysAreThoseOfTheZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("there is no table of zones:", err)
	}
	// 30 March 2025 has 23 hours there.
	span := memory.ReadTime("yesterday", time.Date(2025, time.March, 31, 0, 30, 0, 0, zone)).Span
	if span == nil || span.To.Sub(span.From) != 23*time.Hour || !span.Holds(time.Date(2025, time.March, 29, 23, 0, 0, 0, time.UTC)) ||
		span.Holds(span.To) {
		t.Errorf("read %v", span)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("the day before yesterday, in the last 3 weeks", int64(0))
	f.Add("on 31 February 2024-02-30 vor zwei Jahren in May", int64(1_700_000_000))
	f.Fuzz(func(t *testing.T, question string, at int64) {
		const most = 4_000_000_000
		r := memory.ReadTime(question, time.Unix(at%most, 0).UTC())
		if r.Span != nil && !r.Span.From.Before(r.Span.To) {
			t.Errorf("an empty span: %v", r.Span)
		}
	})
}

// TestMEM32_RangesOfDays: a date behind a word like "before" is a bound; of one day, month or year as of another.
func TestMEM32_RangesOfDays(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"what did I eat before 2025-03-10?", ".. 2025-03-10"},
		{"before the 1st of March", ".. 2025-03-01"},
		{"before last week", ".. 2025-03-03"},
		{"before May 2024", ".. 2024-05-01"},
		{"before 2019", ".. 2019-01-01"},
		{"vor dem 10.3.2025", ".. 2025-03-10"},
		{"vor gestern", ".. 2025-03-11"},
		{"avant le 10 mars 2025", ".. 2025-03-10"},
		{"antes del 10 de marzo", ".. 2025-03-10"},
		{"prima del 10 marzo", ".. 2025-03-10"},
		{"until 2025-03-10", ".. 2025-03-11"},
		{"till yesterday", ".. 2025-03-12"},
		{"bis zum 10. März", ".. 2025-03-11"},
		{"jusqu'au 10 mars", ".. 2025-03-11"},
		{"hasta el 10 de marzo", ".. 2025-03-11"},
		{"fino al 10 marzo", ".. 2025-03-11"},
		{"since 2025-03-10", "2025-03-10 .."},
		{"since last week", "2025-03-03 .."},
		{"since 2019", "2019-01-01 .."},
		{"since two weeks ago", "2025-02-24 .."},
		{"seit zwei Wochen", "2025-02-26 .."},
		{"seit dem 10. März", "2025-03-10 .."},
		{"ab Montag", "2025-03-10 .."},
		{"depuis le 10 mars", "2025-03-10 .."},
		{"desde el lunes", "2025-03-10 .."},
		{"dal 10 marzo", "2025-03-10 .."},
		{"after 2025-03-10", "2025-03-11 .."},
		{"after February 2025", "2025-03-01 .."},
		{"nach dem 10.3.2025", "2025-03-11 .."},
		{"après le 10 mars", "2025-03-11 .."},
		{"después del 10 de marzo", "2025-03-11 .."},
		{"dopo il 10 marzo", "2025-03-11 .."},
		{"between 2025-03-08 and 2025-03-10", "2025-03-08 .. 2025-03-11"},
		{"between Monday and yesterday", "2025-03-10 .. 2025-03-12"},
		{"between 8 and 10 March", "2025-03-08 .. 2025-03-11"},
		{"between March 8 and March 10", "2025-03-08 .. 2025-03-11"},
		{"zwischen dem 8.3.2025 und dem 10.3.2025", "2025-03-08 .. 2025-03-11"},
		{"entre le 8 mars et le 10 mars", "2025-03-08 .. 2025-03-11"},
		{"entre el 8 y el 10 de marzo", "2025-03-08 .. 2025-03-11"},
		{"tra il 8 e il 10 marzo", "2025-03-08 .. 2025-03-11"},
		{"from January to February", "2025-01-01 .. 2025-03-01"},
		{"from 2019 to 2021", "2019-01-01 .. 2022-01-01"},
		{"vom 8. bis 10. März", "2025-03-08 .. 2025-03-11"},
		{"desde el 8 de marzo hasta el 10 de marzo", "2025-03-08 .. 2025-03-11"},

		{"the day before yesterday", "2025-03-10 .. 2025-03-11"},
		{"vorgestern", "2025-03-10 .. 2025-03-11"},
		{"antes de ayer", "2025-03-10 .. 2025-03-11"},
		{"l'altro ieri", "2025-03-10 .. 2025-03-11"},
		{"avant-hier", "2025-03-10 .. 2025-03-11"},
		{"vor zwei Tagen", "2025-03-10 .. 2025-03-11"},
		{"before the meeting on Monday", "2025-03-10 .. 2025-03-11"},
		{"notes from 2025-03-10", "2025-03-10 .. 2025-03-11"},
		{"the mail of 10 March and of 11 March", "2025-03-10 .. 2025-03-11"},
		{"after lunch", "always"},
		{"between us", "always"},
		{"room 2019 and before", "always"},
	} {
		got, s := "always", memory.ReadTime(c.question, now).Span
		if s != nil {
			got = ".."
			if !s.From.IsZero() {
				got = s.From.Format(time.DateOnly) + " .."
			}
			if !s.To.IsZero() {
				got += " " + s.To.Format(time.DateOnly)
			}
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.question, got, c.want)
		}
	}
}
