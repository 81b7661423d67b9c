package chat_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func TestCHAT1_WhatNoMessageMayBe(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{Content: 10, Messages: 3})
	good := user("fine")
	for _, c := range []struct {
		bad   chat.Draft
		kind  fault.Kind
		field string
	}{
		{chat.Draft{Role: "tool", Content: "x"}, fault.Invalid, "role"},
		{user(" \n"), fault.Invalid, "content"},
		{user("a\xff"), fault.Invalid, "content"},
		{user("01234567890"), fault.Limit, "content"},
		{chat.Draft{Role: "user", Content: "x", CreatedAt: time.Unix(-1e9, 0)}, fault.Invalid, "createdAt"},
		{chat.Draft{Role: "user", Content: "x", CreatedAt: w.now.AddDate(0, 0, 3)}, fault.Invalid, "createdAt"},
		{chat.Draft{Role: "user", Content: "x", ClientMessageID: strings.Repeat("x", 201)}, fault.Limit, "clientMessageId"},
	} {
		_, err := w.chat.Append(t.Context(), w.local, chat.AppendRequest{Messages: []chat.Draft{good, c.bad}})
		refused(t, err, c.kind, "messages[1]."+c.field)
	}
	_, err := w.chat.Append(t.Context(), w.local, chat.AppendRequest{})
	refused(t, err, fault.Invalid, "messages")
	_, err = w.chat.Append(t.Context(), w.local, chat.AppendRequest{Messages: slices.Repeat([]chat.Draft{good}, 101)})
	refused(t, err, fault.Limit, "messages")
	_, err = w.chat.Append(t.Context(), w.local, chat.AppendRequest{Messages: slices.Repeat([]chat.Draft{good}, 4)})
	refused(t, err, fault.Limit, "messages[3]")
	_, err = w.chat.Append(t.Context(), w.local, chat.AppendRequest{Title: strings.Repeat("x", 201), Messages: []chat.Draft{good}})
	refused(t, err, fault.Limit, "title")
	_, err = w.chat.Append(t.Context(), w.local, chat.AppendRequest{ConversationID: "none", Messages: []chat.Draft{good}})
	refused(t, err, fault.NotFound, "conversationId")
	twice := chat.Draft{Role: "user", Content: "x", ClientMessageID: "a"}
	_, err = w.chat.Append(t.Context(), w.local, chat.AppendRequest{Messages: []chat.Draft{twice, twice}})
	refused(t, err, fault.Invalid, "messages[1].clientMessageId")
	list, _, err := w.chat.List(t.Context(), w.local, false, nil, 10)
	must(t, err)
	if len(list) != 0 {
		t.Errorf("a refused call stored %v", list)
	}
}

func TestCHAT1_PagesOfMessages(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	said := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 3600))
	added := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{
		{Role: "user", Content: "one", CreatedAt: said}, {Role: "assistant", Content: "two"}, user("three"), user("three"),
	}})
	var got []string
	hashes := make(map[string]bool)
	for after, more := 0, true; more; {
		p := w.page(w.local, added.ConversationID, after, 3)
		for _, m := range p.Messages {
			got = append(got, fmt.Sprint(m.Index, m.Role, m.Content))
			hashes[m.Hash] = true
			after = m.Index
		}
		more = p.More
	}
	if want := "1userone 2assistanttwo 3userthree 4userthree"; strings.Join(got, " ") != want {
		t.Errorf("messages %q, want %q", got, want)
	}
	if len(hashes) != 4 {
		t.Errorf("hashes %v, want 4", hashes)
	}
	first := w.page(w.local, added.ConversationID, 0, 1).Messages[0]
	if at := first.CreatedAt.Format(time.RFC3339Nano); at != "2024-05-06T06:08:09.123Z" {
		t.Errorf("said at %s", at)
	}
}

func TestCHAT3_TitlesAndVersions(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	long := strings.Repeat("wörd ", 30)
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{{Role: "system", Content: "be kind"}, user(long)}}).ConversationID
	c := w.get(w.local, id)
	if n := len([]rune(c.Title)); n > 60 || !strings.HasPrefix(c.Title, "wörd wörd") || !strings.HasSuffix(c.Title, "…") {
		t.Errorf("title %q of %d characters", c.Title, n)
	}
	if !strings.HasPrefix(c.Handle, "wörd") {
		t.Errorf("handle %q", c.Handle)
	}
	w.say(w.local, chat.AppendRequest{ConversationID: "@" + strings.ToUpper(c.Handle), Messages: []chat.Draft{user("more")}})
	if now := w.get(w.local, id); now.Version != 1 || now.Messages != 3 || !now.UpdatedAt.After(c.UpdatedAt) {
		t.Errorf("after a message: %+v", now)
	}
	w.now = w.now.Add(time.Second)
	set, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Title: ptr(" Words ")}, IfVersion: ptr(1)})
	must(t, err)
	if set.Title != "Words" || set.Version != 2 || set.Handle != c.Handle || !set.UpdatedAt.Equal(w.now) {
		t.Errorf("after the title was set: %+v", set)
	}
	_, err = w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Title: ptr("x")}, IfVersion: ptr(1)})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("an old version: %v", err)
	}
	again, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Title: ptr("")}})
	must(t, err)
	if again.Title != c.Title {
		t.Errorf("title %q, want %q again", again.Title, c.Title)
	}
}

