package notes

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes/markdown"
)

// A World is the notes as they are, or as they would be if some of them had other texts and
// paths. It is for asking where links lead; nothing is written. See Store.Suppose.
type World struct {
	s           *Store
	index       *index
	attachments *Attachments
	skip        Skip // see Without
}

// Lead is where a link leads to: to a note, to a file that is none, or nowhere.
type Lead struct {
	ID    string   // of a note
	File  string   // path of a file that is no note
	Tier  Tier     // by what the note was found
	Among int      // how many notes it was chosen from
	Could []string // the ids of those that it could mean, where that is not decided
}

// Suppose calls ask with the notes as they are. The store is locked for writing meanwhile: ask must not call it,
// and keeps no World.
func (s *Store) Suppose(ask func(World)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ask(World{s: s, index: s.index, attachments: &s.attachments})
}

// As returns a note as it would be with another text and path: with what the text says of it, and the aliases that are given
// apart from it.
func (w World) As(n *Note, path, body string, aliases []string) *Note {
	as, text := *n, read(body)
	given := n.Given.Get()
	given.Aliases = aliases
	as.Given = given.orNil()
	as.Body, as.Path, as.Folder, as.Places, as.Worked = body, path, folderOf(path), text.places, text.many
	as.describe(text, nil, w.s.maxName())
	return &as
}

// With returns the World in which notes are as the list has them; ids that no note has are new notes. It takes time for
// each note in the store, but little.
func (w World) With(list []*Note) World {
	x := *w.index
	x.list, x.byID, x.free, x.over = slices.Clone(x.list), maps.Clone(x.byID), nil, maps.Clone(x.over)
	x.many = maps.Clone(x.many)
	if x.over == nil {
		x.over = make(map[string][]ref)
	}
	for _, n := range list {
		if at, known := x.byID[n.ID]; known {
			x.remove(at)
		}
		x.put(n, namesOf(n, hashesOf(n)))
	}
	w.index = &x
	return w
}

// WithFiles returns the World in which the files of a vault that are no notes are those of the list.
func (w World) WithFiles(vault string, paths []string) World {
	w.attachments = newAttachments(vault, paths)
	return w
}

// Files returns the paths of the files of a vault that are no notes, in no order.
func (w World) Files(vault string) []string { return w.attachments.Paths(vault) }

// Without returns the World in which the notes that skip tells to leave out do not exist, nor files in private folders;
// nil leaves out none.
func (w World) Without(skip Skip) World {
	w.skip = skip
	return w
}

// Note returns the note of an id, or nil.
func (w World) Note(id string) *Note {
	if n := w.index.get(id); n != nil && (w.skip == nil || !w.skip(n)) {
		return n
	}
	return nil
}

// All yields all notes, in no order.
func (w World) All() iter.Seq[*Note] {
	return func(yield func(*Note) bool) {
		for i := range w.index.list {
			if n := w.index.list[i].note; n != nil && (w.skip == nil || !w.skip(n)) && !yield(n) {
				return
			}
		}
	}
}

// Like says in what two notes are alike.
type Like int

// What notes are found by.
const (
	LikePath  Like = iota // the path without its Markdown ending
	LikeFile              // the file name without it
	LikeTitle             // the title
	LikeAlias             // an alias
)

// Alike returns the notes of a vault that have a name, compared as links compare names, by path. O(those).
func (w World) Alike(vault, name string, by Like) (list []*Note) {
	key := entities.Fold(name)
	if by == LikePath || by == LikeFile {
		key = trimExt(key)
	}
	for _, r := range inRole(w.index.named(key), [...]role{byPath, byBase, byTitle, byAlias}[by]) {
		n := w.index.list[r.num()].note
		if n.Vault == vault && (w.skip == nil || !w.skip(n)) {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *Note) int { return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.ID, b.ID)) })
	return list
}

// Lead returns where a link of a note leads to. A text that could mean several notes leads nowhere.
func (w World) Lead(l markdown.Link, from string) Lead {
	at := w.index.numberOf(from)
	m := w.index.resolveWithout(sought(l), at, w.skip)
	if m.to != nowhere {
		return Lead{ID: w.index.list[m.to].note.ID, Tier: m.tier, Among: m.among}
	}
	lead := Lead{Could: w.index.candidates(m.several, at)}
	if n := w.index.get(from); n != nil && l.Target != "" {
		lead.File = w.attachments.Find(n.Vault, n.Folder, l.Target, w.s.attachmentSeen(w.skip != nil))
	}
	return lead
}

// Linking returns the ids of the notes with links that may lead elsewhere when what is called so changes, each once and
// in their order: names are titles, aliases and paths of notes and files.
func (w World) Linking(names []string) []string {
	found := make(map[string]bool)
	var keys []string
	for _, name := range names {
		keys = append(keys, entities.Fold(name), entities.Fold(baseOf(name)))
	}
	for _, key := range keys {
		for _, r := range inRole(w.index.named(key), byLink) {
			found[w.index.list[r.num()].note.ID] = true
		}
	}
	for _, n := range w.index.manyLinking(keys) {
		found[w.index.list[n].note.ID] = true
	}
	return slices.Sorted(maps.Keys(found))
}
