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
	Note  *Note    // that note
	File  string   // path of a file that is no note
	Tier  Tier     // by what the note was found
	Among int      // how many notes it was chosen from, or could mean
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
	lead := w.leadTo(l, w.index.get(from), m)
	if lead.ID == "" {
		lead.Could = w.index.candidates(m.several, at)
	}
	return lead
}

// Leading remembers what many calls of Leads have looked up. Make one with new; notes must not change in between.
type Leading struct {
	alone map[num]bool     // whether a note is the only one of its file name
	leads map[memoKey]Lead // of links by names that many notes have
}

// Leads yields the links of a note and where they lead, as Lead does: without the tier, and of notes that a link could mean
// it says no more than how many they are. What the store has resolved is not resolved again where that was no choice.
func (w World) Leads(n *Note, known *Leading) iter.Seq2[markdown.Link, Lead] {
	if known.alone == nil {
		known.alone, known.leads = make(map[num]bool), make(map[memoKey]Lead)
	}
	var out []num
	if at := w.index.numberOf(n.ID); w.index.over == nil && w.skip == nil && at != nowhere {
		out = w.index.links(at)
	}
	return func(yield func(markdown.Link, Lead) bool) {
		i := -1
		for l := range n.eachLink() {
			i++
			lead := Lead{Among: 1}
			if i < len(out) && out[i] != nowhere && w.isAlone(out[i], known) {
				lead.Note = w.index.list[out[i]].note
				lead.ID = lead.Note.ID
			} else {
				lead = w.leadOnce(l, n, known)
			}
			if !yield(l, lead) {
				return
			}
		}
	}
}

// isAlone reports whether no other note, of whatever vault, has the file name of a note.
func (w World) isAlone(at num, known *Leading) bool {
	is, asked := known.alone[at]
	if !asked {
		n := w.index.list[at].note
		is = n.Path == "" || len(inRole(w.index.named(entities.Fold(baseOf(n.Path))), byBase)) == 1
		known.alone[at] = is
	}
	return is
}

// leadOnce is Lead without candidates. What many notes could be meant by is remembered.
func (w World) leadOnce(l markdown.Link, n *Note, known *Leading) Lead {
	key := memoKey{sought(l), n.Vault, n.Folder, n.Path != ""}
	anywhere := memoKey{fold: key.fold, vault: n.Vault}
	for _, k := range []memoKey{key, anywhere} {
		if lead, asked := known.leads[k]; asked {
			return lead
		}
	}
	m := w.index.resolveWithout(key.fold, w.index.byID[n.ID], w.skip)
	lead := w.leadTo(l, n, m)
	if m.among > seldom {
		if m.to == nowhere && lead.File == "" && !strings.Contains(key.fold, "/") {
			key = anywhere // a title or an alias, since no file has the name: a folder makes no difference
		}
		known.leads[key] = lead
	}
	return lead
}

// leadTo returns what a meaning of a link is, without candidates.
func (w World) leadTo(l markdown.Link, n *Note, m meaning) Lead {
	lead := Lead{Tier: m.tier, Among: m.among}
	switch {
	case m.to != nowhere:
		lead.Note = w.index.list[m.to].note
		lead.ID = lead.Note.ID
	case n != nil && l.Target != "":
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
