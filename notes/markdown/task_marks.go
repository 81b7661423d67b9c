package markdown

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// taskMarks takes from the line of a task what it says of it beside its text: the emoji of the plugin Tasks for Obsidian, the
// fields of Dataview with the same meaning, and tags. Of several of one kind the first counts. What is in code, in a wikilink or
// in the destination of a link is text.
type taskMarks struct {
	task   *taskLine
	src    string
	reader *taskReader
	taken  []Span // of the marks, in their order
	tags   folded // the tags that there are
}

// emojiMarks are the emoji that stand before a value, by the name of the field of Dataview that means the same.
var emojiMarks = []struct{ mark, field string }{
	{"📅", "due"},
	{"📆", "due"},
	{"🗓", "due"},
	{"⏳", "scheduled"},
	{"⌛", "scheduled"},
	{"🛫", "start"},
	{"➕", "created"},
	{"✅", "completion"},
	{"❌", "cancelled"},
	{"🔁", "repeat"},
	{"🆔", "id"},
	{"⛔", "dependson"},
	{"🏁", "oncompletion"},
}

// emojiPriorities are the emoji that are a priority.
var emojiPriorities = []struct{ mark, priority string }{
	{"🔺", "highest"}, {"⏫", "high"}, {"🔼", "medium"}, {"🔽", "low"}, {"⏬", "lowest"},
}

// variation may stand behind an emoji, and says that it is drawn as one.
const variation = "\uFE0F"

// maxTaskValue is how long the value of a field of a task may be.
const maxTaskValue = 128

// read reads the line of a task between two offsets and returns its name: the text without marks and without the tags at its
// end.
func (m *taskMarks) read(at, end int) string {
	spans := &m.reader.scanner.spans
	trailing := -1 // where the tags begin that nothing but marks follows
	for i := at; i < end; {
		c := m.src[i]
		next, isText := i+1, true
		switch {
		case isBlank(c):
			isText = false
		case c == '\\':
			next = spans.afterBackslash(i, end)
		case c == '`' || c == '<':
			next = min(spans.skip(i, end), end)
		case c == '[' && spans.wikilink(i, end) > 0:
			next = i + spans.wikilink(i, end)
		case c == '[' || c == '(':
			if n := m.field(i, end); n > 0 {
				next, isText = i+n, false
			}
		case c == ']' && i+1 < end && m.src[i+1] == '(':
			if _, _, after := linkDest(m.src, i+2, min(end, i+2+maxTaskValue*8)); after > 0 {
				next = after
			}
		case c == '%' && m.reader.comment(i) > 0:
			next, isText = min(m.reader.comment(i), end), false
			m.taken = append(m.taken, Span{i, next})
		case c == '#':
			if n := m.tag(at, i, end); n > 0 {
				if trailing < 0 {
					trailing = i
				}
				next, isText = i+n, false
			}
		case c == '^' && blockIDLen(m.src, at, i, end) > 0:
			m.taken, next, isText = append(m.taken, Span{i, end}), end, false
		case c >= utf8.RuneSelf:
			if n := m.emoji(i, end); n > 0 {
				next, isText = i+n, false
				break
			}
			_, n := utf8.DecodeRuneInString(m.src[i:end])
			next = i + n
		}
		if isText {
			trailing = -1
		}
		i = next
	}
	if trailing >= 0 {
		end = trailing
	}
	return m.name(at, end)
}

// name returns the text between two offsets without the marks, as a reader sees it.
func (m *taskMarks) name(at, end int) string {
	var b strings.Builder
	for _, s := range m.taken {
		if s.Start >= end {
			break
		}
		b.WriteString(m.src[at:s.Start])
		at = s.End
	}
	if at < end {
		b.WriteString(m.src[at:end])
	}
	return inlineText(strings.Join(strings.Fields(b.String()), " "))
}

// inlineText returns the text of one line without its markup.
func inlineText(line string) string {
	marked := false
	for i := range len(line) {
		marked = marked || plainSpecial[line[i]]
	}
	if !marked {
		return line
	}
	p := newPlainer(line)
	defer p.free()
	p.inline(block{kind: textBlock, end: len(line), last: len(line), line: 1})
	return strings.Join(strings.Fields(string(p.out)), " ")
}

// emoji reads the mark at i and returns its length, 0 for none.
func (m *taskMarks) emoji(i, end int) int {
	s := m.src[i:end]
	for _, e := range emojiPriorities {
		if strings.HasPrefix(s, e.mark) {
			n := len(e.mark)
			n += len(s[n:]) - len(strings.TrimPrefix(s[n:], variation))
			if m.task.Priority == "" {
				m.task.Priority = e.priority
			}
			m.taken = append(m.taken, Span{i, i + n})
			return n
		}
	}
	for _, e := range emojiMarks {
		if !strings.HasPrefix(s, e.mark) {
			continue
		}
		rest := strings.TrimLeft(strings.TrimPrefix(s[len(e.mark):], variation), " \t")
		value := rest[:valueLen(e.field, rest)]
		if !m.set(e.field, value) {
			return 0
		}
		n := len(s) - len(rest) + len(value)
		if isTaskDay(e.field) {
			m.task.emoji = true
		}
		m.take(e.field, Span{i, i + n})
		return n
	}
	return 0
}

