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
	Others     []string // of a note by its file: those that are called so too, the nearest first, without archived ones
	Among      int      // how many notes it was chosen from, archived ones included
}

// linkKeys returns the keys that a link with this target is found under. A link can
// only change its meaning when a note that has one of them for a name, or for its file
// name, changes.
func linkKeys(target string) []string {
	list, n := linkNamesOf(target).keys()
	return list[:n]
}

// meaning is what a link leads to.
type meaning struct {
	to      num // nowhere when it leads nowhere, or could mean several notes
	tier    Tier
	several []ref // those that it could mean
	among   int   // see Resolution
}

// resolve finds the note that target names in a link of the note from, which
// may be nowhere. It tries paths, then file names, titles and aliases, and stops
// at the first that any note answers to. Among several files the rules decide;
// several titles or aliases are never guessed between, and neither are vaults.
func (x *index) resolve(target string, from num) meaning {
	return x.resolveWithout(target, from, nil)
}

// resolveWithout is resolve without the notes that skip tells to leave out.
func (x *index) resolveWithout(target string, from num, skip Skip) meaning {
	target = strings.TrimSpace(target)
	if target == "" {
		if from == nowhere {
			return meaning{to: nowhere}
		}
		return meaning{to: from, tier: TierSelf}
	}
	fold := entities.Fold(target)
	return x.resolveFoldWithout(fold, x.named(fold), from, skip)
}

// resolveFold is resolve for the fold of a target and the notes that it names.
func (x *index) resolveFold(fold string, named []ref, from num) meaning {
	return x.resolveFoldWithout(fold, named, from, nil)
}

func (x *index) resolveFoldWithout(fold string, named []ref, from num, skip Skip) meaning {
	if file, ok := strings.CutPrefix(fold, fileMark); ok {
		return x.resolveFile(trimExt(file), from, skip)
	}
	file, files := trimExt(fold), named
	if len(file) < len(fold) {
		files = x.named(file)
	}
	if from == nowhere {
		if m, ok := x.betweenVaults(file, files, skip); ok {
			return m
		}
	}
	if list := x.byPath(file, files, from, skip); len(list) > 0 {
		return meaning{to: x.best(list, from), tier: TierPath, among: len(list)}
	}
	if len(files) > 0 && !strings.Contains(file, "/") {
		if list := x.visible(files, byBase, from, skip); len(list) > 0 {
			return meaning{to: x.best(list, from), tier: TierName, among: len(list)}
		}
	}
	if list := x.preferred(x.visible(named, byTitle, from, skip)); len(list) > 0 {
		return decide(list, TierTitle)
	}
	if list := x.preferred(x.visible(named, byAlias, from, skip)); len(list) > 0 {
		return decide(list, TierAlias)
	}
	return meaning{to: nowhere}
}

// resolveFile is resolve for the fold of the target of a Markdown link, without its ending:
// a file, and never a title or an alias.
func (x *index) resolveFile(file string, from num, skip Skip) meaning {
	if from != nowhere && !strings.HasPrefix(file, "/") {
		beside := path.Join(folderOf(x.list[from].path), file)
		if list := x.visible(x.named(beside), byPath, from, skip); len(list) > 0 {
			return meaning{to: x.best(list, from), tier: TierPath, among: len(list)}
		}
	}
	files := x.named(file)
	if list := x.byPath(file, files, from, skip); len(list) > 0 {
		return meaning{to: x.best(list, from), tier: TierPath, among: len(list)}
	}
	if list := x.visible(files, byBase, from, skip); len(list) > 0 {
		return meaning{to: x.best(list, from), tier: TierName, among: len(list)}
	}
	return meaning{to: nowhere}
}

func decide(list []ref, tier Tier) meaning {
	if len(list) == 1 {
		return meaning{to: list[0].num(), tier: tier, among: 1}
	}
	return meaning{to: nowhere, tier: tier, several: list, among: len(list)}
}

