package wql

import (
	"unicode"
)

// likePattern is a LIKE pattern made ready, kept as long as its text stays.
type likePattern struct {
	text  string
	ready bool
	parts [][]likeRune // what stands between the % signs
}

type likeRune struct {
	any bool // _
	r   rune // folded
}

// foldRune folds one code point to one code point, so that _ stands for what a
// reader takes for one letter.
func foldRune(r rune) rune {
	if r < 0x80 {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < 0x80 && 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// Prepare makes the pattern ready, if it is another than before.
func (p *likePattern) Prepare(pattern string) {
	if !p.ready || p.text != pattern {
		*p = compileLike(pattern)
	}
}

func compileLike(pattern string) likePattern {
	p := likePattern{text: pattern, ready: true, parts: [][]likeRune{nil}}
	escaped := false
	for _, r := range pattern {
		last := len(p.parts) - 1
		switch {
		case escaped:
			escaped = false
			p.parts[last] = append(p.parts[last], likeRune{r: foldRune(r)})
		case r == '\\':
			escaped = true
		case r == '%':
			p.parts = append(p.parts, nil)
		default:
			p.parts[last] = append(p.parts[last], likeRune{any: r == '_', r: foldRune(r)})
		}
	}
	if escaped {
		last := len(p.parts) - 1
		p.parts[last] = append(p.parts[last], likeRune{r: '\\'})
	}
	return p
}

// Matches says whether a text matches the pattern.
func (p *likePattern) Matches(x *datum, in *evalScope) truthValue {
	s, ok := valueText(x)
	if !ok {
		return truthUnknown
	}
	text := make([]rune, 0, len(s))
	for _, r := range s {
		text = append(text, foldRune(r))
	}
	return truthOf(in.matchParts(text, p.parts))
}

// matchParts matches the first part at the start, the last at the end, and
// each between them at the first place it fits, which is always right for %.
// The work is at most len(text) * len(pattern), and counted.
func (in *evalScope) matchParts(text []rune, parts [][]likeRune) bool {
	first, last := parts[0], parts[len(parts)-1]
	if !in.matchAt(text, first) {
		return false
	}
	if len(parts) == 1 {
		return len(text) == len(first)
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		for !in.matchAt(text, part) {
			if len(text) <= len(part) || in.Tick(0) != nil {
				return false
			}
			text = text[1:]
		}
		text = text[len(part):]
	}
	return len(text) >= len(last) && in.matchAt(text[len(text)-len(last):], last)
}

func (in *evalScope) matchAt(text []rune, part []likeRune) bool {
	if len(text) < len(part) {
		return false
	}
	for i, want := range part {
		if !want.any && want.r != text[i] {
			_ = in.Tick(1 + i/16)
			return false
		}
	}
	_ = in.Tick(1 + len(part)/16)
	return true
}
