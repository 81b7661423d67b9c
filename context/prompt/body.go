package prompt

// A NoteBody is the text of a note in the form in which people and models are shown it: its own Markdown, without what
// its writer has taken out of sight.
//
//	note          "# Plan\n%% ask Eve %%\n- [ ] ~~Call~~\n"
//	RenderNote    "# Plan\n- [ ] ~~Call~~"
//	in a prompt   "#### Plan\n- [ ] ~~Call~~"
//
// [RenderNote] leaves out the comments. [NewNoteBody] makes a NoteBody of that: a text in which no line can pass for
// one of the prompt's own. Cut shortens it. Both read lines by the same rules (body_lines.go): those of CommonMark for
// code fences, quotes, lists and headings, as far as they decide what a line is. Where a model could read more
// structure than CommonMark does, it is taken for structure. Characters that show nothing hide no mark and part none
// (entities/text).
//
// All of it is pure: text in, text out, in time linear in the length of the text. Any function may be called from any
// goroutine. The texts of private records are masked before, in the source (audience.View.Body).

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// NoteBody is the text of a note in a form in which no line of it passes for one of a
// prompt. New makes one; the zero value is an empty text.
type NoteBody struct {
	text  string
	whole *tally // of all of the note, where text is a part of it
	part  bool   // it is passages: the note has more
}

// String returns the whole text.
func (b NoteBody) String() string { return b.text }

// PartOf returns passages as such: what is counted of them is counted of the whole.
func (b NoteBody) PartOf(whole NoteBody) NoteBody {
	all := whole.tally()
	b.whole, b.part = &all, true
	return b
}

// tally counts all of the note.
func (b NoteBody) tally() tally {
	if b.whole != nil {
		return *b.whole
	}
	return newTally(b.text)
}

// NewNoteBody makes a Body of a text in Markdown; if most is not 0, of so much of it as is needed
// to cut it to at most so many characters, and the rest is only counted. It says the same, but for its structure:
//
//   - headings come below those of a prompt: "#" becomes "####", "##" "#####", and
//     what is deeper "######"; underlined ones become such;
//   - rules become "* * *";
//   - in code, a line that begins with "##" or "---" in the first column gets a "\";
//   - code that is not closed is closed at the end;
//   - all characters that end a line become "\n", and blank lines at both ends go.
//
// Hidden characters among the marks of a heading, a rule or a fence go.
func NewNoteBody(markdown string, most int) NoteBody {
	w := writer{most: most}
	src := withoutBlank(withBreaks(markdown))
	w.out.Grow(min(len(src), most+most/4) + 16)
	for start := 0; start < len(src) && (most == 0 || w.chars <= most); {
		end, next := bodyLineEnd(src, start)
		w.line(src[start:end])
		start = next
	}
	if w.lines.fence.char != 0 && (most == 0 || w.chars <= most) {
		w.put(w.lines.fence.mark())
	}
	s := w.text()
	if end := text.CharOffset(s, most+1); most > 0 && end < len(s) {
		all := newTally(src)
		return NoteBody{text: strings.Clone(s[:end]), whole: &all}
	}
	return NoteBody{text: s}
}

// withoutBlank cuts lines off both ends in which nothing is seen.
func withoutBlank(s string) string {
	for {
		end, next := bodyLineEnd(s, 0)
		if s == "" || !seesNothing(s[:end]) {
			break
		}
		s = s[next:]
	}
	for {
		start := 1 + strings.LastIndexByte(s, '\n')
		if s == "" || !seesNothing(s[start:]) {
			return s
		}
		s = s[:max(0, start-1)]
	}
}

func seesNothing(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r != ' ' && r != '\t' && !text.IsHidden(r) }) < 0
}

// withBreaks writes all characters that end a line for some reader as "\n".
func withBreaks(s string) string {
	s = withoutReturns(s)
	rare := func(r rune) bool { return r != '\n' && text.IsBreak(r) }
	if strings.IndexFunc(s, rare) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if rare(r) {
			return '\n'
		}
		return r
	}, s)
}

// writer makes the text of a Body.
type writer struct {
	lines lines
	out   strings.Builder
	most  int
	chars int // written

	// The paragraph that an underline could make a heading is held back.
	para   []string // the contents of its lines
	held   []string // its lines
	before string   // what stands before its content
}

// maxHeading is of how many lines an underlined heading may be. A longer paragraph is
// one that somebody wrote a rule under.
const maxHeading = 32

func (w *writer) line(s string) {
	v := visible(s)
	l := w.lines.next(v.text)
	if l.kind == underline && len(w.para) > 0 {
		w.held = w.held[:0]
		w.heading(w.before, l.level, " "+strings.Join(w.para, " "))
		w.para = w.para[:0]
		return
	}
	if !l.goes {
		w.release()
	}
	switch l.kind {
	case textLine:
		if w.lines.para && (!l.goes && !w.lines.listed || len(w.held) > 0 && len(w.held) < maxHeading) {
			w.hold(v, l, s)
			return
		}
		w.release()
		w.put(s)
	case code:
		if strings.HasPrefix(v.text, "##") || strings.HasPrefix(v.text, "---") {
			s = `\` + s
		}
		w.put(s)
	case fenceMark:
		if w.lines.fence.char == 0 {
			w.put(v.text) // a hidden character behind its mark would keep it from closing
			return
		}
		w.put(v.text[:l.end] + s[v.at(l.end):])
	case heading:
		w.heading(v.text[:l.start], l.level, s[v.at(l.end):])
	case rule, underline:
		w.put(v.text[:l.start] + "* * *")
	default:
		w.put(s)
	}
}

// hold keeps a line until it is known what the paragraph is.
func (w *writer) hold(v seen, l line, s string) {
	if len(w.held) == 0 {
		w.before = v.text[:l.start]
	}
	end := len(strings.TrimRight(v.text, " \t"))
	w.para = append(w.para, s[v.at(l.start):v.at(end)])
	w.held = append(w.held, s)
}

// release writes the lines that were held back.
func (w *writer) release() {
	for _, s := range w.held {
		w.put(s)
	}
	w.held, w.para = w.held[:0], w.para[:0]
}

// heading writes a heading of a level of the note.
func (w *writer) heading(before string, level int, rest string) {
	w.put(before + strings.Repeat("#", min(level+headingsOfPrompts, 6)) + rest)
}

// headingsOfPrompts is how many levels of headings are those of prompts.
const headingsOfPrompts = 3

// put writes a line.
func (w *writer) put(s string) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
		w.chars++
	}
	w.out.WriteString(s)
	w.chars += text.CountChars(s)
}

func (w *writer) text() string {
	w.release()
	return w.out.String()
}

// seen is a line without its hidden characters.
type seen struct {
	text string
	from []int32 // by byte of text: where it stood in the line; nil: there
}

// at returns the byte offset in the line of a byte of the text that is seen.
func (v *seen) at(i int) int {
	if v.from == nil {
		return i
	}
	return int(v.from[i])
}

// visible returns what is seen of a line.
func visible(s string) seen {
	hidden := false
	for i := 0; i < len(s) && !hidden; i++ {
		hidden = s[i] < ' ' && s[i] != '\t' || s[i] >= 0x7f
	}
	if !hidden || strings.IndexFunc(s, text.IsHidden) < 0 {
		return seen{text: s}
	}
	v := seen{from: make([]int32, 0, len(s)+1)}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !text.IsHidden(r) {
			for k := range size {
				v.from = append(v.from, int32(i+k))
			}
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	v.text, v.from = b.String(), append(v.from, int32(len(s)))
	return v
}
