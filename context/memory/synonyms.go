package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Synonyms are words that mean the same to the person, acronyms among them.
type Synonyms = record.Synonyms

var synonymSets = kv.NewCollection[Synonyms]("memory-synonym")

// PutSynonyms has words mean the same. Sets that have one of them are joined: private ones with
// private ones, and others with others. The errors are Invalid and Limit.
func (s *Store) PutSynonyms(ctx context.Context, v *audience.View, words []string, private bool) (*Synonyms, error) {
	words, err := checkSynonymWords(words, 2)
	if err != nil {
		return nil, err
	}
	if private && v.Hides() {
		return nil, fault.Field("private", "a remote connection has no private synonyms").
			WithHint("leave out private, or connect as local")
	}
	var set *Synonyms
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		sets, err := setsOf(tx)
		if err != nil {
			return err
		}
		all, old, err := sets.Joined(words, private)
		if err != nil {
			return err
		}
		set = &Synonyms{ID: s.opts.NewID(), Words: all, Private: private, UpdatedAt: s.now(tx)}
		return joinTx(tx, old, set)
	})
	if err != nil {
		return nil, err
	}
	return set, nil
}

// setsOf returns all sets, to join another to them.
func setsOf(tx *kv.Tx) (*synonymSetIndex, error) {
	sets := newSynonymSetIndex()
	for _, set := range synonymSets.All(tx, "") {
		sets.Add(set)
	}
	return sets, tx.Err()
}

// joinTx writes a set in the place of those that it was joined to.
func joinTx(tx *kv.Tx, old []*Synonyms, set *Synonyms) error {
	for _, gone := range old {
		if err := synonymSets.Delete(tx, gone.ID); err != nil {
			return err
		}
	}
	return synonymSets.Put(tx, set.ID, set)
}

// Synonyms returns the sets that a reader sees, by their first words.
func (s *Store) Synonyms(v *audience.View) []*Synonyms {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := []*Synonyms{}
	for set := range s.synonyms.All() {
		if v.Sees(set.Private) {
			shown := *set
			shown.Words = slices.Clone(set.Words)
			list = append(list, &shown)
		}
	}
	slices.SortFunc(list, func(a, b *Synonyms) int {
		return cmp.Or(entities.CompareNatural(a.Words[0], b.Words[0]), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// DeleteSynonyms takes words out of the sets that a reader sees, and returns how many were in
// any. What is left alone means the same as nothing, and goes too.
func (s *Store) DeleteSynonyms(ctx context.Context, v *audience.View, words []string) (deleted int, err error) {
	words, err = checkSynonymWords(words, 1)
	if err != nil {
		return 0, err
	}
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		gone := make(map[string]bool)
		for _, old := range synonymSets.All(tx, "") {
			if !v.Sees(old.Private) || !shareSynonym(old.Words, words) {
				continue
			}
			for _, w := range words {
				if shareSynonym(old.Words, []string{w}) {
					gone[synonymKey(w)] = true
				}
			}
			left := *old
			left.Words, left.UpdatedAt = WithoutSynonyms(old.Words, words), s.now(tx)
			if len(left.Words) < 2 {
				err := synonymSets.Delete(tx, old.ID)
				if err != nil {
					return err
				}
				continue
			}
			if err := synonymSets.Put(tx, left.ID, &left); err != nil {
				return err
			}
		}
		deleted = len(gone)
		return nil
	})
	return deleted, err
}

// SynonymsOf returns what means the same as words of a question; see [synonymView].
func (s *Store) SynonymsOf(words []string, public bool) map[string][]search.Synonym {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.synonyms.Of(words, public)
}
