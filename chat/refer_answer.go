package chat

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// AnswerContext is what a model was shown for an answer.
type AnswerContext struct {
	Report *prompt.Report         // of its prompt; nil: it had none
	Tools  []record.ToolReference // by tools, each record once
}

// Give has the links of a text lead to the notes that its author was given, before all others (CTX-43): those of a prompt, of
// tools and of the question. The note that an entity is made from is given with it.
func (x *ReferenceReader) Give(question []Reference, shown *AnswerContext) {
	x.given = make(map[string]bool)
	for i := range question {
		x.given[question[i].NoteID] = true
	}
	for i := range shown.Tools {
		x.given[shown.Tools[i].NoteID] = true
	}
	if shown.Report != nil {
		for i := range shown.Report.Sections {
			for j := range shown.Report.Sections[i].Items {
				switch item := &shown.Report.Sections[i].Items[j]; item.Kind {
				case prompt.KindNote:
					x.given[item.ID] = true
				case prompt.KindEntity:
					if e := x.view.Entity(item.ID); e != nil {
						x.given[e.NoteID] = true
					}
				}
			}
		}
	}
	delete(x.given, "")
}

// Answer returns what an answer stands on: the notes that its question links to, those that it links to itself, those
// that tools showed, and those of its prompt. question are the references of the question, and links those
// of the text of the answer, as the same reader sees them.
func (x *ReferenceReader) Answer(question, links []Reference, shown *AnswerContext) (list []Reference, left bool) {
	given, inPrompt := x.prompted(shown.Report)
	named := make([]Reference, 0, len(question))
	for i := range question {
		r := question[i].clone()
		if r.MemoryID != "" {
			continue
		}
		r.Spans, r.Used = nil, inPrompt[r.NoteID]
		if r.NoteID != "" && x.view.Note(r.NoteID) == nil {
			if x.view.HidesNote(r.NoteID) {
				continue
			}
			r.Status, r.Reason = record.ReferDeleted, isDeleted
		}
		named = append(named, r)
	}
	for i := range links { // the model has cited what it links to
		links[i].Used = links[i].Status == record.ReferOK
	}
	return MergeReferences(named, links, x.byTools(shown.Tools), given)
}

// byTools returns references to the notes that tools showed.
func (x *ReferenceReader) byTools(list []record.ToolReference) (out []Reference) {
	for i := range list {
		t := &list[i]
		r, ok := x.found(t.NoteID, t.Title, t.Path)
		if !ok {
			continue
		}
		r.Heading, r.Snippet, r.Tools, r.Used = t.Heading, wholeLinks(t.Snippet), t.Tools, t.Used
		r.Ranges, r.Hash = united(nil, t.Ranges), t.Hash
		out = append(out, r)
	}
	return out
}

// howPrompted says for people how a note came into a prompt.
var howPrompted = map[string]string{
	prompt.SectionPinned: "Given with the message", prompt.SectionLinked: "Linked from a mentioned entity",
	prompt.SectionSearch: "Found by the search for the message",
}

// prompted returns references to the notes that stood in a prompt. Those that a person has named or pinned were meant
// to be read: inPrompt has their ids. The others count as used when the answer says so.
func (x *ReferenceReader) prompted(r *prompt.Report) (list []Reference, inPrompt map[string]bool) {
	inPrompt = make(map[string]bool)
	if r == nil {
		return nil, inPrompt
	}
	for i := range r.Sections {
		how, ok := howPrompted[r.Sections[i].Name]
		if !ok {
			continue
		}
		for j := range r.Sections[i].Items {
			item := &r.Sections[i].Items[j]
			if item.Kind != prompt.KindNote {
				continue
			}
			title, _, _ := strings.Cut(item.Title, "#") // of a part
			r, ok := x.found(item.ID, title, "")
			if !ok {
				continue
			}
			r.Snippet = how
			if item.Reason == prompt.PinnedInConversation {
				r.Snippet = "Pinned in the conversation"
			}
			if item.InFocus() {
				r.Snippet = "The conversation was about it"
			} else if how == howPrompted[prompt.SectionPinned] {
				r.Type, r.Used, inPrompt[item.ID] = record.ReferDirect, true, true
			}
			list = append(list, r)
		}
	}
	return list, inPrompt
}

// found returns the reference to a note that something has shown. ok is false for what is no note, or is none for the
// reader. A note that is gone has the title and the path that it was shown with.
func (x *ReferenceReader) found(id, title, path string) (r Reference, ok bool) {
	if id == "" || x.view.HidesNote(id) {
		return r, false
	}
	r.NoteID, r.Type, r.Status, r.Path = id, record.ReferSearch, record.ReferOK, path
	n := x.view.Note(id)
	if n == nil {
		r.Wikilink, r.Status, r.Reason = linkOf(title), record.ReferDeleted, isDeleted
		return r, true
	}
	r.Path, r.Wikilink = n.Path, x.linkTo(n)
	x.describe(&r)
	return r, true
}

// linkTo returns a link that leads to a note and that the reader is shown, by its title if it can be; "" where there is
// none.
func (x *ReferenceReader) linkTo(n *notes.Note) string {
	for _, target := range []string{x.view.TitleOf(n), strings.TrimSuffix(n.Path, ".md"), n.Path} {
		link := linkOf(target)
		if link != "" && x.view.ResolveNote(target, "").ID == n.ID && x.view.TextOf("", link) == link {
			return link
		}
	}
	return ""
}

// linkOf returns the link to a target; "" for what none can be written to.
func linkOf(target string) string {
	link := "[[" + target + "]]"
	if l, ok := markdown.ParseLink(link); ok && l.Target == target {
		return link
	}
	return ""
}

// wholeLinks leaves out a link at the end of a text that was cut within it: nobody could tell any more where it leads.
func wholeLinks(text string) string {
	open := strings.LastIndex(text, "[[")
	if open >= 0 && !strings.Contains(text[open:], "]]") {
		return strings.TrimRight(text[:open], " !") + prompt.Ellipsis
	}
	return text
}

// memoryReferences returns references to memories.
func memoryReferences(ids []string) []Reference {
	list := make([]Reference, len(ids))
	for i, id := range ids {
		list[i].MemoryID = id
	}
	return list
}

// StandsOn reports whether a tool or a prompt showed a note that somebody does not see.
func (s *AnswerContext) StandsOn(hidden func(noteID string) bool) bool {
	if slices.ContainsFunc(s.Tools, func(t record.ToolReference) bool { return hidden(t.NoteID) }) {
		return true
	}
	if s.Report == nil {
		return false
	}
	isHidden := func(i prompt.Item) bool { return i.Kind == prompt.KindNote && hidden(i.ID) }
	return slices.ContainsFunc(s.Report.Sections, func(section prompt.SectionReport) bool {
		return slices.ContainsFunc(section.Items, isHidden)
	})
}
