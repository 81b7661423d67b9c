package gather

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// mentions are the records that a message names, in the order of the call: the
// explicit ids, then those of the text, each once.
type mentions struct {
	entities []string
	notes    []string
	dropped  []prompt.Dropped
}

// mentioned resolves the mentions of a request.
func (g *Gatherer) mentioned(r *request) *mentions {
	m := &mentions{}
	seen := make(map[string]bool)
	for _, id := range r.MentionedEntityIDs {
		m.once(seen, prompt.KindEntity, id, &m.entities, true)
	}
	seenNotes := make(map[string]bool)
	for _, id := range r.MentionedNoteIDs {
		m.once(seenNotes, prompt.KindNote, id, &m.notes, true)
	}
	if r.Text == "" {
		return m
	}
	links := markdown.Links(r.Text)
	for _, l := range links {
		g.mentionNote(m, seenNotes, l)
	}
	for _, span := range markdown.Prose(r.Text) {
		g.mentionEntities(m, seen, r.Text, span, links)
	}
	return m
}

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
	for _, d := range m.dropped {
		if d.Kind == kind && d.ID == "" && d.Title == text {
			return // said already
		}
	}
	m.dropped = append(m.dropped, prompt.Dropped{Kind: kind, Title: text, Reason: reason, Candidates: candidates})
}

func (g *Gatherer) mentionNote(m *mentions, seen map[string]bool, l markdown.Link) {
	if l.Target == "" {
		return // a link into the message itself
	}
	res := g.notes.Resolve(l.Target, "")
	if res.ID != "" {
		m.once(seen, prompt.KindNote, res.ID, &m.notes, false)
		return
	}
	m.unclear(prompt.KindNote, l.Target, g.noteCandidates(res))
}

func (g *Gatherer) noteCandidates(res notes.Resolution) []prompt.Candidate {
	var out []prompt.Candidate
	for _, c := range g.notes.Describe(res.Candidates) {
		out = append(out, prompt.Candidate{ID: c.ID, Title: c.Title, Path: c.Path})
	}
	return out
}

// mentionEntities finds the @-mentions in one stretch of prose.
func (g *Gatherer) mentionEntities(m *mentions, seen map[string]bool, text string, span [2]int, links []markdown.Link) {
	for at := span[0]; at < span[1]; {
		next := strings.IndexByte(text[at:span[1]], '@')
		if next < 0 {
			return
		}
		at += next
		if end := linkEnd(links, at); end > 0 {
			at = end // a wikilink is a mention of its own
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		at++
		if before == '\\' || unicode.IsLetter(before) || unicode.IsDigit(before) || unicode.IsMark(before) {
			continue // an e-mail address, or meant as it stands
		}
		rest := text[at:span[1]]
		if inner, size, ok := bracketed(rest); ok {
			g.mentionName(m, seen, inner, g.entities.Named(inner))
			at += size
			continue
		}
		name, found := g.longestName(rest)
		switch {
		case len(found) > 0:
			g.mentionName(m, seen, name, found)
			at += len(name)
		default:
			if word := firstWord(rest); word != "" {
				m.unclear(prompt.KindEntity, word, nil)
				at += len(word)
			}
		}
	}
}

// linkEnd returns the end of the wikilink that a byte offset lies in, 0 for
// none.
func linkEnd(links []markdown.Link, at int) int {
	for _, l := range links {
		if l.Start <= at && at < l.End {
			return l.End
		}
	}
	return 0
}

// bracketed reads [Bob Smith] at the head of a text, on one line.
func bracketed(s string) (inner string, size int, ok bool) {
	if !strings.HasPrefix(s, "[") || strings.HasPrefix(s, "[[") {
		return "", 0, false
	}
	end := strings.IndexAny(s[1:], "[]\r\n")
	if end < 0 || s[1+end] != ']' || strings.TrimSpace(s[1:1+end]) == "" {
		return "", 0, false
	}
	return strings.TrimSpace(s[1 : 1+end]), end + 2, true
}

func (g *Gatherer) mentionName(m *mentions, seen map[string]bool, text string, found []*entities.Entity) {
	if len(found) == 1 {
		m.once(seen, prompt.KindEntity, found[0].ID, &m.entities, false)
		return
	}
	var candidates []prompt.Candidate
	for _, e := range found {
		candidates = append(candidates, prompt.Candidate{ID: e.ID, Title: e.Name, Type: e.Type})
	}
	m.unclear(prompt.KindEntity, text, candidates)
}

// longestName returns the longest name or alias that the text begins with and
// that ends at a word boundary (UAX 29), as it is written there, and the
// entities of that name. It looks no further than names go: O(longest name).
func (g *Gatherer) longestName(text string) (name string, found []*entities.Entity) {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	try := func(end int) bool {
		if !g.entities.HasNamePrefix(entities.Fold(text[:end])) {
			return false
		}
		if list := g.entities.Named(text[:end]); len(list) > 0 {
			name, found = text[:end], list
		}
		return true
	}
	for w := words.FromString(text); w.Next(); {
		// UAX 29 keeps "Alice's" and "Alice.Then" whole; a name may end there.
		for at, r := range w.Value() {
			if at > 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' {
				try(w.Start() + at)
			}
		}
		if !try(w.End()) {
			break
		}
	}
	return name, found
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
