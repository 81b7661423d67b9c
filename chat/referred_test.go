package chat_test

import (
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREF14_MessagesByNumberAndHash: each reader counts those that he sees, and finds none by a hash that
// he is not shown.
func TestREF14_MessagesByNumberAndHash(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	ctx := t.Context()
	_, err := w.notes.Put(ctx, notes.Draft{Title: "Canary", Body: "x", Private: true}, nil)
	must(t, err)
	id := w.say(w.local, chat.AppendRequest{Title: "Trip", Messages: []chat.Draft{
		user("first"), secret("second"), user("third"), user("see [[Canary]]"),
	}}).ConversationID
	all := w.page(w.local, id, 0, 10).Messages
	for _, c := range []struct {
		v     *audience.View
		which string
		want  string
		total int
	}{
		{w.local, "1", "first", 4},
		{w.local, "2", "second", 4},
		{w.local, "4", "see [[Canary]]", 4},
		{w.local, "0", "", 4},
		{w.local, "5", "", 4},
		{w.local, "99999999999999999999", "", 4},
		{w.local, "zzzzzz", "", 4},
		{w.local, "", "", 4},
		{w.local, all[1].Hash, "second", 4},
		{w.remote, "1", "first", 3},
		{w.remote, "2", "third", 3},
		{w.remote, "4", "", 3},
		{w.remote, all[2].Hash, "third", 3},
		{w.remote, all[1].Hash, "", 3},
		{w.remote, all[3].Hash, "", 3}, // made of a text that is masked
	} {
		m, total, err := w.chat.Referred(ctx, c.v, id, c.which)
		must(t, err)
		said := ""
		if m != nil {
			said = m.Content
		}
		if said != c.want || total != c.total {
			t.Errorf("%s is told %q of %d by %q, want %q of %d", c.v.Reader(), said, total, c.which, c.want, c.total)
		}
	}
	_, _, err = w.chat.Referred(ctx, w.local, "nobody", "1")
	if fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// TestREF9_HandlesOfConversations lead nowhere for who does not see the conversation, or what its handle
// was made of.
func TestREF9_HandlesOfConversations(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	open := w.say(w.local, chat.AppendRequest{Title: "Open trip", Messages: []chat.Draft{user("x")}}).ConversationID
	hidden := w.say(w.local, chat.AppendRequest{Title: "Hidden trip", Messages: []chat.Draft{user("x")}, Private: true}).ConversationID
	for handle, want := range map[string][2]string{
		w.get(w.local, open).Handle: {open, open}, w.get(w.local, hidden).Handle: {hidden, ""}, "nobody_1a2b": {},
	} {
		for i, v := range []*audience.View{w.local, w.remote} {
			id, err := w.chat.Handled(t.Context(), v, handle)
			if err != nil || id != want[i] {
				t.Errorf("%s leads a %s reader to %q, want %q: %v", handle, v.Reader(), id, want[i], err)
			}
		}
	}
}
