//go:build linux && amd64

package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCampaignREL1_TheClockLeapsOverConversations sets the clock of a daemon by years, days and hours, forward and
// back, and kills it after every third time, while a client talks, changes a conversation in every way, and imports
// an export that grows. Messages keep their numbers, hashes and times, a conversation's times never go back, what was
// just said is found, and nothing is imported twice, whatever the clock said when it was imported first.
func TestCampaignREL1_TheClockLeapsOverConversations(t *testing.T) {
	home := shortHome(t)
	clock := newClock(t, home)
	opts := clock.under(launchOptions{home: home, env: []string{"TZ=" + zone}})
	p := serve(t, opts)
	c := p.client()
	first := ask[protocol.ChatAppended](t, c, "chat.append", protocol.ChatAppend{
		Title: "Leaps", Messages: []protocol.ChatMessageDraft{{Role: record.RoleUser, Content: "Go on."}},
	})
	id := first.ConversationID
	read := func() (*record.Conversation, []*record.ChatMessage) {
		page := ask[protocol.ChatPage](t, c, "chat.get", protocol.ChatGet{Ref: id, Limit: 1000})
		return page.Conversation, page.Messages
	}
	was, said := read()
	// change makes a call that changes the conversation, whose times must not go back, and whose messages must stay.
	change := func(what, method string, params any) {
		t.Helper()
		ask[any](t, c, method, params)
		is, now := read()
		if is.UpdatedAt.Before(was.UpdatedAt) || !is.CreatedAt.Equal(was.CreatedAt) || is.Handle != was.Handle || is.Version < was.Version ||
			is.ArchivedAt != nil && is.ArchivedAt.Before(was.UpdatedAt) {
			t.Errorf("%s: %s: the conversation was %+v and is %+v", what, method, was, is)
		}
		for i, m := range now {
			if m.Index != i+1 || i < len(said) && fmt.Sprintf("%+v", *m) != fmt.Sprintf("%+v", *said[i]) {
				t.Errorf("%s: %s: message %d is %+v", what, method, i+1, *m)
			}
		}
		was, said = is, now
	}
	x := &importedTalks{there: make(map[int]string)}
	for i, l := range slices.Repeat(leaps, figure(1, 5)) {
		clock.set(l.to())
		word := fmt.Sprintf("leap%d", i)
		change(l.what, "chat.append", protocol.ChatAppend{ConversationID: id, Messages: []protocol.ChatMessageDraft{
			{Role: record.RoleUser, Content: "What of " + word + "?", ClientMessageID: word}, {Role: record.RoleAssistant, Content: "Nothing."},
		}})
		if len(said) != 1+2*(i+1) {
			t.Fatalf("%s: %d messages", l.what, len(said))
		}
		change(l.what, "chat.append", protocol.ChatAppend{ // again: it is there
			Messages: []protocol.ChatMessageDraft{{Role: record.RoleUser, Content: "What of " + word + "?", ClientMessageID: word}},
		})
		change(l.what, "chat.patch", map[string]any{"id": id, "title": "Leaps " + word})
		change(l.what, "chat.archive", protocol.ByID{ID: id})
		change(l.what, "chat.restore", protocol.ByID{ID: id})
		found := ask[protocol.ChatFound](t, c, "chat.search", protocol.ChatSearch{Query: word, Mode: "lexical"})
		if len(found.Hits) != 1 || found.Hits[0].Index != len(said)-1 {
			t.Errorf("%s: what was just said is found as %+v", l.what, found.Hits)
		}
		before := x.there
		x = exportTalks(t, home, i+1, 3)
		x.there = before
		x.completes(t, c)
		if i%3 == 2 {
			p.kill()
			p = serve(t, opts)
			c = p.client()
			x.wants(t, c)
			x.completes(t, c)
			wantChecked(t, c)
		}
	}
	p.stop()
	p = serve(t, opts)
	if h := p.await(); !h.Store.Recovered.Clean || len(h.Warnings) > 0 {
		t.Errorf("%+v", h)
	}
	c = p.client()
	x.wants(t, c)
	change("at the end", "chat.patch", map[string]any{"id": id, "title": "The end"})
}
