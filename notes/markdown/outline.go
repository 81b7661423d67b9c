package markdown

import (
	"bytes"
	"strings"
)

// Outline returns what a search reads of a whole note: the texts of its headings,
// the frontmatter as it stands between its fences, and the plain text (see
// PlainNote), which holds the headings as well, and what links name, a line each.
func Outline(src string) (headings []string, front, plain, targets string) {
	f, start := splitFrontmatter(src)
	if f.found {
		front = src[f.start:f.end]
	}
	p := newPlainer(src[start:])
	p.targets = true
	defer p.free()
	var places [][2]int
	w := walker{src: src[start:], line: 1}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		from := len(p.out)
		if end := p.block(b); end > b.end {
			w.resume(end)
		}
		if b.kind == heading && from < len(p.out) {
			places = append(places, [2]int{from, len(p.out)})
		}
	}
	plain = string(bytes.TrimRight(p.out, " \t\n"))
	for _, at := range places {
		if from, end := min(at[0], len(plain)), min(at[1], len(plain)); from < end {
			headings = append(headings, strings.TrimSpace(plain[from:end]))
		}
	}
	return headings, front, plain, string(p.behind)
}
