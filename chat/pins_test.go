package chat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// remembering opens a world in which there are the memories with ids that begin with m. Those that begin with mp
// are private.
func remembering(t *testing.T) *world {
	w := open(t, kv.InMemory, chat.Limits{})
	var err error
	w.chat, err = chat.Open(w.db, chat.Options{NewID: w.newID, Remote: w.remote, Pins: &w.pins, Memories: &w.memories})
	must(t, err)
	return w
}

// namedMemories are those that remembering speaks of. One with the id that it is itself is private, too.
type namedMemories string

func (n *namedMemories) Numbered(v *audience.View, id string) int64 {
	if !strings.HasPrefix(id, "m") || v.Hides() && (strings.HasPrefix(id, "mp") || id == string(*n)) {
		return 0
	}
	return int64(len(id))
}

func (*namedMemories) Seen(_ *audience.View, ids []string) []*record.MemoryRecord {
	return make([]*record.MemoryRecord, len(ids))
}

func (*namedMemories) HandleTaken(*kv.Tx, string) (bool, error)   { return false, nil }
func (*namedMemories) HideConversation(*kv.Tx, string) error      { return nil }
func (*namedMemories) HideSaid(*kv.Tx, map[string][]string) error { return nil }

// stored returns what is stored under all keys of a collection.
func (w *world) stored(collection string) string {
	w.Helper()
	var all strings.Builder
	must(w, w.db.View(w.Context(), func(tx *kv.Tx) error {
		for _, text := range rawly(collection).All(tx, "") {
			all.WriteString(*text + "\n")
		}
		return tx.Err()
	}))
	return all.String()
}

// TestMEM5_DeletedMemoriesArePinnedNowhere: their ids are gone from the store, which is no change of the conversation.
func TestMEM5_DeletedMemoriesArePinnedNowhere(t *testing.T) {
	w := remembering(t)
	var ids []string
	for _, pins := range [][]string{{"m1", "m2"}, {"m2"}, {"m3"}} {
		c, err := w.chat.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{PinnedMemories: &pins}})
		must(t, err)
		ids = append(ids, c.ID)
	}
	must(t, w.db.Update(t.Context(), func(tx *kv.Tx) error { return w.pins.Unpin(tx, []string{"m1", "m2", "m9"}) }))
	if text := w.stored("conversation"); strings.Contains(text, `"m1"`) || strings.Contains(text, `"m2"`) || !strings.Contains(text, `"m3"`) {
		t.Errorf("stored are\n%s", text)
	}
	for _, id := range ids {
		if c := w.get(w.local, id); c.Version != 1 {
			t.Errorf("%s has the version %d", id, c.Version)
		}
	}
	_, memories, err := w.chat.Pins(t.Context(), w.local, ids[0])
	must(t, err)
	if len(memories) > 0 {
		t.Errorf("%v are pinned", memories)
	}
	w.sound(t)
}

// TestCHAT4_PinsAndReferencesAreKeptByWhoDoesNotKnowThem: a program of before, which knows none of their members,
// writes the record of a conversation anew and reads that of a message.
func TestCHAT4_PinsAndReferencesAreKeptByWhoDoesNotKnowThem(t *testing.T) {
	w := remembering(t)
	pins := []string{"m1"}
	c, err := w.chat.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{PinnedMemories: &pins}})
	must(t, err)
	answer := chat.Draft{Role: record.RoleAssistant, Content: "yes"}
	w.say(w.local, chat.AppendRequest{ConversationID: c.ID, Messages: []chat.Draft{answer}, MemoryIDs: []string{"m1"}})
	if text := w.stored("message"); !strings.HasSuffix(text, `{"references":[{"memoryId":"m1"}]}`+"\n") {
		t.Errorf("stored is %q", text) // members behind the message, which every program keeps
	}
	// What a later program says of a reference stays, and is no reference to a memory here.
	must(t, w.db.Update(t.Context(), func(tx *kv.Tx) error {
		for key, text := range rawly("message").All(tx, "") {
			later := strings.Replace(*text, `[{`, `[{"noteId":"n1","spans":[[0,3]]},{"used":true,`, 1)
			if again, err := chat.Recoded(later); err != nil || again != later {
				t.Errorf("%q became %q, %v", later, again, err)
			}
			return rawly("message").Put(tx, key, &later)
		}
		return nil
	}))
	m := w.page(w.local, c.ID, 0, 1).Messages[0]
	if len(m.References) != 1 || m.References[0].MemoryID != "m1" {
		t.Errorf("references %+v", m.References)
	}
}

// TestPRIV4_AnAnswerOfAPrivateMemory is private, also as the first message of a conversation.
func TestPRIV4_AnAnswerOfAPrivateMemory(t *testing.T) {
	w := remembering(t)
	given := []chat.Draft{{Role: record.RoleAssistant, Content: "yes"}}
	id := w.say(w.local, chat.AppendRequest{Messages: given, MemoryIDs: []string{"m1", "mp1"}}).ConversationID
	if c := w.get(w.local, id); !c.Private {
		t.Error("the conversation is public")
	}
	if given[0].Private {
		t.Error("the messages of the caller were changed")
	}
}

// TestPRIV4_AnswersOfAMemoryThatBecomesPrivate become private with it, and for remote readers the conversation is as if
// they had never been there.
func TestPRIV4_AnswersOfAMemoryThatBecomesPrivate(t *testing.T) {
	w := remembering(t)
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{{Role: record.RoleUser, Content: "hello"}}}).ConversationID
	say := func(role, content string, memories ...string) string {
		w.now = w.now.Add(time.Minute)
		draft := chat.Draft{Role: role, Content: content, ClientMessageID: content}
		return w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{draft}, MemoryIDs: memories, ConversationID: id}).Messages[0].ID
	}
	first := say(record.RoleAssistant, "yes", "m1", "m2")
	say(record.RoleUser, "why")
	say(record.RoleAssistant, "so", "m3")
	second := say(record.RoleAssistant, "no", "m2")
	say(record.RoleUser, "bye")
	hash := w.page(w.remote, id, 0, 9).Messages[1].Hash
	var hidden map[string][]string
	must(t, w.db.Update(t.Context(), func(tx *kv.Tx) (err error) {
		hidden, err = chat.HideStanding(tx, []string{"m2", "m9"})
		return err
	}))
	if len(hidden) != 1 || !slices.Equal(hidden[id], []string{first, second}) {
		t.Errorf("made private: %v", hidden)
	}
	var got []string
	for _, m := range w.page(w.remote, id, 0, 9).Messages {
		got = append(got, fmt.Sprint(m.Index, " ", m.Content))
	}
	if want := []string{"1 hello", "2 why", "3 so", "4 bye"}; !slices.Equal(got, want) {
		t.Errorf("a remote reader is shown %q, want %q", got, want)
	}
	if m := w.page(w.local, id, 1, 1).Messages[0]; m.Content != "yes" || !m.Private || m.Index != 2 || m.Hash == hash {
		t.Errorf("a local reader is shown %+v", m)
	}
	again := w.say(w.remote, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{{Role: record.RoleAssistant, Content: "y", ClientMessageID: "yes"}}})
	if again.Messages[0].Repeat || again.Messages[0].Index != 5 {
		t.Errorf("a remote reader is told of the hidden one: %+v", again.Messages[0])
	}
	w.sound(t)
}
