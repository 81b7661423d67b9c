package chat_test

import (
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
)

// TestCHAT36_WhatHasOneNameIsCalledInTurn: conversations of one title and time, and messages of one text, get the
// names of the counters from 0 on. What is deleted keeps no other from getting one.
func TestCHAT36_WhatHasOneNameIsCalledInTurn(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	title := "Weekly meeting"
	counters := make(map[string]int)
	for counter := range 100 {
		counters[refs.NewConversationHandle(title, w.now, counter)] = counter
	}
	var ids []string
	for i := range 40 {
		c, err := w.chat.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{Title: &title}})
		must(t, err)
		if got, ok := counters[c.Handle]; !ok || got != i {
			t.Fatalf("conversation %d is called by counter %d", i, got)
		}
		ids = append(ids, c.ID)
	}
	for _, gone := range []int{39, 3, 21} {
		_, err := w.chat.Delete(t.Context(), w.local, ids[gone])
		must(t, err)
	}
	for range 3 {
		c, err := w.chat.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{Title: &title}})
		must(t, err)
		if got, ok := counters[c.Handle]; !ok || got > 42 {
			t.Errorf("a conversation is called by counter %d", got)
		}
	}
	c, err := w.chat.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{Title: &title}})
	must(t, err)
	for i := range 40 {
		added := w.say(w.local, chat.AppendRequest{ConversationID: c.ID, Messages: []chat.Draft{user("yes")}})
		if want := refs.MessageHash(c.Handle, "yes", i); added.Messages[0].Hash != want {
			t.Fatalf("message %d is called %s, want %s", i, added.Messages[0].Hash, want)
		}
	}
	w.sound(t)
}
