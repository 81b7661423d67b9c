package audience_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREL8_ReadingEndsWithTheStore ends what reads all texts behind a start at the first of them: what it has not read is
// among all that is asked for.
func TestREL8_ReadingEndsWithTheStore(t *testing.T) {
	w := openRooms(t, notes.Options{})
	put := func(d notes.Draft) {
		t.Helper()
		_, err := w.notes.Put(t.Context(), d, nil)
		must(t, err)
	}
	put(notes.Draft{ID: "hidden", Title: "Hidden", Private: true})
	for i := range 50 {
		put(notes.Draft{ID: fmt.Sprint("note-", i), Body: "of nothing"})
	}
	started := audience.Open(w.db, audience.Stores{Entities: w.ents, Notes: w.notes})
	namers := started.Namers(w.db, func(yield func(string, []string) bool) {
		for i := range 50 {
			if !yield(fmt.Sprint("text-", i), []string{"of nothing"}) {
				return
			}
		}
	})
	texts := 0
	audience.OnReading(func() {
		texts++
		started.EndReading()
	})
	defer audience.OnReading(func() {})
	started.ReadReferences()
	if texts > 8 {
		t.Errorf("%d texts were read", texts)
	}
	var revealed []string
	var named map[string]bool
	w.db.OnCommit(func(cs *kv.ChangeSet) { revealed, named = started.Revealed(cs), namers.Revealed(cs) })
	put(notes.Draft{ID: "hidden", Title: "Concealed", Private: true})
	if len(revealed)+len(named) < 100-texts {
		t.Errorf("%d notes and %d texts may name it", len(revealed), len(named))
	}
}

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

// TestREL14_AChangeWaitsForTheFirstReading renames a private note while the texts of a start are still being read: what has
// not been read yet does not count as naming it, or all of it would be embedded and masked anew.
func TestREL14_AChangeWaitsForTheFirstReading(t *testing.T) {
	for of, texts := range map[string]int{"notes": 0, "another room": 3} { // how many are read before
		t.Run(of, func(t *testing.T) {
			w := openRooms(t, notes.Options{})
			for _, d := range []notes.Draft{
				{ID: "hidden", Title: "Hidden", Private: true}, {ID: "far", Body: "of nothing"}, {ID: "near", Body: "see [[Hidden]]"},
			} {
				_, err := w.notes.Put(t.Context(), d, nil)
				must(t, err)
			}
			synctest.Test(t, func(t *testing.T) { renameDuringFirstReading(t, w, texts) })
		})
	}
}

func renameDuringFirstReading(t *testing.T, w *stored, texts int) {
	started := audience.Open(w.db, audience.Stores{Entities: w.ents, Notes: w.notes})
	namers := started.Namers(w.db, func(yield func(string, []string) bool) {
		_ = yield("text", []string{"of nothing"}) && yield("naming", []string{"see [[Hidden]]"})
	})
	var revealed []string
	var named map[string]bool
	w.db.OnCommit(func(cs *kv.ChangeSet) { revealed, named = started.Revealed(cs), namers.Revealed(cs) })
	read := make(chan struct{})
	audience.OnReading(func() {
		if texts == 0 {
			<-read
			return
		}
		texts--
	})
	defer audience.OnReading(func() {})
	go started.ReadReferences()
	synctest.Wait()
	renamed := make(chan error, 1)
	go func() {
		_, err := w.notes.Put(t.Context(), notes.Draft{ID: "hidden", Title: "Concealed", Private: true}, nil)
		renamed <- err
	}()
	synctest.Wait()
	if len(renamed) > 0 {
		t.Error("it was renamed before the texts were read")
	}
	close(read)
	must(t, <-renamed)
	if !slices.Contains(revealed, "near") || slices.Contains(revealed, "far") || !named["naming"] || named["text"] {
		t.Errorf("%q and %v name it", revealed, named)
	}
	must(t, w.db.Close())
}
