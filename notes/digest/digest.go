package digest

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
)

// Kept is how many lines are kept about one note, the youngest ones. Readers see up to two texts of it, and a line is
// made for a length and a model.
const Kept = 8

// lines are what was said of one note, the youngest last.
type lines struct {
	Lines []line `json:"lines"`
}

type line struct {
	Key  string `json:"key"`            // of what it was made
	Text string `json:"text,omitempty"` // empty: the model was asked, and nothing came of it
}

var records = kv.NewCollection[lines]("note-summary") // by the id of the note

// Get returns the line of a key, and whether one was made. The line is empty when the model had none.
func Get(tx *kv.Tx, noteID, key string) (text string, made bool, err error) {
	all, err := records.Get(tx, noteID)
	if err != nil || all == nil {
		return "", false, err
	}
	for _, l := range all.Lines {
		if l.Key == key {
			return l.Text, true, nil
		}
	}
	return "", false, nil
}

// PutTx keeps the line of a key. The note must be there, with the text that the line was made of.
func PutTx(tx *kv.Tx, noteID, key, text string) error {
	all, err := records.Get(tx, noteID)
	if err != nil {
		return err
	}
	if all == nil {
		all = &lines{}
	}
	list := slices.DeleteFunc(all.Lines, func(l line) bool { return l.Key == key })
	list = append(list, line{key, text})
	return records.Put(tx, noteID, &lines{list[max(0, len(list)-Kept):]})
}

// DropTx forgets what was said of a note. It costs nothing where nothing was.
func DropTx(tx *kv.Tx, noteID string) error { return records.Delete(tx, noteID) }

// Mend forgets all of it in a store that has lost transactions: nobody knows which notes still have their texts.
func Mend(db *kv.Store) error {
	if !db.Unmended() {
		return nil
	}
	return db.Update(context.Background(), func(tx *kv.Tx) error {
		for id := range records.All(tx, "") {
			if err := records.Delete(tx, id); err != nil {
				return err
			}
		}
		return tx.Err()
	})
}
