package prompt

import (
	"strings"

	"github.com/ctxd/ctxd/entities/record"
)

// SourceAttached is the source of a memory that the user gave by its id.
const SourceAttached = "attached"

// Memory is a memory that may stand in a prompt. What is "" is not known and not
// shown.
type Memory struct {
	ID        string
	Title     string // how the report calls it
	Reason    string // why it is a candidate, for the report
	Statement string // of any number of lines
	Question  string // that the statement answers
	Kind      string // such as fact; of a part of a conversation: conversation_message
	Tier      string
	Status    string
	Source    string // why it is there, such as referenced or attached
	Group     string // the reference that it came by, or "" for those given by id
	Ref       string // how the user named it, such as @ssdva
}

// markdownMemory renders a memory as an item of a list:
//
//   - [REFERENCED @ssdva] [fact] statement (answers: question) [id:ID]
//
// A status other than active stands behind the kind. The second and further lines are indented, and
// none of them can be taken for a heading or a rule. O(length).
func markdownMemory(m *Memory) string {
	var b strings.Builder
	b.WriteString("- [" + strings.ToUpper(escapeMemory(m.Source)))
	if m.Ref != "" {
		b.WriteString(" " + escapeMemory(m.Ref))
	}
	b.WriteString("] [" + escapeMemory(m.Kind))
	if m.Status != "" && m.Status != record.MemoryActive {
		b.WriteString(", " + escapeMemory(m.Status))
	}
	b.WriteString("] ")
	for i, line := range strings.Split(normalizeBreaks(m.Statement), "\n") {
		if i == 0 {
			b.WriteString(escapeMemory(line))
			continue
		}
		b.WriteString("\n  " + escapeStart(escapeMemory(line)))
	}
	if m.Question != "" {
		b.WriteString(" (answers: " + escapeMemory(m.Question) + ")")
	}
	b.WriteString(" [id:" + m.ID + "]\n")
	return b.String()
}

// xmlMemory renders a memory as an element. b is its boundary.
func xmlMemory(m *Memory, boundary string) string {
	var b strings.Builder
	b.WriteString("<memory")
	attribute(&b, "id", m.ID)
	attribute(&b, "source", m.Source)
	attribute(&b, "kind", m.Kind)
	attribute(&b, "tier", m.Tier)
	attribute(&b, "status", m.Status)
	attribute(&b, "ref", m.Ref)
	attribute(&b, "b", boundary)
	b.WriteString(">" + EscapeElement(m.Statement))
	if m.Question != "" {
		b.WriteString("<answers>" + EscapeElement(m.Question) + "</answers>")
	}
	b.WriteString("</memory>\n")
	return b.String()
}

// escapeMemory is EscapeInline for a part of a memory: a backslash goes before every
// bracket and parenthesis, since labels and the question stand between such.
func escapeMemory(s string) string {
	return memoryEscapes.Replace(flatten(s))
}

var memoryEscapes = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `(`, `\(`, `)`, `\)`)
