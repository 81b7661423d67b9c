package cites_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// excerptWorld is a store with notes, conversations and a Finder.
type excerptWorld struct {
	*testing.T
	db            *kv.Store
	notes         *notes.Store
	chats         *chat.Store
	local, remote *audience.View
	finder        *cites.ExcerptFinder
}

func openExcerpts(t *testing.T) *excerptWorld {
	t.Helper()
	w := &excerptWorld{T: t}
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	w.must(err)
	t.Cleanup(func() { _ = w.db.Close() })
	ents, err := entities.Open(w.db, entities.Options{})
	w.must(err)
	w.notes, err = notes.Open(w.db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(w.db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.chats, err = chat.Open(w.db, chat.Options{Remote: w.remote})
	w.must(err)
	none := maps.All(map[string]*chat.Message{})
	w.finder = cites.NewExcerptFinder(w.chats, cites.OpenIndex(w.db, w.chats, none), w.remote)
	return w
}

func (w *excerptWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *excerptWorld) note(id, title, body string, private bool) {
	w.Helper()
	_, err := w.notes.Put(w.Context(), notes.Draft{ID: id, Title: title, Body: body, Private: private}, nil)
	w.must(err)
}

// answered has an answer stored that refers to notes.
func (w *excerptWorld) answered(private bool, refs ...record.ChatReference) (message string) {
	w.Helper()
	added, err := w.chats.Append(w.Context(), w.local, chat.AppendRequest{
		Messages: []chat.Draft{{Role: record.RoleAssistant, Content: "So it is.", Private: private}},
	})
	w.must(err)
	data, err := json.Marshal(refs)
	w.must(err)
	w.must(w.db.Update(w.Context(), func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, added.ConversationID+"/") {
			m.Members = map[string]json.RawMessage{chat.ReferencesMember: data}
			return chat.Messages.Put(tx, key, m)
		}
		return tx.Err()
	}))
	return added.Messages[0].ID
}

// shown is a reference to passages of a body that a model was shown.
func shown(note, body string, passages ...string) record.ChatReference {
	r := record.ChatReference{NoteID: note, Type: record.ReferSearch, Status: record.ReferOK, Used: true, Path: "was.md"}
	sum := sha256.Sum256([]byte(body))
	r.Hash = hex.EncodeToString(sum[:])
	for _, p := range passages {
		begin := len(utf16.Encode([]rune(body[:strings.Index(body, p)])))
		r.Ranges = append(r.Ranges, [2]int{begin, begin + len(utf16.Encode([]rune(p)))})
	}
	return r
}

func (w *excerptWorld) of(v *audience.View, message string) []turn.ChatHighlight {
	w.Helper()
	out, err := w.finder.Of(w.Context(), v, message, "")
	w.must(err)
	return out.Items
}

// wants fails unless the only item of a message has such excerpts, or none and a reason.
func (w *excerptWorld) wants(v *audience.View, message, why string, want ...turn.ChatExcerpt) {
	w.Helper()
	items := w.of(v, message)
	if len(items) != 1 {
		w.Fatalf("items: %+v", items)
	}
	stale := why == turn.HighlightChanged || why == turn.HighlightGone
	if it := items[0]; !slices.Equal(it.Excerpts, want) || it.Why != why || it.Stale != stale {
		w.Errorf("for %s: %+v\nwant %q %+v", v.Reader(), it, why, want)
	}
}

const huts = "---\nkind: hut\n---\n𝒜 hut.\n\nThe upper hut opens in June.\nIt is cold — bring a coat.\n"

