package markdown

import (
	"iter"
)

// PlainNote returns the plain text of a whole note: PlainText of what comes
// after the frontmatter. It does not parse what it does not need.
func PlainNote(src string) string {
	_, start := SplitFrontmatter(src)
	return PlainText(src[start:])
}

// Paragraphs yields the paragraphs and the items of lists of a whole note as they are written, in their order, and
// whether each is an item. Headings, code and tables are none.
func Paragraphs(src string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		_, start := SplitFrontmatter(src)
		body := src[start:]
		p := newPlainer(body)
		defer p.free()
		w := walker{src: body, line: 1}
		for b := w.next(); b.kind != endOfBody; b = w.next() {
			p.out = p.out[:0]
			end := max(p.block(b), b.end)
			w.resume(end)
			if b.kind == textBlock && !b.table && !yield(body[b.lineStart:end], b.bullet) {
				return
			}
		}
	}
}
