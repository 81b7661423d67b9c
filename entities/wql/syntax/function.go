package syntax

import "strings"

// Function is one of the functions of the language, as people need to know it.
// Package wql has its types and its code.
type Function struct {
	Name    string
	Usage   string // a call
	About   string // what it gives
	Example string // a query that runs on the types of the README
}

// Functions are all functions, in the order they are shown in. They stand on
// operands in WHERE and ORDER BY.
var Functions = []Function{
	{"lower", "lower(p.name)", "the text in lower case", "SELECT p FROM Person p WHERE lower(p.role) = 'engineer'"},
	{"upper", "upper(p.name)", "the text in upper case", "SELECT p FROM Person p WHERE upper(p.name) = 'ALICE'"},
	{"trim", "trim(p.name)", "the text without white space at its ends", "SELECT p FROM Person p WHERE trim(p.role) = 'Engineer'"},
	{"length", "length(p.name)", "the characters of a text, the items of a list", "SELECT p FROM Person p WHERE length(p.name) > 3"},
	{"year", "year(p.due)", "the year of a date", "SELECT p FROM Person p WHERE year(p.started) = 2024"},
	{"month", "month(p.due)", "its month, 1 to 12", "SELECT p FROM Person p WHERE month(p.started) = 3"},
	{"day", "day(p.due)", "its day of the month", "SELECT p FROM Person p WHERE day(p.started) <= 15"},
	{
		"days_between", "days_between(p.start, p.due)", "the days from the first date to the second, negative when it is earlier",
		"SELECT p FROM Project p WHERE days_between(p.start, p.due) > 30",
	},
	{"coalesce", "coalesce(p.nick, p.name)", "the first argument that is not NULL", "SELECT p FROM Person p WHERE coalesce(p.nick, p.name) = 'Al'"},
	{"date", "date('2026-01-31')", "the text as a date", "SELECT p FROM Person p WHERE p.started >= date('2024-01-01')"},
	{"today", "today()", "the date of today, by the clock of the daemon", "SELECT p FROM Project p WHERE p.due < today() + 2w"},
	{"now", "now()", "this moment", "SELECT p FROM Person p WHERE p.updatedAt > now() - 1h"},
}

// BuiltIn are the fields that every entity has.
var BuiltIn = []string{"id", "name", "type", "createdAt", "updatedAt"}

// functionCalls are the beginnings of calls, as far as they can be typed ahead.
func functionCalls() []string {
	calls := make([]string, len(Functions))
	for i, f := range Functions {
		open := strings.IndexByte(f.Usage, '(') + 1
		calls[i] = f.Usage[:open]
		if f.Usage[open] == ')' {
			calls[i] += ")"
		}
	}
	return calls
}
