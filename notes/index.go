package notes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
)

// num is the number of a note in an index. Numbers are given again when their
// note is gone.
type num uint32

// nowhere is the number of no note.
const nowhere = ^num(0)

// A ref is a note that a key names, and in which role.
type ref uint32

// role is what a key is to a note.
type role uint32

// The roles of a key. All are folds.
const (
	byPath  role = iota // the path without .md
	byBase              // the file name without .md
	byTitle             // the title
	byAlias             // an alias
	byLink              // the note has a link that is looked up under the key
)

const (
	roleShift = 29
	maxNotes  = 1 << roleShift
)

func refTo(n num, as role) ref { return ref(as)<<roleShift | ref(n) }

func (r ref) num() num { return num(r & (maxNotes - 1)) }

func (r ref) role() role { return role(r >> roleShift) }

// index knows the notes by id and by what links may call them, and what their
// links lead to. Notes have numbers, since a number takes a quarter of the memory
// of a string, and of the time to compare it.
type index struct {
	byID map[string]num
	list []entry // by number
	free []num   // numbers without a note

	keys     map[string]uint32 // the place of a key in refs
	refs     [][]ref           // what a key names, sorted: by role, then by number
	freeKeys []uint32          // places without a key

	many map[num]*linkHashes // of the notes with many links: of these, neither refs nor entries know the links

	over map[string][]ref // of a World: what keys name there, in place of refs; nil in the index of the store
}

// entry is what the index knows of a note.
type entry struct {
	note *Note  // nil: the number is free
	path string // fold of the path without .md
	out  []num  // what its links lead to, in their order; see index.links
	in   []num  // the notes that link to it, sorted, but those with many links

	many *linkHashes // of its links, where it has many
}

// get returns the note of an id, or nil.
func (x *index) get(id string) *Note {
	if n, ok := x.byID[id]; ok {
		return x.list[n].note
	}
	return nil
}

// numberOf returns the number of an id, nowhere for none.
func (x *index) numberOf(id string) num {
	if n, ok := x.byID[id]; ok {
		return n
	}
	return nowhere
}

// entry returns what is known of the note of an id, nothing for none.
func (x *index) entry(id string) entry {
	if n, ok := x.byID[id]; ok {
		return x.list[n]
	}
	return entry{}
}

// outgoing returns what the links of a note lead to.
func (x *index) outgoing(id string) []num {
	if n, ok := x.byID[id]; ok {
		return x.links(n)
	}
	return nil
}

// links returns what the links of a note lead to. O(1), O(links) of a note with many.
func (x *index) links(n num) []num {
	if x.list[n].many == nil {
		return x.list[n].out
	}
	return x.resolveAll(&resolver{x: x}, n)
}

// incoming returns the notes that link to a note, sorted.
func (x *index) incoming(n num) []num {
	if n == nowhere {
		return nil
	}
	if many := x.manyIn(n); len(many) > 0 {
		return with(slices.Clone(x.list[n].in), many)
	}
	return x.list[n].in
}

// named returns what a key names, in all roles.
func (x *index) named(key string) []ref {
	if list, ok := x.over[key]; ok {
		return list
	}
	if at, ok := x.keys[key]; ok {
		return x.refs[at]
	}
	return nil
}

// inRole returns those of a list of refs that have a role.
func inRole(list []ref, as role) []ref {
	from, to := 0, len(list)
	if as > 0 {
		from, _ = slices.BinarySearch(list, refTo(0, as))
	}
	if to > from && list[to-1].role() != as {
		to, _ = slices.BinarySearch(list, refTo(0, as+1))
	}
	return list[from:to]
}

