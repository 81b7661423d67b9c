package gather

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
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

	said   map[string]bool // unclear mentions that are in dropped
	remote bool
}

// mentioned resolves the mentions of a request.
func (g *Gatherer) mentioned(ctx context.Context, r *request) *mentions {
	m := &mentions{remote: r.remote, entities: make([]string, 0, len(r.MentionedEntityIDs)), notes: make([]string, 0, len(r.MentionedNoteIDs))}
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
	s := mentionScan{g: g, m: m, seen: seen, text: r.Text, links: links}
	for _, span := range markdown.Prose(r.Text) {
		if ctx.Err() != nil || len(m.entities)+len(m.dropped) >= maxMentions {
			break
		}
		s.span(ctx, span)
	}
	if len(m.entities)+len(m.dropped) >= maxMentions {
		m.dropped = append(m.dropped, prompt.Dropped{Kind: prompt.KindEntity, Title: "further mentions", Reason: prompt.OverLimit})
	}
	return m
}

// maxMentions is how many mentions of a message count: more are no question.
const maxMentions = 1000

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

func (g *Gatherer) mentionNote(m *mentions, seen map[string]bool, l markdown.Link) {
	if l.Target == "" {
		return // a link into the message itself
	}
	res := g.notes.Resolve(l.Target, "")
	if res.ID != "" {
		m.once(seen, prompt.KindNote, res.ID, &m.notes, false)
		return
	}
	m.unclear(prompt.KindNote, l.Target, g.noteCandidates(res, m.remote))
}

// noteCandidates names the notes that a link may mean, without those that the
// audience must not know of.
func (g *Gatherer) noteCandidates(res notes.Resolution, remote bool) []prompt.Candidate {
	var out []prompt.Candidate
	for _, c := range g.notes.Describe(res.Candidates) {
		n := g.notes.Get(c.ID)
		if remote && n != nil && n.Private {
			continue
		}
		if n != nil && remote {
			c.Title, _ = g.maskedTitle(n)
		}
		out = append(out, prompt.Candidate{ID: c.ID, Title: c.Title, Path: c.Path})
	}
	return out
}

// mentionScan finds the @-mentions of a text from its beginning to its end.
type mentionScan struct {
	g     *Gatherer
	m     *mentions
	seen  map[string]bool
	text  string
	links []markdown.Link // those that end behind the last mention looked at
}

// span scans one stretch of prose.
func (s *mentionScan) span(ctx context.Context, span [2]int) {
	g, m, seen, text := s.g, s.m, s.seen, s.text
	for at := span[0]; at < span[1] && ctx.Err() == nil && len(m.entities)+len(m.dropped) < maxMentions; {
		next := strings.IndexByte(text[at:span[1]], '@')
		if next < 0 {
			return
		}
		at += next
		if end := s.linkEnd(at); end > 0 {
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
		if found, size := g.mentionAt(rest); size > 0 {
			g.mentionName(m, seen, rest[:size], found)
			at += size
		} else if word := firstWord(rest); word != "" {
			m.unclear(prompt.KindEntity, word, nil)
			at += len(word)
		}
	}
}

// mentionAt returns what a text behind an @ begins with: the entities that are
// meant, and the length of what names them, which is 0 for none.
func (g *Gatherer) mentionAt(text string) (found []*entities.Entity, size int) {
	if inner, size, ok := bracketed(text); ok {
		return g.entities.Named(inner), size
	}
	name, found := g.longestName(text)
	if handle := entities.HandleAt(text); len(handle) > len(name) {
		if of := g.entities.Handled(handle); len(of) > 0 {
			return of, len(handle)
		}
	}
	return found, len(name)
}

// linkEnd returns the end of the wikilink that a byte offset lies in, 0 for
// none. Offsets are asked for in rising order.
func (s *mentionScan) linkEnd(at int) int {
	for len(s.links) > 0 && s.links[0].End <= at {
		s.links = s.links[1:]
	}
	if len(s.links) > 0 && s.links[0].Start <= at {
		return s.links[0].End
	}
	return 0
}

// bracketed reads [Bob Smith] at the head of a text, on one line.
func bracketed(s string) (inner string, size int, ok bool) {
	if !strings.HasPrefix(s, "[") || strings.HasPrefix(s, "[[") {
		return "", 0, false
	}
	s = s[:min(len(s), maxNameBytes)]
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
		if m.remote && e.Private {
			continue
		}
		name := e.Name
		if m.remote {
			name, _ = g.maskedName(e)
		}
		candidates = append(candidates, prompt.Candidate{ID: e.ID, Title: name, Type: e.Type})
	}
	m.unclear(prompt.KindEntity, text, candidates)
}

// maxNameBytes is how much of a text a name can take up, with marks that
// folding takes out.
const maxNameBytes = 8 * entities.MaxName

// longestName returns the longest name or alias that the text begins with and
// that ends at a word boundary (UAX 29), as it is written there, and the
// entities of that name. It looks no further than names go: O(longest name).
func (g *Gatherer) longestName(text string) (name string, found []*entities.Entity) {
	if text == "" {
		return "", nil
	}
	if c := text[0]; c >= utf8.RuneSelf || !isWordByte(c) {
		// Before anything that costs more: a text may be of nothing but @.
		first := graphemes.FromString(text)
		first.Next()
		if _, beginning := g.entities.MatchName(entities.Fold(first.Value())); !beginning {
			return "", nil
		}
	}
	if len(text) > maxNameBytes {
		end := maxNameBytes
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	longest := 0
	plain := foldedStart(text)
	try := func(end int) bool {
		var fold string
		if end <= len(plain) {
			fold = plain[:end]
		} else {
			fold = entities.Fold(text[:end])
		}
		whole, beginning := g.entities.MatchName(fold)
		if whole {
			longest = end
		}
		return beginning
	}
	nameEnds(text, try)
	if longest == 0 {
		return "", nil
	}
	return text[:longest], g.entities.Named(text[:longest])
}

// foldedStart returns the fold of the ASCII that a text begins with, as far as
// most names go. It is as long as that, so the fold of a beginning is a beginning
// of the fold.
func foldedStart(text string) string {
	const most = 96
	n := 0
	for n < min(len(text), most) && text[n] < utf8.RuneSelf {
		n++
	}
	return entities.Fold(text[:n])
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isLineEnd(r rune) bool { return r == '\r' || r == '\n' }

// nameEnds calls try with the places where a name at the head of a text may
// end, from left to right, until it returns false or the line ends.
func nameEnds(text string, try func(end int) bool) {
	for w := words.FromString(text); w.Next(); {
		if isLineEnd(rune(w.Value()[0])) {
			return
		}
		if w.Value() == " " {
			continue // no name ends with a blank
		}
		// UAX 29 keeps "Alice's" and "Alice.Then" whole; a name may end there.
		for at, r := range w.Value() {
			if at > 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' {
				if !try(w.Start() + at) {
					return
				}
			}
		}
		if !try(w.End()) {
			return
		}
	}
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
