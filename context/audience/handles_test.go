package audience_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// handling is a store with memories, contexts and conversations, of which public texts tell.
type handling struct {
	stored
	mem   *memory.Store
	chats *chat.Store
}

func newHandling(t testing.TB) *handling {
	t.Helper()
	w := &handling{stored: *openRooms(t, notes.Options{})}
	w.over(t)
	return w
}

func (w *handling) over(t testing.TB) {
	t.Helper()
	var err error
	w.mem, err = memory.Open(w.db, memory.Options{
		Source: func(tx *kv.Tx, id string) (private, found bool, err error) {
			source, err := notes.SourceTx(tx, id)
			if err != nil {
				return false, false, err
			}
			found, err = notes.Records.Has(tx, id)
			return source.Private, found, err
		},
		Entity: entities.EntityRecords.Has, HandleTaken: chat.HasHandle,
	})
	must(t, err)
	w.chats, err = chat.Open(w.db, chat.Options{Memories: w.mem, Remote: w.remote})
	must(t, err)
	chat.RegisterHandles(w.rooms, w.mem, w.chats)
}

func (w *handling) remember(t testing.TB, d memory.Draft) {
	t.Helper()
	_, err := w.mem.Add(t.Context(), w.local, []memory.Draft{d})
	must(t, err)
}

func (w *handling) note(t testing.TB, d notes.Draft) {
	t.Helper()
	_, err := w.notes.Put(context.Background(), d, nil)
	must(t, err)
}

// talk adds a conversation with a handle.
func (w *handling) talk(t testing.TB, handle string, private bool) (id string) {
	t.Helper()
	said, err := w.chats.Append(t.Context(), w.local, chat.AppendRequest{
		Title: "A talk", Private: private, Messages: []chat.Draft{{Role: record.RoleUser, Content: "Hello."}},
	})
	must(t, err)
	id = said.ConversationID
	_, err = w.chats.Rename(t.Context(), w.local, id, handle)
	must(t, err)
	return id
}

// TestPRIV8_WhatRefersToAPrivateMemory, context or conversation is masked, in each form of it, and nothing else is.
func TestPRIV8_WhatRefersToAPrivateMemory(t *testing.T) {
	w := newHandling(t)
	w.remember(t, memory.Draft{ID: "secret-1", Statement: "I own a boat.", Handle: "canary_boat", Private: true})
	w.remember(t, memory.Draft{ID: "open-1", Statement: "I own a car.", Handle: "open_car"})
	_, err := w.mem.PutContext(t.Context(), w.local, memory.ContextDraft{ID: "c", Name: "Canary Health Goals", Handle: "ssdva", Private: true}, nil)
	must(t, err)
	_, err = w.mem.PutContext(t.Context(), w.local, memory.ContextDraft{ID: "o", Name: "Open Goals"}, nil)
	must(t, err)
	w.talk(t, "canary_talk", true)
	w.talk(t, "open_talk", false)
	for _, c := range []struct{ text, want string }{
		{"see @canary_boat now", "see (private) now"},
		{"see @CANARY_Boat, now", "see (private), now"},
		{"see (@canary_boat) now", "see ((private)) now"},
		{"请看@canary_boat是什么", "请看(private)是什么"},
		{`see \@canary_boat now`, `see \(private) now`},
		{"see `@canary_boat` now", "see `(private)` now"},
		{"see @memory:secret-1 and @mem:secret-1.", "see (private) and (private)."},
		{"see @ssdva details", "see (private) details"},
		{"see @canary_health_goals now", "see (private) now"},
		{"see @Canary Health Goals now", "see (private) now"},
		{"see @[Canary Health Goals] and @[canary-health_goals] now", "see (private) and (private) now"},
		{"see @canary_talk now", "see (private) now"},
		{"see @conversation_canary_talk_message_1 now", "see (private) now"},
		{"see @conv_canary_talk_msg_a1b2c3 now", "see (private) now"},
		{"see &#64;canary_boat now", "see (private) now"},
		{"canary_boat", "(private)"},

		{"see @open_car, @memory:open-1, @open_talk and @conv_open_talk_msg_1", ""},
		{"see @open_goals_context, @Open Goals and @canary_boats", ""},
		{"see me@canary_boat.org", ""},
		{"see #1 and @claim_1", ""}, // a number says nothing of a memory
		{"ssdva details, and a canary_boat", ""},
		{"Canary Health Goals", ""}, // the name of a context is looked for behind an @ alone
	} {
		want := c.want
		if want == "" {
			want = c.text
		}
		if got := w.remote.TextOf("", c.text); got != want {
			t.Errorf("%q is shown as %q, want %q", c.text, got, want)
		}
		if got := w.local.TextOf("", c.text); got != c.text {
			t.Errorf("%q is shown to a local reader as %q", c.text, got)
		}
	}
}

