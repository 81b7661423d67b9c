package prompt

import (
	"strconv"
	"strings"
)

var markdownStyle = style{
	inline: EscapeInline,
	text:   func(s string) string { return s },
	whole:  beforeBackslash,
	frames: map[string]frame{
		SectionPersonality: {head: "## Personality\n"},
		SectionNow:         {head: "## Now\n"},
		SectionPinned: {head: "## Notes pinned by user\n" +
			"The user attached these notes to this conversation. Treat them as primary sources.\n"},
		SectionEntities: {head: "## Entity context\n" +
			"Records that the user mentioned and what they refer to. Use the ids in [id:…] when you assign or refer to them.\n"},
		SectionLinked: {head: "## Notes linked via entity fields\n" +
			"These notes were attached because entity fields refer to them.\n"},
		SectionSearch: {head: "## Notes found by search\n" +
			"These notes were found by a search for the user's message. They may or may not be relevant.\n"},
		SectionPassages: {head: "## Passages\n" +
			"These passages of books were found by a search for the user's message. They may or may not be relevant. Cite what you take from one by what stands in brackets before it.\n"},
		SectionCalendar:   {head: "## Calendar\n"},
		SectionActions:    {head: "## Open action items\n"},
		SectionReferenced: {head: "## What the user referred to\n"},
		SectionMemory: {head: "## Memory\n" +
			"This is remembered of the user. It may or may not be relevant, and what was said later holds.\n"},
	},
	note: func(n *Note) string {
		head := "\n### [[" + EscapeInline(n.Title) + "]] [id:" + n.ID + "]"
		if n.HeadVault != "" {
			head += " (vault " + EscapeInline(n.HeadVault) + ")"
		}
		return head + "\n"
	},
	noteEnd:    "---\n",
	passage:    markdownPassage,
	passageEnd: "---\n",
	entity: func(c *Card) string {
		return "### @" + EscapeInline(c.Name) + " (" + EscapeInline(c.Type) + ") [id:" + c.ID + "]"
	},
	// A name begins its line and would pass for a heading there.
	field:       func(name, value string) string { return "  " + escapeStart(name) + ": " + value + "\n" },
	ref:         markdownRef,
	more:        markdownMore,
	ownNote:     " [[",
	ownEnd:      "]]",
	whyMark:     "  ← ",
	headEnd:     "\n",
	notExpanded: "  (further references not expanded)\n",
	separator:   ", ",
	event:       markdownEvent,
	action:      markdownAction,
	memory:      markdownMemory,
	personality: markdownPersonality,
	part:        func(p Part) string { return "### " + parts[p] + "\n" },
}.finished()

// beforeBackslash keeps a backslash and what it marks together.
func beforeBackslash(s string, at int) int {
	start := at
	for start > 0 && s[start-1] == '\\' {
		start--
	}
	return at - (at-start)%2
}

func markdownRef(r *Ref, name string) string {
	switch r.State {
	case IsDeleted:
		return "(deleted)"
	case IsArchived:
		return "(archived)"
	case IsPrivate:
		return "(private)"
	case IsUnresolved:
		return "(unresolved) [[" + name + "]]"
	}
	if r.Kind == KindNote {
		return "[[" + name + "]] [id:" + r.ID + "]"
	}
	return "@" + name + " [id:" + r.ID + "]"
}

func markdownMore(n int) string {
	if n == 0 {
		return ""
	}
	return " (+" + strconv.Itoa(n) + " more)"
}

func markdownEvent(e *Event) string {
	var b strings.Builder
	b.WriteString("- " + escapeCell(e.Title))
	cell(&b, "start", e.Start)
	cell(&b, "end", e.End)
	cell(&b, "at", e.Location)
	cell(&b, "with", strings.Join(e.Attendees, ", "))
	b.WriteString("\n")
	return b.String()
}

func markdownAction(a *Action) string {
	var b strings.Builder
	b.WriteString("- " + escapeCell(a.Text))
	cell(&b, "status", a.Status)
	cell(&b, "due", a.Due)
	cell(&b, "for", strings.Join(a.EntityIDs, ", "))
	b.WriteString(" [id:" + a.ID + "]\n")
	return b.String()
}

// cell adds a part of a line that is not empty.
func cell(b *strings.Builder, name, text string) {
	if text != "" {
		b.WriteString(" | " + name + ": " + escapeCell(text))
	}
}
