package prompt

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// Property is a field of the frontmatter of a note, in words.
type Property struct {
	Key   string `json:"key" jsonschema:"its name"`
	Value string `json:"value" jsonschema:"its value; items of a list are parted by commas"`
}

// What is shown of the properties of a note at most.
const (
	maxProperties    = 20    // lines
	maxPropertyChars = 1_000 // of all lines
	minValue         = 40    // a value is not cut to less
)

// Under returns the body with the lines of properties before it.
func (b NoteBody) Under(list []Property) NoteBody {
	bare := b.text
	b.text = WithProperties(list, bare)
	if b.whole != nil {
		all, above := *b.whole, text.CountChars(b.text)-text.CountChars(bare)
		all.size += above
		all.chars[proseClass] += above
		b.whole = &all
	}
	return b
}

// WithProperties returns a text with a line "key: value" for each property before it, and an empty
// line between. What is beyond MaxProperties or PropertyChars is counted.
func WithProperties(list []Property, s string) string {
	if len(list) == 0 {
		return s
	}
	var lines strings.Builder
	room, shown := maxPropertyChars, 0
	for _, p := range list[:min(len(list), maxProperties)] {
		line := p.line()
		size := text.CountChars(line)
		if size > room {
			if room < minValue {
				break
			}
			line, _ = text.Truncate(line, room)
			size = room
		}
		lines.WriteString(line)
		lines.WriteByte('\n')
		room -= size + 1
		shown++
	}
	if more := len(list) - shown; more > 0 {
		fmt.Fprintf(&lines, "(+%d more)\n", more)
	}
	if s == "" {
		return strings.TrimSuffix(lines.String(), "\n")
	}
	return lines.String() + "\n" + s
}

// line returns a property as a line that is nothing but text.
func (p Property) line() string {
	key := oneLine(p.Key)
	if i := strings.IndexFunc(key, func(r rune) bool { return !text.IsIndent(r) }); i >= 0 &&
		strings.IndexByte("#-+*_=>`~|\\", key[i]) >= 0 {
		key = key[:i] + `\` + key[i:]
	}
	return key + ": " + oneLine(p.Value)
}

// oneLine joins the lines of a text by blanks.
func oneLine(s string) string {
	breaks := func(r rune) bool { return text.IsBreak(r) }
	if strings.IndexFunc(s, breaks) < 0 {
		return strings.TrimSpace(s)
	}
	parts := strings.FieldsFunc(s, breaks)
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}
