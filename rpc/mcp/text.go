package mcp

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
)

// What a model reads is written with the functions of this file: they escape
// titles, names, types and values as prompts do, so that none of them passes for
// the id of a record or for a line that this package wrote.

// noteLabel names a note within a line.
func noteLabel(title string) string { return "[[" + prompt.EscapeInline(title) + "]]" }

// entityLabel names an entity within a line.
func entityLabel(name, typ string) string {
	return "@" + prompt.EscapeInline(name) + " (" + prompt.EscapeInline(typ) + ")"
}

// idMark gives the id of what stands before it.
func idMark(id string) string { return " [id:" + id + "]" }

// inline is a value within a line, with one space for each run of blanks.
func inline(s string) string { return prompt.EscapeInline(oneLine(s)) }

// startOfLine is inline for a value that begins its line.
func startOfLine(s string) string { return prompt.EscapeLine(oneLine(s)) }

// inlineList is a list of values within a line.
func inlineList(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = inline(v)
	}
	return strings.Join(out, ", ")
}

// oneLine puts a text on one line, with one space for each run of blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func place(line, column int) string { return fmt.Sprintf(" at line %d, column %d", line, column) }

// plural is "1 note" and "2 notes".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
