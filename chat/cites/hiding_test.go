package cites_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// hiderWorld is a store with notes, conversations and memories.
type hiderWorld struct {
	*testing.T
	db            *kv.Store
	notes         *notes.Store
	chats         *chat.Store
	mem           *memory.Store
	local, remote *audience.View
	hider         *cites.AnswerHider
	reads         int // of all messages, by the store of memories
}

// openHider opens the rooms over a store, with private folders.
func openHider(t *testing.T, db *kv.Store, hides bool, folders ...string) *hiderWorld {
	t.Helper()
	w := &hiderWorld{T: t, db: db}
	hider := new(cites.AnswerHider)
	w.hider = hider
	opts, ofEntities := notes.Options{PrivateFolders: folders, Hide: hider.Note}, entities.Options{Hide: hider.Entity}
	if !hides {
		opts.Hide, ofEntities.Hide = nil, nil
	}
	ents, err := entities.Open(db, ofEntities)
	w.must(err)
	w.notes, err = notes.Open(db, ents, opts)
	w.must(err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.mem, err = memory.Open(db, memory.Options{
		Source: func(tx *kv.Tx, id string) (private, found bool, err error) {
			source, err := notes.SourceTx(tx, id)
			return source.Private, true, err
		},
		Hide: func(tx *kv.Tx, ids []string) (map[string][]string, error) {
			w.reads++
			return chat.HideStanding(tx, ids)
		},
		Conversation: chat.State,
	})
	w.must(err)
	w.chats, err = chat.Open(db, chat.Options{Memories: w.mem, Remote: w.remote})
	w.must(err)
	messages := make(map[string]*chat.Message)
	w.must(db.View(t.Context(), func(tx *kv.Tx) error {
		maps.Insert(messages, chat.Messages.All(tx, ""))
		return nil
	}))
	x := cites.OpenIndex(db, w.chats, maps.All(messages))
	if hides {
		w.must(hider.Use(db, w.mem, nil, x, w.remote))
		w.must(w.notes.HideAnew(t.Context()))
	}
	return w
}

func startHider(t *testing.T, hides bool) *hiderWorld {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return openHider(t, db, hides)
}

func (w *hiderWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *hiderWorld) note(id, path string, private bool) {
	w.Helper()
	_, err := w.notes.Put(w.Context(), notes.Draft{ID: id, Title: id, Path: path, Private: private}, nil)
	w.must(err)
}

// said has messages stored that say "1", "2" and so on, of which some refer to notes, and returns the conversation.
func (w *hiderWorld) said(refs ...[]record.ChatReference) (conversation string) {
	w.Helper()
	var drafts []chat.Draft
	for i := range refs {
		drafts = append(drafts, chat.Draft{Role: record.RoleAssistant, Content: fmt.Sprint(i + 1)})
	}
	added, err := w.chats.Append(w.Context(), w.local, chat.AppendRequest{Messages: drafts})
	w.must(err)
	w.must(w.db.Update(w.Context(), func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, added.ConversationID+"/") {
			if list := refs[m.Index-1]; list != nil {
				data, err := json.Marshal(list)
				w.must(err)
				m.Members = map[string]json.RawMessage{chat.ReferencesMember: data}
				if err := chat.Messages.Put(tx, key, m); err != nil {
					return err
				}
			}
		}
		return tx.Err()
	}))
	return added.ConversationID
}

func reads(notes ...string) (list []record.ChatReference) {
	for _, id := range notes {
		list = append(list, record.ChatReference{NoteID: id, Type: record.ReferSearch, Status: record.ReferOK, Used: true})
	}
	return list
}

func finds(id string) []record.ChatReference {
	list := reads(id)
	list[0].Used = false
	return list
}

// wants fails unless a reader sees these messages of a conversation, with the numbers from 1.
func (w *hiderWorld) wants(v *audience.View, conversation string, want ...string) {
	w.Helper()
	page, err := w.chats.Messages(w.Context(), v, conversation, "", 0, 100)
	w.must(err)
	var got []string
	for i, m := range page.Messages {
		got = append(got, m.Content)
		if m.Index != i+1 {
			w.Errorf("for %s: message %s has the number %d", v.Reader(), m.Content, m.Index)
		}
	}
	if !slices.Equal(got, want) || page.Conversation.Messages != len(want) {
		w.Errorf("for %s: %q of %d, want %q", v.Reader(), got, page.Conversation.Messages, want)
	}
}

