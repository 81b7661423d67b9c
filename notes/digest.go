package notes

// This file keeps what language models said a note is about, beside the note, for as long as it
// has the text that they said it of.
//
// The records of the collection "note-summary" are by id of the note. The store of notes deletes
// one in the transaction that gives the note another text, or deletes the note. So nothing of a
// text that is gone stays here, and there are at most as many records as notes, each of at most
// MaxSummaries lines. A record is a cache: losing it costs a request to a model.
//
// The summaries of chat/background write and read them. Functions run in transactions of the caller.

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
)

// MaxSummaries is how many lines are kept about one note, the youngest ones. Readers see up to two texts of it, and a line is
// made for a length and a model.
const MaxSummaries = 8

// summaryLines are what was said of one note, the youngest last.
type summaryLines struct {
	Lines []line `json:"lines"`
}

type line struct {
	Key  string `json:"key"`            // of what it was made
	Text string `json:"text,omitempty"` // empty: the model was asked, and nothing came of it
}

var summaryRecords = kv.NewCollection[summaryLines]("note-summary") // by the id of the note

// GetSummary returns the line of a key, and whether one was made. The line is empty when the model had none.
func GetSummary(tx *kv.Tx, noteID, key string) (text string, made bool, err error) {
	all, err := summaryRecords.Get(tx, noteID)
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

// PutSummaryTx keeps the line of a key. The note must be there, with the text that the line was made of.
func PutSummaryTx(tx *kv.Tx, noteID, key, text string) error {
	all, err := summaryRecords.Get(tx, noteID)
	if err != nil {
		return err
	}
	if all == nil {
		all = &summaryLines{}
	}
	list := slices.DeleteFunc(all.Lines, func(l line) bool { return l.Key == key })
	list = append(list, line{key, text})
	return summaryRecords.Put(tx, noteID, &summaryLines{list[max(0, len(list)-MaxSummaries):]})
}

// DropSummariesTx forgets what was said of a note. It costs nothing where nothing was.
func DropSummariesTx(tx *kv.Tx, noteID string) error { return summaryRecords.Delete(tx, noteID) }

// mendSummaries forgets all of it in a store that has lost transactions: nobody knows which notes still have their texts.
func mendSummaries(db *kv.Store) error {
	if !db.Unmended() {
		return nil
	}
	return db.Update(context.Background(), func(tx *kv.Tx) error {
		for id := range summaryRecords.All(tx, "") {
			if err := summaryRecords.Delete(tx, id); err != nil {
				return err
			}
		}
		return tx.Err()
	})
}
