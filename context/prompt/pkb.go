package prompt

import (
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// pkbStyle writes memories alone, for clients that know them as <pkb_item> lines. Nothing stands around
// the lines: the source of an item says what it is of.
var pkbStyle = style{
	frames: map[string]frame{SectionReferenced: {}, SectionMemory: {}},
	memory: func(to []byte, m *Memory, _ []byte) []byte { return append(to, pkbMemory(m)...) },
	part:   func(Part) string { return "" },
}.finished()

// pkbMemory renders a memory as an element on one line:
//
//	<pkb_item source="referenced" type="fact" ref="@ssdva" answers="question">statement</pkb_item>
//
// Behind the first three attributes stands what there is to say besides: a status other than active, who
// said it, the day, the conversation, the statements that it contradicts, a line each, the question. A reader
// of XML gets back exactly what went in, but for characters that XML can't hold. O(length).
func pkbMemory(m *Memory) string {
	var b strings.Builder
	b.Grow(len(m.Statement) + len(m.Question) + len(m.Ref) + len(m.Conversation) + 96)
	b.WriteString("<pkb_item")
	add := func(name, text string) {
		if text != "" {
			b.WriteString(" " + name + `="` + escapeOneLine(text) + `"`)
		}
	}
	add("source", m.Source)
	add("type", m.Kind)
	add("ref", m.Ref)
	if m.Status != record.MemoryActive {
		add("status", m.Status)
	}
	add("by", m.By)
	add("day", m.day())
	add("conversation", m.Conversation)
	others := make([]string, len(m.Contradicts))
	for i, other := range m.Contradicts {
		others[i] = flatten(other)
	}
	add("contradicts", strings.Join(others, "\n"))
	add("answers", m.Question)
	b.WriteString(">" + escapeOneLine(m.Statement) + "</pkb_item>\n")
	return b.String()
}

// escapeOneLine makes a text safe to stand in an attribute, or in an element on one line: besides what
// an attribute needs, every line break becomes a reference, and so is not lost.
func escapeOneLine(s string) string {
	if strings.IndexFunc(s, text.IsBreak) < 0 {
		return escapeXML(s, true)
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	from := 0
	for i, r := range s {
		if !text.IsBreak(r) {
			continue
		}
		b.WriteString(escapeXML(s[from:i], true))
		from = i + len(string(r))
		if r == '\v' || r == '\f' { // which XML can't hold
			b.WriteString("\uFFFD")
		} else {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		}
	}
	b.WriteString(escapeXML(s[from:], true))
	return b.String()
}