func TestPRIV4_AnswersOfNotesThatBecomePrivate(t *testing.T) {
	w := startHider(t, true)
	w.note("a", "", false)
	w.note("b", "", false)
	one := w.said(nil, reads("a"), finds("a"), reads("b", "a"), nil)
	two := w.said(reads("b"), nil)
	other := w.said(reads("c"))
	w.wants(w.remote, one, "1", "2", "3", "4", "5")

	w.note("a", "", true)
	w.wants(w.remote, one, "1", "3", "5")
	w.wants(w.local, one, "1", "2", "3", "4", "5")
	w.wants(w.remote, two, "1", "2")
	w.note("a", "", true) // again
	w.note("a", "", false)
	w.wants(w.remote, one, "1", "3", "5") // nobody says that the answers are public
	body := "---\nprivate: true\n---\n"
	_, err := w.notes.Patch(t.Context(), notes.Patch{ID: "b", Body: &body}, nil)
	w.must(err)
	w.wants(w.remote, two, "2")
	w.wants(w.remote, other, "1")
	w.note("c", "", true) // a note that was not here
	_, err = w.chats.Get(t.Context(), w.remote, other)
	w.must(err)
	w.wants(w.remote, other)
}

// TestPRIV4_AnswersOfANoteThatIsLeftOut: its file is one that a person leaves out of the vault.
func TestPRIV4_AnswersOfANoteThatIsLeftOut(t *testing.T) {
	w := startHider(t, true)
	w.note("a", "", false)
	one := w.said(reads("a"), nil)
	w.must(w.db.Update(t.Context(), func(tx *kv.Tx) error {
		if err := w.notes.HideTx(tx, w.notes.Get("a")); err != nil {
			return err
		}
		return w.notes.DeleteTx(tx, "a")
	}))
	w.wants(w.remote, one, "2")
}

// TestPRIV4_ManyInOneTransaction: what messages use is read once for all of them.
func TestPRIV4_ManyInOneTransaction(t *testing.T) {
	w := startHider(t, true)
	var drafts []notes.Draft
	for i := range 30 {
		id := fmt.Sprint("n", i)
		w.note(id, "", false)
		drafts = append(drafts, notes.Draft{ID: id, Title: id, Private: i%2 == 0})
	}
	one := w.said(reads("n0", "n2"), reads("n1"), reads("n4"), reads("n28"))
	_, err := w.notes.PutMany(t.Context(), drafts)
	w.must(err)
	w.wants(w.remote, one, "2")
	two := w.said(reads("n3"), reads("n5"))
	w.note("n3", "", true)
	w.wants(w.remote, two, "2")
}

// TestPRIV4_LinksToPrivateNotes: an answer of a remote model that has a link to a private note, of which the model was
// told nothing, stays public.
func TestPRIV4_LinksToPrivateNotes(t *testing.T) {
	w := startHider(t, true)
	w.note("a", "", false)
	w.note("p", "", true)
	w.note("q", "", false)
	one := w.said(reads("a", "p", "q"), nil)
	w.must(w.db.Update(t.Context(), func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, one+"/00000001") {
			m.Members[chat.PublicReferencesMember], _ = json.Marshal(reads("a"))
			return chat.Messages.Put(tx, key, m)
		}
		return tx.Err()
	}))
	w.note("q", "", true)
	w = openHider(t, w.db, true)
	w.wants(w.remote, one, "1", "2")
	w.note("a", "", true)
	w.wants(w.remote, one, "2")
}

// TestPRIV4_WhatAnOlderProgramLeft: what stands on private notes when a store is opened becomes private then, also where
// a folder has become private.
func TestPRIV4_WhatAnOlderProgramLeft(t *testing.T) {
	w := startHider(t, false)
	for id, path := range map[string]string{"a": "diary/a.md", "b": "b.md", "c": "c.md", "d": "d.md"} {
		w.note(id, path, false)
	}
	one := w.said(reads("a"), reads("b"), reads("c"), reads("d"), nil)
	w.note("b", "b.md", true)
	w.note("c", "c.md", true)
	_, err := w.notes.Delete(t.Context(), "c", nil)
	w.must(err)
	w.wants(w.remote, one, "1", "2", "3", "4", "5")
	w = openHider(t, w.db, true, "diary/")
	w.wants(w.remote, one, "4", "5")
	w = openHider(t, w.db, true, "diary/")
	w.wants(w.remote, one, "4", "5")
	w.wants(w.local, one, "1", "2", "3", "4", "5")
}

