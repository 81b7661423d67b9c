package notes

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
)

// CountUnresolvedRefs counts the references in fields of a vault that lead to no record, for
// a reader as LinkCount says.
func (s *Store) CountUnresolvedRefs(vault string, sees func(*Note) bool) int {
	hidden := func(n *Note) bool { return n != nil && sees != nil && !sees(n) }
	return s.ents.CountUnresolved(func(e *entities.Entity) bool {
		n := s.Get(e.NoteID)
		return n != nil && n.Vault == vault && n.EntityID == e.ID && (sees == nil || !e.Private) && !hidden(n)
	}, func(f entities.Field, ref string) bool {
		if f.Type.Info().To == record.ToNote {
			n := s.Get(ref)
			return n != nil && !hidden(n)
		}
		e := s.ents.Get(ref)
		return e != nil && (sees == nil || !e.Private) && !hidden(s.Get(e.NoteID))
	})
}
