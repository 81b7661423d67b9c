package markdown

import (
	"slices"
	"strings"
)

// Span is a part of a text: byte offsets, half open.
type Span struct{ Start, End int }

// Without returns a text with something else instead of the spans, which may
// overlap; they are sorted in place.
func Without(text string, spans []Span, instead string) string {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.Start < at {
			at = max(at, s.End)
			continue
		}
		b.WriteString(text[at:s.Start])
		b.WriteString(instead)
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}
