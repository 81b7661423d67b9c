package gather

import (
	"context"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/notes/parts"
)

// mentions are the records that a call names, in its order: the explicit ids, then
// those of the text, each once.
type mentions struct {
	entities []string
	notes    []string
	memories []string // attached ones
	dropped  []prompt.Dropped
	parts    map[string][]parts.Part // of notes of which the text names only parts

	said map[string]bool // unclear mentions that are in dropped
	view *audience.View
	told *audience.View // what the report may tell of
}

// mentioned resolves the mentions of a request.
func mentioned(ctx context.Context, r *request) *mentions {
	m := &mentions{
		view: r.view, told: r.told, entities: make([]string, 0, len(r.MentionedEntityIDs)),
		notes: make([]string, 0, len(r.MentionedNoteIDs)),
	}
	seen := make(map[string]bool)
	for _, id := range r.MentionedEntityIDs {
		m.once(seen, prompt.KindEntity, id, &m.entities, true)
	}
	seenNotes := make(map[string]bool)
	for _, id := range r.MentionedNoteIDs {
		m.once(seenNotes, prompt.KindNote, id, &m.notes, true)
	}
	if len(r.AttachedMemoryIDs) > 0 {
		seen := make(map[string]bool)
		for _, id := range r.AttachedMemoryIDs {
			m.once(seen, prompt.KindMemory, id, &m.memories, true)
		}
	}
	if r.Text == "" {
		return m
	}
	behind := 0 // the last name
	for ref, rest := range markdown.Mentions(r.Text) {
		if ref.Kind == markdown.WikilinkRef {
			part, _ := parts.Of(markdown.ReadLink(r.Text[ref.Start:ref.End]))
			m.note(seenNotes, ref.Target, part)
			continue
		}
		if ctx.Err() != nil || m.full() {
			break
		}
		if ref.Start >= behind {
			behind = m.mention(seen, ref, rest)
		}
	}
	if m.full() {
		m.dropped = append(m.dropped,
			prompt.Dropped{Kind: prompt.KindEntity, Title: "further mentions", Reason: prompt.OverLimit})
	}
	return m
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
func (m *mentions) note(seen map[string]bool, target string, part parts.Part) {
	if target == "" {
		return // a link into the message itself
	}
	res := m.view.ResolveNote(target, "")
	if res.ID == "" && len(res.Candidates) == 0 && m.told != m.view {
		res.ID = m.told.ResolveNote(target, "").ID // which is then reported as withheld
	}
	if res.ID != "" {
		m.part(res.ID, part, seen[res.ID])
		m.once(seen, prompt.KindNote, res.ID, &m.notes, false)
		return
	}
	var candidates []prompt.Candidate
	for _, c := range m.view.Candidates(res.Candidates) {
		candidates = append(candidates, prompt.Candidate{ID: c.ID, Title: c.Title, Vault: c.Vault, Path: c.Path})
	}
	m.unclear(prompt.KindNote, target, candidates)
}

// part adds a part of a note to those that are shown. A note that was named as a whole
// stays so, and one that is named as a whole later becomes so.
func (m *mentions) part(id string, part parts.Part, seen bool) {
	known := m.parts[id]
	switch {
	case seen && len(known) == 0:
	case part == parts.Part{}:
		delete(m.parts, id)
	case len(known) <= parts.Max && !slices.Contains(known, part):
		if m.parts == nil {
			m.parts = make(map[string][]parts.Part)
		}
		m.parts[id] = append(known, part)
	}
}

// mention takes a mention in, of which rest is what follows the '@', and returns where
// the name ends.
func (m *mentions) mention(seen map[string]bool, ref markdown.Reference, rest string) (end int) {
	if !ref.Open() {
		m.name(seen, ref.Target, m.view.Named(ref.Target),
			func() []*entities.Entity { return m.told.Named(ref.Target) })
		return ref.End
	}
	found, size := m.view.MentionAt(rest)
	if size > 0 {
		m.name(seen, rest[:size], found, nil)
		return ref.End + size
	}
	word := firstWord(rest)
	if word != "" {
		m.name(seen, word, nil, func() []*entities.Entity {
			found, _ := m.told.MentionAt(rest)
			return found
		})
	}
	return ref.End + len(word)
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

// firstWord returns the word that an unknown mention begins with, "" when it
// is none.
func firstWord(text string) string {
	w := words.FromString(text)
	if !w.Next() {
		return ""
	}
	if r, _ := utf8.DecodeRuneInString(w.Value()); !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return ""
	}
	return w.Value()
}
