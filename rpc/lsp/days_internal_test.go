package lsp

import (
	"testing"
	"time"
)

func TestLSP11_ADayIsWrittenAsItsFormatSays(t *testing.T) {
	day := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC) // a Monday
	for format, want := range map[string]string{
		"YYYY-MM-DD": "2026-03-02", "YYYY/MM-MMMM/YYYY-MM-DD-dddd": "2026/03-March/2026-03-02-Monday", "D. M. YY": "2. 3. 26",
		"[Day] Do [of] MMM": "Day 2nd of Mar", "GGGG-[W]WW-E": "2026-W10-1", "ddd dd d DDD DDDD Q": "Mon Mo 1 61 061 1", "[open": "[open",
		momentOfJava("MMM do, yyyy"): "Mar 2nd, 2026", momentOfJava("yyyy_MM_dd"): "2026_03_02",
		momentOfJava("EEEE, dd.MM.yy"): "Monday, 02.03.26", momentOfJava("EEE d 'de' MMMM"): "Mon 2 de March",
	} {
		if got := formatDay(format, day); got != want {
			t.Errorf("%q is %q, want %q", format, got, want)
		}
	}
	for n, want := range map[int]string{1: "1st", 3: "3rd", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 30: "30th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

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
