package vault

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// weights are how many bytes of a text each of its lines makes up.
type weights map[string]int

func weigh(text string) (w weights, total int) {
	w = make(weights)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" {
			w[line] += len(line)
			total += len(line)
		}
	}
	return w, total
}

// shared returns the bytes of the lines that two texts share.
func (w weights) shared(other weights) (n int) {
	for line, have := range w {
		n += min(have, other[line])
	}
	return n
}

// isEditOf reports whether a text is an edited form of another: the lines that both have
// make up at least half of the shorter one. O(length).
func isEditOf(old, text string) bool {
	a, all := weigh(old)
	b, most := weigh(text)
	return 2*a.shared(b) >= min(all, most)
}

// How many texts of files that moved and changed at once are compared, and how long they
// may be. What is beyond that becomes another note.
const (
	maxCompared = 50
	maxAlike    = 256 << 10
)

// matchEdited lets files keep their ids that are at another path with an edited text. The
// lines that both texts have must make up three fifths of the longer one; and both must
// have one file name, or no other text may be as similar to either of them.
func (r *run) matchEdited(before map[string]*file, claimed map[string]bool) {
	type text struct {
		path  string
		w     weights
		total int
	}
	var left, fresh []text
	for _, p := range slices.Sorted(maps.Keys(before)) {
		n := r.notes.Get(before[p].NoteID)
		if n != nil && n.Path == p && !claimed[p] && r.tree.gone(p) && len(n.Body) <= maxAlike && !blank(n.Body) {
			left = append(left, text{path: p})
		}
	}
	if len(left) == 0 || len(left) > maxCompared {
		return
	}
	for i := range r.docs {
		if d := &r.docs[i]; r.known[d.path] == nil && len(d.draft.Body) <= maxAlike && !blank(d.draft.Body) {
			w, total := weigh(d.draft.Body)
			fresh = append(fresh, text{d.path, w, total})
			if len(fresh) > maxCompared {
				return
			}
		}
	}
	for i := range left {
		left[i].w, left[i].total = weigh(r.notes.Get(before[left[i].path].NoteID).Body)
	}
	to, from := make(map[string][]string), make(map[string][]string)
	for _, l := range left {
		for _, f := range fresh {
			if 5*l.w.shared(f.w) >= 3*max(l.total, f.total) {
				to[l.path], from[f.path] = append(to[l.path], f.path), append(from[f.path], l.path)
			}
		}
	}
	for _, sameName := range []bool{true, false} {
		for _, l := range left {
			for _, p := range to[l.path] {
				only := len(to[l.path]) == 1 && len(from[p]) == 1
				if claimed[l.path] || r.known[p] != nil || sameName && path.Base(p) != path.Base(l.path) ||
					!sameName && !only {
					continue
				}
				claimed[l.path] = true
				r.known[p] = &file{NoteID: before[l.path].NoteID}
			}
		}
	}
}
