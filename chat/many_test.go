package chat_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

func named(id, text string) chat.Draft {
	d := user(text)
	d.ClientMessageID = id
	return d
}

func TestCHAT36_ManyConversationsAtOnce(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{Content: 100, Messages: 150})
	long := chat.AppendRequest{Title: "long"}
	for i := range 120 {
		long.Messages = append(long.Messages, named(strings.Repeat("x", i+1), "text"))
	}
	list := []chat.AppendRequest{{Messages: []chat.Draft{named("a", "one"), named("b", "two")}}, long}
	known, err := w.chat.Known(t.Context(), w.local, list)
	must(t, err)
	if k := known[0]; k.ConversationID != "" || k.Repeats[0] || k.Room != 150 {
		t.Errorf("of nothing is known %+v", k)
	}
	added, err := w.chat.AppendMany(t.Context(), w.local, list)
	must(t, err)
	w.sound(t)
	if w.db.Seq() != 1 || len(added) != 2 || len(added[1].Messages) != 120 || added[1].Messages[119].Index != 120 {
		t.Errorf("after transaction %d: %+v", w.db.Seq(), added)
	}
	list[0].Messages = append(list[0].Messages, named("c", "three"))
	known, err = w.chat.Known(t.Context(), w.local, list)
	must(t, err)
	k := known[0]
	if k.ConversationID != added[0].ConversationID || !k.Repeats[0] || !k.Repeats[1] || k.Repeats[2] || k.Room != 148 {
		t.Errorf("known %+v of %+v", k, added[0])
	}
	again, err := w.chat.AppendMany(t.Context(), w.local, list)
	must(t, err)
	if m := again[0].Messages; !m[1].Repeat || m[2].Repeat || m[2].Index != 3 {
		t.Errorf("again %+v", m)
	}
	w.sound(t)
}

func TestCHAT36_OfManyConversationsAllOrNone(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{Messages: 2})
	good := chat.AppendRequest{Messages: []chat.Draft{user("fine")}}
	for _, c := range []struct {
		bad   chat.AppendRequest
		kind  fault.Kind
		field string
	}{
		{chat.AppendRequest{}, fault.Invalid, "conversations[1].messages"},
		{chat.AppendRequest{Messages: []chat.Draft{user("a"), user("")}}, fault.Invalid, "conversations[1].messages[1].content"},
		{chat.AppendRequest{Messages: []chat.Draft{user("a"), user("b"), user("c")}}, fault.Limit, "conversations[1].messages[2]"},
		{chat.AppendRequest{ConversationID: "none", Messages: []chat.Draft{user("a")}}, fault.NotFound, "conversations[1].conversationId"},
		{
			chat.AppendRequest{CreatedAt: time.Unix(-1e9, 0), Messages: []chat.Draft{user("a")}},
			fault.Invalid, "conversations[1].createdAt",
		},
	} {
		_, err := w.chat.AppendMany(t.Context(), w.local, []chat.AppendRequest{good, c.bad})
		refused(t, err, c.kind, c.field)
	}
	large := user(strings.Repeat("x", chat.MaxContent))
	many := make([]chat.AppendRequest, chat.MaxGroup/chat.MaxContent+1)
	for i := range many {
		many[i].Messages = []chat.Draft{large}
	}
	_, err := w.chat.AppendMany(t.Context(), w.local, many)
	refused(t, err, fault.Limit, "conversations")
	if w.db.Seq() != 0 {
		t.Error("a refused call stored something")
	}
}

func TestCHAT36_AConversationThatTheClientNames(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	said := chat.AppendRequest{ClientID: "x", Messages: []chat.Draft{user("one")}}
	id := w.say(w.local, said).ConversationID
	if again := w.say(w.local, said); again.ConversationID != id || again.Messages[0].Index != 2 {
		t.Errorf("again %+v, want another message of %s", again, id)
	}
	_, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Private: ptr(true)}})
	must(t, err)
	if other := w.say(w.remote, said); other.ConversationID == id {
		t.Error("a remote reader is given a private conversation")
	}
	said.ClientID = strings.Repeat("x", 201)
	_, err = w.chat.Append(t.Context(), w.local, said)
	refused(t, err, fault.Limit, "clientId")
}

func TestCHAT36_WhatWasSaidElsewhereKeepsItsTime(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	at := func(day int) time.Time { return time.Date(2024, 5, day, 12, 0, 0, 0, time.UTC) }
	said := chat.AppendRequest{Past: true, CreatedAt: at(1)}
	for _, day := range []int{2, 4, 3} {
		d := user("text")
		d.CreatedAt = at(day)
		said.Messages = append(said.Messages, d)
	}
	id := w.say(w.local, said).ConversationID
	if c := w.get(w.local, id); !c.CreatedAt.Equal(at(1)) || !c.UpdatedAt.Equal(at(4)) {
		t.Errorf("created %s, updated %s", c.CreatedAt, c.UpdatedAt)
	}
	w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user("now")}})
	if c := w.get(w.local, id); !c.UpdatedAt.Equal(w.now) {
		t.Errorf("updated %s, want %s", c.UpdatedAt, w.now)
	}
}

func TestCHAT4_UnknownMembersOfAMessageAreKept(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{named("a", "hello")}})
	must(t, w.db.View(t.Context(), func(tx *kv.Tx) error {
		for _, stored := range rawly("message").All(tx, "") {
			with := *stored + `{"reasoning":"none"}`
			if again, err := chat.Recoded(with); err != nil || again != with {
				t.Errorf("%q became %q, %v", with, again, err)
			}
		}
		return tx.Err()
	}))
}

func TestCHAT25_TheFirstMessagesWereJSON(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("hello"), secret("mine")}}).ConversationID
	want := w.page(w.local, id, 0, 10).Messages
	must(t, w.db.Update(t.Context(), func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, "") {
			text, err := json.Marshal(m)
			if err != nil {
				return err
			}
			old := strings.Replace(string(text), "{", `{"later":true,`, 1)
			if err := rawly("message").Put(tx, key, &old); err != nil {
				return err
			}
		}
		for name, stored := range map[string]string{"message-name": `{"index":1}`, "message-public": `{"index":1}`} {
			for key := range rawly(name).All(tx, "") {
				if name == "message-name" && key != id+"/"+want[0].Hash {
					continue
				}
				if err := rawly(name).Put(tx, key, &stored); err != nil {
					return err
				}
			}
		}
		return tx.Err()
	}))
	w.sound(t)
	if got := w.page(w.local, id, 0, 10).Messages; !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

func FuzzCHAT25_StoredMessage(f *testing.F) {
	f.Add("\x01\x01a\x01\x00\x01h\x04user\x02hi\x00\x00\x00\x00\x08complete\x00")
	f.Add("\x01\x01a\x01\x01\x01h\x04user\x02hi\x00\x00\x00\x00\x00\x00{\"a\":1}")
	f.Fuzz(func(t *testing.T, stored string) {
		once, err := chat.Recoded(stored)
		if err != nil {
			return
		}
		if twice, err := chat.Recoded(once); err != nil || twice != once {
			t.Errorf("%q became %q, %v", once, twice, err)
		}
	})
}
