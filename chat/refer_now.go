package chat

import (
	"cmp"
	"path"
	"strings"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Why a reference is not what it was when its message was said.
const (
	isGone = "The note was deleted"
	// NoteExistsNow is said of a link that led nowhere and leads to a note by now.
	NoteExistsNow = "There was no such note when the message was said"
)

// Now returns a reference to a note as it is now: the path of the note, and whether it is still there. What was said of
// it, the summary and the snippet, stays. A link that led nowhere may lead to a note by now.
func (x *ReferenceReader) Now(r record.ChatReference) record.ChatReference {
	if r.NoteID != "" {
		x.stands(&r)
		return r
	}
	if l, ok := markdown.ParseLink(r.Wikilink); ok && r.Type == record.ReferDirect {
		now, before := x.link(&l), r.Status
		r.NoteID, r.Path, r.Status, r.Reason, r.Kind = now.NoteID, now.Path, now.Status, now.Reason, now.Kind
		if r.Status == record.ReferOK && before != record.ReferOK {
			r.Reason = cmp.Or(r.Reason, NoteExistsNow)
		}
	}
	return r
}

// stands says whether the note of a reference is there.
func (x *ReferenceReader) stands(r *record.ChatReference) {
	n := x.view.Note(r.NoteID)
	switch {
	case n == nil:
		r.Status, r.Reason = record.ReferDeleted, isGone
	case !n.Live():
		r.Path, r.Status, r.Reason = n.Path, record.ReferBroken, archived
	default:
		r.Path, r.Status, r.Reason = n.Path, record.ReferOK, ""
		if part := partOf(r); part != (markdown.Part{}) && r.Type == record.ReferDirect {
			r.Reason = x.lacks(n, part)
		}
	}
}

// EntityNow says whether the entity of a reference is there.
func (x *ReferenceReader) EntityNow(r *record.ChatReference) {
	switch e := x.view.Entity(r.EntityID); {
	case e == nil:
		r.Status, r.Reason = record.ReferDeleted, "The entity was deleted"
	case !e.Live():
		r.Status, r.Reason = record.ReferBroken, "The entity is archived"
	default:
		r.Status, r.Reason = record.ReferOK, ""
	}
}

func partOf(r *record.ChatReference) markdown.Part {
	return markdown.Part{Heading: r.Heading, Block: r.Block}
}

// Label is what a person reads in the place of a reference to a note: the alias of its link, else the title of the note
// with the heading, else the title. A note that is gone is called as the link calls it.
func (x *ReferenceReader) Label(r *record.ChatReference) string {
	if e := x.view.Entity(r.EntityID); e != nil {
		return x.view.NameOf(e)
	}
	l, ok := markdown.ParseLink(r.Wikilink)
	if r.Type != record.ReferDirect {
		l.Alias, l.Heading, l.Block = "", "", "" // nobody has written the link
	}
	if n := x.view.Note(r.NoteID); n != nil {
		l.Target = x.view.TitleOf(n)
		return l.Text()
	}
	file := ""
	if r.Path != "" {
		file = strings.TrimSuffix(path.Base(r.Path), ".md")
	}
	if !ok { // another program has written it
		l = markdown.Link{}
	}
	return cmp.Or(l.Text(), strings.Trim(r.Wikilink, "![]"), file, r.NoteID, r.Ref)
}

// ReferenceAddress is where the note of a reference, or the part of it that is meant, can be opened; "" where none is meant.
func ReferenceAddress(r *record.ChatReference) string {
	switch {
	case r.EntityID != "":
		return record.Address{Kind: record.EntityAddress, ID: r.EntityID}.String()
	case r.NoteID == "":
		return ""
	}
	return record.Address{Kind: record.NoteAddress, ID: r.NoteID, Part: partOf(r).String()}.String()
}
