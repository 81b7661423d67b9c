package prompt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

var xmlStyle = style{
	inline: EscapeAttribute,
	text:   EscapeElement,
	cost:   elementCost,
	whole:  beforeReference,
	frames: map[string]frame{
		SectionPersonality: element("personality", ""),
		SectionNow:         element("now", ""),
		SectionPinned: element("pinned-notes",
			"The user attached these notes to this conversation. Treat them as primary sources.\n"),
		SectionEntities: element("entity-context",
			"Records that the user mentioned and what they refer to. Use their ids when you assign or refer to them.\n"),
		SectionLinked: element("linked-notes",
			"These notes were attached because entity fields refer to them.\n"),
		SectionSearch: element("found-notes",
			"These notes were found by a search for the user's message. They may or may not be relevant.\n"),
		SectionPassages: element("passages",
			"These passages of books were found by a search for the user's message. They may or may not be relevant. Cite what you take from one in brackets, as its attribute cite says.\n"),
		SectionCalendar:   element("calendar", ""),
		SectionActions:    element("action-items", ""),
		SectionReferenced: element("referenced", ""),
		SectionMemory: element("memories",
			"This is remembered of the user. It may or may not be relevant, and what was said later holds.\n"),
	},
	marksNotes: true,
	note: func(n *Note) string {
		head := "\n" + `<note id="` + n.ID + `" title="` + EscapeAttribute(n.Title)
		if n.HeadVault != "" {
			head += `" vault="` + EscapeAttribute(n.HeadVault)
		}
		return head + `" b="`
	},
	noteMid:    "\">\n",
	noteEnd:    "</note>\n",
	passage:    xmlPassage,
	passageEnd: "</passage>\n",
	entity: func(c *Card) string {
		return `<entity id="` + c.ID + `" name="` + EscapeAttribute(c.Name) + `" type="` + EscapeAttribute(c.Type) + `"`
	},
	field: func(name, value string) string {
		return `  <field name="` + name + `">` + value + "</field>\n"
	},
	ref:         xmlRef,
	more:        xmlMore,
	ownNote:     ` note="`,
	ownEnd:      `"`,
	whyMark:     ` why="`,
	whyEnd:      `"`,
	headEnd:     ">\n",
	entityEnd:   "</entity>\n",
	notExpanded: "  <not-expanded/>\n",
	itemMark:    "<item>",
	itemEnd:     "</item>",
	event:       xmlEvent,
	action:      xmlAction,
	memory: func(to []byte, m *Memory, secret []byte) []byte {
		return append(to, xmlMemory(m, boundaryOf(secret, m.shows()...))...)
	},
	personality: xmlPersonality,
	part:        func(Part) string { return "" }, // the source of an item says it
}.finished()

func element(name, introduction string) frame {
	return frame{head: "<" + name + ">\n" + introduction, tail: "</" + name + ">\n"}
}

// boundaryChars is the length of a boundary.
const boundaryChars = 16

// boundary marks a note as one that this store put into a prompt: 96 bits of
// the HMAC-SHA-256 of what it shows, keyed by the secret of the store. Nobody who
// writes a note can know the boundary that it will have.
func boundary(secret []byte, n *Note, text string) string {
	parts := []string{n.ID, n.Title, text}
	if n.HeadVault != "" {
		parts = append(parts, n.HeadVault)
	}
	return boundaryOf(secret, parts...)
}

// boundaryOf returns the boundary of an item that shows some texts.
func boundaryOf(secret []byte, parts ...string) string {
	mac := hmac.New(sha256.New, secret)
	for _, part := range parts {
		var size [8]byte
		for i := range size {
			size[i] = byte(len(part) >> (8 * i))
		}
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:boundaryChars/4*3])
}

// beforeReference keeps "&amp;" and its like whole.
func beforeReference(s string, at int) int {
	const longest = len("&quot;")
	from := max(0, at-longest+1)
	mark := strings.LastIndexByte(s[from:at], '&')
	if mark < 0 || strings.IndexByte(s[from+mark:at], ';') >= 0 {
		return at
	}
	return from + mark
}

func xmlRef(r *Ref, name string) string {
	switch r.State {
	case IsDeleted:
		return `<ref state="deleted"/>`
	case IsArchived:
		return `<ref state="archived"/>`
	case IsPrivate:
		return `<ref state="private"/>`
	case IsUnresolved:
		return `<ref state="unresolved">` + name + "</ref>"
	}
	return "<ref " + r.Kind + `="` + r.ID + `">` + name + "</ref>"
}

func xmlMore(n int) string {
	if n == 0 {
		return ""
	}
	return `<more count="` + strconv.Itoa(n) + `"/>`
}

func xmlEvent(e *Event) string {
	var b strings.Builder
	b.WriteString("<event")
	attribute(&b, "title", e.Title)
	attribute(&b, "start", e.Start)
	attribute(&b, "end", e.End)
	attribute(&b, "location", e.Location)
	b.WriteString(">")
	for _, a := range e.Attendees {
		b.WriteString("<attendee>" + EscapeAttribute(a) + "</attendee>")
	}
	b.WriteString("</event>\n")
	return b.String()
}

func xmlAction(a *Action) string {
	var b strings.Builder
	b.WriteString("<action")
	attribute(&b, "id", a.ID)
	attribute(&b, "status", a.Status)
	attribute(&b, "due", a.Due)
	attribute(&b, "for", strings.Join(a.EntityIDs, " "))
	b.WriteString(">" + EscapeAttribute(a.Text) + "</action>\n")
	return b.String()
}

// attribute adds one that is not empty.
func attribute(b *strings.Builder, name, text string) {
	if text != "" {
		b.WriteString(" " + name + `="` + EscapeAttribute(text) + `"`)
	}
}

// EscapeElement makes a text of several lines safe to stand in an element:
// & < > become references. Line ends become "\n", and characters that XML
// can't hold U+FFFD. A reader of XML undoes the former.
func EscapeElement(s string) string { return escapeXML(normalizeBreaks(s), false) }

// EscapeAttribute makes a text of one line safe to stand in an attribute, or in
// an element on one line: line breaks become spaces, & < > " ' and the tab
// references, characters that XML can't hold U+FFFD.
func EscapeAttribute(s string) string {
	if !isPlain(s, false) {
		s = flatten(s)
	}
	return escapeXML(s, true)
}

// elementCost is how many characters EscapeElement makes of one.
func elementCost(r rune) int {
	switch r {
	case '&':
		return len("&amp;")
	case '<', '>':
		return len("&lt;")
	}
	return 1
}

func escapeXML(s string, attribute bool) string {
	at := 0
	for at < len(s) && plainXML(s[at], attribute) {
		at++
	}
	if at == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:at])
	for _, r := range s[at:] {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case attribute && r == '"':
			b.WriteString("&quot;")
		case attribute && r == '\'':
			b.WriteString("&#39;")
		case attribute && r == '\t':
			b.WriteString("&#9;")
		case r < ' ' && r != '\t' && r != '\n', r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r) // U+FFFD for what is no UTF-8
		}
	}
	return b.String()
}

// plainXML reports the bytes that stand for themselves. Those beyond ASCII may be
// part of a character that XML can't hold.
func plainXML(c byte, attribute bool) bool {
	switch c {
	case '&', '<', '>':
		return false
	case '"', '\'', '\t':
		return !attribute
	case '\n':
		return true
	}
	return c >= ' ' && c < utf8.RuneSelf
}
