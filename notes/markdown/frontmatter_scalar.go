package markdown

import (
	"strconv"
)

// plainScalar gives an unquoted YAML scalar its type: null, boolean and number
// by YAML 1.2's core schema, everything else text. Unlike the schema it leaves
// a number alone that would not survive being one: leading zeros, integers
// beyond 2^53, infinities.
func plainScalar(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if f, ok := number(s); ok {
		return f
	}
	return s
}

// number reads [-+]?digits with an optional fraction and exponent, 0x and 0o.
func number(s string) (float64, bool) {
	i := 0
	if s[0] == '-' || s[0] == '+' {
		i = 1
	}
	if i == len(s) || s[i] != '.' && (s[i] < '0' || s[i] > '9') {
		return 0, false
	}
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'o') {
		return prefixed(s)
	}
	whole := digits(s, i)
	if whole-i > 1 && s[i] == '0' {
		return 0, false // 007 is a code, not seven
	}
	if whole == len(s) {
		return integer(s)
	}
	j, fraction := whole, 0
	if s[j] == '.' {
		j++
		fraction = digits(s, j) - j
		j += fraction
	}
	if whole-i+fraction == 0 {
		return 0, false
	}
	if j < len(s) && (s[j] == 'e' || s[j] == 'E') {
		j++
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		k := digits(s, j)
		if k == j {
			return 0, false
		}
		j = k
	}
	if j != len(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// maxExact is the largest magnitude below which every integer is a float64.
const maxExact = 1 << 53

func integer(s string) (float64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > maxExact || n < -maxExact {
		return 0, false
	}
	return float64(n), true
}

func prefixed(s string) (float64, bool) {
	base := 16
	if s[1] == 'o' {
		base = 8
	}
	n, err := strconv.ParseUint(s[2:], base, 64)
	if err != nil || n > maxExact {
		return 0, false
	}
	return float64(n), true
}

// digits returns the end of the decimal digits from i on.
func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}
