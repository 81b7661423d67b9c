package chat

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Bounds of the references of a message.
const (
	MaxMessageReferences = 100 // notes; memories have a bound of their own

	maxTargets = 1_000     // different ones of a text that are looked up
	maxSpans   = 1_000     // of one note
	maxLink    = 2 << 10   // bytes of a link: no note has a longer title and path
	maxAmong   = 5         // notes that an ambiguous link names
	sourceSize = 256 << 10 // bytes of a note that its summary may name records of
	partSize   = 256 << 10 // bytes of a note in which a part is looked for
	maxMarks   = 16        // of a summary
)

// Why a reference is not as it was meant.
const (
	notFound    = "Document not found"
	noTarget    = "No note is given"
	archived    = "The note is archived"
	isAmbiguous = "Several notes are called so"
	isDeleted   = "The note was deleted meanwhile"
)

// Reference is a reference as it is stored.
type Reference struct {
	record.ChatReference
	// Marks are what the source of Summary refers to, as far as Summary names it: who may not know of that is not
	// shown the summary.
	Marks []string `json:"marks,omitempty"`
	// Among are the ids of the notes that an ambiguous link may mean, which Reason names.
	Among []string `json:"among,omitempty"`
}

// Summarizer says in a line what a note is about, as the reader of a View may see it; "" where it has no text. source is
// what it was made of, as it stands in the note.
type Summarizer func(ctx context.Context, v *audience.View, noteID string) (line, source string, err error)

// ReferenceReader reads references as the reader of a View sees the notes. It belongs to one call.
type ReferenceReader struct {
	ctx       context.Context
	view      *audience.View
	summarise Summarizer        // nil: there are no summaries
	given     []map[string]bool // ids of the notes that who wrote the text was given: its links lead to the first of them first

	// Failed is why a summary is missing; nil: none failed.
	Failed error
}

// NewReferenceReader returns the Reader of a View.
func NewReferenceReader(ctx context.Context, v *audience.View, summarise Summarizer) *ReferenceReader {
	return &ReferenceReader{ctx: ctx, view: v, summarise: summarise}
}

// Links returns a reference for each note that the wikilinks of a text lead to, and for each target that leads to none,
// in the order of the text. left tells that there are more than Max, which are left out. Pictures are none of them.
func (x *ReferenceReader) Links(text string) (list []Reference, left bool) {
	if !strings.Contains(text, "[[") {
		return nil, false
	}
	read := markdown.ReadMessage(text)
	at := make(map[string]int) // by target and by key of the reference: its place in list, -1 for none
	looked := 0
	units := unitsOf{text: text}
	for _, l := range read.Links {
		span := [2]int{units.at(l.Start), units.at(l.End)}
		if len(l.Raw) > maxLink {
			continue
		}
		target := targetOf(&l)
		i, known := at[target]
		if !known {
			if l.Picture() && x.view.Attachment(l.Target) == "" { // it may lie anywhere
				continue
			}
			if looked == maxTargets {
				left = true
				continue
			}
			looked++
			r := x.link(&l)
			key := keyOf(&r)
			if i, known = at[key]; !known {
				if i = len(list); i == MaxMessageReferences {
					i, left = -1, true
				} else {
					x.part(&r)
					x.describe(&r)
					list = append(list, r)
				}
				at[key] = i
			}
			at[target] = i
		}
		if i >= 0 && len(list[i].Spans) < maxSpans {
			list[i].Spans = append(list[i].Spans, span)
		}
	}
	return list, left
}

// targetOf tells links apart by what they lead to.
func targetOf(l *markdown.Link) string {
	if l.Target == "" {
		return "here/" + text.Fold(cmp.Or(l.Heading, l.Block))
	}
	return "target/" + text.Fold(l.Target)
}

func keyOf(r *Reference) string { return ReferenceKey(&r.ChatReference) }

// ReferenceKey is the same for two references to the same record: to a note or a memory, or to a target that leads to none.
func ReferenceKey(r *record.ChatReference) string {
	switch {
	case r.MemoryID != "":
		return "memory/" + r.MemoryID
	case r.NoteID != "":
		return "note/" + r.NoteID
	case r.EntityID != "":
		return "entity/" + r.EntityID
	case r.PassageID != "":
		return "passage/" + r.PassageID
	}
	l, _ := markdown.ParseLink(strings.TrimPrefix(r.Wikilink, "!"))
	return targetOf(&l)
}

// link returns the reference that a link makes, without a summary and not knowing whether its note has the part.
func (x *ReferenceReader) link(l *markdown.Link) (r Reference) {
	r.Wikilink, r.Heading, r.Block, r.Alias, r.Embed = l.Raw, l.Heading, l.Block, l.Alias, l.Embed
	r.Type, r.Status = record.ReferDirect, record.ReferBroken
	if l.Target == "" {
		r.Reason = noTarget
		return r
	}
	to, among := x.resolve(l, &r)
	n := x.view.Note(to.ID)
	switch {
	case n == nil && len(to.Candidates) > 0:
		x.ambiguous(&r, to.Candidates)
	case n == nil:
		r.Reason = notFound
		if file := x.view.Attachment(l.Target); file != "" {
			r.Kind, r.Path, r.Status, r.Reason = record.ReferAttachment, file, record.ReferOK, ""
		}
	case !n.Live():
		r.NoteID, r.Path, r.Reason = n.ID, n.Path, archived
	default:
		r.NoteID, r.Path, r.Status = n.ID, n.Path, record.ReferOK
		if among && len(to.Others) > 0 { // the rules of links chose between what was given
			x.among(&r, to.Others)
		}
	}
	return r
}