// put enters a note, or another version of it, under the names that links may
// call it by and under the keys of its links.
func (x *index) put(note *Note, names *noteNames) num {
	n, known := x.byID[note.ID]
	switch {
	case known:
		delete(x.byID, note.ID) // a map keeps the key that it has, and with it the record that the key is a part of
	case len(x.free) > 0:
		n = x.free[len(x.free)-1]
		x.free = x.free[:len(x.free)-1]
	default:
		n = num(len(x.list))
		x.list = append(x.list, entry{})
	}
	x.byID[note.ID] = n
	e := &x.list[n]
	e.note = note
	for _, name := range names.own {
		x.enter(name.key, refTo(n, name.as))
		if name.as == byPath {
			e.path = name.key
		}
	}
	x.setMany(n, names.many)
	for _, l := range names.targets {
		keys, have := l.keys()
		for _, key := range keys[:have] {
			x.enter(key, refTo(n, byLink))
		}
	}
	return n
}

// remove takes a version of a note out. Its number and its resolved links stay,
// for the next version or until release.
func (x *index) remove(n num) {
	note := x.list[n].note
	eachName(note, func(_, key string, as role) { x.leave(key, refTo(n, as)) })
	if x.list[n].many == nil {
		x.removeLinks(n, note)
	}
	x.setMany(n, nil)
	x.list[n].note, x.list[n].path = nil, ""
}

func (x *index) removeLinks(n num, note *Note) {
	left := 0 // targets
	for target, at := range note.eachTarget() {
		if at < left {
			continue
		}
		left++
		keys, have := linkNamesOf(target).keys()
		for _, key := range keys[:have] {
			x.leave(key, refTo(n, byLink))
		}
	}
}

// setMany takes the keys of the links of a note over that has many; nil of another.
func (x *index) setMany(n num, keys *linkHashes) {
	x.list[n].many = keys
	if keys == nil {
		delete(x.many, n)
		return
	}
	if x.many == nil {
		x.many = make(map[num]*linkHashes)
	}
	x.many[n] = keys
}

// release gives the number of a note back that is gone and that nothing links to
// or from any more.
func (x *index) release(id string) {
	n := x.byID[id]
	delete(x.byID, id)
	x.list[n] = entry{}
	x.free = append(x.free, n)
}

// eachName visits the names of a note and the keys that they are.
func eachName(n *Note, visit func(name, key string, as role)) {
	if n.Path != "" {
		visit(n.Path, trimExt(entities.Fold(n.Path)), byPath)
		visit(n.Path, entities.Fold(baseOf(n.Path)), byBase)
	}
	visit(n.Title, entities.Fold(n.Title), byTitle)
	for _, a := range n.Aliases {
		visit(a, entities.Fold(a), byAlias)
	}
}

func (x *index) enter(key string, r ref) {
	if x.over != nil {
		x.over[key] = with(slices.Clone(x.named(key)), []ref{r})
		return
	}
	at := x.place(key)
	if i, found := slices.BinarySearch(x.refs[at], r); !found {
		x.refs[at] = slices.Insert(x.refs[at], i, r)
	}
}

// place returns the place of a key, which it gets when it has none.
func (x *index) place(key string) uint32 {
	at, ok := x.keys[key]
	if ok {
		return at
	}
	if last := len(x.freeKeys) - 1; last >= 0 {
		at, x.freeKeys = x.freeKeys[last], x.freeKeys[:last]
	} else {
		at = uint32(len(x.refs))
		x.refs = append(x.refs, nil)
	}
	x.keys[strings.Clone(key)] = at // it may be a part of the record of a note
	return at
}

func (x *index) leave(key string, r ref) {
	if x.over != nil {
		x.over[key] = without(slices.Clone(x.named(key)), []ref{r})
		return
	}
	at, ok := x.keys[key]
	if !ok {
		return
	}
	i, found := slices.BinarySearch(x.refs[at], r)
	if !found {
		return
	}
	x.refs[at] = slices.Delete(x.refs[at], i, i+1)
	if len(x.refs[at]) == 0 {
		x.refs[at] = nil
		x.freeKeys = append(x.freeKeys, at)
		delete(x.keys, key)
	}
}

