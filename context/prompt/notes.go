package prompt

// noteSection is what tells the sections of notes apart.
type noteSection struct {
	name  string
	head  string
	limit int // notes
	chars int // of the text of each
}

var (
	pinnedSection = noteSection{
		SectionPinned,
		"## Notes pinned by user\nThe user attached these notes to this conversation. Treat them as primary sources.\n",
		MaxPinned, PinnedChars,
	}
	linkedSection = noteSection{
		SectionLinked,
		"## Notes linked via entity fields\nThese notes were attached because entity fields refer to them.\n",
		MaxLinked, LinkedChars,
	}
	foundSection = noteSection{
		SectionSearch,
		"## Notes found by search\nThese notes were found by a search for the user's message. They may or may not be relevant.\n",
		MaxFound, FoundChars,
	}
)

const noteEnd = "---\n"

// notes renders a section of notes. A note that another section shows already
// is passed over.
func (b *builder) notes(spec noteSection, limit int, list []Note) {
	if len(list) == 0 {
		return
	}
	s := b.open(spec.name, spec.head, limit)
	taken := 0
	for _, n := range list {
		switch {
		case b.state[itemKey{KindNote, n.ID}] == isShown:
		case taken == spec.limit:
			b.drop(KindNote, n.ID, n.Title, OverLimit)
		default:
			// A note that finds no room has had its place all the same, so that
			// the report says which notes the section was for.
			taken++
			b.note(s, spec, n)
		}
	}
	b.close(s)
}

func (b *builder) note(s *section, spec noteSection, n Note) {
	head := "\n### [[" + EscapeInline(n.Title) + "]] [id:" + n.ID + "]\n"
	text, cut := noteText(n.Text, spec.chars)
	fixed := Chars(head) + Chars(noteEnd)
	if text != "" {
		fixed++ // the line end after the text
	}
	chars := Chars(text)
	if room := s.left() - fixed; chars > room {
		if room < MinNoteChars {
			b.drop(KindNote, n.ID, n.Title, OverBudget)
			return
		}
		text, cut = Cut(text, room)
		chars = Chars(text)
	}
	if text != "" {
		text += "\n"
	}
	s.add(Item{Kind: KindNote, ID: n.ID, Title: n.Title, Cut: cut, Reason: n.Reason}, fixed+chars, head, text, noteEnd)
}

// noteText escapes a text and cuts it to limit characters.
func noteText(text string, limit int) (string, bool) {
	// Escaping only adds, so what lies far behind the limit can't show. The
	// reserve lets Cut see the grapheme at the limit whole.
	const reserve = 64
	if end := runeOffset(text, limit+reserve); end < len(text) {
		text = text[:end]
	}
	return Cut(EscapeText(text), limit)
}
