package audience_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREL14_WhatTextsNameIsReadBehindTheirTurn has another writer come while it is read what a note, and a text of another
// room, may name: it does not wait for that. Until it is known both may name anything.
func TestREL14_WhatTextsNameIsReadBehindTheirTurn(t *testing.T) {
	w := openRooms(t, notes.Options{})
	namers := w.rooms.Namers(w.db, func(func(string, []string) bool) {})
	var named map[string]bool
	var revealed []string
	w.db.OnCommit(func(cs *kv.ChangeSet) {
		revealed, named = w.rooms.Revealed(cs), namers.Revealed(cs)
		for _, ch := range cs.Changes {
			if _, now, ok := notes.Records.Of(ch); ok && now.ID == "far" {
				namers.Set("text", []string{now.Body})
			}
		}
	})
	put := func(d notes.Draft) {
		t.Helper()
		_, err := w.notes.Put(t.Context(), d, nil)
		must(t, err)
	}
	put(notes.Draft{ID: "hidden", Title: "Hidden", Private: true})
	w.rooms.ReadReferences()
	reading, read := make(chan struct{}, 2), make(chan struct{})
	audience.OnReading(func() {
		reading <- struct{}{}
		select {
		case <-read:
		case <-time.After(20 * time.Second): // only when it fails
			t.Error("others wait while a text is read")
		}
	})
	put(notes.Draft{ID: "far", Title: "Far", Body: "see [[Elsewhere]]"})
	<-reading
	<-reading // one of each
	put(notes.Draft{ID: "hidden", Title: "Concealed", Private: true})
	if !named["text"] || len(revealed) != 2 {
		t.Errorf("%v and %q may name it while nobody has read them", named, revealed)
	}
	close(read)
	w.rooms.ReadReferences()
	put(notes.Draft{ID: "hidden", Title: "Unseen", Private: true})
	if named["text"] || len(revealed) != 1 {
		t.Errorf("%v and %q name it", named, revealed)
	}
	must(t, w.db.Close())
	audience.OnReading(func() {})
}
