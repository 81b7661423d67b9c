package markdown

// Prose returns the half-open byte ranges of a text that are not code and not
// in a comment, in order: where a mention counts. Like Links it takes nothing
// for frontmatter. Time is linear in the length of the text.
func Prose(text string) [][2]int {
	var out [][2]int
	s := newScanner(text)
	defer s.free()
	w := walker{src: text, line: 1}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		if b.kind != heading && !isProse(b) {
			continue
		}
		start := b.start
		for i := b.start; i < b.end; {
			skip := 0
			switch text[i] {
			case '\\':
				i = s.spans.afterBackslash(i, b.end)
				continue
			case '`':
				n := runLen(text, i, b.end)
				if skip = s.spans.close(i, n, b.end); skip == 0 {
					i += n
					continue
				}
			case '<':
				skip = s.spans.comment(i)
			}
			if skip == 0 {
				i++
				continue
			}
			if start < i {
				out = append(out, [2]int{start, i})
			}
			start, i = skip, skip
		}
		if start < b.end {
			out = append(out, [2]int{start, b.end})
		} else if start > b.end {
			w.resume(start)
		}
	}
	return out
}

// isProse reports a block whose text is neither markup nor code.
func isProse(b block) bool { return b.kind == text }

// PlainNote returns the plain text of a whole note: PlainText of what comes
// after the frontmatter. It does not parse what it does not need.
func PlainNote(src string) string {
	_, start := splitFrontmatter(src)
	return PlainText(src[start:])
}
