package notes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Outgoing returns the links of a note in the order of its text, and apart
// from them those that lead nowhere.
func (s *Store) Outgoing(id string) (resolved, unresolved []Link) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	resolved, unresolved = []Link{}, []Link{}
	n := s.index.numberOf(id)
	if n == nowhere {
		return resolved, unresolved
	}
	e, out := s.index.list[n], s.index.links(n)
	ambiguous := make(map[string][]fault.Candidate)
	for i, l := range e.note.Links() {
		link := Link{
			Target: l.Target, Heading: l.Heading, Block: l.Block, Alias: l.Alias, Embed: l.Embed, Markdown: l.Markdown,
			Line: l.Line,
		}
		if out[i] != nowhere {
			to := s.index.list[out[i]].note
			link.ID, link.Title, link.Path = to.ID, to.Title, to.Path
			resolved = append(resolved, link)
			continue
		}
		if link.Path = s.attachment(e.note, l, false); link.Path != "" {
			link.Kind = LinkToAttachment
			resolved = append(resolved, link)
			continue
		}
		if l.Possible() {
			continue
		}
		target := sought(l)
		candidates, known := ambiguous[target]
		if !known {
			candidates = s.candidates(s.index.candidates(s.index.resolve(target, n).several, n))
			ambiguous[target] = candidates
		}
		link.Candidates = candidates
		unresolved = append(unresolved, link)
	}
	return resolved, unresolved
}

// Incoming returns the notes that link to a note, by title, then by id.
func (s *Store) Incoming(id string) []Backlink {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := []Backlink{}
	n := s.index.numberOf(id)
	for _, from := range s.index.incoming(n) {
		e, to := s.index.list[from], s.index.links(from)
		b := Backlink{ID: e.note.ID, Title: e.note.Title, Path: e.note.Path}
		for i, l := range e.note.Links() {
			if to[i] != n {
				continue
			}
			if b.Count == 0 {
				b.Line = l.Line
			}
			b.Count++
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Backlink) int {
		return cmp.Or(entities.CompareNatural(a.Title, b.Title), strings.Compare(a.ID, b.ID))
	})
	return out
}

// Targets returns what the links of a note lead to: an id, or "" for nothing,
// for each of Note.Links.
func (s *Store) Targets(id string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []string
	for _, to := range s.index.outgoing(id) {
		if to == nowhere {
			out = append(out, "")
		} else {
			out = append(out, s.index.list[to].note.ID)
		}
	}
	return out
}

// Linked returns the ids of the notes that a note links to, each once, in the
// order of its text.
func (s *Store) Linked(id string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []string
	seen := make(map[num]bool)
	for _, to := range s.index.outgoing(id) {
		if to != nowhere && !seen[to] {
			seen[to] = true
			out = append(out, s.index.list[to].note.ID)
		}
	}
	return out
}

// Linking returns the ids of the notes that link to a note, in id order.
func (s *Store) Linking(id string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []string
	for _, from := range s.index.incoming(s.index.numberOf(id)) {
		out = append(out, s.index.list[from].note.ID)
	}
	slices.Sort(out)
	return out
}

// LinkCounts are the numbers of links in notes, every occurrence.
type LinkCounts struct {
	Links      int // wikilinks, and Markdown links to files
	Markdown   int // of them, those of Markdown
	Unresolved int // of all, those that lead nowhere
}

// LinkCount counts the links in the notes of a vault, or in all notes for "", for a
// reader who may know of the notes that sees says yes to; nil: of all.
func (s *Store) LinkCount(vault string, sees func(*Note) bool) LinkCounts {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var c LinkCounts
	skip := unseen(sees)
	for i := range s.index.list {
		e := &s.index.list[i]
		if e.note == nil || vault != "" && e.note.Vault != vault || sees != nil && !sees(e.note) {
			continue
		}
		out := s.index.links(num(i))
		c.Links += len(out)
		if sees == nil && !slices.Contains(out, nowhere) {
			c.Markdown += e.note.Places.Markdown(e.note.Body)
			continue
		}
		at := 0
		for l := range e.note.eachLink() {
			to := out[at]
			at++
			switch {
			case s.leads(num(i), l, to, skip):
			case l.Possible():
				c.Links--
				continue
			default:
				c.Unresolved++
			}
			if l.Markdown {
				c.Markdown++
			}
		}
	}
	return c
}

// unseen is the Skip of a reader who may know of the notes that sees says yes to.
func unseen(sees func(*Note) bool) Skip {
	if sees == nil {
		return nil
	}
	return func(n *Note) bool { return !sees(n) }
}

// leads reports whether a link of a note leads to a note or a file, without the notes that skip leaves out. to is what it
// leads to with all of them. The caller has the lock. It decides what World.Lead decides.
func (s *Store) leads(from num, l markdown.Link, to num, skip Skip) bool {
	if skip != nil && (to == nowhere || skip(s.index.list[to].note)) {
		to = s.index.resolveWithout(sought(l), from, skip).to
	}
	return to != nowhere || s.attachment(s.index.list[from].note, l, skip != nil) != ""
}

// Unresolved returns the targets of the links in the notes of a vault that
// lead nowhere, the most frequent first, then by name. Notes that skip leaves out are
// neither looked at nor candidates.
func (s *Store) Unresolved(vault string, skip Skip) []Unresolved {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var order []num
	for i := range s.index.list {
		if e := &s.index.list[i]; e.note != nil && e.note.Vault == vault && (skip == nil || !skip(e.note)) &&
			(e.many != nil || slices.Contains(e.out, nowhere)) {
			order = append(order, num(i))
		}
	}
	slices.SortFunc(order, func(a, b num) int {
		na, nb := s.index.list[a].note, s.index.list[b].note
		return cmp.Or(strings.Compare(na.Path, nb.Path), strings.Compare(na.ID, nb.ID))
	})
	byFold := make(map[string]*Unresolved)
	for _, n := range order {
		e, out := &s.index.list[n], s.index.links(n)
		for i, l := range e.note.Links() {
			if out[i] != nowhere || l.Possible() || s.leads(n, l, nowhere, skip) {
				continue
			}
			key := entities.Fold(strings.TrimSpace(l.Target))
			u := byFold[key]
			if u == nil {
				u = &Unresolved{
					Target:     l.Target,
					Candidates: s.candidates(s.index.candidates(s.index.resolveWithout(sought(l), n, skip).several, n)),
				}
				byFold[key] = u
			}
			u.Count++
			last := len(u.From) - 1
			switch {
			case last >= 0 && u.From[last].ID == e.note.ID:
				u.From[last].Count++
			case len(u.From) < maxCandidates:
				u.From = append(u.From,
					Backlink{ID: e.note.ID, Title: e.note.Title, Path: e.note.Path, Line: l.Line, Count: 1})
			}
		}
	}
	out := make([]Unresolved, 0, len(byFold))
	for _, u := range byFold {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Unresolved) int {
		return cmp.Or(b.Count-a.Count, entities.CompareNatural(a.Target, b.Target), strings.Compare(a.Target, b.Target))
	})
	return out
}

// Describe returns the notes of the given ids as candidates of an error.
func (s *Store) Describe(ids []string) []fault.Candidate {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.candidates(ids)
}

// maxCandidates is how many notes are named that a link may mean.
const maxCandidates = 20

func (s *Store) candidates(ids []string) []fault.Candidate {
	ids = ids[:min(len(ids), maxCandidates)]
	var out []fault.Candidate
	for _, id := range ids {
		if n := s.index.get(id); n != nil {
			out = append(out, fault.Candidate{ID: id, Title: n.Title, Path: n.Path})
		}
	}
	return out
}
