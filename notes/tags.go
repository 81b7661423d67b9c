package notes

// TagCounts count notes by tag, for the store of notes and for readers who do not see all notes.
// They are not safe for concurrent use: their owner has the lock.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
)

// TagCounts count notes by tag. Tags are compared without case. One that is spelled in
// several ways is called as most notes spell it, of equals by the first spelling in order:
// that follows from the notes alone, not from which of them came first.
type TagCounts map[string]*tagCount

type tagCount struct {
	notes     int
	spellings []record.NoteTag // nearly always one
}

// Add counts n more notes with a tag, or fewer.
func (c TagCounts) Add(name string, n int) {
	key := entities.Fold(name)
	t := c[key]
	if t == nil {
		t = new(tagCount)
		c[strings.Clone(key)] = t // else it keeps the record that it is a part of
	}
	t.notes += n
	i := slices.IndexFunc(t.spellings, func(s record.NoteTag) bool { return s.Name == name })
	if i < 0 {
		i = len(t.spellings)
		t.spellings = append(t.spellings, record.NoteTag{Name: strings.Clone(name)})
	}
	t.spellings[i].Count += n
	if t.spellings[i].Count == 0 {
		t.spellings = slices.Delete(t.spellings, i, i+1)
	}
	if t.notes == 0 {
		delete(c, key)
	}
}

func (t *tagCount) name() string {
	return slices.MinFunc(t.spellings, func(a, b record.NoteTag) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Name, b.Name))
	}).Name
}

// List returns the tags that begin with prefix, most frequent first, then by name.
func (c TagCounts) List(prefix string) []record.NoteTag {
	fold := entities.Fold(strings.TrimPrefix(prefix, "#"))
	out := []record.NoteTag{}
	for key, t := range c {
		if strings.HasPrefix(key, fold) {
			out = append(out, record.NoteTag{Name: t.name(), Count: t.notes})
		}
	}
	slices.SortFunc(out, func(a, b record.NoteTag) int {
		return cmp.Or(b.Count-a.Count, entities.CompareNatural(a.Name, b.Name), strings.Compare(a.Name, b.Name))
	})
	return out
}
