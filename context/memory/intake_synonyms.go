package memory

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// synonyms takes a set of synonyms in. One that shares a word with others is joined with them, which is listed where
// it changes what the set of the file says.
func (t *Intake) synonyms(tx *kv.Tx, line int, row *Synonyms) (err error) {
	set := *row
	if err := checkSynonyms(&set); err != nil {
		return t.leave(line, set.ID, err)
	}
	if t.sets == nil {
		if t.sets, err = setsOf(tx); err != nil {
			return err
		}
	}
	all, old, err := t.sets.Joined(set.Words, set.Private)
	if err != nil {
		return t.leave(line, set.ID, err)
	}
	if len(old) == 1 && len(all) == len(old[0].Words) {
		t.Same++
		return nil
	}
	if len(old) > 0 {
		t.conflict(Conflict{
			Line: line, ID: set.ID, Field: "words", Message: "it shares a word with a set that is there, and is joined with it", Taken: true,
		})
		set.ID, set.UpdatedAt = old[0].ID, t.s.now(tx)
	} else if t.sets.Has(set.ID) {
		set.ID = t.s.opts.NewID()
	}
	set.Words = all
	t.sets.Replace(old, &set)
	t.Synonyms++
	if t.plan {
		return nil
	}
	return joinTx(tx, old, &set)
}

// checkSynonyms refuses a set that no store can have written, and tidies its words.
func checkSynonyms(set *Synonyms) (err error) {
	if err := entities.CheckID("id", set.ID); err != nil {
		return err
	}
	if set.Words, err = checkSynonymWords(set.Words, 2); err != nil {
		return err
	}
	return checkOther(nil, "", set.UpdatedAt)
}
