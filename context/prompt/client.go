package prompt

// clientLine is one rendered item.
type clientLine struct {
	kind, id, title, text string
	chars                 int
}

// client renders what the client sent: its events and then its actions, each
// of which has at least half of the room when it needs it.
func (b *builder) client(limit int, events []Event, actions []Action) {
	eventLines := make([]clientLine, len(events))
	for i := range events {
		eventLines[i] = newLine(KindEvent, "", events[i].Title, b.style.event(&events[i]))
	}
	actionLines := make([]clientLine, len(actions))
	needed := b.style.frames[SectionActions].chars
	for i := range actions {
		actionLines[i] = newLine(KindAction, actions[i].ID, actions[i].Text, b.style.action(&actions[i]))
		needed += actionLines[i].chars
	}
	if len(actions) == 0 {
		needed = 0
	}
	limit -= b.lines(SectionCalendar, limit-min(needed, limit/2), eventLines)
	b.lines(SectionActions, limit, actionLines)
}

func newLine(kind, id, title, text string) clientLine {
	return clientLine{kind, id, title, text, Chars(text)}
}

// lines renders a section of client items and returns its length.
func (b *builder) lines(name string, limit int, list []clientLine) int {
	if len(list) == 0 {
		return 0
	}
	s := b.open(name, limit)
	for i, l := range list {
		switch {
		case i >= MaxClientItems:
			b.drop(l.kind, l.id, l.title, OverLimit)
		case l.chars > s.room:
			b.drop(l.kind, l.id, l.title, OverBudget)
		default:
			s.add(Item{Kind: l.kind, ID: l.id, Title: l.title, Reason: "sent by the client"}, l.chars, l.text)
		}
	}
	return b.close(s)
}