// resolve returns what a link leads to: among what its author was given first, where a title that no link can have is meant as
// it stands in the brackets; else among all notes.
func (x *ReferenceReader) resolve(l *markdown.Link, r *Reference) (to notes.Resolution, among bool) {
	for _, given := range x.given {
		to = x.view.ResolveAmong(l.Target, given)
		if to.ID != "" || len(to.Candidates) > 0 {
			return to, true
		}
		if id := x.titled(given, strings.TrimSuffix(strings.TrimPrefix(l.Raw, "[["), "]]")); id != "" {
			r.Heading, r.Block, r.Alias = "", "", ""
			return notes.Resolution{ID: id}, true
		}
	}
	return x.view.ResolveNote(l.Target, ""), false
}

// titled returns the note that was given under a title; "" for none, and for several.
func (x *ReferenceReader) titled(given map[string]bool, title string) (found string) {
	for id := range given {
		n := x.view.Note(id)
		if n == nil || text.Fold(x.view.TitleOf(n)) != text.Fold(title) {
			continue
		}
		if found != "" {
			return ""
		}
		found = id
	}
	return found
}

// part has a reference say that its note lacks the part that the link names.
func (x *ReferenceReader) part(r *Reference) {
	part := markdown.Part{Heading: r.Heading, Block: r.Block}
	n := x.view.Note(r.NoteID)
	if n != nil && r.Status == record.ReferOK && part != (markdown.Part{}) {
		r.Reason = x.lacks(n, part)
	}
}

// ambiguous has a reference say which notes its link may mean.
func (x *ReferenceReader) ambiguous(r *Reference, ids []string) {
	r.Status = record.ReferAmbiguous
	x.among(r, ids)
}

// among has a reference say which notes are called as its link is.
func (x *ReferenceReader) among(r *Reference, ids []string) {
	r.Reason = isAmbiguous
	list := x.view.Candidates(ids[:min(len(ids), maxAmong)])
	where := make([]string, 0, len(list))
	for _, c := range list {
		r.Among = append(r.Among, c.ID)
		where = append(where, placeOf(&c))
	}
	if more := len(ids) - maxAmong; more > 0 {
		where = append(where, "…")
	}
	r.Reason += ": " + strings.Join(where, ", ")
}

// placeOf says where a note lies that may be meant.
func placeOf(c *fault.Candidate) string {
	place := cmp.Or(c.Path, c.ID)
	if c.Vault != "" {
		return c.Vault + ":" + place
	}
	return place
}

// lacks says that a note has no such part; "" when it has it.
func (x *ReferenceReader) lacks(n *notes.Note, part markdown.Part) string {
	shown, err := x.view.ShownNote(x.ctx, n)
	if err != nil {
		x.Failed = err
		return ""
	}
	text := shown.Body
	if len(text) > partSize {
		return "" // it is not looked for, and may be there
	}
	_, text = prompt.SplitProperties(text)
	_, missing := markdown.FindParts(prompt.RenderNote(text), []markdown.Part{part})
	switch {
	case len(missing) == 0:
		return ""
	case part.Block != "":
		return "The note has no block ^" + part.Block
	}
	return "The note has no heading " + part.Heading
}

// describe adds the summary of the note that a reference leads to.
func (x *ReferenceReader) describe(r *Reference) {
	if x.summarise == nil || r.NoteID == "" || r.Status != record.ReferOK {
		return
	}
	n := x.view.Note(r.NoteID)
	if n == nil {
		return
	}
	summary, source, err := x.summarise(x.ctx, x.view, n.ID)
	if err != nil {
		x.Failed = err
		return
	}
	marks, all := marksOf(source, summary)
	if !all && x.view.Hides() {
		return
	}
	r.Summary, r.Marks = summary, marks
}

// marksOf returns what a summary says that stood in a link or a mention of its note: it may have lost its marks. all is
// false when there is more of it than is kept.
func marksOf(text, summary string) (marks []string, all bool) {
	if summary == "" {
		return nil, true
	}
	text = beginning(text, sourceSize)
	if !markdown.MayRefer(text) {
		return nil, true
	}
	for r := range markdown.References(text) {
		raw := text[r.Start:r.End]
		says := []string{r.Target}
		switch {
		case r.Open():
			raw = lineFrom(text[r.Start:])
			name, _, _ := strings.Cut(strings.TrimLeft(raw, "@["), " ")
			says[0] = name
		case r.Kind == markdown.WikilinkRef:
			if l, ok := markdown.ParseLink(raw); ok {
				says = append(says, l.Text())
			}
		default:
			says = append(says, "") // it may be a label: kept in any case
		}
		if len(raw) > maxLink || slices.Contains(marks, raw) {
			continue
		}
		if slices.ContainsFunc(says, func(s string) bool { return strings.Contains(summary, s) }) {
			if len(marks) == maxMarks {
				return nil, false
			}
			marks = append(marks, raw)
		}
	}
	return marks, true
}

// lineFrom returns the beginning of a text, in its first line.
func lineFrom(text string) string {
	line, _, _ := strings.Cut(beginning(text, 200), "\n") // as long as a name
	return line
}

// beginning returns so many bytes of a text, or a few less.
func beginning(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], "")
}

// unitsOf counts the UTF-16 code units before places of a text that are asked for in their order.
type unitsOf struct {
	text string
	done int // bytes
	unit int // code units before done
}

func (u *unitsOf) at(byteOffset int) int {
	u.unit += names.UTF16Len(u.text[u.done:byteOffset])
	u.done = byteOffset
	return u.unit
}
