package wql

import (
	"strings"
	"time"
)

// Dates are counted in days from 1970-01-01 and instants in microseconds, so
// that both compare as integers. Years run from 1 to 9999; what arithmetic
// brings outside is NULL.
const (
	minDay = -719162 // 0001-01-01
	maxDay = 2932896 // 9999-12-31

	microsPerHour = int64(time.Hour / time.Microsecond)
)

// civilDay returns the day number of a date of the Gregorian calendar, which
// is taken as valid.
func civilDay(year, month, day int) int64 {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// civil returns the date of a day number.
func civil(day int64) (year, month, dayOfMonth int) {
	y, m, d := time.Unix(day*86400, 0).UTC().Date()
	return y, int(m), d
}

// dayOf returns the day number of the calendar date of t in its own zone.
func dayOf(t time.Time) int64 {
	y, m, d := t.Date()
	return civilDay(y, int(m), d)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// parseDay reads YYYY-MM-DD. It does without time.Parse because every row of a
// scan comes here.
func parseDay(s string) (int64, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, ok1 := digitsOf(s[:4])
	month, ok2 := digitsOf(s[5:7])
	day, ok3 := digitsOf(s[8:])
	if !ok1 || !ok2 || !ok3 || year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	// Days from civil: years begin in March, so that the leap day is the last.
	if month <= 2 {
		year--
		month += 12
	}
	era, yearOfEra := year/400, year%400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return int64(era*146097+yearOfEra*365+yearOfEra/4-yearOfEra/100+dayOfYear) - 719468, true
}

func digitsOf(s string) (int, bool) {
	n := 0
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

func formatDay(day int64) string {
	return time.Unix(day*86400, 0).UTC().Format(time.DateOnly)
}

// parseTime reads a date, or a date with a time of day as RFC 3339 writes it;
// one without an offset is in loc.
func parseTime(s string, loc *time.Location) (value, bool) {
	s = strings.TrimSpace(s)
	if day, ok := parseDay(s); ok {
		return value{kind: kindDate, i: day}, true
	}
	if len(s) < len("2006-01-02T15:04") || !isDigit(s[0]) {
		return value{}, false
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return instant(t, loc), true
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, s, loc); err == nil {
			return instant(t, loc), true
		}
	}
	return value{}, false
}

// instant makes the value of a point in time; loc says which calendar day it
// belongs to.
func instant(t time.Time, loc *time.Location) value {
	return value{kind: kindInstant, i: t.UnixMicro(), day: dayOf(t.In(loc))}
}

// shift moves a date or an instant. Months and years keep the day of the month
// where the target month has it and take its last day otherwise; days keep the
// time of day over a change of daylight saving; hours turn a date into the
// instant of its midnight in loc.
func shift(v value, amount int, unit byte, loc *time.Location) value {
	if v.kind == kindText || v.kind == kindChoice {
		parsed, ok := parseTime(v.s, loc)
		if !ok {
			return value{}
		}
		v = parsed
	}
	switch v.kind {
	case kindDate:
		if unit == 'h' {
			y, m, d := civil(v.i)
			t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, loc)
			return bounded(time.UnixMicro(t.UnixMicro()+int64(amount)*microsPerHour), loc)
		}
		day, ok := shiftDay(v.i, amount, unit)
		if !ok {
			return value{}
		}
		return value{kind: kindDate, i: day}
	case kindInstant:
		t := time.UnixMicro(v.i).In(loc)
		if unit == 'h' {
			return bounded(time.UnixMicro(v.i+int64(amount)*microsPerHour), loc)
		}
		day, ok := shiftDay(v.day, amount, unit)
		if !ok {
			return value{}
		}
		y, m, d := civil(day)
		return bounded(time.Date(y, time.Month(m), d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc), loc)
	}
	return value{}
}

func bounded(t time.Time, loc *time.Location) value {
	if v := instant(t, loc); v.day >= minDay && v.day <= maxDay {
		return v
	}
	return value{}
}

func shiftDay(day int64, amount int, unit byte) (int64, bool) {
	switch unit {
	case 'd':
		day += int64(amount)
	case 'w':
		day += int64(amount) * 7
	case 'm', 'y':
		months := int64(amount)
		if unit == 'y' {
			months *= 12
		}
		y, m, d := civil(day)
		total := int64(y)*12 + int64(m-1) + months
		if total < 12 || total >= 10000*12 {
			return 0, false
		}
		y, m = int(total/12), int(total%12)+1
		day = civilDay(y, m, min(d, daysIn(y, m)))
	}
	return day, day >= minDay && day <= maxDay
}
