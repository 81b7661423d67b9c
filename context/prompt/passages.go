package prompt

import (
	"strconv"
	"strings"
)

// Passage is a passage of a book that may stand in a prompt. It is whole or not there.
type Passage struct {
	ID      string
	Cite    string // without its brackets: Book, section, p. N
	Book    string // title
	Section string // the headings above it, "" for none
	Page    int    // 0 for none
	Row     int    // likewise
	Body    NoteBody
	Reason  string // why it is a candidate, for the report
}

// passages renders the section of passages, the best first, as many whole ones as there is room for.
func (b *builder) passages(limit int, list []Passage) {
	if len(list) == 0 {
		return
	}
	s := b.open(SectionPassages, limit)
	for i := range list {
		p := &list[i]
		text, cut := b.style.noteText(p.Body, PassageChars)
		head := b.style.passage(p)
		mark := ""
		if b.style.marksNotes {
			mark = boundaryOf(b.secret, p.ID, p.Cite, text)
		}
		end := b.style.passageEnd
		if text != "" {
			end = "\n" + end
		}
		chars := Chars(head) + Chars(mark) + len(b.style.noteMid) + Chars(text) + len(end)
		if cut || chars > s.room || i >= MaxPassages {
			reason := OverBudget
			if i >= MaxPassages {
				reason = OverLimit
			}
			b.drop(KindPassage, p.ID, p.Cite, reason)
			continue
		}
		s.add(Item{Kind: KindPassage, ID: p.ID, Title: p.Cite, Reason: p.Reason}, chars, head, mark, b.style.noteMid, text, end)
	}
	b.close(s)
}

func markdownPassage(p *Passage) string {
	return "\n### Passage [" + EscapeInline(p.Cite) + "] [id:" + p.ID + "]\n"
}

func xmlPassage(p *Passage) string {
	var b strings.Builder
	b.WriteString("\n<passage")
	attribute(&b, "id", p.ID)
	attribute(&b, "cite", p.Cite)
	attribute(&b, "book", p.Book)
	attribute(&b, "section", p.Section)
	if p.Page > 0 {
		attribute(&b, "page", strconv.Itoa(p.Page))
	}
	if p.Row > 0 {
		attribute(&b, "row", strconv.Itoa(p.Row))
	}
	b.WriteString(` b="`)
	return b.String()
}
