package notes

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// CountUnresolvedRefs counts UnresolvedRefs.
func (s *Store) CountUnresolvedRefs(vault string, sees func(*Note) bool) (n int) {
	for _, count := range s.UnresolvedRefs(vault, sees) {
		n += count
	}
	return n
}

// UnresolvedRefs counts, by id of the note, the references in fields of a vault that lead to no record, for a reader as
// LinkCount says. A link that leads nowhere is none of them: LinkCount counts it.
func (s *Store) UnresolvedRefs(vault string, sees func(*Note) bool) map[string]int {
	count := make(map[string]int)
	s.ents.EachRef(func(e *entities.Entity) bool {
		n := s.Get(e.NoteID)
		return n != nil && n.Vault == vault && n.EntityID == e.ID && (sees == nil || !e.Private && sees(n))
	}, func(e *entities.Entity, f entities.Field, ref string) {
		if !s.RefLeads(f, ref, sees) && !s.isBrokenLink(ref, e.NoteID, unseen(sees)) {
			count[e.NoteID]++
		}
	})
	return count
}

// RefLeads reports whether a reference in a field is the id of a record, for a reader as LinkCount says.
func (s *Store) RefLeads(f entities.Field, ref string, sees func(*Note) bool) bool {
	hidden := func(n *Note) bool { return n != nil && sees != nil && !sees(n) }
	if f.Type.Info().To == record.ToNote {
		n := s.Get(ref)
		return n != nil && !hidden(n)
	}
	e := s.ents.Get(ref)
	return e != nil && (sees == nil || !e.Private) && !hidden(s.Get(e.NoteID))
}

// isBrokenLink reports whether a reference is a wikilink in the frontmatter of a note, and leads to no note and no file. A name
// without brackets is kept as a link, too, and a link to what the reader does not see as an id.
func (s *Store) isBrokenLink(ref, from string, skip Skip) bool {
	inner, isLink := record.LinkTarget(ref)
	if !isLink && skip == nil {
		return false
	}
	target := targetOf(inner)
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.index.numberOf(from)
	if at == nowhere {
		return false
	}
	n := s.index.list[at].note
	_, body := markdown.SplitFrontmatter(n.Body)
	for l := range n.eachLink() {
		if l.Start >= body {
			break
		}
		to := s.index.resolve(sought(l), at).to
		if isLink && !l.Markdown && l.Target == target || !isLink && to != nowhere && s.index.list[to].note.is(ref) {
			return !s.leads(at, l, to, skip)
		}
	}
	return false
}

// is reports whether an id is that of the note or of its entity.
func (n *Note) is(id string) bool { return id != "" && (n.ID == id || n.EntityID == id) }
