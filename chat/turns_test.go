package chat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// spoken are messages written as "u1 a1 s": of the user, of the assistant, of the system; in capitals they are
// private.
func spoken(written string) (list []chat.Draft) {
	for word := range strings.FieldsSeq(written) {
		roles := map[string]string{"u": record.RoleUser, "a": record.RoleAssistant, "s": record.RoleSystem}
		role := roles[strings.ToLower(word[:1])]
		list = append(list, chat.Draft{Role: role, Content: word, Private: word != strings.ToLower(word)})
	}
	return list
}

// TestMEM42_TurnsThatHaveEnded: what stands last, to be answered, is in none; each reader sees his own.
func TestMEM42_TurnsThatHaveEnded(t *testing.T) {
	long := "u1 a1 u2"
	for i := range 40 {
		long += fmt.Sprint(" a", i)
	}
	for _, c := range []struct {
		said          string
		local, remote string // turns, parted by |
	}{
		{"u1", "", ""},
		{"s u1", "", ""},
		{"u1 a1", "u1 a1", "u1 a1"},
		{"a1", "a1", "a1"},
		{"u1 a1 u2", "u1 a1", "u1 a1"},
		{"u1 a1 u2 a2", "u1 a1|u2 a2", "u1 a1|u2 a2"},
		{"u1 a1 u2 a2 u3", "u1 a1|u2 a2", "u1 a1|u2 a2"},
		{"u1 a1 u2 a2 u3 a3", "u2 a2|u3 a3", "u2 a2|u3 a3"},
		{"u1 u2 a2 a3", "u1|u2 a2 a3", "u1|u2 a2 a3"},
		{"u1 u2 u3", "u1|u2", "u1|u2"},
		{"u1 a1 s u2 s a2", "u1 a1|u2 a2", "u1 a1|u2 a2"},
		{"u1 a1 U2 A2", "u1 a1|U2 A2", "u1 a1"},
		{"u1 A1 u2 A2", "u1 A1|u2 A2", "u1"},
		{"u1 U2 a1", "u1|U2 a1", "u1 a1"},
		{long, tail(long, 32), tail(long, 32)},
	} {
		w := open(t, kv.InMemory, chat.Limits{})
		id := w.say(w.local, chat.AppendRequest{Messages: spoken(c.said)}).ConversationID
		for v, want := range map[*audience.View]string{w.local: c.local, w.remote: c.remote} {
			turns, err := w.chat.Turns(t.Context(), v, id, 2)
			must(t, err)
			var got []string
			for _, turn := range turns {
				var words []string
				for _, m := range turn {
					words = append(words, m.Content)
				}
				got = append(got, strings.Join(words, " "))
			}
			if s := strings.Join(got, "|"); s != want {
				t.Errorf("%s: the %s reader sees %s, want %s", c.said, v.Reader(), s, want)
			}
		}
	}
	w := open(t, kv.InMemory, chat.Limits{})
	id := w.say(w.local, chat.AppendRequest{Private: true, Messages: spoken("u1 a1")}).ConversationID
	_, err := w.chat.Turns(t.Context(), w.remote, id, 2)
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("turns of a private conversation: %v", err)
	}
}

// tail returns the last n words.
func tail(text string, n int) string {
	words := strings.Fields(text)
	return strings.Join(words[len(words)-n:], " ")
}

// follower writes down what it is told.
type follower struct{ told []string }

func (f *follower) Said(_ string, public bool) { f.told = append(f.told, fmt.Sprint("said ", public)) }
func (f *follower) Dropped(string)             { f.told = append(f.told, "dropped") }

// TestMEM42_AFollowerIsTold of what was stored, and not of repeats, refusals and imports.
func TestMEM42_AFollowerIsTold(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	f := new(follower)
	w.chat.Follow(f)
	expect := func(what, want string) {
		t.Helper()
		if got := strings.Join(f.told, ", "); got != want {
			t.Errorf("%s: it is told %q, want %q", what, got, want)
		}
		f.told = nil
	}
	once := chat.AppendRequest{Messages: []chat.Draft{{Role: record.RoleUser, Content: "one", ClientMessageID: "m"}}}
	id := w.say(w.local, once).ConversationID
	expect("a message", "said true")
	w.say(w.local, once)
	expect("a repeat", "")
	w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: spoken("U2")})
	expect("a private message", "said false")
	w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: spoken("U2 u3")})
	expect("both", "said true")
	_, err := w.chat.Append(t.Context(), w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{{Role: "nobody", Content: "x"}}})
	if err == nil {
		t.Error("it was stored")
	}
	expect("a refusal", "")
	_, err = w.chat.AppendMany(t.Context(), w.local, []chat.AppendRequest{{Past: true, Messages: spoken("u1 a1")}})
	must(t, err)
	expect("an import", "")
	_, err = w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Title: ptr("Title")}})
	must(t, err)
	expect("a title", "")
	_, err = w.chat.Update(t.Context(), w.local, id, chat.Change{Settings: chat.Settings{Private: ptr(true)}})
	must(t, err)
	expect("private", "dropped")
	w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: spoken("u4")})
	expect("in a private conversation", "said false")
	_, err = w.chat.Delete(t.Context(), w.local, id)
	must(t, err)
	expect("deleted", "dropped")
}