// betweenVaults decides what a link from nowhere means by a path or a file name, where files
// of several vaults answer to it: the best of each vault is a candidate. It is not ok where
// they lie in one vault, or in none: then the rules choose.
func (x *index) betweenVaults(file string, files []ref, skip Skip) (m meaning, ok bool) {
	list, tier := x.visible(files, byBase, nowhere, skip), TierName
	if strings.Contains(file, "/") {
		list, tier = x.byPath(file, files, nowhere, skip), TierPath
		if !strings.HasPrefix(file, "/") && !strings.HasPrefix(file, ".") {
			list = append(slices.Clip(list), x.tails(path.Clean(file), nowhere, skip)...)
		}
	}
	if !x.inVaults(list) {
		return m, false
	}
	among := len(list)
	list = x.preferred(list)
	if !x.inVaults(list) {
		return meaning{to: x.best(list, nowhere), tier: tier, among: among}, true
	}
	several := x.byVault(list)
	for _, r := range list {
		if x.list[r.num()].note.Vault == "" {
			several = append(several, r)
		}
	}
	return meaning{to: nowhere, tier: tier, several: several, among: among}, true
}

// inVaults reports whether notes lie in two vaults or more.
func (x *index) inVaults(list []ref) bool {
	first := ""
	for _, r := range list {
		switch vault := x.list[r.num()].note.Vault; {
		case vault == "" || vault == first:
		case first != "":
			return true
		default:
			first = vault
		}
	}
	return false
}

// byVault returns the best of the files in each vault, without those in none.
func (x *index) byVault(list []ref) (best []ref) {
	at := make(map[string]int)
	for _, r := range list {
		vault := x.list[r.num()].note.Vault
		if vault == "" {
			continue
		}
		i, known := at[vault]
		switch {
		case !known:
			at[vault] = len(best)
			best = append(best, r)
		case x.best([]ref{best[i], r}, nowhere) == r.num():
			best[i] = r
		}
	}
	return best
}

// byPath returns the notes whose path file means: from the root, from the
// folder of the note, or as the tail of a path. files are the notes that file
// names.
func (x *index) byPath(file string, files []ref, from num, skip Skip) []ref {
	folder := ""
	if from != nowhere {
		folder = folderOf(x.list[from].path)
	}
	switch {
	case strings.HasPrefix(file, "/"):
		return x.visible(x.named(path.Clean(file)[1:]), byPath, from, skip)
	case strings.HasPrefix(file, "./"), strings.HasPrefix(file, "../"):
		return x.visible(x.named(path.Join(folder, file)), byPath, from, skip)
	}
	if strings.Contains(file, "/") {
		file = path.Clean(file)
		files = x.named(file)
	}
	if list := x.visible(files, byPath, from, skip); len(list) > 0 {
		return list
	}
	// A file in the folder has the name for its file name too.
	if folder != "" && (strings.Contains(file, "/") || len(inRole(files, byBase)) > 0) {
		if list := x.visible(x.named(path.Join(folder, file)), byPath, from, skip); len(list) > 0 {
			return list
		}
	}
	if !strings.Contains(file, "/") {
		return nil
	}
	return x.tails(file, from, skip)
}

// tails returns the notes whose path ends with a path behind a folder.
func (x *index) tails(file string, from num, skip Skip) (tails []ref) {
	for _, r := range x.visible(x.named(path.Base(file)), byBase, from, skip) {
		if strings.HasSuffix(x.list[r.num()].path, "/"+file) {
			tails = append(tails, r)
		}
	}
	return tails
}

// visible returns those of the notes that are named in that role and that a link
// of the note from can lead to: the notes of the same vault and those of none.
// Vaults are worlds of their own; only a link from nowhere, as in a message, sees
// all of them.
func (x *index) visible(list []ref, as role, from num, skip Skip) []ref {
	list = inRole(list, as)
	if skip != nil {
		list = x.without(list, skip)
	}
	if from == nowhere || len(list) == 0 {
		return list
	}
	vault := x.list[from].note.Vault
	if vault == "" {
		return list
	}
	sees := func(r ref) bool {
		v := x.list[r.num()].note.Vault
		return v == vault || v == ""
	}
	for i, r := range list {
		if sees(r) {
			continue
		}
		out := slices.Clone(list[:i])
		for _, r := range list[i+1:] {
			if sees(r) {
				out = append(out, r)
			}
		}
		return out
	}
	return list
}

