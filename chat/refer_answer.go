package chat

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// AnswerContext is what a model was shown for an answer.
type AnswerContext struct {
	Report *prompt.Report         // of its prompt; nil: it had none
	Tools  []record.ToolReference // by tools, each record once
	Text   string                 // what the model has answered
}

// Give has the links of a text lead to the notes that its author was given, before all others (CTX-43): those that the question
// names or that are pinned, then those of the rest of the prompt and of tools. The note that an entity is made from is given
// with it.
func (x *ReferenceReader) Give(question []Reference, shown *AnswerContext) {
	named, all := make(map[string]bool), make(map[string]bool)
	for i := range question {
		named[question[i].NoteID] = true
	}
	for i := range shown.Tools {
		all[shown.Tools[i].NoteID] = true
	}
	if shown.Report != nil {
		for i := range shown.Report.Sections {
			for j := range shown.Report.Sections[i].Items {
				item := &shown.Report.Sections[i].Items[j]
				id := item.ID
				if e := x.view.Entity(id); item.Kind == prompt.KindEntity && e != nil {
					id = e.NoteID
				} else if item.Kind != prompt.KindNote {
					continue
				}
				all[id] = true
				if item.Depth == 0 && slices.Contains([]string{prompt.SectionPinned, prompt.SectionEntities}, shown.Report.Sections[i].Name) {
					named[id] = true
				}
			}
		}
	}
	delete(named, "")
	delete(all, "")
	x.given = []map[string]bool{named, all}
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
	named = append(named, x.entities(shown.Report)...)
	for i := range links { // the model has cited what it links to
		links[i].Used = links[i].Status == record.ReferOK
	}
	return MergeReferences(named, links, x.byTools(shown.Tools), given, passages(shown))
}

// itemsOf visits the items of a section of a report, which may be nil.
func itemsOf(r *prompt.Report, section string) iter.Seq[*prompt.Item] {
	return func(yield func(*prompt.Item) bool) {
		if r == nil {
			return
		}
		for i := range r.Sections {
			if r.Sections[i].Name != section {
				continue
			}
			for j := range r.Sections[i].Items {
				if !yield(&r.Sections[i].Items[j]) {
					return
				}
			}
		}
	}
}

// entities returns references to the entities that the user named: to the note that one is made from, where there is one.
func (x *ReferenceReader) entities(r *prompt.Report) (list []Reference) {
	for item := range itemsOf(r, prompt.SectionEntities) {
		e := x.view.Entity(item.ID)
		if e == nil || item.Depth > 0 || item.InFocus() {
			continue
		}
		var one Reference
		if found, ok := x.found(e.NoteID, "", ""); ok && x.view.Note(e.NoteID) != nil {
			one = found
		}
		one.EntityID, one.Ref = e.ID, "@"+cmp.Or(x.view.MentionOf(e, e.Name), x.view.NameOf(e))
		one.Type, one.Status, one.Used, one.Snippet = record.ReferDirect, record.ReferOK, true, "Named in the message"
		list = append(list, one)
	}
	return list
}

// passages returns references to the passages of books that a model was shown: used are those that its answer cites.
func passages(shown *AnswerContext) (list []Reference) {
	answer := text.Fold(shown.Text)
	for item := range itemsOf(shown.Report, prompt.SectionPassages) {
		var r Reference
		r.PassageID, r.Ref, r.Type, r.Status = item.ID, item.Title, record.ReferSearch, record.ReferOK
		r.Snippet, r.Used = "Found by the search for the message", citesPassage(answer, text.Fold(item.Title))
		list = append(list, r)
	}
	return list
}

// citesPassage reports whether the fold of an answer cites a passage: as it was told to, or by the book and the page in one pair
// of brackets.
func citesPassage(answer, cite string) bool {
	if strings.Contains(answer, cite) {
		return true
	}
	parts := strings.Split(cite, ", ")
	book, place := parts[0], parts[len(parts)-1]
	if len(parts) < 2 {
		return false
	}
	for rest := answer; ; {
		_, after, found := strings.Cut(rest, "[")
		if !found {
			return false
		}
		inner, _, _ := strings.Cut(after, "]")
		if strings.HasPrefix(inner, book) && (strings.HasSuffix(inner, " "+place) || strings.HasSuffix(inner, ","+place)) {
			return true
		}
		rest = after
	}
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

// memoryReferences returns references to memories, of which some were used.
func memoryReferences(ids, used []string) []Reference {
	list := make([]Reference, len(ids))
	for i, id := range ids {
		list[i].MemoryID, list[i].Used = id, slices.Contains(used, id)
	}
	return list
}

// usedMemories returns those of the memories that a model was shown on which its answer stands: those that the user named or
// attached, those that the answer cites, and those that a tool gave and of which the answer has words. question is what was
// asked: its words say nothing.
func (s *Store) usedMemories(v *audience.View, ids []string, question string, shown *AnswerContext) (used []string) {
	if s.opts.Memories == nil || len(ids) == 0 {
		return nil
	}
	attached, given := make(map[string]bool), make(map[string]bool)
	for item := range itemsOf(shown.Report, prompt.SectionReferenced) { // which has the memories about what is named, too
		attached[item.ID] = item.Reason == prompt.AttachedByUser
	}
	for i := range shown.Tools {
		given[shown.Tools[i].MemoryID] = true
	}
	cited, named := citedMemories(shown.Text), citedMemories(question)
	by := func(said map[string]bool, m *record.MemoryRecord) bool {
		return said[m.ID] || said[fmt.Sprint("claim_", m.Number)] || m.Handle != "" && said[names.FoldHandle(m.Handle)]
	}
	var asked, answered map[string]bool
	if len(given) > 0 {
		asked, answered = tellingWords(question), tellingWords(shown.Text)
	}
	for i, m := range s.opts.Memories.Seen(v, ids) {
		switch {
		case m == nil:
		case attached[ids[i]], by(named, m), by(cited, m),
			strings.Contains(shown.Text, "id:"+m.ID), given[ids[i]] && holdsWords(answered, asked, m.Statement):
			used = append(used, ids[i])
		}
	}
	return used
}

// citedMemories returns what a text names memories by: ids, handles as they are compared, and claim_N.
func citedMemories(said string) map[string]bool {
	cited := make(map[string]bool)
	if !strings.ContainsAny(said, "@#") {
		return cited
	}
	parsed, err := refs.Parse(said, refs.Byte)
	if err != nil { // it is too long to be an answer of a model
		return cited
	}
	for _, r := range parsed.Refs {
		cited[r.ID], cited[names.FoldHandle(r.ID)] = true, true
	}
	return cited
}

// mostTelling is how many words of an answer are looked at.
const mostTelling = 10_000

// tellingWords returns the words of a text that tell something, the singular and the plural alike.
func tellingWords(said string) map[string]bool {
	words := make(map[string]bool)
	for _, w := range names.TellingWords(said, mostTelling) {
		if len(w) > len("s")+2 {
			w = strings.TrimSuffix(w, "s")
		}
		words[w] = true
	}
	return words
}

// holdsWords reports whether an answer has at least a third of the words that a statement tells beyond what was asked.
func holdsWords(answered, asked map[string]bool, statement string) bool {
	tells, held := 0, 0
	for w := range tellingWords(statement) {
		if asked[w] {
			continue
		}
		tells++
		if answered[w] {
			held++
		}
	}
	return held > 0 && 3*held >= tells
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