// TestPRIV14_WhatStandsOnANoteOfEarlierRules: a former version stored notes as public that are private by today's rule, and
// answers that stand on them, on the entity of one, and on a memory that comes from one.
func TestPRIV14_WhatStandsOnANoteOfEarlierRules(t *testing.T) {
	w := startHider(t, true)
	_, err := w.notes.Put(t.Context(), notes.Draft{ID: "a", Title: "a", Body: "---\ntype: Person\n---\ntext"}, nil)
	w.must(err)
	w.note("b", "b.md", false)
	one := w.said(reads("a"), nil, reads("b"))
	added, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{Statement: "I like huts", Source: record.MemorySource{Kind: "extraction", NoteID: "a"}}})
	w.must(err)
	on := func(d chat.AppendRequest) (conversation string) {
		t.Helper()
		d.Messages = []chat.Draft{{Role: record.RoleAssistant, Content: "1"}, {Role: record.RoleUser, Content: "2"}}
		added, err := w.chats.Append(t.Context(), w.local, d)
		w.must(err)
		return added.ConversationID
	}
	two, three := on(chat.AppendRequest{MemoryIDs: []string{added[0].Memory.ID}}), on(chat.AppendRequest{})
	w.must(w.db.Update(t.Context(), func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, three+"/00000001") {
			data, err := json.Marshal(record.StandsOn{Entities: []string{w.notes.Get("a").EntityID}})
			w.must(err)
			m.Members = map[string]json.RawMessage{chat.StandsOnMember: data}
			if err := chat.Messages.Put(tx, key, m); err != nil {
				return err
			}
		}
		old := *w.notes.Get("a")
		old.Body = "---\ntype: Person\n---\nprivate:: true\n"
		return notes.Records.Put(tx, "a", &old)
	}))
	w = openHider(t, w.db, true)
	w.wants(w.remote, one, "2", "3")
	w.wants(w.remote, two, "2")
	w.wants(w.remote, three, "2")
	w.wants(w.local, one, "1", "2", "3")
}

// TestPRIV4_WhatWasMadeOfAnAnswer: a memory that comes from the answer, and an answer that stands on that memory.
func TestPRIV4_WhatWasMadeOfAnAnswer(t *testing.T) {
	w := startHider(t, true)
	w.note("a", "", false)
	one := w.said(reads("a"), nil)
	page, err := w.chats.Messages(t.Context(), w.local, one, "", 0, 1)
	w.must(err)
	added, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{
		Statement: "I like huts", Source: record.MemorySource{Kind: "extraction", ConversationID: one, MessageIDs: []string{page.Messages[0].ID}},
	}})
	w.must(err)
	id := added[0].Memory.ID
	two, err := w.chats.Append(t.Context(), w.local, chat.AppendRequest{
		Messages: []chat.Draft{{Role: record.RoleAssistant, Content: "1"}, {Role: record.RoleUser, Content: "2"}}, MemoryIDs: []string{id},
	})
	w.must(err)
	w.wants(w.remote, two.ConversationID, "1", "2")
	w.note("a", "", true)
	w.wants(w.remote, one, "2")
	w.wants(w.remote, two.ConversationID, "2")
	if w.mem.Numbered(w.remote, id) != 0 || w.mem.Numbered(w.local, id) == 0 {
		t.Error("the memory is not private")
	}
}

// TestPRIV4_MemoriesOfNotesThatBecomePrivate: an answer stands on a memory that comes from a note. All messages are read
// once for all notes of a transaction, and not by the store of memories.
func TestPRIV4_MemoriesOfNotesThatBecomePrivate(t *testing.T) {
	w := startHider(t, true)
	var drafts []notes.Draft
	var told []string
	for i := range 3 {
		id := fmt.Sprint("n", i)
		w.note(id, "", false)
		added, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{
			Statement: "I like huts of kind " + id, Source: record.MemorySource{Kind: "extraction", NoteID: id},
		}})
		w.must(err)
		two, err := w.chats.Append(t.Context(), w.local, chat.AppendRequest{
			Messages:  []chat.Draft{{Role: record.RoleAssistant, Content: "1"}, {Role: record.RoleUser, Content: "2"}},
			MemoryIDs: []string{added[0].Memory.ID},
		})
		w.must(err)
		w.wants(w.remote, two.ConversationID, "1", "2")
		told = append(told, two.ConversationID)
		drafts = append(drafts, notes.Draft{ID: id, Title: id, Private: i < 2})
	}
	_, err := w.notes.PutMany(t.Context(), drafts)
	w.must(err)
	w.wants(w.remote, told[0], "2")
	w.wants(w.remote, told[1], "2")
	w.wants(w.remote, told[2], "1", "2")
	if w.reads != 0 {
		t.Errorf("the store of memories has read all messages %d times", w.reads)
	}
	if w.hider.Keeps() {
		t.Error("what messages were made of is kept when the transaction is over")
	}
}
