package prompt

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Sources of a memory: why it is in the prompt.
const (
	SourceReferenced         = "referenced"  // the user named it
	SourceAttached           = "attached"    // the user gave its id
	SourceProfile            = "profile"     // it is of what is known about the user
	SourcePinned             = "pinned"      // it is in every prompt
	SourceConversationPinned = "conv_pinned" // it is in every prompt of the conversation
	SourceAuto               = "auto"        // a search found it
	SourceInsight            = "insight"     // it says what became of memories about the message
)

// labelOf is how Markdown names a source that the user chose, "" for another.
func labelOf(source string) string {
	switch source {
	case SourceReferenced:
		return "REFERENCED"
	case SourceAttached:
		return "ATTACHED"
	case SourcePinned:
		return "GLOBAL PINNED"
	case SourceConversationPinned:
		return "CONV PINNED"
	}
	return ""
}

// Part is a part of the section of what is remembered.
type Part int

// The parts, in the order in which they stand.
const (
	Profile Part = iota
	Pinned
	Facts
	Episodes
	Insight
)

// parts are the headings of the parts.
var parts = [...]string{
	Profile: "What is known about the user", Pinned: "Pinned", Facts: "Facts", Episodes: "Episodes", Insight: "Insight",
}

// Memory is a memory that may stand in a prompt, or a message of a conversation. What is "" is not known
// and not shown.
type Memory struct {
	ID        string
	Title     string // how the report calls it
	Reason    string // why it is a candidate, for the report
	Statement string // of any number of lines
	Question  string // that the statement answers
	Kind      string // such as fact; of a message: KindMessage or conversation_message
	Tier      string
	Status    string
	Source    string // why it is there, one of the sources
	Group     string // the reference that it came by, or "" for those given by id
	Ref       string // how the user named it, such as @ssdva

	Part         Part      // of what is remembered
	At           time.Time // when it was written down or said; the day is shown; zero: it is not
	By           string    // of a message: who said it, user or assistant
	Conversation string    // and in which conversation, by its title
	Holds        string    // when it holds, of one that does not hold now
	Contradicts  []string  // statements of other memories

	Distilled bool // Statement was shortened for the message

	Record         *record.Memory // the memory itself; nil for a message, and
	ConversationID string         // of a message: where it was said
}

// Reported is the kind of the item in a report.
func (m *Memory) Reported() string {
	switch {
	case m.Part == Insight:
		return KindInsight
	case m.By != "":
		return KindMessage
	}
	return KindMemory
}

// day is the day of At, "" for none.
func (m *Memory) day() string {
	if m.At.IsZero() {
		return ""
	}
	return text.Day(m.At)
}

// shows are all texts of a memory that a prompt shows.
func (m *Memory) shows() []string {
	list := []string{m.ID, m.Source, m.Kind, m.Tier, m.Status, m.Ref, m.Statement, m.Question}
	if m.By != "" || m.Holds != "" || !m.At.IsZero() || len(m.Contradicts) > 0 {
		list = append(append(list, m.day(), m.Holds, m.By, m.Conversation), m.Contradicts...)
	}
	return list
}

// markdownMemory appends a memory as an item of a list:
//
//   - [REFERENCED @ssdva] [fact] statement (answers: question) [id:ID]
//   - [fact, contested, 2026-03-04] statement (contradicts: statement) [id:ID]
//   - [message, user, 2026-03-04, in Title] text [id:ID]
//
// A status other than active stands behind the kind. The second and further lines are indented, and
// none of them can be taken for a heading or a rule. O(length).
func markdownMemory(to []byte, m *Memory, _ []byte) []byte {
	to = append(to, "- ["...)
	if label := labelOf(m.Source); label != "" {
		to = append(to, label...)
		if m.Ref != "" {
			to = append(append(to, ' '), escapeMemory(m.Ref)...)
		}
		to = append(to, "] ["...)
	}
	to = append(to, escapeMemory(m.Kind)...)
	if m.Status != record.MemoryActive {
		to = also(to, ", ", m.Status)
	}
	to = also(to, ", ", m.By)
	if !m.At.IsZero() {
		to = appendDay(append(to, ", "...), m.At)
	}
	to = also(to, ", ", m.Holds)
	to = also(to, ", in ", m.Conversation)
	to = append(to, "] "...)
	to = appendStatement(to, m.Statement)
	for _, other := range m.Contradicts {
		to = append(append(append(to, " (contradicts: "...), escapeMemory(other)...), ')')
	}
	if m.Question != "" {
		to = append(append(append(to, " (answers: "...), escapeMemory(m.Question)...), ')')
	}
	to = append(append(to, " [id:"...), m.ID...)
	return append(to, "]\n"...)
}

