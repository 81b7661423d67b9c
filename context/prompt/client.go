package prompt

import "strings"

// lineSection is a section of items of one line each.
type lineSection struct{ name, head string }

var (
	calendarSection = lineSection{SectionCalendar, "## Calendar\n"}
	actionSection   = lineSection{SectionActions, "## Open action items\n"}
)

// clientLine is one rendered item.
type clientLine struct {
	kind, id, title, text string
}

// lines renders a section of client items and returns its length.
func (b *builder) lines(spec lineSection, limit int, list []clientLine) int {
	if len(list) == 0 {
		return 0
	}
	s := b.open(spec.name, spec.head, min(limit, ClientChars))
	for i, l := range list {
		chars := Chars(l.text)
		switch {
		case i >= MaxClientItems:
			b.drop(l.kind, l.id, l.title, OverLimit)
		case chars > s.left():
			b.drop(l.kind, l.id, l.title, OverBudget)
		default:
			s.add(Item{Kind: l.kind, ID: l.id, Title: l.title, Reason: "sent by the client"}, chars, l.text)
		}
	}
	return b.close(s)
}

func eventLines(events []Event) []clientLine {
	out := make([]clientLine, len(events))
	for i, e := range events {
		var b strings.Builder
		b.WriteString("- " + EscapeInline(e.Start))
		if e.End != "" {
			b.WriteString(" to " + EscapeInline(e.End))
		}
		b.WriteString(": " + EscapeInline(e.Title))
		if e.Location != "" {
			b.WriteString(" | at " + EscapeInline(e.Location))
		}
		if len(e.Attendees) > 0 {
			b.WriteString(" | with " + inlineList(e.Attendees))
		}
		b.WriteString("\n")
		out[i] = clientLine{kind: KindEvent, title: e.Title, text: b.String()}
	}
	return out
}

func actionLines(actions []Action) []clientLine {
	out := make([]clientLine, len(actions))
	for i, a := range actions {
		var b strings.Builder
		b.WriteString("- " + EscapeInline(a.Text))
		if a.Status != "" {
			b.WriteString(" | status: " + EscapeInline(a.Status))
		}
		if a.Due != "" {
			b.WriteString(" | due: " + EscapeInline(a.Due))
		}
		if len(a.EntityIDs) > 0 {
			b.WriteString(" | for: " + inlineList(a.EntityIDs))
		}
		b.WriteString(" [id:" + a.ID + "]\n")
		out[i] = clientLine{kind: KindAction, id: a.ID, title: a.Text, text: b.String()}
	}
	return out
}

func inlineList(items []string) string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = EscapeInline(item)
	}
	return strings.Join(out, ", ")
}
