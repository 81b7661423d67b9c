package syntax

// Day reads YYYY-MM-DD. It does without time.Parse because every row of a
// scan comes here.
func Day(s string) (int64, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, ok1 := digitsOf(s[:4])
	month, ok2 := digitsOf(s[5:7])
	day, ok3 := digitsOf(s[8:])
	if !ok1 || !ok2 || !ok3 || year < 1 || month < 1 || month > 12 || day < 1 || day > DaysIn(year, month) {
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
		if !IsDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// DaysIn returns the number of days of a month.
func DaysIn(year, month int) int {
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