// TestPRIV4_WhatAPrivateMemoryWasCalled stays private when it is deleted, also in a store that is opened again, until a
// public record has the handle.
func TestPRIV4_WhatAPrivateMemoryWasCalled(t *testing.T) {
	w := newHandling(t)
	const text = "see @canary_boat, @canary_former, @memory:secret-1, @canary_talk, @conv_canary_talk_msg_1, @ssdva, @canary_goals and @canary_old now"
	masked := "see " + strings.Repeat("(private), ", 6) + "(private) and (private) now"
	check := func(when, want string) {
		t.Helper()
		if got := w.remote.TextOf("", text); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	check("before there is anything", text)
	w.remember(t, memory.Draft{ID: "secret-1", Statement: "I own a boat.", Handle: "canary_former", Private: true})
	_, err := w.mem.Rename(t.Context(), w.local, "secret-1", "canary_boat")
	must(t, err)
	for _, name := range []string{"Canary Old", "Canary Goals"} {
		_, err = w.mem.PutContext(t.Context(), w.local, memory.ContextDraft{ID: "c", Name: name, Private: true}, nil)
		must(t, err)
	}
	_, err = w.mem.RenameContext(t.Context(), w.local, "c", "ssdva")
	must(t, err)
	id := w.talk(t, "canary_talk", true)
	check("while they are there", masked)
	must(t, w.mem.Delete(t.Context(), w.local, "secret-1", true, nil))
	_, _, err = w.mem.DeleteContext(t.Context(), w.local, "c", false)
	must(t, err)
	_, err = w.chats.Delete(t.Context(), w.local, id)
	must(t, err)
	check("when they are deleted", masked)

	w.stored = *openOver(w.db, openStores(t, w.db, notes.Options{}))
	w.over(t)
	check("in a store that is opened again", masked)
	w.remember(t, memory.Draft{ID: "other", Statement: "I sell boats.", Handle: "canary_boat"})
	check("when a public one is called so", strings.Replace(masked, "(private)", "@canary_boat", 1))
	must(t, w.mem.Delete(t.Context(), w.local, "other", true, nil))
	check("when that is gone", masked)
}

// TestPRIV4_AMemoryOfANote is private while its note is, and what is kept of texts is told so: each commit that changes
// what a text shows changes the number of meanings, and names the notes that it changes.
func TestPRIV4_AMemoryOfANote(t *testing.T) {
	w := newHandling(t)
	w.note(t, notes.Draft{ID: "doctor", Title: "Doctor", Body: "x"})
	w.note(t, notes.Draft{ID: "open", Title: "Open", Body: "as @canary_pill, @canary_own, @memory:own and @conv_canary_talk_msg_1 say"})
	w.note(t, notes.Draft{ID: "far", Title: "Far", Body: "as @nobody says"})
	w.remember(t, memory.Draft{
		ID: "pill", Statement: "I take a pill.", Handle: "canary_pill", Source: record.MemorySource{Kind: "extraction", NoteID: "doctor"},
	})
	w.remember(t, memory.Draft{ID: "own", Statement: "I own a boat.", Handle: "canary_own"})
	talk := w.talk(t, "canary_talk", false)
	var revealed []string
	w.db.OnCommit(func(cs *kv.ChangeSet) { revealed = w.rooms.Revealed(cs) })
	body := func() string { return shownNote(w.remote, w.notes.Get("open")).Body }
	yes, no := true, false
	hideNote := func(private bool) { w.note(t, notes.Draft{ID: "doctor", Title: "Doctor", Body: "x", Private: private}) }
	hideTalk := func(private *bool) {
		_, err := w.chats.Update(t.Context(), w.local, talk, chat.Change{Settings: chat.Settings{Private: private}})
		must(t, err)
	}
	hideOwn := func(private *bool) {
		_, err := w.mem.Update(t.Context(), w.local, memory.Patch{ID: "own", Private: private}, nil)
		must(t, err)
	}
	for i, step := range []struct {
		do    func()
		hides []string
	}{
		{func() { hideNote(true) }, []string{"@canary_pill"}},
		{func() { hideNote(false) }, nil},
		{func() { hideOwn(&yes) }, []string{"@canary_own", "@memory:own"}},
		{func() { hideNote(true) }, []string{"@canary_pill", "@canary_own", "@memory:own"}},
		{func() { hideOwn(&no) }, []string{"@canary_pill"}},
		{func() { hideTalk(&yes) }, []string{"@canary_pill", "@conv_canary_talk_msg_1"}},
		{func() { must(t, w.mem.Delete(t.Context(), w.local, "pill", true, nil)) }, []string{"@canary_pill", "@conv_canary_talk_msg_1"}},
	} {
		before, meanings := body(), w.remote.Meanings()
		step.do()
		want := w.notes.Get("open").Body
		for _, name := range step.hides {
			want = strings.ReplaceAll(want, name, "(private)")
		}
		if got := body(); got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
		if before == want {
			continue
		}
		if w.remote.Meanings() == meanings {
			t.Errorf("step %d: the number of meanings is the same", i)
		}
		if !slices.Contains(revealed, "open") || slices.Contains(revealed, "far") {
			t.Errorf("step %d: told of %v", i, fmt.Sprint(revealed))
		}
	}
}
