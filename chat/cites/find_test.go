package cites_test

import (
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV8_HitsAreShownAsTheReaderSeesThem: a remote reader has numbers of his own, masked texts, and no
// hash or handle of what he sees a part of.
func TestPRIV8_HitsAreShownAsTheReaderSeesThem(t *testing.T) {
	db := searchtest.Open(t, kv.InMemory)
	rooms := searchtest.Over(t, db, notes.Options{})
	seen := audience.Open(db, audience.Stores{Entities: rooms.Entities, Notes: rooms.Notes})
	local, remote := seen.View(audience.Local), seen.View(audience.Remote)
	chats, err := chat.Open(db, chat.Options{})
	searchtest.Must(t, err)
	said, err := document.New(db, seen, document.Options{})
	searchtest.Must(t, err)
	f := cites.NewMessageFinder(chats, search.Open(db, said, search.Options{}))
	rooms.Put(t, notes.Draft{ID: "z", Title: "Zanzibar Project", Body: "Plan.", Private: true})
	added, err := chats.Append(t.Context(), local, chat.AppendRequest{Title: "About [[Zanzibar Project]]", Messages: []chat.Draft{
		{Role: record.RoleUser, Content: "The boat is mine.", Private: true},
		{Role: record.RoleUser, Content: "The boat of [[Zanzibar Project]] leaks."},
	}})
	searchtest.Must(t, err)
	for _, c := range []struct {
		v     *audience.View
		query string
		hits  int
	}{{local, "boat", 2}, {remote, "boat", 1}, {local, "zanzibar", 1}, {remote, "zanzibar", 0}} {
		res, err := f.Search(t.Context(), c.v, cites.FindRequest{Query: c.query, Mode: search.Lexical, Limit: 5})
		searchtest.Must(t, err)
		if len(res.Hits) != c.hits {
			t.Fatalf("%s, remote %v: %d hits, want %d", c.query, c.v.Hides(), len(res.Hits), c.hits)
		}
	}
	res, err := f.Search(t.Context(), remote, cites.FindRequest{Query: "boat", Mode: search.Lexical, Limit: 5})
	searchtest.Must(t, err)
	h := res.Hits[0]
	if h.Message.Index != 1 || h.Message.Hash != "" || h.Conversation.Handle != "" {
		t.Errorf("a remote reader is shown %+v of %+v", h.Message, h.Conversation)
	}
	for _, text := range []string{h.Snippet, h.Message.Content, h.Conversation.Title} {
		if text != remote.TextOf("", text) {
			t.Errorf("a remote reader is shown %q", text)
		}
	}
	_, err = f.Search(t.Context(), remote, cites.FindRequest{Query: "boat", Conversation: "nothing", Limit: 5})
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("error %v", err)
	}
	private := true
	_, err = chats.Update(t.Context(), local, added.ConversationID, chat.Change{Settings: chat.Settings{Private: &private}})
	searchtest.Must(t, err)
	list, err := chats.Found(t.Context(), remote, []string{added.ConversationID + "/00000002", "nothing/00000001"})
	if err != nil || list[0] != nil || list[1] != nil {
		t.Errorf("found %v, %v", list, err)
	}
}
