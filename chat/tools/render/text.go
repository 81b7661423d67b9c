package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// Note names a note within a line.
func Note(title string) string { return "[[" + prompt.EscapeInline(title) + "]]" }

// Entity names an entity within a line.
func Entity(name, typ string) string {
	return "@" + prompt.EscapeInline(name) + " (" + prompt.EscapeInline(typ) + ")"
}

// ID gives the id of what stands before it.
func ID(id string) string { return " [id:" + id + "]" }

// Inline is a value within a line, with one space for each run of blanks.
func Inline(s string) string { return prompt.EscapeInline(OneLine(s)) }

// Line is Inline for a value that begins its line.
func Line(s string) string { return prompt.EscapeLine(OneLine(s)) }

// List is a list of values within a line.
func List(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = Inline(v)
	}
	return strings.Join(out, ", ")
}

// ListUpTo is List, cut at most of them.
func ListUpTo(values []string, most int) string {
	text := List(values[:min(most, len(values))])
	if more := len(values) - most; more > 0 {
		text += fmt.Sprintf(" (+%d more)", more)
	}
	return text
}

// MaxListed is how many tags, aliases or links of a record stand in a line.
const MaxListed = 10

// OneLine puts a text on one line, with one space for each run of blanks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Timestamp is a time as answers show it.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Plural is "1 note" and "2 notes".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Location says where a note lies, behind a blank.
func Location(vault, path string) string {
	switch {
	case vault == "" && path == "":
		return ""
	case vault == "":
		return " " + Inline(path)
	}
	return " " + Inline(vault+":"+path)
}

// NoteLine names a note with its id, vault and path.
func NoteLine(id, title, vault, path string) string {
	return Note(title) + ID(id) + Location(vault, path)
}

// Candidate names a record that something may have meant.
func Candidate(c fault.Candidate) string {
	line := Inline(c.Title + c.Name)
	if c.Type != "" {
		line += " (" + Inline(c.Type) + ")"
	}
	return line + ID(c.ID) + Location(c.Vault, c.Path)
}

// lineOfText matches a line, whatever a reader takes for its end.
var lineOfText = regexp.MustCompile("[^\n\r\v\f\u0085\u2028\u2029]+")

// MapLines returns a text with each of its lines replaced by what fn makes of it.
func MapLines(text string, fn func(line string) string) string {
	return lineOfText.ReplaceAllStringFunc(text, fn)
}

// Quote writes a text of several lines so that none of them passes for one of the answer.
func Quote(text string) string {
	var b strings.Builder
	for _, line := range lineOfText.FindAllString(text, -1) {
		b.WriteString("> " + line + "\n")
	}
	return b.String()
}

// Corrections says which words were looked for in place of others.
func Corrections(words map[string]string) string {
	list := make([]string, 0, len(words))
	for _, w := range slices.Sorted(maps.Keys(words)) {
		list = append(list, Inline(words[w])+" instead of "+Inline(w))
	}
	return strings.Join(list, ", ")
}

// QueryProblem says in a line what is wrong with a part of a query, and what was meant if that is known.
func QueryProblem(text, message, nearest string) string {
	line := "Problem in the query: " + Inline(text) + ": " + Inline(message)
	if nearest != "" {
		line += "; did you mean " + Inline(nearest) + "?"
	}
	return line + "\n"
}