// appendStatement appends a text of any number of lines.
func appendStatement(to []byte, text string) []byte {
	if isPlainASCII(text) { // most are, and are copied in a third of the time
		return append(to, text...)
	}
	first := true
	for line := range strings.SplitSeq(normalizeBreaks(text), "\n") {
		line = escapeMemory(line)
		if !first {
			to = append(to, "\n  "...)
			line = escapeStart(line)
		}
		to = append(to, line...)
		first = false
	}
	return to
}

// appendDay appends text.Day.
func appendDay(to []byte, t time.Time) []byte {
	year, month, day := t.Local().Date()
	if year < 1000 || year > 9999 {
		return append(to, text.Day(t)...)
	}
	to = append(strconv.AppendInt(to, int64(year), 10), '-')
	to = append(to, byte('0'+month/10), byte('0'+month%10), '-')
	return append(to, byte('0'+day/10), byte('0'+day%10))
}

// also appends a text behind others, unless it is empty.
func also(to []byte, between, text string) []byte {
	if text = escapeMemory(text); text == "" {
		return to
	}
	return append(append(to, between...), text...)
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
	attribute(&b, "by", m.By)
	attribute(&b, "day", m.day())
	attribute(&b, "holds", m.Holds)
	attribute(&b, "conversation", m.Conversation)
	attribute(&b, "b", boundary)
	b.WriteString(">" + EscapeElement(m.Statement))
	for _, other := range m.Contradicts {
		b.WriteString("<contradicts>" + EscapeElement(other) + "</contradicts>")
	}
	if m.Question != "" {
		b.WriteString("<answers>" + EscapeElement(m.Question) + "</answers>")
	}
	b.WriteString("</memory>\n")
	return b.String()
}

// escapeMemory is EscapeInline for a part of a memory: a backslash goes before every
// bracket and parenthesis, since labels and the question stand between such. O(n),
// without allocation when there is nothing to do.
func escapeMemory(s string) string {
	if isPlainMemory(s) {
		return s
	}
	return memoryEscapes.Replace(flatten(s))
}

// isPlainMemory reports a text that escapeMemory leaves as it is: one of valid UTF-8
// without line breaks and without the characters that it marks.
func isPlainMemory(s string) bool {
	for i := 0; i < len(s); i++ {
		switch {
		case !marked[s[i]]:
		case s[i] < utf8.RuneSelf:
			return false
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || text.IsBreak(r) {
				return false
			}
			i += size - 1
		}
	}
	return true
}

// isPlainASCII reports a text of ASCII that isPlainMemory would report, eight bytes at a time. It is false for one that
// has a tab or another character below the blank.
func isPlainASCII(s string) bool {
	if len(s) < 8 {
		return isPlainMemory(s) && len(s) == Chars(s)
	}
	for at := 0; ; at += 8 {
		last := at >= len(s)-8
		if last {
			at = len(s) - 8 // some are looked at again
		}
		if hasMarked(load8(s[at : at+8])) {
			return false
		}
		if last {
			return true
		}
	}
}

// load8 returns the first eight bytes of a text, which has as many.
func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// hasMarked reports whether one of eight bytes is below 0x20 or above 0x7F, or one of those that escapeMemory marks: a
// byte of seven bits plus 0x80-n has its highest bit set from n on.
func hasMarked(word uint64) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	atLeast := func(n uint64) uint64 { return word + (0x80-n)*each }
	parentheses := atLeast('(') &^ atLeast(')'+1)
	brackets := atLeast('[') &^ atLeast(']'+1) // with the backslash between them
	return (word|^atLeast(' ')|parentheses|brackets)&high != 0
}

// marked tells the bytes that isPlainMemory looks at: those that escapeMemory marks, breaks of lines, and those that
// are no ASCII.
var marked = func() (table [256]bool) {
	for c := range table {
		table[c] = c >= utf8.RuneSelf || strings.IndexByte("\n\v\f\r[\\]()", byte(c)) >= 0
	}
	return table
}()

var memoryEscapes = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `(`, `\(`, `)`, `\)`)
