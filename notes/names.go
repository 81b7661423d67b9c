package notes

import (
	"hash/maphash"
	"iter"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/markdown"
)

// noteNames is what can be worked out of a note without the others: the keys of what it
// is called and of what its links lead to. It holds on to the record of the note.
type noteNames struct {
	own     []nameOf
	targets []linkNames // of the links: few of them twice
	links   []uint32    // of each of Note.Links, its place in targets
	many    *linkHashes // of a note with many links, in place of targets and links
}

// nameOf is the key of a name, and what the name is to the note.
type nameOf struct {
	key string
	as  role
}

// linkNames are what a link is looked up by: the fold of its target, "" for the note
// itself, and that of its file name, "" where it is the same.
type linkNames struct{ whole, base string }

// keys returns the keys that the link is found under.
func (l linkNames) keys() (list [2]string, n int) {
	list = [2]string{l.whole, l.base}
	switch {
	case l.whole == "":
		return list, 0
	case l.base == "":
		return list, 1
	}
	return list, 2
}

// namesOf works the names of a note out. many are the keys of its links, where it has many.
func namesOf(n *Note, many *linkHashes) *noteNames {
	s := ownNamesOf(n)
	s.many = many
	count := n.Places.Count()
	if count == 0 || many != nil {
		return s
	}
	s.links = make([]uint32, 0, count)
	targets := 0
	for _, at := range n.eachTarget() {
		targets = max(targets, at+1)
		s.links = append(s.links, uint32(at))
	}
	s.targets = make([]linkNames, 0, targets) // once: of large notes it would be copied often
	for target, at := range n.eachTarget() {
		if at == len(s.targets) {
			s.targets = append(s.targets, linkNamesOf(target))
		}
	}
	return s
}

// eachTarget yields what the links of a note are looked up by, numbered in the order in which
// they come first. One that comes again much later gets another number.
func (n *Note) eachTarget() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		var recent [recentTargets]recentTarget
		next := 0
		for l := range n.eachLink() {
			target := sought(l)
			known := &recent[maphash.String(targetSeed, target)%recentTargets]
			if !known.used || known.text != target {
				*known = recentTarget{target, next, true}
				next++
			}
			if !yield(target, known.at) {
				return
			}
		}
	}
}

// ownNamesOf works out what a note is called, and nothing of its links.
func ownNamesOf(n *Note) *noteNames {
	s := &noteNames{own: make([]nameOf, 0, 3+len(n.Aliases))}
	eachName(n, func(_, key string, as role) { s.own = append(s.own, nameOf{key, as}) })
	return s
}

// recentTargets is how many targets of links are remembered while the names of a note
// are worked out, so that a text which says one over and over takes little memory.
const recentTargets = 64

type recentTarget struct {
	text string
	at   int
	used bool
}

var targetSeed = maphash.MakeSeed()

// fileMark stands before the target of a Markdown link when it is looked up. As ./ it says
// that the path counts from the folder of the note; but where nothing lies there, the
// rules for wikilinks find the file.
const fileMark = ".//"

// sought returns what a link is looked up by.
func sought(l markdown.Link) string {
	if l.Markdown && l.Target != "" {
		return fileMark + l.Target
	}
	return l.Target
}

func linkNamesOf(target string) linkNames {
	whole := entities.Fold(strings.TrimSpace(target))
	if base := entities.Fold(baseOf(whole)); base != whole {
		return linkNames{whole, base}
	}
	return linkNames{whole: whole}
}

// fewNotes is up to how many notes a commit works the names of out itself: readers wait for it.
const fewNotes = 8

// prepare works out the names of the notes of a large commit before its turn comes.
func (s *Store) prepare(cs *kv.ChangeSet) {
	if len(cs.Changes) <= fewNotes && placesIn(cs) <= manyPlaces {
		return
	}
	list := make(map[*Note]*noteNames, len(cs.Changes)/2)
	for _, ch := range cs.Changes {
		if _, now, ok := Records.Of(ch); ok && now != nil {
			list[now] = namesOf(now, s.takeHashes(now))
		}
	}
	s.ahead.Put(cs.Seq, list)
}

// placesIn adds up the bytes of the places of links that a commit brings.
func placesIn(cs *kv.ChangeSet) (n int) {
	for _, ch := range cs.Changes {
		_, now, ok := Records.Of(ch)
		if ok && now != nil {
			n += len(now.Places)
		}
	}
	return n
}
