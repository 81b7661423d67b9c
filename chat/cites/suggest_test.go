package cites_test

import (
	"errors"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestCHAT31_LinkedNotes(t *testing.T) {
	w := openSuggester(t)
	w.note("Alps", "To [[Huts]] and [[Paths]], [[Plan]].", false)
	w.note("Plan", "To [[Paths]], ![[map.png]].", false)
	w.note("Huts", "Of [[Alps]].", false)
	w.note("Paths", "x", false)
	w.note("Diary", "About [[Alps]].", false)
	w.note("Far", "x", false)
	talk := w.said("", "-", false, directLinks("Plan")...)
	w.said(talk, "-", false, directLinks("Alps", "Alps")...)
	w.wants(w.local, talk,
		"Paths link: It is linked with Alps and 1 other note of the conversation",
		"Huts link: It is linked with Alps both ways",
		"Diary link: It links to Alps")
	if one := w.of(w.local, talk, 1); len(one) != 1 || one[0].Title != "Paths" {
		t.Errorf("one: %+v", one)
	}
	one := w.said("", "-", false, directLinks("Plan")...)
	w.wants(w.local, one, "Alps together: 1 other conversation has used it and Plan", "Paths link: Plan links to it")

	_, err := w.notes.Archive(t.Context(), "Huts", nil)
	w.must(err)
	_, err = w.notes.Delete(t.Context(), "Paths", nil)
	w.must(err)
	w.said(talk, "-", false, foundNote("Diary"))
	w.wants(w.local, talk) // what is archived, gone or referred to is not suggested
}

func TestCHAT31_UsedTogether(t *testing.T) {
	w := openSuggester(t)
	for _, title := range []string{"A", "B", "C", "D", "E", "F"} {
		w.note(title, "x", false)
	}
	talk := w.said("", "-", false, directLinks("A", "B")...)
	w.said("", "-", false, directLinks("A", "B", "C")...) // shares two
	w.said("", "-", false, directLinks("A", "D")...)
	last := w.said("", "-", false, directLinks("B", "D")...)
	w.said(last, "-", false, foundNote("E"))         // was not read
	w.said("", "-", false, directLinks("E", "F")...) // shares nothing
	w.wants(w.local, talk,
		"D together: 2 other conversations have used it and A",
		"C together: 1 other conversation has used it and A")
	_, err := w.chats.Delete(t.Context(), w.local, last)
	w.must(err)
	w.wants(w.local, talk,
		"C together: 1 other conversation has used it and A",
		"D together: 1 other conversation has used it and A")
}

func TestCHAT31_WordsOfWhatWasSaid(t *testing.T) {
	w := openSuggester(t)
	w.note("Huts", "The upper hut is open in June.", false)
	w.note("Trains", "The train leaves at nine.", false)
	talk := w.said("", "trains trains", false)
	w.said(talk, "-", false)
	w.wants(w.local, talk, "Trains search: It has words of what was said last")
	w.said(talk, "When is the [[Upper hut]] open?", false)
	w.wants(w.local, talk, "Huts search: It has words of what was said last")
	w.said(talk, "-", false, foundNote("Huts"))
	w.wants(w.local, talk)
	w.wants(w.local, w.said("", "the of and", false))
}

// TestCHAT31_ListsAreJoined: a note in two lists comes before the best ones of each.
func TestCHAT31_ListsAreJoined(t *testing.T) {
	w := openSuggester(t)
	w.note("Alps", "[[Huts]] [[Both]]", false)
	w.note("Huts", "x", false)
	w.note("Both", "zebra crossing", false)
	w.note("Zoo", "zebra zebra zebra", false)
	talk := w.said("", "zebra", false, directLinks("Alps")...)
	w.wants(w.local, talk,
		"Both link: Alps links to it",
		"Zoo search: It has words of what was said last",
		"Huts link: Alps links to it")
}

func TestCHAT31_PinnedNotesAndNone(t *testing.T) {
	w := openSuggester(t)
	w.note("Alps", "[[Huts]]", false)
	w.note("Huts", "[[Paths]]", false)
	w.note("Paths", "x", false)
	pins := []string{"Alps"}
	c, err := w.chats.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{PinnedNotes: &pins}})
	w.must(err)
	w.wants(w.local, c.ID, "Huts link: Alps links to it")
	w.wants(w.local, c.Handle, "Huts link: Alps links to it")
	w.wants(w.local, w.said("", "-", false, foundNote("Huts")), // only found, and there is nothing else
		"Paths link: Huts links to it", "Alps link: It links to Huts")
	_, err = w.suggester.Of(t.Context(), w.local, "none", 5)
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.NotFound || e.Field != "conversationId" {
		t.Errorf("unknown conversation: %v", err)
	}
}

// TestPRIV6_SuggestionsForRemoteReaders: two stores, one of which has private records beside, suggest the same.
func TestPRIV6_SuggestionsForRemoteReaders(t *testing.T) {
	fill := func(w *suggesterWorld, private bool) (talk string) {
		w.note("Alps", "To [[Huts]], [[Paths]].", false)
		w.note("Huts", "zebra", false)
		w.note("Paths", "x", false)
		w.note("Zoo", "zebra", false)
		if private {
			w.note("Diary", "About [[Alps]] and [[Paths]], [[Paths]]. zebra zebra", true)
		}
		talk = w.said("", "zebra", false, directLinks("Alps")...)
		w.said("", "-", false, directLinks("Alps", "Zoo")...)
		if private {
			w.said("", "-", true, directLinks("Alps", "Paths", "Diary")...)
			w.said(talk, "paths paths", true, directLinks("Zoo", "Diary")...)
			w.said("", "-", false, directLinks("Diary", "Paths")...)
		}
		return talk
	}
	with, without := openSuggester(t), openSuggester(t)
	one, two := fill(with, true), fill(without, false)
	want := []string{
		"Huts link: Alps links to it",
		"Zoo together: 1 other conversation has used it and Alps",
		"Paths link: Alps links to it",
	}
	without.wants(without.remote, two, want...)
	with.wants(with.remote, one, want...)
	if len(with.of(with.local, one, 10)) == len(want) {
		t.Errorf("private records have no part for the local reader: %+v", with.of(with.local, one, 10))
	}
	hidden := with.said("", "-", true, directLinks("Alps")...)
	if _, err := with.suggester.Of(t.Context(), with.remote, hidden, 5); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a private conversation: %v", err)
	}
}
