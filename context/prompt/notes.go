package prompt

// noteSection is what tells the sections of notes apart.
type noteSection struct {
	name  string
	limit int // notes
	chars int // of the text of each
}

var (
	pinnedSection = noteSection{SectionPinned, MaxPinned, PinnedChars}
	linkedSection = noteSection{SectionLinked, MaxLinked, LinkedChars}
	foundSection  = noteSection{SectionSearch, MaxFound, FoundChars}
)

// notes renders a section of notes. A note that another section shows already
// is passed over.
func (b *builder) notes(spec noteSection, limit int, list []Note) {
	if len(list) == 0 {
		return
	}
	s := b.open(spec.name, limit)
	taken := 0
	for i := range list {
		n := &list[i]
		switch {
		case b.state[itemKey{KindNote, n.ID}] == isShown:
		case taken == spec.limit:
			b.dropNote(n, OverLimit)
		default:
			// A note that finds no room has had its place all the same, so that
			// the report says which notes the section was for.
			taken++
			b.note(s, spec, n)
		}
	}
	b.close(s)
}

func (b *builder) note(s *section, spec noteSection, n *Note) {
	head := b.style.note(n)
	whole := n.Body
	if b.showsFields(n.EntityID) {
		whole = n.Bare
	}
	text, cut := b.style.noteText(whole, spec.chars)
	fixed := Chars(head) + len(b.style.noteMid) + len(b.style.noteEnd)
	if b.style.marksNotes {
		fixed += boundaryChars
	}
	if text != "" {
		fixed++ // the line end after the text
	}
	chars := Chars(text)
	room := s.room - fixed
	around := 0 // what the first item of a section takes besides
	if n.Focus != "" {
		if len(s.items) == 0 {
			around = s.frame.chars + 1 // the gap is before it, or behind it
		}
		room = min(room, b.focus-around-fixed)
	}
	if chars > room {
		if room < MinNoteChars {
			b.dropNote(n, OverBudget)
			return
		}
		text, cut = b.style.noteText(whole, room)
		chars = Chars(text)
	}
	mark := ""
	if b.style.marksNotes {
		mark = boundary(b.secret, n, text)
	}
	end := ""
	if text != "" {
		end = "\n"
	}
	it := Item{Kind: KindNote, ID: n.ID, Title: n.Title, Vault: n.Vault, Reason: n.Reason}
	if cut || whole.part {
		all, shown := whole.tally(), newTally(text)
		it.Cut = all.extent(&shown)
	}
	s.add(it, fixed+chars, head, mark, b.style.noteMid, text, end, b.style.noteEnd)
	if n.Focus != "" {
		b.focus -= around + fixed + chars
	}
}

func (b *builder) dropNote(n *Note, reason Reason) {
	b.dropped = append(b.dropped, Dropped{Kind: KindNote, ID: n.ID, Title: n.Title, Vault: n.Vault, Reason: reason})
}

// showsFields reports whether the fields of an entity are in the prompt. Before the
// entities are packed it is known only of mentioned ones, which are never dropped.
func (b *builder) showsFields(id string) bool {
	if id == "" {
		return false
	}
	for i := range b.list {
		if e := &b.list[i]; e.Card.ID == id {
			return e.Expanded && (i < b.packed || b.packed < 0 && e.isMentioned())
		}
	}
	return false
}
