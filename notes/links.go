package notes

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// Link is one wikilink of a note and what it leads to.
type Link struct {
	Target     string            `json:"target"`
	Heading    string            `json:"heading,omitempty"`
	Block      string            `json:"block,omitempty"`
	Alias      string            `json:"alias,omitempty"`
	Embed      bool              `json:"embed"`
	Line       int               `json:"line"`
	ID         string            `json:"id,omitempty"` // of the linked note; empty: unresolved
	Title      string            `json:"title,omitempty"`
	Path       string            `json:"path,omitempty"`
	Candidates []fault.Candidate `json:"candidates,omitempty"` // of an ambiguous link
}

// Backlink is a note that links to another, with the line of its first link.
type Backlink struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line"`
	Count int    `json:"count"`
}

// Outgoing returns the wikilinks of a note in the order of its text, and apart
// from them those that lead nowhere.
func (s *Store) Outgoing(id string) (resolved, unresolved []Link) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := s.index.notes[id]
	resolved, unresolved = []Link{}, []Link{}
	if n == nil {
		return resolved, unresolved
	}
	ambiguous := make(map[string][]fault.Candidate)
	for i, l := range n.Links {
		link := Link{Target: l.Target, Heading: l.Heading, Block: l.Block, Alias: l.Alias, Embed: l.Embed, Line: l.Line, ID: s.out[id][i]}
		if to := s.index.notes[link.ID]; to != nil {
			link.Title, link.Path = to.Title, to.Path
			resolved = append(resolved, link)
			continue
		}
		candidates, known := ambiguous[l.Target]
		if !known {
			candidates = s.candidates(s.index.resolve(l.Target, n).Candidates)
			ambiguous[l.Target] = candidates
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
	out := make([]Backlink, 0, len(s.in[id]))
	for from := range s.in[id] {
		n := s.index.notes[from]
		b := Backlink{ID: from, Title: n.Title, Path: n.Path}
		for i, to := range s.out[from] {
			if to != id {
				continue
			}
			if b.Count == 0 {
				b.Line = n.Links[i].Line
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
	return slices.Clone(s.out[id])
}

// Linked returns the ids of the notes that a note links to, each once, in the
// order of its text.
func (s *Store) Linked(id string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []string
	seen := make(map[string]bool)
	for _, to := range s.out[id] {
		if to != "" && !seen[to] {
			seen[to] = true
			out = append(out, to)
		}
	}
	return out
}

// Linking returns the ids of the notes that link to a note, in id order.
func (s *Store) Linking(id string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.in[id]))
}

// LinkCount returns the number of wikilinks in the notes of a vault, or in all
// notes for "", and how many of them lead nowhere.
func (s *Store) LinkCount(vault string) (links, unresolved int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for id, targets := range s.out {
		if vault != "" && s.index.notes[id].Vault != vault {
			continue
		}
		links += len(targets)
		for _, to := range targets {
			if to == "" {
				unresolved++
			}
		}
	}
	return links, unresolved
}

// Describe returns the notes of the given ids as candidates of an error.
func (s *Store) Describe(ids []string) []fault.Candidate {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.candidates(ids)
}

// maxCandidates is how many notes are named that a link may mean.
const maxCandidates = 20

func (s *Store) candidates(ids []string) []fault.Candidate {
	ids = ids[:min(len(ids), maxCandidates)]
	var out []fault.Candidate
	for _, id := range ids {
		if n := s.index.notes[id]; n != nil {
			out = append(out, fault.Candidate{ID: id, Title: n.Title, Path: n.Path})
		}
	}
	return out
}
