package markdown

import (
	"iter"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// Message is a text that was read once, for all who look for references in it.
type Message struct {
	Text  string
	Links []Link   // the wikilinks outside code and comments, without their lines
	Prose [][2]int // half-open byte ranges that are neither code, by fences, backticks or its indent, nor in a comment, in order
}

// ReadMessage reads a text. Like Links it takes nothing for frontmatter. Time is linear in the
// length of the text.
func ReadMessage(text string) (m Message) {
	m.Read(text)
	return m
}

// Read is ReadMessage in the memory of a message that is needed no more.
func (m *Message) Read(text string) {
	s := newScanner(text)
	defer s.free()
	r := messageReader{scanner: s, linked: strings.Contains(text, "[["), found: m.Links[:0], prose: m.Prose[:0]}
	w := walker{src: text, line: 1, indents: true}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		if b.kind != heading && !isProse(b) {
			continue
		}
		if end := r.block(b); end > b.end {
			w.resume(end)
		}
	}
	m.Text, m.Links, m.Prose = text, r.found, r.prose
}

// Forget lets go of the text, for the next Read. What a long one needed goes to the garbage.
func (m *Message) Forget() { m.Text, m.Links, m.Prose = "", emptied(m.Links), emptied(m.Prose) }

// messageReader reads the blocks of a message. The scanner has its text.
type messageReader struct {
	*scanner
	linked bool // there may be links
	found  []Link
	prose  [][2]int
	marks  [4]int // where the marks of messageMarks come next, as far as it was asked for
}

// messageMarks are the bytes at which block has something to decide.
const messageMarks = "\\`<["

// next returns where the next mark stands at or behind a byte offset, at most end.
func (r *messageReader) next(from, end int) int {
	nearest := end
	for k := range r.marks {
		if messageMarks[k] == '[' && !r.linked {
			continue
		}
		if r.marks[k] < from || from == 0 {
			r.marks[k] = len(r.src)
			if at := strings.IndexByte(r.src[from:], messageMarks[k]); at >= 0 {
				r.marks[k] = from + at
			}
		}
		nearest = min(nearest, r.marks[k])
	}
	return nearest
}

// block takes what is prose in a block, and its links, and returns where it stopped: the end of
// the block, or beyond it when a comment reaches further.
func (r *messageReader) block(b block) int {
	start, escaped := b.start, -1
	for i := r.next(b.start, b.end); i < b.end; i = r.next(i, b.end) {
		skip := 0
		switch r.src[i] {
		case '\\':
			i = r.spans.afterBackslash(i, b.end)
			escaped = i
			continue
		case '[':
			i += max(1, r.link(b, i, escaped))
			continue
		case '`':
			n := runLen(r.src, i, b.end)
			skip = r.spans.close(i, n, b.end)
			if skip == 0 {
				i += n
				continue
			}
		case '<':
			skip = r.spans.comment(i)
		}
		if skip == 0 {
			i++
			continue
		}
		if start < i {
			r.prose = append(r.prose, [2]int{start, i})
		}
		start, i = skip, skip
	}
	if start < b.end {
		r.prose = append(r.prose, [2]int{start, b.end})
	}
	return max(start, b.end)
}

// link takes the wikilink at i, if there is one, and returns its length.
func (r *messageReader) link(b block, i, escaped int) int {
	n := r.spans.wikilink(i, b.end)
	if n == 0 {
		return 0
	}
	start := i
	if i > b.start && r.src[i-1] == '!' && escaped != i {
		start--
	}
	if l := newLink(r.src[start : i+n]); !l.empty() {
		l.Start, l.End = start, i+n
		r.found = append(r.found, l)
	}
	return n
}

// Mentions is Message.Mentions of a text.
func Mentions(text string) iter.Seq2[Reference, string] {
	m := ReadMessage(text)
	return m.Mentions()
}

// Mentions yields those of the references of a message that its writer means: the
// wikilinks, then the mentions in prose, which are not in a wikilink and
// not behind a backslash. Both come in the order of the text. rest is what follows the '@'
// of a mention as far as it is prose: a mention without a Target is named by its head.
// Time is linear in the length of the text.
func (m *Message) Mentions() iter.Seq2[Reference, string] {
	return func(yield func(r Reference, rest string) bool) {
		for _, l := range m.Links {
			if !yield(Reference{WikilinkRef, l.Start, l.End, l.Target}, "") {
				return
			}
		}
		counts := meant{text: m.Text, links: m.Links, prose: m.Prose}
		for i := 0; ; i++ {
			next := strings.IndexByte(m.Text[i:], '@')
			if next < 0 {
				return
			}
			i += next
			r, ok := mentionAt(m.Text, i)
			if !ok {
				continue
			}
			end, ok := counts.mention(r)
			if !ok {
				continue
			}
			if r.End > end { // its brackets close behind the prose
				r.End, r.Target = r.Start+1, ""
			}
			if !yield(r, m.Text[r.Start+1:end]) {
				return
			}
		}
	}
}

// meant tells which mentions of a text count. It is asked about them in their order.
type meant struct {
	text  string
	links []Link   // those that end behind the last mention asked about
	prose [][2]int // likewise
}

// mention returns where the prose ends that a mention stands in; false for one that does
// not count.
func (m *meant) mention(r Reference) (end int, ok bool) {
	for len(m.links) > 0 && m.links[0].End <= r.Start {
		m.links = m.links[1:]
	}
	for len(m.prose) > 0 && m.prose[0][1] <= r.Start {
		m.prose = m.prose[1:]
	}
	inLink := len(m.links) > 0 && m.links[0].Start <= r.Start
	if inLink || len(m.prose) == 0 || r.Start < m.prose[0][0] {
		return 0, false
	}
	switch text.ContextOfMark(m.text[:r.Start]) {
	case text.AfterBlank, text.AfterOpening, text.AfterOther:
		return m.prose[0][1], true
	}
	return 0, false
}

// isProse reports a block whose text is neither markup nor code.
func isProse(b block) bool { return b.kind == textBlock }
