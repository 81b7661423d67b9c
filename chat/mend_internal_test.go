package chat

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// damaged is a store of two conversations, of which "a" has five messages, the third of them private.
type damaged struct {
	*testing.T
	db            *kv.Store
	store         *Store
	a, b          string
	local, remote *audience.View
	hidden        []string
}

func toDamage(t *testing.T) *damaged {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: list})
	d := &damaged{T: t, db: db, local: rooms.View(audience.Local), remote: rooms.View(audience.Remote)}
	d.open()
	d.a = d.append(AppendRequest{ClientID: "mine", Messages: []Draft{
		{Role: record.RoleSystem, Content: "Be brief"},
		{Role: record.RoleUser, Content: "Where do bees sleep?", ClientMessageID: "k"},
		{Role: record.RoleUser, Content: "Mine", Private: true},
		{Role: record.RoleAssistant, Content: "In the hive"},
		{Role: record.RoleUser, Content: "And drones?"},
	}}).ConversationID
	d.b = d.append(AppendRequest{Title: "Another", Messages: []Draft{{Role: record.RoleUser, Content: "Hello"}}}).ConversationID
	return d
}

func (d *damaged) open() {
	d.Helper()
	var err error
	d.store, err = Open(d.db, Options{Books: hiddenOf{&d.hidden}})
	if err != nil {
		d.Fatal(err)
	}
}

// hiddenOf writes down which conversations become private.
type hiddenOf struct{ ids *[]string }

func (h hiddenOf) HideConversation(_ *kv.Tx, id string) error {
	*h.ids = append(*h.ids, id)
	return nil
}

func (h hiddenOf) IsPrivate(*kv.Tx, string) (bool, error) { return false, nil }

func (d *damaged) append(said AppendRequest) *Added {
	d.Helper()
	added, err := d.store.Append(d.Context(), d.local, said)
	if err != nil {
		d.Fatal(err)
	}
	return added
}

func (d *damaged) update(fn func(tx *kv.Tx) error) {
	d.Helper()
	if err := d.db.Update(context.Background(), fn); err != nil {
		d.Fatal(err)
	}
}

