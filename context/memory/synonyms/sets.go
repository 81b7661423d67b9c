package synonyms

import (
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Sets are all sets that there are, for one that is to be joined to them: those that have one of
// its words. Private sets are joined to private ones, and others to others.
type Sets struct {
	open, private class
	byID          map[string]*record.Synonyms
}

// class are sets that may be joined with each other.
type class struct {
	byWord map[string][]*record.Synonyms // by the keys of their words; damage may leave two sets with one word
	n      int
}

// NewSets returns one without sets.
func NewSets() *Sets {
	return &Sets{
		open: class{byWord: make(map[string][]*record.Synonyms)}, private: class{byWord: make(map[string][]*record.Synonyms)},
		byID: make(map[string]*record.Synonyms),
	}
}

func (s *Sets) class(private bool) *class {
	if private {
		return &s.private
	}
	return &s.open
}

// Has reports whether a set has the id.
func (s *Sets) Has(id string) bool { return s.byID[id] != nil }

// Add adds a set as it is.
func (s *Sets) Add(set *record.Synonyms) {
	c := s.class(set.Private)
	for _, w := range set.Words {
		key := Key(w)
		c.byWord[key] = append(c.byWord[key], set)
	}
	c.n++
	s.byID[set.ID] = set
}

// Joined tells what a set would be joined to: the words of all, and the sets that it takes the place of. The error
// is Limit where there would be too many words or sets.
func (s *Sets) Joined(words []string, private bool) (all []string, old []*record.Synonyms, err error) {
	c := s.class(private)
	all = slices.Clone(words)
	for _, w := range words {
		for _, set := range c.byWord[Key(w)] {
			if s.byID[set.ID] != set || slices.Contains(old, set) { // it was replaced, or is there by another word
				continue
			}
			old = append(old, set)
			all = append(slices.Clone(set.Words), Without(all, set.Words)...)
		}
	}
	switch {
	case len(all) > MaxWords:
		return nil, nil, fault.TooLarge("words", len(all), MaxWords, "items")
	case c.n-len(old)+1 > MaxSets:
		return nil, nil, fault.TooLarge("words", c.n-len(old)+1, MaxSets, "sets")
	}
	return all, old, nil
}

// Replace puts a set in the place of those that it was joined to.
func (s *Sets) Replace(old []*record.Synonyms, set *record.Synonyms) {
	c := s.class(set.Private)
	for _, gone := range old {
		delete(s.byID, gone.ID)
		c.n--
	}
	s.Add(set)
}
