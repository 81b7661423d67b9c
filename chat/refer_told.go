package chat

import (
	"strings"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// MaxReferenceNotice is how long the list behind a message is, in bytes.
const MaxReferenceNotice = 8_000

// ReferenceNotice says of a message that the model was given the list of its references behind it, and how. It is stored with the
// message: from it and the references, which don't change either, the same list is made again.
type ReferenceNotice struct {
	Bytes int  `json:"bytes"`           // how long the list may be
	Tools bool `json:"tools,omitempty"` // the model had read_note
}

const (
	toldHead = "\n\nReferenced Documents:\n"
	toldHint = "\nUse read_note for the full text of any of these.\n"
)

// List returns what stands behind a message for the model; "" for nothing. refs are the references of the message as
// the model may know of them. What does not fit is counted.
func (t *ReferenceNotice) List(refs []record.ChatReference) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	room := t.Bytes - len(toldHead) - len(toldHint)
	left, shown := 0, 0
	for i := range refs {
		r := &refs[i]
		if r.Type != record.ReferDirect || r.Wikilink == "" {
			continue
		}
		line := referenceLine(r)
		if left > 0 || b.Len()+len(line) > room {
			left++
			continue
		}
		b.WriteString(line)
		shown++
	}
	if shown == 0 {
		return ""
	}
	if left > 0 {
		b.WriteString("- and " + render.Plural(left, "other") + "\n")
	}
	if t.Tools {
		b.WriteString(toldHint)
	}
	return toldHead + strings.TrimSuffix(b.String(), "\n")
}

// referenceLine is the line of a reference.
func referenceLine(r *record.ChatReference) string {
	link, _ := markdown.ParseLink(r.Wikilink)
	name := link.Target
	if part, ok := markdown.PartOfLink(link); ok {
		name += "#" + part.String()
	}
	line := "- " + render.Note(name)
	if r.Status != record.ReferOK {
		return line + ": Warning - " + render.Inline(r.Reason) + "\n"
	}
	if r.Path != "" {
		line += " (" + render.Inline(r.Path) + ")"
	}
	if r.Summary != "" {
		line += ": " + render.Inline(r.Summary)
	}
	return line + "\n"
}
