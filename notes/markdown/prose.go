package markdown

import (
	"iter"
	"strings"

	"github.com/ctxd/ctxd/notes/frontmatter"
)

// Mentions yields those of the references of a message that its writer means: the
// wikilinks that Links finds, then the mentions in prose, which are not in a wikilink and
// not behind a backslash. Both come in the order of the text. rest is what follows the '@'
// of a mention as far as it is prose: a mention without a Target is named by its head.
// Time is linear in the length of the text.
func Mentions(text string) iter.Seq2[Reference, string] {
	return func(yield func(r Reference, rest string) bool) {
		links := Links(text)
		for _, l := range links {
			if !yield(Reference{WikilinkRef, l.Start, l.End, l.Target}, "") {
				return
			}
		}
		if strings.IndexByte(text, '@') < 0 {
			return
		}
		m := meant{text: text, links: links, prose: Prose(text)}
		Labels(nil).scan(text, nil, func(r Reference) bool {
			end, ok := m.mention(r)
			if !ok {
				return true
			}
			if r.End > end { // its brackets close behind the prose
				r.End, r.Target = r.Start+1, ""
			}
			return yield(r, text[r.Start+1:end])
		})
	}
}

// meant tells which mentions of a text count. It is asked about them in their order.
type meant struct {
	text  string
	links []Link   // those that end behind the last mention asked about
	prose [][2]int // likewise
}

// mention returns where the prose ends that a reference stands in; false for one that is
// no mention, or does not count.
func (m *meant) mention(r Reference) (end int, ok bool) {
	if r.Kind != MentionRef || m.text[r.Start] != '@' {
		return 0, false
	}
	for len(m.links) > 0 && m.links[0].End <= r.Start {
		m.links = m.links[1:]
	}
	for len(m.prose) > 0 && m.prose[0][1] <= r.Start {
		m.prose = m.prose[1:]
	}
	switch before := BeforeMark(m.text[:r.Start]); {
	case len(m.links) > 0 && m.links[0].Start <= r.Start:
	case len(m.prose) == 0 || r.Start < m.prose[0][0]:
	case before == Unspaced || before == Word || before == Accent || before == Escape:
	default:
		return m.prose[0][1], true
	}
	return 0, false
}

// proseSpecial marks the bytes at which Prose has something to decide.
var proseSpecial = [256]bool{'\\': true, '`': true, '<': true}

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
			if !proseSpecial[text[i]] {
				i++
				continue
			}
			skip := 0
			switch text[i] {
			case '\\':
				i = s.spans.afterBackslash(i, b.end)
				continue
			case '`':
				n := runLen(text, i, b.end)
				skip = s.spans.close(i, n, b.end)
				if skip == 0 {
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
	_, start := frontmatter.Split(src)
	return PlainText(src[start:])
}