// rawly is a collection as it is stored.
func rawly(name string) kv.Collection[string] {
	return kv.NewCollection(name, kv.Codec[string]{
		Encode: func(s *string) (string, error) { return *s, nil },
		Decode: func(s string) (*string, error) { return &s, nil },
	})
}

func TestCHAT4_UnknownMembersSurviveARewrite(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("hello")}}).ConversationID
	raw := rawly("conversation")
	must(t, w.db.Update(t.Context(), func(tx *kv.Tx) error {
		text, err := raw.Get(tx, id)
		if err != nil {
			return err
		}
		more := strings.Replace(*text, "{", `{"pinnedNoteIds":["n1"],`, 1)
		return raw.Put(tx, id, &more)
	}))
	_, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Title: ptr("Another")}})
	must(t, err)
	must(t, w.db.View(t.Context(), func(tx *kv.Tx) error {
		text, err := raw.Get(tx, id)
		if err != nil {
			return err
		}
		if !strings.Contains(*text, `"pinnedNoteIds":["n1"]`) || !strings.Contains(*text, "Another") {
			t.Errorf("stored %s", *text)
		}
		return nil
	}))
}

func TestCHAT36_ARepeatStoresNothing(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	a := chat.Draft{Role: "user", Content: "a", ClientMessageID: "1"}
	b := chat.Draft{Role: "user", Content: "b", ClientMessageID: "2"}
	first := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{a}})
	seq := w.db.Seq()
	again := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{a}})
	if again.ConversationID != first.ConversationID || again.Messages[0].ID != first.Messages[0].ID ||
		!again.Messages[0].Repeat || w.db.Seq() != seq {
		t.Errorf("again: %+v of %+v", again, first)
	}
	both := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{a, b}})
	if both.Messages[0].ID != first.Messages[0].ID || both.Messages[1].Repeat || both.Messages[1].Index != 2 {
		t.Errorf("one more: %+v", both)
	}
	other := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("other")}})
	in := w.say(w.local, chat.AppendRequest{ConversationID: other.ConversationID, Messages: []chat.Draft{a}})
	if in.Messages[0].Repeat {
		t.Error("an id of a message in another conversation counts as a repeat")
	}
}

func TestCHAT37_ArchivedConversationsAreListedApart(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("a")}}).ConversationID
	listed := func() string {
		var out []string
		for _, archived := range []bool{false, true} {
			list, _, err := w.chat.List(t.Context(), w.local, archived, nil, 10)
			must(t, err)
			out = append(out, fmt.Sprint(len(list)))
		}
		return strings.Join(out, "/")
	}
	if got := listed(); got != "1/0" {
		t.Errorf("listed %s", got)
	}
	_, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Archived: ptr(true)})
	must(t, err)
	if got := listed(); got != "0/1" {
		t.Errorf("archived: listed %s", got)
	}
	c, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Archived: ptr(false)})
	must(t, err)
	if got := listed(); got != "1/0" || c.ArchivedAt != nil || c.Version != 3 {
		t.Errorf("brought back: listed %s, %+v", got, c)
	}
}

func TestPRIV4_WhatBeginsPrivateIsPrivate(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{secret("Canary plan")}}).ConversationID
	if _, err := w.chat.Get(t.Context(), w.remote, id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a remote reader gets it: %v", err)
	}
	w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user("hello there")}})
	former := w.get(w.local, id).Handle
	shown, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Private: ptr(false)}})
	must(t, err)
	if !strings.HasPrefix(shown.Title, "Canary") {
		t.Errorf("title %q", shown.Title)
	}
	if c := w.get(w.remote, id); c.Title != "hello there" || c.Messages != 1 || !strings.HasPrefix(c.Handle, "hello") || len(c.Aliases) > 0 {
		t.Errorf("a remote reader sees %+v", c)
	}
	if _, err := w.chat.Get(t.Context(), w.remote, former); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a remote reader finds it by what it was about: %v", err)
	}
	p := w.page(w.remote, id, 0, 10)
	if len(p.Messages) != 1 || p.More || p.Messages[0].Index != 1 || p.Messages[0].Hash != "" {
		t.Errorf("a remote reader sees %+v", p)
	}
}

