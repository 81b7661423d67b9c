package vault

import (
	"cmp"
	"math/bits"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// maxDistance is how many letters a name may be away from what was written.
const maxDistance = 2

// shortName is below how many letters a name may be one letter away.
const shortName = 5

// nearest finds names that are like a text.
type nearest struct {
	names []called
}

// called is a name of a note.
type called struct {
	text, fold, id string
	letters        uint64 // which letters it has: bits by their last six bits
}

func newNearest(w notes.World, vault string) *nearest {
	x := new(nearest)
	for n := range w.All() {
		if n.Vault != vault || !n.Live() {
			continue
		}
		list := append([]string{n.Title, stem(path.Base(n.Path))}, n.Aliases...)
		for i, name := range list {
			if name == "" || slices.Contains(list[:i], name) {
				continue
			}
			f := text.Fold(name)
			x.names = append(x.names, called{name, f, n.ID, letters(f)})
		}
	}
	return x
}

func letters(s string) (set uint64) {
	for _, r := range s {
		set |= 1 << (r & 63)
	}
	return set
}

// to returns the names nearest to a text, one a note, at most maxFixes.
func (x *nearest) to(said string) []called {
	type hit struct {
		called
		distance int
	}
	f := text.Fold(said)
	set, length := letters(f), utf8.RuneCountInString(f)
	far := maxDistance
	if length < shortName {
		far = 1
	}
	if daily().MatchString(f) { // the next day is no slip
		return nil
	}
	var hits []hit
	for _, n := range x.names {
		if bits.OnesCount64(set^n.letters) > 2*far || abs(utf8.RuneCountInString(n.fold)-length) > far {
			continue
		}
		if d := distance(f, n.fold); d <= far && d < length {
			hits = append(hits, hit{n, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(a.distance-b.distance, strings.Compare(a.fold, b.fold), strings.Compare(a.id, b.id))
	})
	var out []called
	for _, h := range hits {
		if len(out) < maxFixes && !slices.ContainsFunc(out, func(n called) bool { return n.id == h.id }) {
			out = append(out, h.called)
		}
	}
	return out
}

// likest returns those of some names that are nearest to a text: by their letters, or by how they begin.
func likest(names []string, said string) []string {
	f := text.Fold(said)
	far := func(name string) int {
		g := text.Fold(name)
		if f != "" && (strings.HasPrefix(g, f) || strings.HasPrefix(f, g)) {
			return 1
		}
		return distance(f, g)
	}
	var out []string
	for _, name := range names {
		if name != "" && far(name) <= max(maxDistance, len(f)/4) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	long := func(name string) int { return abs(len(name) - len(said)) }
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Or(far(a)-far(b), long(a)-long(b)) })
	return out[:min(len(out), maxFixes)]
}

func abs(n int) int { return max(n, -n) }

// distance is the Levenshtein distance in code points: O(len(a) * len(b)), of the first 200 each.
func distance(a, b string) int {
	const most = 200
	x, y := []rune(a), []rune(b)
	x, y = x[:min(len(x), most)], y[:min(len(y), most)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		left := row[0]
		row[0] = i + 1
		for j := range y {
			change := left
			if x[i] != y[j] {
				change++
			}
			left = row[j+1]
			row[j+1] = min(change, row[j]+1, left+1)
		}
	}
	return row[len(y)]
}

// hasHeading reports whether a text has the heading that a link names, or an anchor of HTML or of Pandoc. The top of a
// text always is there.
func hasHeading(text, heading string) bool {
	_, start := markdown.SplitFrontmatter(text)
	_, missing := markdown.FindParts(text[start:], []markdown.Part{{Heading: heading}})
	return len(missing) == 0 || heading == "top" || strings.Contains(text, `id="`+heading+`"`) || strings.Contains(text, `name="`+heading+`"`) ||
		strings.Contains(text, "{#"+heading+"}")
}
