package markdown

import (
	"bytes"
	"iter"
	"strings"
)

// Outline returns what a search reads of a whole note: the texts of its headings,
// the frontmatter as it stands between its fences, and the plain text (see
// PlainNote), which holds the headings as well, and what links name, a line each.
func Outline(src string) (headings iter.Seq[string], front, plain, targets string) {
	f, start := SplitFrontmatter(src)
	if f.Found {
		front = src[f.Start:f.End]
	}
	p := newPlainer(src[start:])
	p.targets = true
	defer p.free()
	var places pile[[2]int32]
	w := walker{src: src[start:], line: 1}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		from := len(p.out)
		if end := p.block(b); end > b.end {
			w.resume(end)
		}
		if b.kind == heading && from < len(p.out) {
			places.add([2]int32{int32(from), int32(len(p.out))})
		}
	}
	plain = string(bytes.TrimRight(p.out, " \t\n"))
	headings = func(yield func(string) bool) {
		for i := range places.len() {
			at := places.at(i)
			from, end := min(int(at[0]), len(plain)), min(int(at[1]), len(plain))
			if from < end && !yield(strings.TrimSpace(plain[from:end])) {
				return
			}
		}
	}
	return headings, front, plain, string(p.behind)
}