func TestPRIV6_NamesOfPrivateRecordsAreTakenOut(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	_, err := w.notes.Put(t.Context(), notes.Draft{Title: "Project Canary", Body: "x", Private: true}, nil)
	must(t, err)
	text := strings.Repeat("x ", 25) + "see [[Project Canary]] and tell me more"
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user(text)}}).ConversationID
	p := w.page(w.remote, id, 0, 10)
	data, err := json.Marshal(p)
	must(t, err)
	if strings.Contains(strings.ToLower(string(data)), "canary") || strings.Contains(string(data), "[[Pro") {
		t.Errorf("a remote reader is told %s", data)
	}
	if p.Messages[0].Hash != "" || p.Conversation.Handle != "" {
		t.Errorf("hash and handle are made of it: %s", data)
	}
}

func TestPRIV6_AHashDoesNotTellOfAPrivateMessage(t *testing.T) {
	var got []string
	for _, private := range []bool{true, false} {
		w := open(t, kv.InMemory, chat.Limits{})
		id := w.say(w.local, chat.AppendRequest{Title: "Trip", Messages: []chat.Draft{user("begin")}}).ConversationID
		w.now = w.now.Add(time.Second)
		if private {
			_, err := w.chat.Append(t.Context(), w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{secret("same")}})
			must(t, err)
		}
		w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user("same")}})
		p := w.page(w.remote, id, 1, 1)
		got = append(got, p.Messages[0].Hash)
	}
	if got[0] != got[1] || got[0] == "" {
		t.Errorf("hash with a private message of the same text %q, without %q", got[0], got[1])
	}
}

// answers is all that a reader is told, without ids.
func answers(w *world, v *audience.View) string {
	var out []any
	for _, archived := range []bool{false, true} {
		var after *chat.Listed
		for more := true; more; {
			list, m, err := w.chat.List(w.Context(), v, archived, after, 2)
			must(w, err)
			more = m
			for _, c := range list {
				after = &chat.Listed{UpdatedAt: c.UpdatedAt, ID: c.ID}
				for at, next := 0, true; next; {
					p := w.page(v, c.ID, at, 2)
					if p.More && len(p.Messages) == 0 {
						w.Fatalf("more messages behind an empty page of %s", c.ID)
					}
					for _, m := range p.Messages {
						at = m.Index
						m.ID, m.ConversationID = "", ""
					}
					p.Conversation.ID = ""
					out, next = append(out, p), p.More
				}
				c.ID = ""
				out = append(out, c)
			}
		}
	}
	data, err := json.Marshal(out)
	must(w, err)
	return string(data)
}

func TestPRIV6_PrivateMessagesTellNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		with, without := open(t, kv.InMemory, chat.Limits{}), open(t, kv.InMemory, chat.Limits{})
		var ids [2][]string // of conversations that both have
		step := 0
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			step++
			at := rapid.IntRange(-1, len(ids[0])-1).Draw(rt, "conversation")
			var drafts, public []chat.Draft
			for i := range rapid.IntRange(1, 3).Draw(rt, "messages") {
				d := user(fmt.Sprintf("message %d of step %d", i, step))
				d.Private = rapid.Bool().Draw(rt, "private")
				if rapid.Bool().Draw(rt, "named") {
					d.ClientMessageID = rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "name") + fmt.Sprint(i, d.Private)
				}
				drafts = append(drafts, d)
				if !d.Private {
					public = append(public, d)
				}
			}
			said := chat.AppendRequest{Messages: drafts}
			if at >= 0 {
				said.ConversationID = ids[0][at]
			}
			with.now = with.now.Add(time.Second)
			without.now = with.now
			// Private messages are added by who sees them, the others by who does not.
			if at < 0 && len(public) > 0 {
				for i := range said.Messages {
					said.Messages[i].ClientMessageID = ""
				}
			}
			added, err := with.chat.Append(t.Context(), with.local, said)
			must(rt, err)
			with.sound(rt)
			if len(public) == 0 {
				continue
			}
			if at < 0 {
				for i := range public {
					public[i].ClientMessageID = ""
				}
			}
			same := chat.AppendRequest{Messages: public}
			if at >= 0 {
				same.ConversationID = ids[1][at]
			}
			other, err := without.chat.Append(t.Context(), without.local, same)
			must(rt, err)
			if at < 0 {
				ids[0], ids[1] = append(ids[0], added.ConversationID), append(ids[1], other.ConversationID)
			}
		}
		if a, b := answers(with, with.remote), answers(without, without.remote); a != b {
			rt.Fatalf("with private messages\n%s\nwithout\n%s", a, b)
		}
		if a, b := answers(without, without.local), answers(without, without.remote); a != b {
			rt.Fatalf("the local reader is told\n%s\nthe remote one\n%s", a, b)
		}
	})
}

