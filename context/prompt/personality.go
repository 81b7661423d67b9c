package prompt

import "strings"

// Personality is how the assistant is to speak, the first section of a prompt. All texts but Instructions are of one
// line; what is "" or empty is left out.
type Personality struct {
	ID         string
	Name       string
	Role       string
	Expertise  []string
	Background string
	// Instructions are the person's own, of any number of lines. They stand in the prompt as they are, and are the
	// only text of a prompt that is not escaped.
	Instructions string
	Lines        []string // what the options that were chosen say, of this program's own words
	Traits       []string
}

// ownMeaning says whose the first person in a message is.
const ownMeaning = `When the user says "my", it means what is the user's own: their notes, records, conversations and memories.`

// lines are what stands before the instructions and behind them, each escaped.
func (p *Personality) lines(escape func(string) string) (before, behind []string) {
	list := func(of []string) string {
		out := make([]string, len(of))
		for i, s := range of {
			out[i] = escape(s)
		}
		return strings.Join(out, ", ")
	}
	first := "You are " + escape(p.Name)
	if p.Role != "" {
		first += ", " + escape(p.Role)
	}
	before = append(before, first+".")
	if len(p.Expertise) > 0 {
		before = append(before, "You know about: "+list(p.Expertise)+".")
	}
	if p.Background != "" {
		before = append(before, "Background: "+escape(p.Background))
	}
	before = append(before, ownMeaning)
	behind = append(behind, p.Lines...)
	if len(p.Traits) > 0 {
		behind = append(behind, "Traits: "+list(p.Traits)+".")
	}
	return before, behind
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func markdownPersonality(p *Personality) string {
	before, behind := p.lines(EscapeInline)
	out := joined(before)
	if p.Instructions != "" {
		out += "\n" + p.Instructions + "\n"
		if len(behind) > 0 {
			out += "\n"
		}
	}
	return out + joined(behind)
}

func xmlPersonality(p *Personality) string {
	before, behind := p.lines(EscapeAttribute)
	out := joined(before)
	if p.Instructions != "" {
		out += "<instructions>\n" + p.Instructions + "\n</instructions>\n"
	}
	return out + joined(behind)
}

// PersonalitySection renders a personality as it stands in a prompt, with what is around it.
func PersonalitySection(p *Personality, f Format) string {
	s := f.style()
	frame := s.frames[SectionPersonality]
	return frame.head + s.personality(p) + frame.tail
}

// personality renders the section, whole or not at all.
func (b *builder) personality(limit int, p *Personality) {
	if p == nil {
		return
	}
	text := b.style.personality(p)
	s := b.open(SectionPersonality, limit)
	if size := Chars(text); size > s.room {
		b.drop(KindPersonality, p.ID, p.Name, OverBudget)
	} else {
		s.add(Item{Kind: KindPersonality, ID: p.ID, Title: p.Name, Reason: "the personality that was chosen"}, size, text)
	}
	b.close(s)
}
