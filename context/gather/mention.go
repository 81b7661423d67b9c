package gather

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// mentions are the records that a call names, in its order: the explicit ids, then
// those of the text, each once.
type mentions struct {
	entities []string
	notes    []string
	own      int        // how many of notes the call names; those behind are pinned in its conversation
	memories []referral // typed ones, in the order of the prompt, then those that were attached
	query    string     // the message as it is searched for
	warnings []prompt.Warning
	dropped  []prompt.Dropped
	files    []mentionedFile            // that are no notes
	parts    map[string][]markdown.Part // of notes of which the text names only parts
	focus    *focus                     // of the conversation; nil: nothing was said before
	day      dayNote                    // that the message asks about

	said map[string]bool // unclear mentions that are in dropped
	view *audience.View
	told *audience.View // what the report may tell of
}

// mentioned resolves the mentions and references of a request. The errors are those of a store that can't be
// read, and of a context that has ended.
func mentioned(ctx context.Context, refs *Resolver, r *request) (*mentions, error) {
	m := &mentions{
		view: r.view, told: r.told, entities: make([]string, 0, len(r.MentionedEntityIDs)),
		notes: make([]string, 0, len(r.MentionedNoteIDs)), query: r.Text,
	}
	seen := make(map[string]bool)
	for _, id := range r.MentionedEntityIDs {
		m.once(seen, prompt.KindEntity, id, &m.entities, true)
	}
	seenNotes := make(map[string]bool)
	for _, id := range r.MentionedNoteIDs {
		m.once(seenNotes, prompt.KindNote, id, &m.notes, true)
	}
	if strings.ContainsAny(r.Text, "@#[") {
		read := markdown.ReadMessage(r.Text)
		m.links(seenNotes, &read)
		if err := m.references(ctx, refs, seen, &read); err != nil {
			return nil, err
		}
	}
	m.attached(r.AttachedMemoryIDs)
	m.pinned(seenNotes, r.pins.notes)
	if m.full() {
		m.dropped = append(m.dropped,
			prompt.Dropped{Kind: prompt.KindEntity, Title: "further mentions", Reason: prompt.OverLimit})
	}
	return m, nil
}

// links takes the notes in that a message links to. A picture is none.
func (m *mentions) links(seen map[string]bool, read *markdown.Message) {
	for _, l := range read.Links {
		if l.Picture() {
			continue
		}
		part, _ := markdown.PartOfLink(l)
		m.note(seen, l.Target, part)
	}
}

// maxMentions is how many mentions of a message count: more are no question.
const maxMentions = 1000

func (m *mentions) full() bool { return len(m.entities)+len(m.dropped) >= maxMentions }

// once appends an id to a list; one that is given twice by id is reported.
func (m *mentions) once(seen map[string]bool, kind, id string, list *[]string, explicit bool) {
	if !seen[id] {
		seen[id] = true
		*list = append(*list, id)
	} else if explicit {
		m.dropped = append(m.dropped, prompt.Dropped{Kind: kind, ID: id, Reason: prompt.Duplicate})
	}
}

func (m *mentions) unclear(kind, text string, candidates []prompt.Candidate) {
	reason := prompt.Unknown
	if len(candidates) > 0 {
		reason = prompt.Ambiguous
	}
	key := kind + "\x00" + text
	if m.said[key] {
		return
	}
	if m.said == nil {
		m.said = make(map[string]bool)
	}
	m.said[key] = true
	m.dropped = append(m.dropped, prompt.Dropped{Kind: kind, Title: text, Reason: reason, Candidates: candidates})
}

// note takes a link to a note, or to a part of one, in.
func (m *mentions) note(seen map[string]bool, target string, part markdown.Part) {
	if target == "" {
		return // a link into the message itself
	}
	res := m.view.ResolveNote(target, "")
	if res.ID == "" && len(res.Candidates) == 0 && m.told != m.view {
		res.ID = m.told.ResolveNote(target, "").ID // which is then reported as withheld
	}
	if res.ID != "" {
		m.chosen(target, res, seen)
		m.part(res.ID, part, seen[res.ID])
		m.once(seen, prompt.KindNote, res.ID, &m.notes, false)
		return
	}
	if file := m.view.Attachment(target); file != "" && len(res.Candidates) == 0 {
		m.file(target, file, part)
		return
	}
	var candidates []prompt.Candidate
	for _, c := range m.view.Candidates(res.Candidates) {
		candidates = append(candidates, prompt.Candidate{ID: c.ID, Title: c.Title, Vault: c.Vault, Path: c.Path})
	}
	m.unclear(prompt.KindNote, target, candidates)
}

