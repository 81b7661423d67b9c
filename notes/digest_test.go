package notes_test

import (
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestCHAT15_TheLastLinesOfANoteAreKept(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Update(t.Context(), func(tx *kv.Tx) error {
		for i := range notes.MaxSummaries + 2 {
			if err := notes.PutSummaryTx(tx, "n", fmt.Sprint("k", i), fmt.Sprint("line ", i)); err != nil {
				return err
			}
		}
		if err := notes.PutSummaryTx(tx, "n", "k2", ""); err != nil { // of one key there is one line
			return err
		}
		return notes.PutSummaryTx(tx, "other", "k", "another")
	})
	if err != nil {
		t.Fatal(err)
	}
	wants := func(note, key, want string, made bool) {
		t.Helper()
		err := db.View(t.Context(), func(tx *kv.Tx) error {
			text, ok, err := notes.GetSummary(tx, note, key)
			if text != want || ok != made {
				t.Errorf("%s of %s is %q, %v, want %q, %v", key, note, text, ok, want, made)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wants("n", "k1", "", false)
	wants("n", "k2", "", true)
	wants("n", "k3", "line 3", true)
	wants("n", fmt.Sprint("k", notes.MaxSummaries+1), fmt.Sprint("line ", notes.MaxSummaries+1), true)
	if err := db.Update(t.Context(), func(tx *kv.Tx) error { return notes.DropSummariesTx(tx, "n") }); err != nil {
		t.Fatal(err)
	}
	wants("n", "k3", "", false)
	wants("other", "k", "another", true)
}
