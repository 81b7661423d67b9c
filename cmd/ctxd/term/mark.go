package term

import "unicode/utf16"

// Mark styles the ranges of a text: UTF-16 offsets, half-open, in order.
func Mark(s string, ranges [][2]int) Line {
	units := utf16.Encode([]rune(s))
	var out Line
	at := 0
	for _, r := range ranges {
		from, to := max(r[0], at), min(r[1], len(units))
		if from >= to {
			continue
		}
		out = append(out, Text(Decode16(units[at:from])), Styled(Marked, Decode16(units[from:to])))
		at = to
	}
	return append(out, Text(Decode16(units[at:])))
}

// Decode16 returns the text of UTF-16 code units.
func Decode16(units []uint16) string { return string(utf16.Decode(units)) }
