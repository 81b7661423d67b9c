package markdown

import "strings"

// LineEnd returns the end of the line at pos without its line end, and the
// start of the next line.
func LineEnd(src string, pos int) (end, next int) {
	i := strings.IndexByte(src[pos:], '\n')
	if i < 0 {
		return len(src), len(src)
	}
	end, next = pos+i, pos+i+1
	if end > pos && src[end-1] == '\r' {
		end--
	}
	return end, next
}

// WikilinkLen returns the length of the wikilink that s starts with, '!' included,
// or 0. A link lies on one line and holds no brackets.
func WikilinkLen(s string) int {
	i := 0
	if i < len(s) && s[i] == '!' {
		i++
	}
	if len(s)-i < 4 || s[i] != '[' || s[i+1] != '[' {
		return 0
	}
	for j := i + 2; j+1 < len(s); j++ {
		switch s[j] {
		case '[', '\n':
			return 0
		case ']':
			if s[j+1] == ']' {
				return j + 2
			}
			return 0
		}
	}
	return 0
}
