package chat_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// TestREF5_AConversationGetsAnotherHandle, and is found by the one that it had; the hashes of its
// messages stay.
func TestREF5_AConversationGetsAnotherHandle(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	ctx := t.Context()
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("Fix the bus")}}).ConversationID
	other := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("Something else")}}).ConversationID
	was, err := w.chat.Get(ctx, w.local, id)
	must(t, err)
	hash := w.page(w.local, id, 0, 1).Messages[0].Hash
	got, err := w.chat.Rename(ctx, w.local, was.Handle, "Bus_Repair")
	must(t, err)
	if got.ID != id || got.Handle != "bus_repair" || !slices.Equal(got.Aliases, []string{was.Handle}) || got.Version != 2 {
		t.Errorf("%+v", got)
	}
	for _, ref := range []string{"bus_repair", "@" + was.Handle} {
		found, err := w.chat.Get(ctx, w.local, ref)
		must(t, err)
		if found.ID != id {
			t.Errorf("%q leads elsewhere", ref)
		}
	}
	if w.page(w.local, id, 0, 1).Messages[0].Hash != hash {
		t.Error("the message has another hash")
	}
	w.sound(t)

	same, err := w.chat.Rename(ctx, w.local, id, "bus_repair")
	must(t, err)
	if same.Version != 2 {
		t.Errorf("version %d, and nothing was changed", same.Version)
	}
	back, err := w.chat.Rename(ctx, w.local, id, was.Handle)
	must(t, err)
	if back.Handle != was.Handle || !slices.Equal(back.Aliases, []string{"bus_repair"}) {
		t.Errorf("%+v", back)
	}
	_, err = w.chat.Rename(ctx, w.local, other, "bus_repair")
	refused(t, err, fault.Conflict, "handle")
	_, err = w.chat.Rename(ctx, w.local, other, "2b")
	refused(t, err, fault.Invalid, "handle")
	_, err = w.chat.Rename(ctx, w.local, "nobody", "fine")
	refused(t, err, fault.NotFound, "")

	_, err = w.chat.Delete(ctx, w.local, id)
	must(t, err)
	w.sound(t)
	_, err = w.chat.Rename(ctx, w.local, other, "bus_repair")
	must(t, err)
	w.sound(t)
}
