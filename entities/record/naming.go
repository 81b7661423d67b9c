package record

import (
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// Named is what names a note or an entity in an argument: written as it stands in an answer, in a note or on a screen.
type Named struct {
	Text   string // a title, name, alias, path or id
	ID     bool   // Text is an id
	Note   bool   // it was written as a link, or is the address of a note
	Entity bool   // it was written as a mention, or is the address of an entity
}

var (
	uuidForm = text.Pattern(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	markedID = text.Pattern(`^\[?id:\s*([A-Za-z0-9_-]{1,64})\]?$`)
)

// ParseNamed reads [[Title]], @Name and @[Name], [id:…], an address, or else a bare title, name, path or id. Of bare
// texts only a UUID is taken for an id: many titles could be one.
func ParseNamed(text string) Named {
	text = strings.TrimSpace(text)
	if m := markedID().FindStringSubmatch(text); m != nil {
		return Named{Text: m[1], ID: true}
	}
	if a, ok := ParseAddress(text); ok {
		return Named{Text: a.ID, ID: true, Note: a.Kind == NoteAddress, Entity: a.Kind == EntityAddress}
	}
	if uuidForm().MatchString(text) {
		return Named{Text: text, ID: true}
	}
	if inner, ok := strings.CutPrefix(strings.TrimPrefix(text, "!"), "[["); ok {
		return Named{Text: strings.TrimSuffix(inner, "]]"), Note: true}
	}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		if inner, whole := strings.CutPrefix(name, "["); whole {
			name = strings.TrimSuffix(inner, "]")
		}
		return Named{Text: name, Entity: true}
	}
	return Named{Text: text}
}
