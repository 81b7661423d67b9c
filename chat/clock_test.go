package chat_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/entities/kv"
)

// TestCHAT3_TimesOfAConversationNeverGoBack, whatever way it is changed under a clock that was set back.
func TestCHAT3_TimesOfAConversationNeverGoBack(t *testing.T) {
	w := open(t, kv.InMemory, chat.Limits{})
	ctx := t.Context()
	id := w.say(w.local, chat.AppendRequest{Title: "Bus", Messages: []chat.Draft{user("Fix the bus")}}).ConversationID
	title, archived, active := "Repair", true, false
	for _, tc := range []struct {
		what   string
		change func() error
	}{
		{"archived", func() error { _, err := w.chat.Update(ctx, w.local, id, chat.Change{Archived: &archived}); return err }},
		{"back", func() error { _, err := w.chat.Update(ctx, w.local, id, chat.Change{Archived: &active}); return err }},
		{"another title", func() error {
			_, err := w.chat.Update(ctx, w.local, id, chat.Change{Settings: chat.Settings{Title: &title}})
			return err
		}},
		{"another handle", func() error { _, err := w.chat.Rename(ctx, w.local, id, "bus_repair"); return err }},
	} {
		was := w.get(w.local, id)
		w.now = w.now.Add(-24 * time.Hour)
		must(t, tc.change())
		is := w.get(w.local, id)
		if is.UpdatedAt.Before(was.UpdatedAt) || is.Version != was.Version+1 || is.ArchivedAt != nil && is.ArchivedAt.Before(was.UpdatedAt) {
			t.Errorf("%s: it was changed at %v, and now at %v, archived at %v", tc.what, was.UpdatedAt, is.UpdatedAt, is.ArchivedAt)
		}
	}
	w.sound(t)
}
