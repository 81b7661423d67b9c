package days

import (
	"testing"
	"time"
)

func TestLSP11_ADayIsWrittenAsItsFormatSays(t *testing.T) {
	day := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC) // a Monday
	for as, want := range map[string]string{
		"YYYY-MM-DD": "2026-03-02", "YYYY/MM-MMMM/YYYY-MM-DD-dddd": "2026/03-March/2026-03-02-Monday", "D. M. YY": "2. 3. 26",
		"[Day] Do [of] MMM": "Day 2nd of Mar", "GGGG-[W]WW-E": "2026-W10-1", "ddd dd d DDD DDDD Q": "Mon Mo 1 61 061 1", "[open": "[op1n",
		momentOfJava("MMM do, yyyy"): "Mar 2nd, 2026", momentOfJava("yyyy_MM_dd"): "2026_03_02",
		momentOfJava("EEEE, dd.MM.yy"): "Monday, 02.03.26", momentOfJava("EEE d 'de' MMMM"): "Mon 2 de March",
	} {
		if got := format(as, day); got != want {
			t.Errorf("%q is %q, want %q", as, got, want)
		}
	}
	// Weeks as moment.js counts them: of ISO, and from Sunday.
	for date, want := range map[string]string{
		"2026-03-04": "10 10 2026 10 10 2026 26 26 10th", "2021-01-01": "53 53 2020 1 01 2021 20 21 1st", "2027-01-02": "53 53 2026 1 01 2027 26 27 1st",
		"2026-12-27": "52 52 2026 1 01 2027 26 27 1st", "2026-12-26": "52 52 2026 52 52 2026 26 26 52nd", "2026-01-04": "1 01 2026 2 02 2026 26 26 2nd",
	} {
		on, _ := time.Parse(time.DateOnly, date)
		if got := format("W WW GGGG w ww gggg GG gg wo", on); got != want {
			t.Errorf("weeks of %s are %q, want %q", date, got, want)
		}
	}
	if got := format("HH.mm.ss H m s hh h A a Mo Qo e", time.Date(2026, 3, 4, 15, 4, 5, 0, time.UTC)); got != "15.04.05 15 4 5 03 3 PM pm 3rd 1st 3" {
		t.Errorf("%q", got)
	}
	for n, want := range map[int]string{1: "1st", 3: "3rd", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 30: "30th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLSP11_ADayIsReadAsItIsWritten: each format that tells a day from all others reads it back, and nothing else.
func TestLSP11_ADayIsReadAsItIsWritten(t *testing.T) {
	for _, as := range []string{
		"YYYY-MM-DD", "YYYY_MM_DD", "YYYYMMDD", "D. M. YY", "ddd, DD.MM.YYYY", "dddd, MMMM Do YYYY", "[Day] Do [of] MMM, YYYY", "YYYY-MM-DD-E",
		momentOfJava(logseqTitle), momentOfJava("EEE, dd.MM.yyyy"), momentOfJava("yyyy/MM/dd"),
	} {
		p, ok := newParser(as)
		if !ok {
			t.Errorf("%q tells no day", as)
			continue
		}
		for day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2029; day = day.AddDate(0, 0, 1) {
			if got, ok := p.day(format(as, day)); !ok || !got.Equal(day) {
				t.Errorf("%q read by %q is %v, %v", format(as, day), as, got, ok)
			}
		}
		for _, text := range []string{"", "2026", "Note", "2026-02-30", "2026_13_01", "20261301", "Feb 30th, 2026", "Mar 2th, 2026", "Sun, 02.03.2026"} {
			if got, ok := p.day(text); ok {
				t.Errorf("%q read by %q is %v", text, as, got)
			}
		}
	}
	for _, as := range []string{"", "YYYY", "MM-DD", "YYYY-DD", "GGGG-[W]WW", "dddd", "[YYYY-MM-DD]"} {
		if _, ok := newParser(as); ok {
			t.Errorf("%q tells a day", as)
		}
	}
}
