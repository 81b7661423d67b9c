package notes

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Tier says by what a link was resolved. Lower tiers are tried first.
type Tier string

// The tiers of resolution.
const (
	TierSelf  Tier = "self"  // [[#Heading]]: the note that the link stands in
	TierPath  Tier = "path"  // a path, or the tail of one
	TierName  Tier = "name"  // a file name
	TierTitle Tier = "title" // a title
	TierAlias Tier = "alias" // an alias
)

// Resolution is what a link leads to. ID is empty when it leads nowhere, and
// when it could mean several notes: then Candidates has them.
type Resolution struct {
	ID         string
	Tier       Tier
	Candidates []string
}

// index finds notes by what a link may call them. Keys are folded.
type index struct {
	notes  map[string]*Note
	folded map[string]string   // path without .md by id
	full   map[string][]string // the same the other way round
	bases  map[string][]string // file name without .md
	titles map[string][]string
	alias  map[string][]string
}

func newIndex() *index {
	return &index{
		notes: make(map[string]*Note), folded: make(map[string]string), full: make(map[string][]string), bases: make(map[string][]string),
		titles: make(map[string][]string), alias: make(map[string][]string),
	}
}

func (x *index) put(n *Note) {
	x.notes[n.ID] = n
	if n.Path != "" {
		x.folded[n.ID] = trimExt(entities.Fold(n.Path))
		enter(x.full, x.folded[n.ID], n.ID)
		enter(x.bases, entities.Fold(baseOf(n.Path)), n.ID)
	}
	enter(x.titles, entities.Fold(n.Title), n.ID)
	for _, a := range n.Aliases {
		enter(x.alias, entities.Fold(a), n.ID)
	}
}

func (x *index) remove(n *Note) {
	delete(x.notes, n.ID)
	if n.Path != "" {
		leave(x.full, x.folded[n.ID], n.ID)
		delete(x.folded, n.ID)
		leave(x.bases, entities.Fold(baseOf(n.Path)), n.ID)
	}
	leave(x.titles, entities.Fold(n.Title), n.ID)
	for _, a := range n.Aliases {
		leave(x.alias, entities.Fold(a), n.ID)
	}
}

func enter(m map[string][]string, key, id string) {
	if at, found := slices.BinarySearch(m[key], id); !found {
		m[key] = slices.Insert(m[key], at, id)
	}
}

func leave(m map[string][]string, key, id string) {
	ids := m[key]
	if at, found := slices.BinarySearch(ids, id); found {
		if ids = slices.Delete(ids, at, at+1); len(ids) == 0 {
			delete(m, key)
		} else {
			m[key] = ids
		}
	}
}

// keys returns the folded names under which links may call a note. A link can
// only change its meaning when a note with one of linkKeys(target) changes.
func keys(n *Note) []string {
	out := []string{entities.Fold(n.Title)}
	if n.Path != "" {
		out = append(out, entities.Fold(baseOf(n.Path)))
	}
	for _, a := range n.Aliases {
		out = append(out, entities.Fold(a))
	}
	return out
}

// linkKeys returns the keys that a link with this target is found under.
func linkKeys(target string) []string {
	whole := entities.Fold(strings.TrimSpace(target))
	if whole == "" {
		return nil
	}
	if base := entities.Fold(baseOf(whole)); base != whole {
		return []string{whole, base}
	}
	return []string{whole}
}

// resolve finds the note that target names in a link of the note from, which
// may be nil. It tries paths, then file names, titles and aliases, and stops
// at the first that any note answers to. Among several files the rules decide;
// several titles or aliases are never guessed between.
func (x *index) resolve(target string, from *Note) Resolution {
	target = strings.TrimSpace(target)
	if target == "" {
		if from == nil {
			return Resolution{}
		}
		return Resolution{ID: from.ID, Tier: TierSelf}
	}
	fold := entities.Fold(target)
	file := trimExt(fold)
	if ids := x.byPath(file, from); len(ids) > 0 {
		return Resolution{ID: x.best(ids, from), Tier: TierPath}
	}
	if !strings.Contains(file, "/") {
		if ids := x.visible(x.bases[file], from); len(ids) > 0 {
			return Resolution{ID: x.best(ids, from), Tier: TierName}
		}
	}
	if ids := x.preferred(x.visible(x.titles[fold], from)); len(ids) > 0 {
		return decide(ids, TierTitle)
	}
	if ids := x.preferred(x.visible(x.alias[fold], from)); len(ids) > 0 {
		return decide(ids, TierAlias)
	}
	return Resolution{}
}

func decide(ids []string, tier Tier) Resolution {
	if len(ids) == 1 {
		return Resolution{ID: ids[0], Tier: tier}
	}
	return Resolution{Tier: tier, Candidates: ids}
}

// byPath returns the notes whose path file means: from the root, from the
// folder of the note, or as the tail of a path.
func (x *index) byPath(file string, from *Note) []string {
	folder := ""
	if from != nil {
		folder = entities.Fold(folderOf(from.Path))
	}
	at := func(p string) []string { return x.visible(x.full[p], from) }
	switch {
	case strings.HasPrefix(file, "/"):
		return at(path.Clean(file)[1:])
	case strings.HasPrefix(file, "./"), strings.HasPrefix(file, "../"):
		return at(path.Join(folder, file))
	}
	file = path.Clean(file)
	if ids := at(file); len(ids) > 0 {
		return ids
	}
	if ids := at(path.Join(folder, file)); len(ids) > 0 {
		return ids
	}
	if !strings.Contains(file, "/") {
		return nil
	}
	var tails []string
	for _, id := range x.visible(x.bases[path.Base(file)], from) {
		if strings.HasSuffix(x.folded[id], "/"+file) {
			tails = append(tails, id)
		}
	}
	return tails
}

// visible returns the notes that a link of the note from can lead to: those of
// the same vault and those of none. Vaults are worlds of their own; only a link
// from nowhere, as in a message, sees all of them.
func (x *index) visible(ids []string, from *Note) []string {
	if from == nil || from.Vault == "" {
		return ids
	}
	for i, id := range ids {
		if v := x.notes[id].Vault; v == from.Vault || v == "" {
			continue
		}
		out := slices.Clone(ids[:i])
		for _, id := range ids[i+1:] {
			if v := x.notes[id].Vault; v == from.Vault || v == "" {
				out = append(out, id)
			}
		}
		return out
	}
	return ids
}

// preferred narrows ids to those not archived, when there are any.
func (x *index) preferred(ids []string) []string {
	if len(ids) < 2 {
		return ids
	}
	return narrow(ids, func(id string) bool { return x.notes[id].Live() })
}

func narrow(ids []string, keep func(string) bool) []string {
	var out []string
	for _, id := range ids {
		if keep(id) {
			out = append(out, id)
		}
	}
	if len(out) == 0 {
		return ids
	}
	return out
}

// best chooses among files of one name: those not archived if there are any,
// then the same folder, the shortest path, byte order.
func (x *index) best(ids []string, from *Note) string {
	return slices.MinFunc(x.preferred(ids), func(a, b string) int {
		na, nb := x.notes[a], x.notes[b]
		if from != nil {
			if inA, inB := na.Folder == from.Folder, nb.Folder == from.Folder; inA != inB {
				if inA {
					return -1
				}
				return 1
			}
		}
		return cmp.Or(cmp.Compare(len(na.Path), len(nb.Path)), strings.Compare(na.Path, nb.Path), strings.Compare(a, b))
	})
}

// targetOf returns the part of a link that names a note.
func targetOf(inner string) string { return markdown.ParseTarget(inner).Target }