// edge is a pair of notes of which one links to the other.
type edge struct{ to, from num }

func compareEdges(a, b edge) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) }

// stale are links to be resolved anew: all those of some notes, and of others those
// that are found under some keys.
type stale struct {
	whole map[num]*noteNames // the names are nil where they are not known
	keys  map[string]struct{}
}

// relink resolves links anew; a number without a note has none.
func (x *index) relink(s stale) {
	var lost, gained []edge
	r := resolver{x: x}
	again := func(n num, out []num) {
		e := &x.list[n]
		if slices.Equal(e.out, out) {
			return
		}
		lost, gained = appendEdges(lost, e.out, n), appendEdges(gained, out, n)
		e.out = out
	}
	for n, names := range s.whole {
		var out []num
		if note := x.list[n].note; note != nil {
			if names == nil {
				names = namesOf(note, x.list[n].many)
			}
			to := make([]num, len(names.targets))
			for i, l := range names.targets {
				to[i] = r.resolve(l.whole, n)
			}
			out = make([]num, len(names.links))
			for i, at := range names.links {
				out[i] = to[at]
			}
		}
		again(n, out)
	}
	for n := range x.linking(s) {
		again(n, x.relinkSome(&r, n, s.keys))
	}
	x.eachTarget(lost, without)
	x.eachTarget(gained, with)
}

// linking returns the notes with links under the keys, but not those of which all
// links are resolved anyway.
func (x *index) linking(s stale) map[num]struct{} {
	list := make(map[num]struct{})
	for key := range s.keys {
		for _, r := range inRole(x.named(key), byLink) {
			if _, whole := s.whole[r.num()]; !whole {
				list[r.num()] = struct{}{}
			}
		}
	}
	return list
}

// relinkSome returns what the links of a note lead to, of which those under some keys
// are resolved anew.
func (x *index) relinkSome(r *resolver, n num, keys map[string]struct{}) []num {
	e := &x.list[n]
	out := slices.Clone(e.out)
	i := 0
	for l := range e.note.eachLink() {
		names := linkNamesOf(sought(l))
		_, whole := keys[names.whole]
		_, base := keys[names.base]
		if whole || base {
			out[i] = r.resolve(names.whole, n)
		}
		i++
	}
	return out
}

func appendEdges(list []edge, out []num, from num) []edge {
	for _, to := range out {
		if to != nowhere {
			list = append(list, edge{to, from})
		}
	}
	return list
}

// eachTarget changes entry.in of the notes that edges lead to, by all of each at
// once: it is no more work than there are links when all of them are to one note.
func (x *index) eachTarget(edges []edge, change func(in, from []num) []num) {
	slices.SortFunc(edges, compareEdges)
	var from []num
	edges = slices.Compact(edges)
	for i, e := range edges {
		from = append(from, e.from)
		if i+1 == len(edges) || edges[i+1].to != e.to {
			x.list[e.to].in = change(x.list[e.to].in, from)
			from = from[:0]
		}
	}
}

// fewNums is up to how many numbers are put into a sorted list, or taken out, one
// by one.
const fewNums = 16

// with returns the union of two sorted lists. It may reuse the first.
func with[N num | ref](list, more []N) []N {
	if len(more) > fewNums {
		list = append(slices.Clip(list), more...)
		slices.Sort(list)
		return slices.Compact(list)
	}
	for _, n := range more {
		if at, found := slices.BinarySearch(list, n); !found {
			list = slices.Insert(list, at, n)
		}
	}
	return list
}

// without returns what of a sorted list is not in another. It reuses the first.
func without[N num | ref](list, less []N) []N {
	if len(less) > fewNums {
		return slices.DeleteFunc(list, func(n N) bool {
			_, found := slices.BinarySearch(less, n)
			return found
		})
	}
	for _, n := range less {
		if at, found := slices.BinarySearch(list, n); found {
			list = slices.Delete(list, at, at+1)
		}
	}
	return list
}