func TestCHAT25_AsAPlainModel(t *testing.T) {
	type said struct{ text, client string }
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, kv.InMemory, chat.Limits{})
		model := make(map[string][]said)
		var ids []string
		for i := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			w.now = w.now.Add(time.Second)
			id := ""
			if len(ids) > 0 {
				id = rapid.SampledFrom(append([]string{""}, ids...)).Draw(rt, "conversation")
			}
			if id != "" && rapid.IntRange(0, 4).Draw(rt, "what") == 0 {
				_, err := w.chat.Delete(t.Context(), w.local, id)
				must(rt, err)
				delete(model, id)
				ids = slices.DeleteFunc(ids, func(other string) bool { return other == id })
				w.sound(rt)
				continue
			}
			d := user(fmt.Sprintf("text %d", i))
			d.ClientMessageID = rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(rt, "client")
			d.Private = rapid.Bool().Draw(rt, "private")
			added, err := w.chat.Append(t.Context(), w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{d}})
			must(rt, err)
			w.sound(rt)
			known := func(id string) bool {
				return d.ClientMessageID != "" &&
					slices.ContainsFunc(model[id], func(m said) bool { return m.client == d.ClientMessageID })
			}
			want := known(id)
			if id == "" {
				want = slices.ContainsFunc(ids, known)
			}
			if got := added.Messages[0].Repeat; got != want {
				rt.Fatalf("a repeat: %t, want %t", got, want)
			}
			if want {
				continue
			}
			if id == "" {
				ids = append(ids, added.ConversationID)
			}
			model[added.ConversationID] = append(model[added.ConversationID], said{d.Content, d.ClientMessageID})
		}
		list, _, err := w.chat.List(t.Context(), w.local, false, nil, 100)
		must(rt, err)
		if len(list) != len(model) {
			rt.Fatalf("%d conversations, want %d", len(list), len(model))
		}
		for id, want := range model {
			var got []string
			for _, m := range w.page(w.local, id, 0, 100).Messages {
				got = append(got, m.Content)
			}
			texts := make([]string, len(want))
			for i, m := range want {
				texts[i] = m.text
			}
			if !slices.Equal(got, texts) {
				rt.Fatalf("messages %q, want %q", got, texts)
			}
		}
	})
}

func TestCHAT25_DeletedIsGone(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	d := user("Canary")
	d.ClientMessageID = "client-canary"
	id := w.say(w.local, chat.AppendRequest{ClientID: "client", Messages: []chat.Draft{d, secret("Canary too")}}).ConversationID
	left := func() (names []string) {
		must(t, w.db.View(t.Context(), func(tx *kv.Tx) error {
			for _, name := range []string{
				"conversation", "message", "message-public", "message-name", "message-client", "conversation-handle",
				"conversation-client",
			} {
				for range rawly(name).All(tx, "") {
					names = append(names, name)
				}
			}
			return tx.Err()
		}))
		return names
	}
	if n := len(left()); n != 9 {
		t.Errorf("%d records of a conversation, want 9: %v", n, left())
	}
	_, err := w.chat.Delete(t.Context(), w.local, id)
	must(t, err)
	w.sound(t)
	if names := left(); len(names) > 0 {
		t.Errorf("left are %v", names)
	}
	if _, err := w.chat.Delete(t.Context(), w.local, id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestCHAT25_OpenedAgainItIsTheSame(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, chat.Limits{})
	for i := range 5 {
		id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user(fmt.Sprint("text ", i)), secret("hidden")}}).ConversationID
		_, err := w.chat.Update(t.Context(), w.local, id, chat.Change{Archived: ptr(i == 3)})
		must(t, err)
	}
	list := func(w *world) []*record.Conversation {
		all, _, err := w.chat.List(t.Context(), w.local, false, nil, 10)
		must(t, err)
		return all
	}
	was, told := list(w), answers(w, w.local)
	must(t, w.db.Close())
	again := open(t, dir, chat.Limits{})
	again.sound(t)
	if now := list(again); len(was) != 4 || !reflect.DeepEqual(was, now) {
		t.Errorf("%d conversations: %+v, want %+v", len(was), now, was)
	}
	if now := answers(again, again.local); now != told {
		t.Errorf("opened again\n%s\nbefore\n%s", now, told)
	}
}
