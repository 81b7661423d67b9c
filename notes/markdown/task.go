package markdown

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/record"
)

// Tasks calls found with each task of a whole note, in their order. Time and memory are linear in the length of the source.
//
// A task is an item of a list, bulleted or numbered, nested, in a quote or not, whose text begins with a box, as in "- [ ] Call
// Bob", or with a word of Logseq, as in "- TODO Call Bob". The box holds one character: x and X mean done, "-" cancelled, and
// every other one open. A task is one line; only DEADLINE and SCHEDULED of Logseq stand in the lines behind it. Code and
// comments (HTML's and Obsidian's %%) have none. What a line says of a task is in task_marks.go.
func Tasks(src string, found func(record.Task)) {
	eachTask(src, func(t *taskLine) bool {
		found(t.Task)
		return true
	})
}

// MayHaveTasks reports whether a text may have a task, without reading it as Markdown. It is false for most notes.
func MayHaveTasks(src string) bool {
	for rest := src; ; {
		i := strings.IndexByte(rest, '[')
		if i < 0 {
			break
		}
		if rest = rest[i:]; boxLen(rest) > 0 {
			return true
		}
		rest = rest[1:]
	}
	for _, word := range []string{"TODO", "DOING", "DONE", "LATER", "NOW", "WAIT", "IN-PROGRESS", "CANCEL"} {
		if strings.Contains(src, word) {
			return true
		}
	}
	return false
}

// taskLine is a task with what of its line is written anew when it is done.
type taskLine struct {
	record.Task

	state  Span // what says whether it is done: the character in the box, or the word
	word   bool // it is one of Logseq
	end    int  // of its line, without the line end
	emoji  bool // it has days behind emoji, as the plugin Tasks writes them
	fields bool // it has days in fields, as Dataview writes them
	ended  Span // the day on which it was done or cancelled, with its mark; empty for none
}

// taskWords are the words that Logseq begins a task with.
var taskWords = map[string]struct{ done, cancelled bool }{
	"TODO": {}, "DOING": {}, "LATER": {}, "NOW": {}, "WAITING": {}, "WAIT": {}, "IN-PROGRESS": {},
	"DONE": {done: true}, "CANCELED": {cancelled: true}, "CANCELLED": {cancelled: true},
}

// eachTask calls found with each task of a note until it returns false.
func eachTask(src string, found func(*taskLine) bool) {
	block, start := SplitFrontmatter(src)
	line := 1
	if block.Found {
		line += strings.Count(src[:start], "\n")
	}
	s := newScanner(src)
	defer s.free()
	r := taskReader{src: src, scanner: s}
	r.scanner.onHeading = func(h Heading) { r.heading = h.Text }
	w := walker{src: src, pos: start, line: line}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		switch b.kind {
		case heading:
			s.heading(b)
		case textBlock:
		default:
			continue
		}
		if t := r.task(b); t != nil && !found(t) {
			return
		}
		if end := r.past(b); end > b.end {
			w.resume(end)
		}
	}
}

// taskReader reads the tasks of one text from left to right.
type taskReader struct {
	src       string
	scanner   *scanner
	heading   string // above the block
	noComment bool   // no further %% has another one behind it
}

// past returns the end of a block, or where a comment ends that begins in it and reaches further.
func (r *taskReader) past(b block) int {
	for i := b.start; i < b.end; {
		switch r.src[i] {
		case '\\':
			i = r.scanner.spans.afterBackslash(i, b.end)
		case '`', '<':
			i = r.scanner.spans.skip(i, b.end)
		case '%':
			i = max(i+1, r.comment(i))
		default:
			i++
		}
		if i > b.end {
			return i
		}
	}
	return b.end
}

// comment returns the end of the comment of Obsidian that begins at i, 0 for none.
func (r *taskReader) comment(i int) int {
	if r.noComment || !strings.HasPrefix(r.src[i:], "%%") {
		return 0
	}
	n := strings.Index(r.src[i+2:], "%%")
	if n < 0 {
		r.noComment = true
		return 0
	}
	return i + 2 + n + 2
}

