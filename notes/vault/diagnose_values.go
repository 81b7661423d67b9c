package vault

import (
	"strings"
	"time"
	"unicode"
)

// dates returns the days that a text may mean, as they are written in fields.
func dates(said string) (list []string) {
	for _, layout := range []string{
		"2006/1/2", "2006.1.2", "2006-1-2", "2.1.2006", "2/1/2006", "1/2/2006", "2 January 2006", "January 2, 2006", "2 Jan 2006",
		"Jan 2, 2006", "20060102",
	} {
		at, err := time.Parse(layout, strings.TrimSpace(said))
		if err != nil {
			continue
		}
		day := at.Format(time.DateOnly)
		if len(list) == 0 || list[len(list)-1] != day {
			list = append(list, day)
		}
	}
	return list
}

// numbers returns the number that a text may mean: the one that stands in it.
func numbers(said string) []string {
	number := strings.TrimFunc(strings.ReplaceAll(said, ",", "."), func(r rune) bool { return !unicode.IsDigit(r) && r != '-' })
	if number == "" || strings.Count(number, ".") > 1 || strings.IndexFunc(number, func(r rune) bool {
		return !unicode.IsDigit(r) && r != '.' && r != '-'
	}) >= 0 {
		return nil
	}
	return []string{number}
}