func TestCHAT35_ExcerptsStandWhereTheyStood(t *testing.T) {
	w := openExcerpts(t)
	w.note("huts", "Huts", huts, false)
	m := w.answered(false, shown("huts", huts, "The upper hut opens in June.", "cold — bring"), record.ChatReference{NoteID: "huts", Type: record.ReferDirect})
	want := []turn.ChatExcerpt{{Line: 6, Text: "The upper hut opens in June."}, {Line: 7, Text: "cold — bring"}}
	for _, v := range []*audience.View{w.local, w.remote} {
		w.wants(v, m, "", want...)
		it := w.of(v, m)[0]
		if it.NoteID != "huts" || it.Title != "Huts" || !reflect.DeepEqual(it.Ranges, shown("huts", huts, want[0].Text, want[1].Text).Ranges) {
			t.Errorf("item: %+v", it)
		}
	}
	w.note("huts", "Huts", huts+"More.", false)
	w.wants(w.local, m, turn.HighlightChanged)
	w.note("huts", "Huts", huts, false)
	w.wants(w.local, m, "", want...)
	_, err := w.notes.Delete(t.Context(), "huts", nil)
	w.must(err)
	w.wants(w.local, m, turn.HighlightGone)
	if it := w.of(w.local, m)[0]; it.Path != "was.md" {
		t.Errorf("item of a note that is gone: %+v", it)
	}
}

func TestCHAT35_NoPlaces(t *testing.T) {
	w := openExcerpts(t)
	w.note("huts", "Huts", huts, false)
	for _, bad := range [][2]int{{0, 1000}, {-1, 3}, {4, 4}, {5, 2}, {0, 19}} { // the last ends within a character
		r := shown("huts", huts, "June")
		r.Ranges = append(r.Ranges, bad)
		w.wants(w.local, w.answered(false, r), turn.HighlightChanged)
	}
	r := shown("huts", huts, "coat.\n")
	w.wants(w.local, w.answered(false, r), "", turn.ChatExcerpt{Line: 7, Text: "coat.\n"})
	long := strings.Repeat("long ", 150_000)
	w.note("long", "Long", long, false)
	r = shown("long", long, long, long)
	w.wants(w.local, w.answered(false, r), turn.HighlightTooLong)
	if items := w.of(w.local, w.answered(false)); len(items) != 0 {
		t.Errorf("a message without references: %+v", items)
	}
	_, err := w.finder.Of(t.Context(), w.local, "none", "")
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown message: %v", err)
	}
	_, err = w.finder.Of(t.Context(), w.local, w.answered(false), "other")
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("message of another conversation: %v", err)
	}
}

// TestPRIV1_ExcerptsForRemoteReaders: an answer of a remote model was given a text in which links to private notes are
// withheld.
func TestPRIV1_ExcerptsForRemoteReaders(t *testing.T) {
	w := openExcerpts(t)
	w.note("diary", "Diary", "secret", true)
	body := "See [[Diary]] first.\nThe hut is open.\nAsk [[Diary]] again.\n"
	w.note("huts", "Huts", body, false)
	masked, err := w.remote.ShownNote(t.Context(), w.notes.Get("huts"))
	w.must(err)
	if masked.Body == body {
		t.Fatal("nothing is withheld")
	}
	m := w.answered(false, shown("huts", masked.Body, "The hut is open."))
	w.wants(w.remote, m, "", turn.ChatExcerpt{Line: 2, Text: "The hut is open."})
	w.wants(w.local, m, "", turn.ChatExcerpt{Line: 2, Text: "The hut is open."})
	if it := w.of(w.local, m)[0]; !reflect.DeepEqual(it.Ranges, shown("huts", body, "The hut is open.").Ranges) {
		t.Errorf("places for a local reader: %v", it.Ranges)
	}
	w.wants(w.local, w.answered(false, shown("huts", masked.Body, "Ask "+record.Withheld)), turn.HighlightChanged)
	w.wants(w.remote, w.answered(false, shown("huts", body, "The hut is open.")), turn.HighlightChanged)

	if items := w.of(w.remote, w.answered(false, shown("diary", "secret", "secret"))); len(items) != 0 {
		t.Errorf("an excerpt of a private note: %+v", items)
	}
	_, err = w.finder.Of(t.Context(), w.remote, w.answered(true, shown("huts", body, "hut")), "")
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("a private message: %v", err)
	}
}
