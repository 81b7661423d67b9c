package cites_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// suggesterWorld is a store with notes, conversations and a Suggester.
type suggesterWorld struct {
	testing.TB
	ctx           context.Context
	db            *kv.Store
	notes         *notes.Store
	chats         *chat.Store
	local, remote *audience.View
	suggester     *cites.NoteSuggester
	now           time.Time
}

func openSuggester(t testing.TB) *suggesterWorld {
	t.Helper()
	w := &suggesterWorld{TB: t, ctx: t.Context(), now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	w.must(err)
	t.Cleanup(func() { _ = w.db.Close() })
	ents, err := entities.Open(w.db, entities.Options{})
	w.must(err)
	w.notes, err = notes.Open(w.db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(w.db, audience.Stores{Entities: ents, Notes: w.notes})
	rooms.SetSearch(search.Open(w.db, notedoc.New(w.notes, notedoc.Options{Public: rooms.Public, Revealed: rooms.Revealed}), search.Options{}))
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.chats, err = chat.Open(w.db, chat.Options{Now: func() time.Time { return w.now }, Remote: w.remote})
	w.must(err)
	w.suggester = cites.NewSuggester(w.chats, cites.OpenIndex(w.db, w.chats, maps.All(map[string]*chat.Message{})))
	return w
}

func (w *suggesterWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *suggesterWorld) note(title, body string, private bool) {
	w.Helper()
	_, err := w.notes.Put(w.ctx, notes.Draft{ID: title, Title: title, Body: body, Private: private}, nil)
	w.must(err)
}

// said has a message of the user stored that refers to notes. The conversation is a new one when it has no id.
func (w *suggesterWorld) said(conversationID, text string, private bool, refs ...record.ChatReference) (conversation string) {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	added, err := w.chats.Append(w.ctx, w.local, chat.AppendRequest{
		ConversationID: conversationID,
		Messages:       []chat.Draft{{Role: record.RoleUser, Content: text, Private: private, CreatedAt: w.now}},
	})
	w.must(err)
	data, err := json.Marshal(refs)
	w.must(err)
	w.must(w.db.Update(w.ctx, func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, added.ConversationID+"/") {
			if m.ID == added.Messages[0].ID {
				m.Members = map[string]json.RawMessage{chat.ReferencesMember: data}
				return chat.Messages.Put(tx, key, m)
			}
		}
		return tx.Err()
	}))
	return added.ConversationID
}

// directLinks are links to notes.
func directLinks(titles ...string) (list []record.ChatReference) {
	for _, title := range titles {
		list = append(list, record.ChatReference{NoteID: title, Type: record.ReferDirect, Status: record.ReferOK, Wikilink: "[[" + title + "]]"})
	}
	return list
}

func foundNote(title string) record.ChatReference {
	return record.ChatReference{NoteID: title, Type: record.ReferSearch, Status: record.ReferOK}
}

func (w *suggesterWorld) of(v *audience.View, conversation string, limit int) []turn.ChatSuggestion {
	w.Helper()
	out, err := w.suggester.Of(w.ctx, v, conversation, limit)
	w.must(err)
	return out.Items
}

// wants fails unless a reader is suggested these notes, each as "title reason: sentence".
func (w *suggesterWorld) wants(v *audience.View, conversation string, want ...string) {
	w.Helper()
	var got []string
	for _, s := range w.of(v, conversation, 10) {
		if s.NoteID != s.Title {
			w.Errorf("%s is called %s", s.NoteID, s.Title)
		}
		got = append(got, s.Title+" "+s.Reason+": "+s.Why)
	}
	if !slices.Equal(got, want) {
		w.Errorf("for %s: %q\nwant %q", v.Reader(), got, want)
	}
}
