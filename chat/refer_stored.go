package chat

// References say which notes and memories a message refers to: the wikilinks of its text, what a prompt and tools
// showed for it, each record once. This file and refer_*.go make them, write the list of them that a model is given
// behind a message, and show them to a reader. README.md has the rules and the promises.
//
// A [Reference] is one as it is stored: the members that clients see, and what is needed to decide later whether a
// reader may see all of them. Places are half-open and in UTF-16 code units of the text of the message, as it is
// stored; [RenderReferences] moves them to the text that the reader is shown.
//
// A link can mean one note for a person and another one, or none, for a remote model. So a message has one list for
// each of the two where they differ ([ReferenceLists]). Both are made when the message is stored and are not made anew:
// what was said of a reference stays. What has become private since is left out when a list is shown.
//
// Nothing here fails for what a text says: a link that leads nowhere is a reference that says so. Summaries may fail,
// and the references then have none ([ReferenceReader.Failed]). All functions take a time that is linear in the text
// and in what was shown; of a text 1,000 different targets are looked up.
//
// A [ReferenceReader] belongs to one call; the functions hold nothing.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Members of a stored message.
const (
	ReferencesMember       = "references"       // what it refers to, as who said it sees the notes
	PublicReferencesMember = "referencesPublic" // the same for remote readers; absent: it is the same
	ReferenceNoticeMember  = "referencesTold"   // see Told
	StandsOnMember         = "standsOn"         // a record.StandsOn: what it was made of beside its references
)

// Source is something that a message was made of.
type Source struct{ Kind, ID string }

// Kinds of sources.
const (
	NoteSource    = "note"
	MemorySource  = "memory"
	EntitySource  = "entity"
	TypeSource    = "type" // all entities of a type, by its fold
	MessageSource = "message"
	BookSource    = "book"
)

// Sources returns what a message that is not private was made of: when something of it becomes private, so does the
// message (PRIV-13).
func Sources(members map[string]json.RawMessage) (list []Source) {
	add := func(kind string, ids []string) {
		for _, id := range ids {
			list = append(list, Source{kind, id})
		}
	}
	add(NoteSource, UsedNotes(members))
	add(MemorySource, ReferencedMemories(members))
	var on record.StandsOn
	if data := members[StandsOnMember]; data != nil && json.Unmarshal(data, &on) == nil {
		add(NoteSource, on.Notes)
		add(MemorySource, on.Memories)
		add(EntitySource, on.Entities)
		for _, name := range on.Types {
			add(TypeSource, []string{entities.Fold(name)})
		}
		add(BookSource, on.Books)
		add(MessageSource, on.Messages)
		add(MemorySource, on.Messages) // which an insight may stand on
	}
	return list
}

// ReferenceLists are the references of a message: as who said it sees the notes, and as a remote reader sees them.
type ReferenceLists struct {
	Own    []Reference
	Public []Reference
	Same   bool // Public is not used: it is Own

	left, publicLeft bool // whether there were more
}

// ReadReferences has both lists made, by a function that is called with the Reader of each of the two. remote is nil where there
// are no private records. Whatever fails, it is no reason that nothing is said: there are no references then, or no
// summaries, and the error says why.
func ReadReferences(ctx context.Context, v, remote *audience.View, summarise Summarizer,
	list func(x *ReferenceReader) (refs []Reference, left bool),
) (l ReferenceLists, err error) {
	defer func() {
		if p := recover(); p != nil {
			l, err = ReferenceLists{Same: true}, fault.New(fault.Internal, "%v", p)
		}
	}()
	own := NewReferenceReader(ctx, v, summarise)
	l.Own, l.left = list(own)
	if l.Same = v.Hides() || remote == nil; l.Same {
		return l, own.Failed
	}
	public := NewReferenceReader(ctx, remote, summarise)
	l.Public, l.publicLeft = list(public)
	return l, cmp.Or(own.Failed, public.Failed)
}

// For returns the list for a reader.
func (l *ReferenceLists) For(v *audience.View) []Reference {
	if v.Hides() && !l.Same {
		return l.Public
	}
	return l.Own
}

