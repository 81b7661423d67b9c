package notes

import (
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities"
)

// SearchFilter narrows a search. Empty members choose all.
type SearchFilter struct {
	Tags     []string // all of them
	Folder   []string // any of them
	Types    []string // any of them
	After    time.Time
	Before   time.Time
	Archived bool // archived notes as well
}

// Chooser returns the test for notes that a filter lets through. It may be
// called concurrently, and asks the entities of the moment when it is.
func (s *Store) Chooser(f SearchFilter) func(*Note) bool {
	tags := make([]string, 0, len(f.Tags))
	for _, tag := range f.Tags {
		tags = append(tags, entities.Fold(strings.TrimPrefix(tag, "#")))
	}
	types := make([]string, 0, len(f.Types))
	for _, t := range f.Types {
		types = append(types, entities.Fold(t))
	}
	return func(n *Note) bool {
		if !n.Live() && !f.Archived || !f.After.IsZero() && n.UpdatedAt.Before(f.After) ||
			!f.Before.IsZero() && !n.UpdatedAt.Before(f.Before) {
			return false
		}
		for _, tag := range tags {
			if !hasTag(n, tag) {
				return false
			}
		}
		if len(f.Folder) > 0 &&
			!slices.ContainsFunc(f.Folder, func(folder string) bool { return inFolder(n, folder) }) {
			return false
		}
		if len(types) == 0 {
			return true
		}
		e := s.ents.Get(n.EntityID)
		return e != nil && slices.Contains(types, entities.Fold(e.Type))
	}
}