// valueLen returns how long the value behind an emoji is.
func valueLen(field, s string) int {
	part := func(c byte) bool { return isWord(c) || c == '-' }
	switch field {
	case "repeat": // a rule in words, such as "every week on Monday"
		part = func(c byte) bool { return isWord(c) || c == ' ' || c == ',' || c == '!' }
	case "dependson":
		part = func(c byte) bool { return isWord(c) || c == '-' || c == ',' }
	case "id", "oncompletion":
	default:
		return min(len(s), len(time.DateOnly))
	}
	n := 0
	for n < len(s) && part(s[n]) {
		n++
	}
	return len(strings.TrimRight(s[:n], " "))
}

// field reads the field of Dataview in brackets at i and returns its length, 0 for one that says nothing of a task.
func (m *taskMarks) field(i, end int) int {
	closing := byte(']')
	if m.src[i] == '(' {
		closing = ')'
	}
	s := m.src[i+1 : min(end, i+1+maxTaskValue)]
	colon := strings.Index(s, "::")
	if colon < 0 {
		return 0
	}
	key, rest := text.Fold(strings.TrimSpace(s[:colon])), s[colon+2:]
	n := strings.IndexByte(rest, closing)
	if value := strings.TrimLeft(rest, " \t"); strings.HasPrefix(value, "[[") { // a day that is a link
		n = strings.Index(rest, "]]")
		if n >= 0 {
			n += 2 + strings.IndexByte(rest[n+2:]+string(closing), closing)
		}
	}
	if n < 0 || n >= len(rest) {
		return 0
	}
	value := strings.TrimSpace(rest[:n])
	value = strings.TrimSuffix(strings.TrimPrefix(value, "[["), "]]")
	if key == "priority" {
		value = text.Fold(value)
	}
	if isTaskDay(key) && len(value) > len(time.DateOnly) && value[len(time.DateOnly)] == 'T' {
		value = value[:len(time.DateOnly)]
	}
	if !m.set(key, value) {
		return 0
	}
	size := 1 + colon + 2 + n + 1
	if isTaskDay(key) {
		m.task.fields = true
	}
	m.take(key, Span{i, i + size})
	return size
}

// take notes where a mark is.
func (m *taskMarks) take(field string, at Span) {
	m.taken = append(m.taken, at)
	if (field == "completion" || field == "cancelled") && m.task.ended.End == 0 {
		m.task.ended = at
	}
}

// isTaskDay reports whether the value of a field is a day.
func isTaskDay(field string) bool {
	switch field {
	case "due", "scheduled", "start", "created", "completion", "cancelled":
		return true
	}
	return false
}

// set gives a field its value unless it has one. It reports false for a field that says nothing of a task, and for a value
// that it cannot have.
func (m *taskMarks) set(field, value string) bool {
	day := isTaskDay(field)
	if day && !isDay(value) || value == "" {
		return false
	}
	first := func(to *string) {
		if *to == "" {
			*to = value
		}
	}
	switch field {
	case "due":
		first(&m.task.Due)
	case "scheduled":
		first(&m.task.Scheduled)
	case "start":
		first(&m.task.Start)
	case "priority":
		for _, p := range emojiPriorities {
			if p.priority == value {
				first(&m.task.Priority)
				return true
			}
		}
		return false
	case "repeat", "id", "dependson", "oncompletion":
	default:
		return day
	}
	return true
}

// isDay reports whether a text is a day of the calendar, YYYY-MM-DD.
func isDay(s string) bool {
	if len(s) != len(time.DateOnly) || s[:4] == "0000" {
		return false
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// tag reads the tag at i, where a # stands, and returns its length, 0 for none.
func (m *taskMarks) tag(start, i, end int) int {
	if i > start && !tagMayFollow(m.src, i) {
		return 0
	}
	n := tagLen(m.src[i+1 : end])
	name := strings.TrimRight(m.src[i+1:i+1+n], "/")
	if name == "" || allDigits(name) {
		return 0
	}
	if len(m.task.Tags) < maxTags && m.tags.see(name) {
		m.task.Tags = append(m.task.Tags, name)
	}
	return 1 + n
}

// logseqDays reads the lines behind a task of Logseq: "SCHEDULED: <2026-03-04 Wed>", "DEADLINE: <2026-03-04 Wed>".
func (t *taskLine) logseqDays(lines string) {
	for line := range strings.Lines(lines) {
		line = strings.TrimLeft(line, "> \t\r\n")
		for _, d := range []struct {
			word string
			to   *string
		}{{"SCHEDULED:", &t.Scheduled}, {"DEADLINE:", &t.Due}} {
			rest, ok := strings.CutPrefix(line, d.word)
			rest = strings.TrimLeft(rest, " \t<")
			if ok && *d.to == "" && len(rest) >= len(time.DateOnly) && isDay(rest[:len(time.DateOnly)]) {
				*d.to = rest[:len(time.DateOnly)]
			}
		}
	}
}
