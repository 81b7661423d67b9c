package document_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// house is a store with an index of its messages.
type house struct {
	searchtest.T
	searchtest.Rooms
	chat          *chat.Store
	local, remote *audience.View
	source        *document.Source
	index         *search.Index
	now           time.Time
}

func open(t *testing.T) *house {
	return over(t, searchtest.Open(t, kv.InMemory), search.Options{})
}

func over(t searchtest.T, db *kv.Store, opts search.Options) *house {
	t.Helper()
	h := &house{T: t, Rooms: searchtest.Over(t, db, notes.Options{}), now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	seen := audience.Open(db, audience.Stores{Entities: h.Entities, Notes: h.Notes})
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	var err error
	h.chat, err = chat.Open(db, chat.Options{Now: func() time.Time { return h.now }})
	searchtest.Must(t, err)
	h.source, err = document.New(db, seen, document.Options{Now: func() time.Time { return h.now }})
	searchtest.Must(t, err)
	opts.Gate = seen.Gate
	h.index = search.Open(db, h.source, opts)
	return h
}

// say adds messages to a conversation, to a new one when it has no id.
func (h *house) say(id string, messages ...chat.Draft) string {
	h.Helper()
	added, err := h.chat.Append(context.Background(), h.local, chat.AppendRequest{ConversationID: id, Messages: messages})
	searchtest.Must(h, err)
	return added.ConversationID
}

func (h *house) change(id string, ch chat.Change) {
	h.Helper()
	_, err := h.chat.Update(context.Background(), h.local, id, ch)
	searchtest.Must(h, err)
}

func (h *house) delete(id string) {
	h.Helper()
	_, err := h.chat.Delete(context.Background(), h.local, id)
	searchtest.Must(h, err)
}

func (h *house) note(id, title string, private bool) {
	h.Helper()
	h.Put(h, notes.Draft{ID: id, Title: title, Body: "Tree.", Private: private})
}

// finds tells what the messages say that a search finds, for a remote reader or a local one.
func (h *house) finds(query string, public bool) []string {
	h.Helper()
	return h.found(search.Request{Query: query, Limit: 50, Public: public})
}

func (h *house) found(req search.Request) []string {
	h.Helper()
	res, err := h.index.Search(context.Background(), req)
	searchtest.Must(h, err)
	list := []string{}
	for _, hit := range res.Hits {
		list = append(list, hit.Doc.Plain())
	}
	slices.Sort(list)
	return list
}

func (h *house) expect(query string, local, remote []string) {
	h.Helper()
	if got := h.finds(query, false); !slices.Equal(got, local) {
		h.Fatalf("%s: found %q, want %q", query, got, local)
	}
	if got := h.finds(query, true); !slices.Equal(got, remote) {
		h.Fatalf("%s: a remote reader found %q, want %q", query, got, remote)
	}
}

// shown are the messages that a reader sees of conversations and that hold a word.
func (h *house) shown(v *audience.View, ids []string, word string) []string {
	h.Helper()
	list := []string{}
	for _, id := range ids {
		p, err := h.chat.Messages(context.Background(), v, id, "", 0, 1000)
		if err != nil || p.Conversation.ArchivedAt != nil {
			continue
		}
		for _, m := range p.Messages {
			if strings.Contains(strings.ToLower(m.Content), word) {
				list = append(list, m.Content)
			}
		}
	}
	slices.Sort(list)
	return list
}

// asTheStore fails when a search for a word finds other messages than those that the reader sees.
func (h *house) asTheStore(ids []string, words ...string) {
	h.Helper()
	for _, word := range words {
		for _, v := range []*audience.View{h.local, h.remote} {
			want := h.shown(v, ids, word)
			if got := h.finds(word, v.Hides()); !slices.Equal(got, want) {
				h.Fatalf("%s, remote %v: found %q, want %q", word, v.Hides(), got, want)
			}
		}
	}
}

var none = []string{}

func user(text string) chat.Draft { return chat.Draft{Role: record.RoleUser, Content: text} }

func secret(text string) chat.Draft {
	return chat.Draft{Role: record.RoleUser, Content: text, Private: true}
}

func answer(format string, args ...any) chat.Draft {
	return chat.Draft{Role: record.RoleAssistant, Content: fmt.Sprintf(format, args...)}
}

func ptr[T any](v T) *T { return &v }
