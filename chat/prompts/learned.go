package prompts

import (
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/text"
)

// The names of the templates of learning.
const (
	ExtractName = "extract"
	CompareName = "compare"
)

// Extract is a message in which facts are looked for.
type Extract struct {
	Message string
	Kinds   []string // that a fact may have
}

// Compared is a pair of statements.
type Compared struct {
	Ref              string // by which the answer names it; short, of letters and digits
	Older, Newer     string
	OlderAt, NewerAt time.Time
}

type (
	extractData  struct{ Message, Kinds string }
	comparedData struct{ Ref, Older, Newer, OlderAt, NewerAt string }
	compareData  struct{ Pairs []comparedData }
)

// How much is shown of a message, and of a statement, in characters.
const (
	extractChars  = 8000
	comparedChars = 1000
)

// Extract returns the prompt for facts of a message. Of a long one the first 8,000 characters are shown.
func (s *Set) Extract(e Extract) Prompt {
	return s.render(ExtractName, extractData{Message: data(e.Message, extractChars), Kinds: attribute(strings.Join(e.Kinds, ", "))})
}

// Compare returns the prompt for pairs of statements. Of each statement the first 1,000 characters are shown, in one line.
func (s *Set) Compare(list []Compared) Prompt {
	var d compareData
	line := func(text string) string { return strings.Join(strings.Fields(data(text, comparedChars)), " ") }
	for _, p := range list {
		d.Pairs = append(d.Pairs, comparedData{attribute(p.Ref), line(p.Older), line(p.Newer), text.Day(p.OlderAt), text.Day(p.NewerAt)})
	}
	return s.render(CompareName, d)
}