// task reads the task that a block is, nil for none.
func (r *taskReader) task(b block) *taskLine {
	if b.kind != textBlock || !b.bullet || b.table || b.start >= b.end {
		return nil
	}
	end, _ := lineEnd(r.src, b.start)
	t := &taskLine{end: min(end, b.end)}
	t.Heading, t.Line = r.heading, b.line
	at := b.start
	if n := boxLen(r.src[at:t.end]); n > 0 {
		t.state = Span{at + 1, at + n - 1}
		mark := r.src[t.state.Start:t.state.End]
		t.Done, t.Cancelled = mark == "x" || mark == "X", mark == "-"
		at += n
	} else {
		n := strings.IndexAny(r.src[at:t.end], " \t")
		if n < 0 {
			return nil
		}
		word := r.src[at : at+n]
		state, known := taskWords[word]
		if !known {
			return nil
		}
		t.state, t.word = Span{at, at + n}, true
		t.Done, t.Cancelled = state.done, state.cancelled
		at += n
	}
	if strings.TrimSpace(r.src[at:t.end]) == "" {
		return nil // a box for what nobody has written yet
	}
	m := taskMarks{task: t, src: r.src, reader: r}
	r.scanner.spans.end = 0 // the block is read from its start again
	t.Name = m.read(at, t.end)
	r.scanner.spans.end = 0
	if t.word && b.end > t.end {
		t.logseqDays(r.src[t.end:b.end])
	}
	return t
}

// boxLen returns the length of the box that a text begins with: one character in brackets, and a blank or nothing behind; 0
// for none.
func boxLen(s string) int {
	if len(s) < 3 || s[0] != '[' {
		return 0
	}
	n := 1
	if s[1] >= utf8.RuneSelf {
		_, n = utf8.DecodeRuneInString(s[1:])
	}
	if s[1] == '[' || s[1] == ']' || s[1] == '\n' || s[1] == '\r' || len(s) < n+2 || s[n+1] != ']' {
		return 0
	}
	if len(s) > n+2 && !isBlank(s[n+2]) {
		return 0
	}
	return n + 2
}

// SetTask returns a note with the task of a line done or open again, and the line before and after. Where its days stand behind
// emoji, or in fields of Dataview, the day on which it was done is added as that plugin does, and taken out again. ok is
// false when the line is no task; the note is the same when nothing is to be done.
func SetTask(src string, line int, done bool, today time.Time) (out, before, after string, ok bool) {
	var t *taskLine
	eachTask(src, func(x *taskLine) bool {
		if x.Line == line {
			t = x
		}
		return x.Line < line
	})
	if t == nil {
		return src, "", "", false
	}
	start := strings.LastIndexByte(src[:t.state.Start], '\n') + 1
	before = src[start:t.end]
	if t.Done == done && !t.Cancelled {
		return src, before, before, true
	}
	state := map[bool]string{true: "x", false: " "}[done]
	if t.word {
		state = map[bool]string{true: "DONE", false: "TODO"}[done]
	}
	rest := src[t.state.End:t.end]
	if t.ended.End > t.ended.Start {
		head, tail := strings.TrimRight(src[t.state.End:t.ended.Start], " \t"), src[t.ended.End:t.end]
		if tail != "" && !isBlank(tail[0]) {
			head += " "
		}
		rest = head + tail
	}
	if done {
		rest = t.withEnd(rest, today.Format(time.DateOnly))
	}
	after = src[start:t.state.Start] + state + rest
	return src[:start] + after + src[t.end:], before, after, true
}

// withEnd adds the day on which the task was done to the text of its line, before the id of a block.
func (t *taskLine) withEnd(text, day string) string {
	var mark string
	switch {
	case t.emoji:
		mark = " ✅ " + day
	case t.fields:
		mark = " [completion:: " + day + "]"
	default:
		return text
	}
	text = strings.TrimRight(text, " \t")
	if i := strings.LastIndexByte(text, '^'); i > 0 && blockIDLen(text, 0, i, len(text)) > 0 {
		return strings.TrimRight(text[:i], " \t") + mark + " " + text[i:]
	}
	return text + mark
}
