package notes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// A Skip tells which notes to leave out, those that do not exist for the one who asks:
// the answer is that of a store without them. It is called with the Store locked and
// must not call it. A nil Skip leaves out none and costs nothing.
type Skip func(*Note) bool

// ByID returns the note of that id, or a NotFound fault.
func (s *Store) ByID(id string) (*Note, error) {
	if err := entities.CheckID("id", id); err != nil {
		return nil, err
	}
	if n := s.Get(id); n != nil {
		return n, nil
	}
	return nil, Missing(id)
}

// Missing is what ByID answers for an id that no note has.
func Missing(id string) error {
	return fault.Missing("note", id).WithHint("notes.complete and notes.search find notes by their text")
}

// ByPath returns the note of that path. Several vaults can have one: that is a
// Conflict with candidates.
func (s *Store) ByPath(p string, skip Skip) (*Note, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []ref
	for _, r := range s.index.visible(s.index.named(entities.Fold(baseOf(p))), byBase, nowhere, skip) {
		if s.index.list[r.num()].note.Path == p {
			list = append(list, r)
		}
	}
	return s.only(list, "path")
}

// ByTitle returns the note of that title or, when there is none, of that alias,
// both compared without case: a live one before an archived one. Several are a
// Conflict with candidates.
func (s *Store) ByTitle(title string, skip Skip) (*Note, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	named := s.index.named(entities.Fold(strings.TrimSpace(title)))
	list := s.index.preferred(s.index.visible(named, byTitle, nowhere, skip))
	if len(list) == 0 {
		list = s.index.preferred(s.index.visible(named, byAlias, nowhere, skip))
	}
	return s.only(list, "title")
}

// Unnamed is what ByPath and ByTitle answer when no note has that path or title.
func Unnamed(field string) error {
	return &fault.Error{
		Kind: fault.NotFound, Field: field, Msg: "no note has that " + field,
		Hint: "notes.complete finds notes by the beginning of their title",
	}
}

func (s *Store) only(list []ref, field string) (*Note, error) {
	switch len(list) {
	case 0:
		return nil, Unnamed(field)
	case 1:
		return s.index.list[list[0].num()].note, nil
	}
	return nil, &fault.Error{
		Kind: fault.Conflict, Reason: fault.Ambiguous, Field: field, Msg: "several notes have that " + field,
		Hint: "give the id of one of the candidates", Candidates: s.candidates(s.index.candidates(list, nowhere)),
	}
}

// Filter chooses notes. Empty members choose all.
type Filter struct {
	Archived bool // archived notes instead of live ones
	Tag      string
	Folder   string // and the folders in it
	Type     string // of the entity made from the note
	Vault    string
}

// List returns the chosen notes by title in natural order, then by id.
func (s *Store) List(f Filter) []*Note {
	var out []*Note
	tag, kind := entities.Fold(strings.TrimPrefix(f.Tag, "#")), entities.Fold(f.Type)
	for n := range s.All() {
		if n.Live() == f.Archived || f.Vault != "" && n.Vault != f.Vault || !inFolder(n, f.Folder) || !hasTag(n, tag) {
			continue
		}
		out = append(out, n)
	}
	if kind != "" {
		out = slices.DeleteFunc(out, func(n *Note) bool {
			e := s.ents.Get(n.EntityID)
			return e == nil || entities.Fold(e.Type) != kind
		})
	}
	slices.SortFunc(out, func(a, b *Note) int {
		return cmp.Or(entities.CompareNatural(a.Title, b.Title), strings.Compare(a.ID, b.ID))
	})
	return out
}

func inFolder(n *Note, folder string) bool {
	folder = strings.Trim(folder, "/")
	return folder == "" || n.Folder == folder || strings.HasPrefix(n.Folder, folder+"/")
}

// HasTag reports whether the note has a tag, given folded, or one below it: a/b
// is below a.
func (n *Note) HasTag(fold string) bool { return hasTag(n, fold) }

// EntityType returns the type of the entity made from a note, "" without one.
func (s *Store) EntityType(n *Note) string {
	if e := s.ents.Get(n.EntityID); e != nil {
		return e.Type
	}
	return ""
}

// hasTag reports whether a note has a tag or one below it: a/b is below a.
func hasTag(n *Note, fold string) bool {
	if fold == "" {
		return true
	}
	for _, t := range n.Tags {
		t = entities.Fold(t)
		if t == fold || strings.HasPrefix(t, fold+"/") {
			return true
		}
	}
	return false
}

// Tags returns the tags that begin with prefix and the number of live notes
// that have each, most frequent first, then by name.
func (s *Store) Tags(prefix string) []record.NoteTag {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tags.List(prefix)
}
