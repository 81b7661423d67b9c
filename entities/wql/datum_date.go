package wql

import (
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/wql/syntax"
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

// civilDate returns the date of a day number.
func civilDate(day int64) (year, month, dayOfMonth int) {
	y, m, d := time.Unix(day*86400, 0).UTC().Date()
	return y, int(m), d
}

// dayNumber returns the day number of the calendar date of t in its own zone.
func dayNumber(t time.Time) int64 {
	y, m, d := t.Date()
	return civilDay(y, int(m), d)
}

// formatDay writes a day as 2006-01-02.
func formatDay(day int64) string {
	return time.Unix(day*86400, 0).UTC().Format(time.DateOnly)
}

// parseTime reads a date, or a date with a time of day as RFC 3339 writes it;
// one without an offset is in loc.
func parseTime(s string, loc *time.Location) (datum, bool) {
	s = strings.TrimSpace(s)
	if day, ok := syntax.Day(s); ok {
		return datum{Kind: kindDate, Int: day}, true
	}
	if len(s) < len("2006-01-02T15:04") || !syntax.IsDigit(s[0]) {
		return datum{}, false
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return instantValue(t, loc), true
	}
	for _, layout := range [...]string{
		"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
		"2006-01-02 15:04",
	} {
		if t, err := time.ParseInLocation(layout, s, loc); err == nil {
			return instantValue(t, loc), true
		}
	}
	return datum{}, false
}

// instantValue makes the value of a point in time; loc says which calendar day it
// belongs to.
func instantValue(t time.Time, loc *time.Location) datum {
	return datum{Kind: kindInstant, Int: t.UnixMicro(), Day: dayNumber(t.In(loc))}
}

// shiftTime moves a date or an instant. Months and years keep the day of the month
// where the target month has it and take its last day otherwise; days keep the
// time of day over a change of daylight saving; hours turn a date into the
// instant of its midnight in loc.
func shiftTime(v datum, amount int, unit byte, loc *time.Location) datum {
	if v.Kind == kindText || v.Kind == kindChoice {
		parsed, ok := parseTime(v.Text, loc)
		if !ok {
			return datum{}
		}
		v = parsed
	}
	switch v.Kind {
	case kindDate:
		if unit == 'h' {
			y, m, d := civilDate(v.Int)
			t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, loc)
			return bounded(time.UnixMicro(t.UnixMicro()+int64(amount)*microsPerHour), loc)
		}
		day, ok := shiftDay(v.Int, amount, unit)
		if !ok {
			return datum{}
		}
		return datum{Kind: kindDate, Int: day}
	case kindInstant:
		t := time.UnixMicro(v.Int).In(loc)
		if unit == 'h' {
			return bounded(time.UnixMicro(v.Int+int64(amount)*microsPerHour), loc)
		}
		day, ok := shiftDay(v.Day, amount, unit)
		if !ok {
			return datum{}
		}
		y, m, d := civilDate(day)
		return bounded(time.Date(y, time.Month(m), d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc), loc)
	}
	return datum{}
}

func bounded(t time.Time, loc *time.Location) datum {
	if v := instantValue(t, loc); v.Day >= minDay && v.Day <= maxDay {
		return v
	}
	return datum{}
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
		y, m, d := civilDate(day)
		total := int64(y)*12 + int64(m-1) + months
		if total < 12 || total >= 10000*12 {
			return 0, false
		}
		y, m = int(total/12), int(total%12)+1
		day = civilDay(y, m, min(d, syntax.DaysIn(y, m)))
	}
	return day, day >= minDay && day <= maxDay
}
