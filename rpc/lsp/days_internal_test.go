package lsp

import (
	"testing"
	"time"
)

func TestLSP11_DaysAsPeopleSayThem(t *testing.T) {
	today := time.Date(2026, 3, 4, 23, 30, 0, 0, time.UTC) // a Wednesday
	for typed, want := range map[string]string{
		"tod": "today 2026-03-04", "today": "today 2026-03-04", "Yester": "yesterday 2026-03-03", "tom": "tomorrow 2026-03-05",
		"last mon": "last monday 2026-03-02", "last wed": "last wednesday 2026-02-25", "next wed": "next wednesday 2026-03-11",
		"Last  Thursday": "last thursday 2026-02-26", "next tue": "next tuesday 2026-03-10", "sunday": "sunday 2026-03-08",
		"3 days a": "3 days ago 2026-03-01", "in 2 w": "in 2 weeks 2026-03-18", "1 week": "1 week ago 2026-02-25",
		"in 1 day": "in 1 day 2026-03-05", "to": "", "2026-03": "", "last summer": "", "Todo": "",
	} {
		got := ""
		if list := daysNamed(typed, today); len(list) > 0 {
			got = list[0].name + " " + list[0].day.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}
