package notes

import (
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// names is what can be worked out of a note without the others: the keys of what it
// is called and of what its links lead to. It holds on to the record of the note.
type names struct {
	own   []nameOf
	links []linkNames // of Note.Links
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

// namesOf works the names of a note out.
func namesOf(n *Note) *names {
	s := &names{own: make([]nameOf, 0, 3+len(n.Aliases))}
	eachName(n, func(_, key string, as role) { s.own = append(s.own, nameOf{key, as}) })
	for l := range n.eachLink() {
		s.links = append(s.links, linkNamesOf(l.Target))
	}
	return s
}

func linkNamesOf(target string) linkNames {
	whole := entities.Fold(strings.TrimSpace(target))
	if base := entities.Fold(baseOf(whole)); base != whole {
		return linkNames{whole, base}
	}
	return linkNames{whole: whole}
}

// fewNotes is up to how many notes a commit works the names of out itself.
const fewNotes = 8

// prepare works out the names of the notes of a large commit before its turn comes.
func (s *Store) prepare(cs *kv.ChangeSet) {
	if len(cs.Changes) <= fewNotes {
		return
	}
	list := make(map[*Note]*names, len(cs.Changes)/2)
	for _, ch := range cs.Changes {
		if _, now, ok := Records.Of(ch); ok && now != nil {
			list[now] = namesOf(now)
		}
	}
	s.ahead.Put(cs.Seq, list)
}