// without returns those of the notes that skip does not tell to leave out.
func (x *index) without(list []ref, skip Skip) []ref {
	skips := func(r ref) bool { return skip(x.list[r.num()].note) }
	if !slices.ContainsFunc(list, skips) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), skips)
}

// preferred narrows notes to those not archived, when there are any.
func (x *index) preferred(list []ref) []ref {
	if len(list) < 2 {
		return list
	}
	var out []ref
	for _, r := range list {
		if x.list[r.num()].note.Live() {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

// best chooses among files of one name: those not archived if there are any,
// then the same folder, the shortest path, byte order.
func (x *index) best(list []ref, from num) num {
	if len(list) == 1 {
		return list[0].num()
	}
	return slices.MinFunc(x.preferred(list), func(a, b ref) int {
		na, nb := x.list[a.num()].note, x.list[b.num()].note
		return cmp.Or(x.nearer(na, nb, from), strings.Compare(na.ID, nb.ID))
	}).num()
}

// nearer compares two notes by their places: the folder of the note from comes first, then
// the shortest path, then byte order.
func (x *index) nearer(a, b *Note, from num) int {
	if from != nowhere {
		folder := x.list[from].note.Folder
		if inA, inB := a.Folder == folder, b.Folder == folder; inA != inB {
			if inA {
				return -1
			}
			return 1
		}
	}
	return cmp.Or(cmp.Compare(len(a.Path), len(b.Path)), strings.Compare(a.Path, b.Path))
}

// resolver finds what many links lead to. What took long is not worked out again.
type resolver struct {
	x    *index
	memo map[memoKey]num
}

// memoKey is what the meaning of a link depends on.
type memoKey struct {
	fold, vault, folder string
	path                bool // the note has a path: links may count from there
}

// resolve returns what a link with a fold of its target leads to.
func (r *resolver) resolve(fold string, from num) num {
	if fold == "" {
		return from
	}
	return r.resolveFold(fold, r.x.named(fold), from)
}

// seldom is up to how many notes a target names or is found in that is looked up
// each time: that takes less than to remember it.
const seldom = 32

func (r *resolver) resolveFold(fold string, named []ref, from num) num {
	if len(named) <= seldom {
		return r.x.resolveFold(fold, named, from).to
	}
	n := r.x.list[from].note
	key := memoKey{fold, n.Vault, n.Folder, n.Path != ""}
	to, known := r.memo[key]
	if !known {
		if r.memo == nil {
			r.memo = make(map[memoKey]num)
		}
		to = r.x.resolveFold(fold, named, from).to
		r.memo[key] = to
	}
	return to
}

// candidates returns the ids of notes that a link of the note from may mean, in the order
// in which best chooses, those of equal paths by vault: the likeliest is the first.
func (x *index) candidates(list []ref, from num) []string {
	ranked := make([]*Note, len(list))
	for i, r := range list {
		ranked[i] = x.list[r.num()].note
	}
	slices.SortFunc(ranked, func(a, b *Note) int {
		if a.Live() != b.Live() {
			if a.Live() {
				return -1
			}
			return 1
		}
		return cmp.Or(x.nearer(a, b, from), strings.Compare(a.Vault, b.Vault), strings.Compare(a.ID, b.ID))
	})
	var ids []string
	for _, n := range ranked {
		ids = append(ids, n.ID)
	}
	return ids
}

// others returns the notes that a target calls as well that leads to a file.
func (x *index) others(target string, to, from num, skip Skip) []string {
	file := trimExt(entities.Fold(strings.TrimSpace(target)))
	list := x.visible(x.named(path.Base(file)), byBase, from, skip)
	if len(list) < 2 {
		return nil
	}
	list = slices.DeleteFunc(slices.Clone(list), func(r ref) bool {
		e := x.list[r.num()]
		return r.num() == to || !e.note.Live() || strings.Contains(file, "/") && !strings.HasSuffix("/"+e.path, "/"+file)
	})
	return x.candidates(list, from)
}

// targetOf returns the part of a link that names a note.
func targetOf(inner string) string { return markdown.ParseTarget(inner).Target }