// Keep gives put the members of a message that has these references and those to memories. A message without any has
// none.
func (l *ReferenceLists) Keep(memories []Reference, put func(name string, value json.RawMessage)) error {
	all := func(list []Reference) (json.RawMessage, error) {
		if list = slices.Concat(list, memories); len(list) == 0 {
			return json.RawMessage("[]"), nil
		}
		return json.Marshal(list)
	}
	own, err := all(l.Own)
	if err != nil {
		return err
	}
	public := own
	if !l.Same {
		if public, err = all(l.Public); err != nil {
			return err
		}
	}
	if len(l.Own)+len(memories) > 0 {
		put(ReferencesMember, own)
	}
	if !bytes.Equal(own, public) {
		put(PublicReferencesMember, public)
	}
	return nil
}

// Hides reports whether a message with these references is private: it is already, or a note that the model has read of
// is private by now, as a transaction sees it.
func (l *ReferenceLists) Hides(tx *kv.Tx, already bool) (bool, error) {
	list := l.Public // see Used
	if l.Same {
		list = l.Own
	}
	for i := range list {
		r := &list[i]
		if already || !r.Used || r.NoteID == "" {
			continue
		}
		source, err := notes.SourceTx(tx, r.NoteID)
		if err != nil {
			return false, err
		}
		already = source.Private
	}
	return already, nil
}

// Any reports whether there are references for any reader.
func (l *ReferenceLists) Any() bool { return len(l.Own)+len(l.Public) > 0 }

// Kept is the function Kept for the reader.
func (x *ReferenceReader) Kept(members map[string]json.RawMessage) []Reference {
	return StoredReferences(members, x.view)
}

// StoredReferences reads the references of a message for a reader. What this program does not understand is left out.
func StoredReferences(members map[string]json.RawMessage, v *audience.View) []Reference {
	data := members[ReferencesMember]
	if public, ok := members[PublicReferencesMember]; ok && v.Hides() {
		data = public
	}
	if data == nil {
		return nil
	}
	var all []json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	list := make([]Reference, 0, len(all))
	for _, one := range all {
		var r Reference
		if json.Unmarshal(one, &r) == nil {
			list = append(list, r)
		}
	}
	return list
}

// ReferencedMemories returns the ids of the memories that a message stands on.
func ReferencedMemories(members map[string]json.RawMessage) (ids []string) {
	var list []struct {
		MemoryID string `json:"memoryId"`
	}
	if data := members[ReferencesMember]; data == nil || json.Unmarshal(data, &list) != nil {
		return nil
	}
	for _, r := range list {
		if r.MemoryID != "" {
			ids = append(ids, r.MemoryID)
		}
	}
	return ids
}

// UsedNotes returns the ids of the notes that the model has read of for a message that is not private. Where lists differ, the
// own one also has private notes, which the message only links to.
func UsedNotes(members map[string]json.RawMessage) (ids []string) {
	data := members[ReferencesMember]
	if public, differs := members[PublicReferencesMember]; differs {
		data = public
	}
	var all []json.RawMessage
	if !bytes.Contains(data, []byte(`"used"`)) || json.Unmarshal(data, &all) != nil {
		return nil
	}
	for _, one := range all {
		var r struct {
			NoteID string `json:"noteId"`
			Used   bool   `json:"used"`
		}
		if json.Unmarshal(one, &r) == nil && r.Used && r.NoteID != "" && !slices.Contains(ids, r.NoteID) {
			ids = append(ids, r.NoteID)
		}
	}
	return ids
}

// RenderedMessage is a message whose references are shown.
type RenderedMessage struct {
	Content string
	Places  []markdown.Span // of Content that the reader is not shown; see audience.View.Masked
	// Replay tells that the reader was told of the references when the message was said, and is told the same again.
	Replay bool
}

// RenderReferences returns references as a reader may see them now. memory returns the number of a memory that he sees, 0 for none.
// For a remote reader what leads to a private record is not there, and places are those of the text that he is shown.
func RenderReferences(v *audience.View, list []Reference, m *RenderedMessage, memory func(id string) int64) []record.ChatReference {
	out := make([]record.ChatReference, 0, len(list))
	for i := range list {
		r := list[i].ChatReference
		if r.MemoryID != "" {
			if number := memory(r.MemoryID); number > 0 {
				out = append(out, record.ChatReference{MemoryID: r.MemoryID, Ref: fmt.Sprint("#", number), Used: r.Used})
			}
			continue
		}
		if r.Type != record.ReferDirect && r.Type != record.ReferSearch {
			continue // another program has written it
		}
		if v.Hides() && (!mask(v, &r, &list[i]) || !m.Replay && !unknown(v, &r)) {
			continue
		}
		r.Spans = m.moved(r.Spans)
		out = append(out, r)
	}
	return out
}

