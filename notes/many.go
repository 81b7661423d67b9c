package notes

import (
	"hash/maphash"
	"path"
	"slices"
)

// manyPlaces is from how many bytes of places on a note has many links, about seventy. A commit enters none of them, so
// that it takes no longer for a note with a million: it takes over their keys, which the writer has worked out before his
// turn, and who asks where they lead resolves them then.
var manyPlaces = 256

// hasMany reports whether the note has many links.
func (n *Note) hasMany() bool { return len(n.Places) > manyPlaces }

// linkHashes are the keys of the links of a note that has many, as hashes: where one is found the links have to be looked
// at. They do not change once they are made.
type linkHashes struct {
	hashes []uint32 // sorted
	any    bool     // a link ends with a dot segment, so that its keys do not tell what it means
}

// newLinkHashes works out the keys of the links of a text. O(links).
func newLinkHashes(p LinkPlaces, text string) *linkHashes {
	onLinkHashes()
	k := new(linkHashes)
	n := Note{Places: p}
	n.Body = text
	left := 0 // targets
	for target, at := range n.eachTarget() {
		if at < left {
			continue
		}
		left++
		l := linkNamesOf(target)
		keys, have := l.keys()
		for _, key := range keys[:have] {
			k.hashes = append(k.hashes, keyHash(key))
		}
		if base := path.Base(l.whole); base == "." || base == ".." {
			k.any = true // and a link to the note itself
		}
	}
	slices.Sort(k.hashes)
	k.hashes = slices.Clip(slices.Compact(k.hashes))
	return k
}

// onLinkHashes is called before the keys of the links of a text are worked out, for the test of when that is.
var onLinkHashes = func() {}

func keyHash(key string) uint32 { return uint32(maphash.String(targetSeed, key)) }

// have reports whether a link may be found under one of some keys, given as hashes.
func (k *linkHashes) have(hashes []uint32) bool {
	return k.any || slices.ContainsFunc(hashes, func(h uint32) bool {
		_, found := slices.BinarySearch(k.hashes, h)
		return found
	})
}

// carryHashes gives a note that is stored the keys that were worked out for it as it was put.
func carryHashes(put, stored *Note) { stored.Worked = put.Worked }

// hashesOf returns the keys of the links of a note that has many, nil for another one. O(links) where nobody has worked
// them out.
func hashesOf(n *Note) *linkHashes {
	switch {
	case !n.hasMany():
		return nil
	case n.Worked != nil:
		return n.Worked
	}
	return newLinkHashes(n.Places, n.Body)
}

// takeHashes is hashesOf for a note that is being stored, which then has them no more. Where the text is that of the
// version that is there they are its hashes.
func (s *Store) takeHashes(n *Note) *linkHashes {
	if worked := n.Worked; worked != nil || !n.hasMany() {
		n.Worked = nil
		return worked
	}
	s.mu.RLock()
	e := s.index.entry(n.ID)
	s.mu.RUnlock()
	if e.many != nil && e.note != nil && e.note.Body == n.Body {
		return e.many
	}
	return hashesOf(n)
}

// manyLinking returns the notes with many links that may have one which is found under some keys.
func (x *index) manyLinking(under []string) (list []num) {
	hashes := make([]uint32, len(under))
	for i, key := range under {
		hashes[i] = keyHash(key)
	}
	for n, keys := range x.many {
		if keys.have(hashes) {
			list = append(list, n)
		}
	}
	return list
}

// manyIn returns the notes with many links that link to a note.
func (x *index) manyIn(to num) (list []num) {
	if len(x.many) == 0 || x.list[to].note == nil {
		return nil
	}
	var names []string
	eachName(x.list[to].note, func(_, key string, _ role) { names = append(names, key, baseOf(key)) })
	r := resolver{x: x}
	for _, n := range x.manyLinking(names) {
		if slices.Contains(x.resolveAll(&r, n), to) {
			list = append(list, n)
		}
	}
	return list
}

// resolveAll returns what the links of a note lead to. O(links).
func (x *index) resolveAll(r *resolver, n num) []num {
	var to, out []num
	for target, at := range x.list[n].note.eachTarget() {
		if at == len(to) {
			to = append(to, r.resolve(linkNamesOf(target).whole, n))
		}
		out = append(out, to[at])
	}
	return out
}
