package memory

import (
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// synonymSetIndex are all sets that there are, for one that is to be joined to them: those that have one of
// its words. Private sets are joined to private ones, and others to others.
type synonymSetIndex struct {
	open, private class
	byID          map[string]*record.Synonyms
}

// class are sets that may be joined with each other.
type class struct {
	byWord map[string][]*record.Synonyms // by the keys of their words; damage may leave two sets with one word
	n      int
}

// newSynonymSetIndex returns one without sets.
func newSynonymSetIndex() *synonymSetIndex {
	return &synonymSetIndex{
		open: class{byWord: make(map[string][]*record.Synonyms)}, private: class{byWord: make(map[string][]*record.Synonyms)},
		byID: make(map[string]*record.Synonyms),
	}
}

func (s *synonymSetIndex) class(private bool) *class {
	if private {
		return &s.private
	}
	return &s.open
}

// Has reports whether a set has the id.
func (s *synonymSetIndex) Has(id string) bool { return s.byID[id] != nil }

// Add adds a set as it is.
func (s *synonymSetIndex) Add(set *record.Synonyms) {
	c := s.class(set.Private)
	for _, w := range set.Words {
		key := synonymKey(w)
		c.byWord[key] = append(c.byWord[key], set)
	}
	c.n++
	s.byID[set.ID] = set
}

// Joined tells what a set would be joined to: the words of all, and the sets that it takes the place of. The error
// is Limit where there would be too many words or sets.
func (s *synonymSetIndex) Joined(words []string, private bool) (all []string, old []*record.Synonyms, err error) {
	c := s.class(private)
	all = slices.Clone(words)
	for _, w := range words {
		for _, set := range c.byWord[synonymKey(w)] {
			if s.byID[set.ID] != set || slices.Contains(old, set) { // it was replaced, or is there by another word
				continue
			}
			old = append(old, set)
			all = append(slices.Clone(set.Words), WithoutSynonyms(all, set.Words)...)
		}
	}
	switch {
	case len(all) > MaxSynonyms:
		return nil, nil, fault.TooLarge("words", len(all), MaxSynonyms, "items")
	case c.n-len(old)+1 > maxSynonymSets:
		return nil, nil, fault.TooLarge("words", c.n-len(old)+1, maxSynonymSets, "sets")
	}
	return all, old, nil
}

// Replace puts a set in the place of those that it was joined to.
func (s *synonymSetIndex) Replace(old []*record.Synonyms, set *record.Synonyms) {
	c := s.class(set.Private)
	for _, gone := range old {
		delete(s.byID, gone.ID)
		c.n--
	}
	s.Add(set)
}