// mask takes out of a reference what a remote reader may not know; false: it is not there for him.
func mask(v *audience.View, r *record.ChatReference, stored *Reference) bool {
	if v.HidesNote(r.NoteID) || v.HidesEntity(r.EntityID) {
		return false
	}
	if l, ok := markdown.ParseLink(r.Wikilink); r.Kind == record.ReferAttachment && (!ok || v.Attachment(l.Target) == "") {
		return false
	}
	if v.TextOf("", r.Wikilink) != r.Wikilink {
		if r.Type == record.ReferDirect {
			return false
		}
		r.Wikilink = "" // the note is called as a private one by now
	}
	if r.Type != record.ReferDirect {
		r.Heading = v.TextOf("", r.Heading) // it is that of an excerpt
	}
	for _, id := range stored.Among {
		if v.HidesNote(id) {
			r.Reason = isAmbiguous
		}
	}
	for _, mark := range stored.Marks {
		if v.TextOf(r.NoteID, mark) != mark {
			r.Summary = ""
		}
	}
	if r.EntityID != "" {
		if e := v.Entity(r.EntityID); e == nil || r.Ref != "@"+v.MentionOf(e, e.Name) {
			r.Ref = ""
		}
	}
	r.Ref = v.TextOf("", r.Ref)
	r.Summary, r.Snippet, r.Reason = v.TextOf("", r.Summary), v.TextOf("", r.Snippet), v.TextOf("", r.Reason)
	return true
}

// unknown leaves of a reference to a note that is not here what the message itself says; false: nothing. Whether such a
// note was private is not known of one that came with an import.
func unknown(v *audience.View, r *record.ChatReference) bool {
	if r.NoteID == "" || v.Note(r.NoteID) != nil {
		return true
	}
	r.Path, r.Summary, r.Snippet = "", "", ""
	return r.Type == record.ReferDirect
}

// moved returns places of the content as places of what is shown of it; those that are not shown are none.
func (m *RenderedMessage) moved(spans [][2]int) [][2]int {
	if len(spans) == 0 || len(m.Places) == 0 {
		return spans
	}
	units := unitsOf{text: m.Content}
	instead := len(record.Withheld) // ASCII: as many code units
	out := make([][2]int, 0, len(spans))
	next, shift := 0, 0
	var start, end int // of the next place
	load := func() {
		if next < len(m.Places) {
			start, end = units.at(m.Places[next].Start), units.at(m.Places[next].End)
		}
	}
	load()
	for _, s := range spans {
		for next < len(m.Places) && end <= s[0] {
			shift += instead - (end - start)
			next++
			load()
		}
		if next < len(m.Places) && start < s[1] {
			continue
		}
		out = append(out, [2]int{s[0] + shift, s[1] + shift})
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// ReferenceWarnings says which references of an answer are not as they were meant, and that some of it or of its question were
// left out; question is nil where it was said before. What a remote reader would not be told is for local readers alone.
func ReferenceWarnings(answer, question *ReferenceLists) (out []record.ChatWarning) {
	told := func(about, message string, everybody bool) {
		if !everybody {
			about, message = record.AboutPrivate, about+": "+message
		}
		out = append(out, record.ChatWarning{About: about, Message: message})
	}
	more := 0
	for i := range answer.Own {
		r := &answer.Own[i]
		reason := r.Reason
		if len(r.Among) > 0 {
			reason = isAmbiguous // a warning stays, also when one of the notes becomes private
		}
		switch {
		case reason == "":
		case len(out) == mostWarnings:
			more++
		default:
			everybody := answer.Same || slices.ContainsFunc(answer.Public, func(o Reference) bool {
				return o.Wikilink == r.Wikilink && o.Reason == r.Reason
			})
			told(cmp.Or(r.Wikilink, r.Path), reason, everybody)
		}
	}
	if more > 0 {
		told(ReferencesMember, fmt.Sprintf("%d other references are not as they were meant", more), answer.Same)
	}
	if question == nil {
		question = &ReferenceLists{}
	}
	if answer.left || question.left {
		told(ReferencesMember, fmt.Sprintf("A message keeps %d references to notes, and the others were left out", MaxMessageReferences),
			answer.Same || answer.publicLeft || question.publicLeft)
	}
	return out
}

// mostWarnings is of how many references a warning stands each.
const mostWarnings = 10
