package prompts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// How much of a conversation is shown for its title, in characters of each text.
const titleChars = 2000

// How much of a note is shown for its summary, in characters.
const summaryChars = 1000

// Title is a conversation that wants a title.
type Title struct {
	Message string // what the person said first
	Answer  string // empty for none
}

// Item is something that is remembered.
type Item struct {
	Ref  string // by which the answer names it; short, of letters and digits
	Text string
}

// Distill is a message and what was found for it.
type Distill struct {
	Message string
	Items   []Item
}

// Summary is a note that wants to be described in a sentence.
type Summary struct {
	Text  string // its beginning, without markup
	Chars int    // of the sentence at most
}

// turnChars is how much of a message is shown for its outcome, in characters.
const turnChars = 500

// Turn is a message of a conversation.
type Turn struct{ Role, Text string }

// Outcome is the end of a conversation whose outcome is wanted.
type Outcome struct{ Turns []Turn }

type outcomeData struct{ Turns []Turn }

// Outcome returns the prompt for how a conversation went. Of each message the first 500 characters are shown.
func (s *Set) Outcome(o Outcome) Prompt {
	var out outcomeData
	for _, t := range o.Turns {
		out.Turns = append(out.Turns, Turn{Role: attribute(t.Role), Text: data(t.Text, turnChars)})
	}
	return s.render(OutcomeName, out)
}

// titleData, distillData and summaryData are what templates are given: all of their texts are escaped.
type (
	titleData   struct{ Message, Answer string }
	distillData struct {
		Message string
		Items   []Item
	}
	summaryData struct {
		Text  string
		Chars int
	}
)

// Title returns the prompt for a title. Long texts are cut.
func (s *Set) Title(t Title) Prompt {
	return s.render(TitleName, titleData{Message: data(t.Message, titleChars), Answer: data(t.Answer, titleChars)})
}

// Summary returns the prompt for a sentence about a note. Of its text the first 1,000 characters are shown.
func (s *Set) Summary(n Summary) Prompt {
	return s.render(SummaryName, summaryData{Text: data(n.Text, summaryChars), Chars: n.Chars})
}

// distillBytes is how much a prompt for a distillation shows at most, in bytes: what is escaped has up to five times as
// many.
const (
	distillBytes = 128 << 10
	marksBytes   = 32 // that a template adds to an item
)

// Distill returns the prompt for a distillation: the items in their order, as many of them as have room in 128 KiB with
// the message. The caller gives no more than the model can read.
func (s *Set) Distill(d Distill) Prompt {
	out := distillData{Message: data(d.Message, distillBytes/8)}
	left := distillBytes - min(len(d.Message), distillBytes/2)
	for _, item := range d.Items {
		if left -= marksBytes + len(item.Ref) + len(item.Text); left < 0 {
			break
		}
		out.Items = append(out.Items, Item{Ref: attribute(item.Ref), Text: data(item.Text, distillBytes)})
	}
	return s.render(DistillName, out)
}

// data makes a text safe between marks: it has no mark in it, and nothing that a person would not see. At most so many
// characters of it are given.
func data(s string, most int) string {
	if enough := utf8.UTFMax * (most + 1); len(s) > enough {
		s = s[:enough]
	}
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD")
	s, _ = text.Truncate(strings.TrimSpace(strings.Map(visible, s)), most)
	return escape.Replace(s)
}

// attribute makes a text safe within quotes, in one line.
func attribute(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(data(text, distillBytes)), " "), `"`, "&quot;")
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// visible leaves out what shows nothing, in which orders could be hidden from the person who reads the text. What joins
// letters and emoji stays: they look otherwise without it.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case text.IsBreak(r):
		return '\n'
	case r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Variation_Selector, r) && r < 0xE0000:
		return r
	case text.IsHidden(r):
		return -1
	}
	return r
}
