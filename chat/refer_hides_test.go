package chat_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// refersTo are references to notes that the model has read, or that were only found.
func refersTo(used bool, ids ...string) (list []chat.Reference) {
	for _, id := range ids {
		list = append(list, chat.Reference{ChatReference: record.ChatReference{NoteID: id, Type: record.ReferSearch, Used: used}})
	}
	return list
}

// TestPRIV4_AnswersOfWhatIsPrivateByNow: a note may become private while an answer is given.
func TestPRIV4_AnswersOfWhatIsPrivateByNow(t *testing.T) {
	w := openReferences(t)
	w.put(notes.Draft{ID: "open", Title: "Open"})
	w.put(notes.Draft{ID: "p", Title: "P", Private: true})
	w.put(notes.Draft{ID: "gone", Title: "Gone", Private: true})
	_, err := w.notes.Delete(t.Context(), "gone", nil)
	mustRefer(t, err)
	open, p := refersTo(true, "open"), refersTo(true, "open", "p")
	for _, c := range []struct {
		name     string
		lists    chat.ReferenceLists
		already  bool
		want     bool
		wantUsed []string
	}{
		{"nothing", chat.ReferenceLists{Same: true}, false, false, nil},
		{"a public note", chat.ReferenceLists{Own: open, Same: true}, false, false, []string{"open"}},
		{"a private note", chat.ReferenceLists{Own: p, Same: true}, false, true, []string{"open", "p"}},
		{"one that is gone", chat.ReferenceLists{Own: refersTo(true, "gone"), Same: true}, false, true, []string{"gone"}},
		{"one that was found", chat.ReferenceLists{Own: refersTo(false, "p"), Same: true}, false, false, nil},
		{"only a link to it", chat.ReferenceLists{Own: p, Public: open}, false, false, []string{"open"}},
		{"already", chat.ReferenceLists{Own: open, Same: true}, true, true, []string{"open"}},
	} {
		mustRefer(t, w.db.View(t.Context(), func(tx *kv.Tx) error {
			got, err := c.lists.Hides(tx, c.already)
			if got != c.want {
				t.Errorf("%s: %v", c.name, got)
			}
			return err
		}))
		members := make(map[string]json.RawMessage)
		mustRefer(t, c.lists.Keep(nil, func(name string, value json.RawMessage) { members[name] = value }))
		if got := chat.UsedNotes(members); !slices.Equal(got, c.wantUsed) {
			t.Errorf("%s: used %v, want %v", c.name, got, c.wantUsed)
		}
	}
}