func (d *damaged) problems() (list []string) {
	d.Helper()
	err := d.db.View(context.Background(), func(tx *kv.Tx) (err error) {
		list, err = Check(tx)
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return list
}

// indexes are the numbers of the messages that a reader sees.
func (d *damaged) indexes(v *audience.View, id string) (list []int, lost int) {
	d.Helper()
	p, err := d.store.Messages(d.Context(), v, id, "", 0, 100)
	if err != nil {
		d.Fatal(err)
	}
	for _, m := range p.Messages {
		list = append(list, m.Index)
	}
	if len(list)+p.Conversation.Lost != p.Conversation.Messages {
		d.Errorf("%d messages and %d lost of %d", len(list), p.Conversation.Lost, p.Conversation.Messages)
	}
	return list, p.Conversation.Lost
}

// TestREL4_ConversationsOutliveADamagedStore: what the loss of records leaves is mended, so that all that is
// there is found under its number, and a conversation says what it lacks.
func TestREL4_ConversationsOutliveADamagedStore(t *testing.T) {
	for name, tc := range map[string]struct {
		lose func(tx *kv.Tx, d *damaged, a *conversation) error
		lost int // of conversation a
	}{
		"a message": {func(tx *kv.Tx, d *damaged, _ *conversation) error { return Messages.Delete(tx, messageKey(d.a, 4)) }, 1},
		"the first message of a user": {func(tx *kv.Tx, d *damaged, _ *conversation) error {
			return Messages.Delete(tx, messageKey(d.a, 2))
		}, 1},
		"the last message": {func(tx *kv.Tx, d *damaged, _ *conversation) error { return Messages.Delete(tx, messageKey(d.a, 5)) }, 1},
		"all messages": {func(tx *kv.Tx, d *damaged, a *conversation) error {
			for i := range a.All.Messages {
				if err := Messages.Delete(tx, messageKey(d.a, i+1)); err != nil {
					return err
				}
			}
			return nil
		}, 5},
		"a number for remote readers": {func(tx *kv.Tx, d *damaged, _ *conversation) error {
			return public.Delete(tx, messageKey(d.a, 3))
		}, 0},
		"a hash": {func(tx *kv.Tx, d *damaged, _ *conversation) error {
			m, err := Messages.Get(tx, messageKey(d.a, 1))
			if err != nil {
				return err
			}
			return hashes.Delete(tx, nameKey(d.a, m.Hash))
		}, 0},
		"the id of a client": {func(tx *kv.Tx, d *damaged, _ *conversation) error {
			return clients.Delete(tx, clientKey("k", d.a, 2))
		}, 0},
		"the id of a client for the conversation": {func(tx *kv.Tx, d *damaged, _ *conversation) error {
			return named.Delete(tx, namedKey("mine", d.a))
		}, 0},
		"a handle": {func(tx *kv.Tx, _ *damaged, a *conversation) error {
			return handles.Delete(tx, refs.FoldHandle(a.Handle))
		}, 0},
		"a handle that another has": {func(tx *kv.Tx, d *damaged, a *conversation) error {
			return handles.Put(tx, refs.FoldHandle(a.Handle), &owner{d.b})
		}, 0},
		"the conversation": {func(tx *kv.Tx, d *damaged, _ *conversation) error { return Conversations.Delete(tx, d.a) }, 0},
		"the conversation and a message": {func(tx *kv.Tx, d *damaged, _ *conversation) error {
			if err := Messages.Delete(tx, messageKey(d.a, 2)); err != nil {
				return err
			}
			return Conversations.Delete(tx, d.a)
		}, 1},
		"the answer of a trace": {func(tx *kv.Tx, d *damaged, _ *conversation) error {
			return PutTrace(tx, d.a, "gone", &Trace{})
		}, 0},
		"a count": {func(tx *kv.Tx, d *damaged, a *conversation) error {
			a.All.Messages, a.Public.Messages = 2, 1
			return Conversations.Put(tx, d.a, a)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := toDamage(t)
			a := *d.store.Record(d.a)
			d.update(func(tx *kv.Tx) error { return tc.lose(tx, d, &a) })
			if len(d.problems()) == 0 {
				t.Fatal("nothing is missing, so the test shows nothing")
			}
			d.update(d.store.mend)
			seq := d.db.Seq()
			d.update(d.store.mend)
			if d.db.Seq() != seq {
				t.Error("what is mended is written once more")
			}
			d.open()
			for _, p := range d.problems() {
				t.Error(p)
			}
			if _, lost := d.indexes(d.local, d.a); lost != tc.lost {
				t.Errorf("%d messages are lost, want %d", lost, tc.lost)
			}
			again := d.append(AppendRequest{ConversationID: d.a, Messages: []Draft{{Role: record.RoleUser, Content: "And queens?"}}})
			if n := again.Messages[0].Index; n != 6 {
				t.Errorf("the next message has the number %d, want 6", n)
			}
			for _, p := range d.problems() {
				t.Error(p)
			}
			if _, err := d.store.Delete(t.Context(), d.local, d.a); err != nil {
				t.Fatal(err)
			}
			for _, p := range d.problems() {
				t.Error("deleted: " + p)
			}
		})
	}
}

// TestPRIV4_ConversationLostToDamage: of messages whose conversation is lost nobody knows whether that was
// private, so the one that they get is, and so is what was remembered from it. Numbers for remote readers stay.
func TestPRIV4_ConversationLostToDamage(t *testing.T) {
	d := toDamage(t)
	before := d.store.Record(d.a).CreatedAt.Add(-time.Second)
	d.update(func(tx *kv.Tx) error { return Conversations.Delete(tx, d.a) })
	d.update(d.store.mend)
	d.open()
	c, err := d.store.Get(t.Context(), d.local, d.a)
	if err != nil || !c.Private || c.Handle == "" || c.Title != "Where do bees sleep?" || c.CreatedAt.Before(before) {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := d.store.Get(t.Context(), d.remote, d.a); err == nil {
		t.Error("a remote reader sees it")
	}
	if all := slices.Compact(d.hidden); len(all) != 1 || all[0] != d.a { // once, or again where it ran again
		t.Errorf("hidden was what stems from %v", d.hidden)
	}
	public := false
	if _, err := d.store.Update(t.Context(), d.local, d.a, Change{Settings: Settings{Private: &public}}); err != nil {
		t.Fatal(err)
	}
	if list, _ := d.indexes(d.remote, d.a); len(list) != 4 || list[3] != 4 {
		t.Errorf("a remote reader sees the messages %v", list)
	}
}

// TestREL4_ActionsOfADamagedStore are found by their ids again, and those that are gone by nothing.
func TestREL4_ActionsOfADamagedStore(t *testing.T) {
	d := toDamage(t)
	turn, err := d.store.Ask(t.Context(), d.local, Question{ConversationID: d.b, Content: "What is to be done?"})
	if err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(record.ActionTime)
	_, err = d.store.Answered(t.Context(), d.local, turn, &Answer{Content: "This.", Finish: record.FinishComplete, Actions: []record.ChatAction{
		{ID: "one", Status: record.ActionProposed, ExpiresAt: &until},
		{ID: "two", Status: record.ActionRejected, ExpiresAt: &until},
		{ID: "old", Status: record.ActionProposed},
		{ID: "no id", Status: record.ActionProposed, ExpiresAt: &until},
	}})
	if err != nil || len(d.problems()) > 0 {
		t.Fatal(err, d.problems())
	}
	d.update(func(tx *kv.Tx) error {
		if err := actions.Delete(tx, "one/"+messageKey(d.b, 3)); err != nil {
			return err
		}
		return actions.Put(tx, "gone/"+messageKey(d.b, 9), &proposal{Open: true, Until: until})
	})
	if len(d.problems()) == 0 {
		t.Error("the damage is not seen")
	}
	if _, err := d.store.Action(t.Context(), d.local, "gone"); err == nil {
		t.Error("an action is found that is gone")
	}
	d.update(d.store.mend)
	if list := d.problems(); len(list) > 0 {
		t.Errorf("after mending: %q", list)
	}
	for id, status := range map[string]string{"one": record.ActionProposed, "two": record.ActionRejected, "old": "", "no id": "", "gone": ""} {
		a, err := d.store.Action(t.Context(), d.local, id)
		if (err == nil) != (status != "") || err == nil && a.Status != status {
			t.Errorf("%s is %+v, %v", id, a, err)
		}
	}
	p, err := d.store.Messages(t.Context(), d.local, d.b, "", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if shown := p.Messages[len(p.Messages)-1].Actions; shown[2].Status != record.ActionExpired { // nobody knows how old it is
		t.Errorf("%+v", shown[2])
	}
}