// mentionedFile is an attachment of a vault that a message links to.
type mentionedFile struct {
	target, path string
	page         int // 0: none is named
}

// file takes a link to a file that is no note in, such as [[report.pdf]] or [[report.pdf#page=3]].
func (m *mentions) file(target, path string, part markdown.Part) {
	f := mentionedFile{target: target, path: path}
	if number, named := strings.CutPrefix(part.Heading, "page="); named {
		f.page, _ = strconv.Atoi(number)
	}
	if !slices.Contains(m.files, f) && len(m.files) < maxFiles {
		m.files = append(m.files, f)
	}
}

// maxFiles is how many files count that a message links to.
const maxFiles = 4

// maxOthers is how many notes of a name are named in a warning.
const maxOthers = 3

// chosen warns of a link that the rules have led to one of several files of its name.
func (m *mentions) chosen(target string, res notes.Resolution, seen map[string]bool) {
	if len(res.Others) == 0 || seen[res.ID] {
		return
	}
	list := m.view.Candidates(append([]string{res.ID}, res.Others[:min(len(res.Others), maxOthers)]...))
	if len(list) < 2 { // the reader sees no other
		return
	}
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = cmp.Or(c.Path, c.Title)
		if c.Vault != "" {
			names[i] += " (vault " + c.Vault + ")"
		}
	}
	others := strings.Join(names[1:], ", ")
	if more := len(res.Others) - maxOthers; more > 0 {
		others += " and " + strconv.Itoa(more) + " more"
	}
	m.warnings = append(m.warnings, prompt.Warning{
		Ref: "[[" + target + "]]", Message: names[0] + " was taken, and there is also " + others + "; write the path to mean one of them",
	})
}

// part adds a part of a note to those that are shown. A note that was named as a whole
// stays so, and one that is named as a whole later becomes so.
func (m *mentions) part(id string, part markdown.Part, seen bool) {
	known := m.parts[id]
	switch {
	case seen && len(known) == 0:
	case part == markdown.Part{}:
		delete(m.parts, id)
	case len(known) <= markdown.MaxParts && !slices.Contains(known, part):
		if m.parts == nil {
			m.parts = make(map[string][]markdown.Part)
		}
		m.parts[id] = append(known, part)
	}
}

// mention takes a mention in that is not of one record.
func (m *mentions) mention(seen map[string]bool, f *FoundReference) {
	switch {
	case f.Name == "":
	case len(f.Entities) > 0:
		m.name(seen, f.Name, f.Entities, nil)
	case f.Rest == "": // in brackets
		m.name(seen, f.Name, nil, func() []*entities.Entity { return m.told.Named(f.Name) })
	default:
		m.name(seen, f.Name, nil, func() []*entities.Entity {
			found, _ := m.told.MentionAt(f.Rest)
			return found
		})
	}
}

// name takes a mention of entities in. withheld finds those that the prompt's reader
// does not see and the report may tell of.
func (m *mentions) name(seen map[string]bool, text string, found []*entities.Entity,
	withheld func() []*entities.Entity,
) {
	if len(found) == 0 && withheld != nil && m.told != m.view {
		found = withheld()
	}
	if len(found) == 1 {
		m.once(seen, prompt.KindEntity, found[0].ID, &m.entities, false)
		return
	}
	m.view.LikeliestFirst(found)
	var candidates []prompt.Candidate
	for _, e := range found {
		if !m.view.SeesEntity(e) {
			continue
		}
		name, _ := m.view.Name(e)
		c := prompt.Candidate{ID: e.ID, Title: name, Type: e.Type}
		c.Vault, c.Path = m.view.PlaceOf(e.ID)
		candidates = append(candidates, c)
	}
	m.unclear(prompt.KindEntity, text, candidates)
}
