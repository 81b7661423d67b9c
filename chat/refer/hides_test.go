package refer_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/chat/refer"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// refersTo are references to notes that the model has read, or that were only found.
func refersTo(used bool, ids ...string) (list []refer.Reference) {
	for _, id := range ids {
		list = append(list, refer.Reference{ChatReference: record.ChatReference{NoteID: id, Type: record.ReferSearch, Used: used}})
	}
	return list
}

// TestPRIV4_AnswersOfWhatIsPrivateByNow: a note may become private while an answer is given.
func TestPRIV4_AnswersOfWhatIsPrivateByNow(t *testing.T) {
	w := open(t)
	w.put(notes.Draft{ID: "open", Title: "Open"})
	w.put(notes.Draft{ID: "p", Title: "P", Private: true})
	w.put(notes.Draft{ID: "gone", Title: "Gone", Private: true})
	_, err := w.notes.Delete(t.Context(), "gone", nil)
	must(t, err)
	open, p := refersTo(true, "open"), refersTo(true, "open", "p")
	for _, c := range []struct {
		name     string
		lists    refer.Lists
		already  bool
		want     bool
		wantUsed []string
	}{
		{"nothing", refer.Lists{Same: true}, false, false, nil},
		{"a public note", refer.Lists{Own: open, Same: true}, false, false, []string{"open"}},
		{"a private note", refer.Lists{Own: p, Same: true}, false, true, []string{"open", "p"}},
		{"one that is gone", refer.Lists{Own: refersTo(true, "gone"), Same: true}, false, true, []string{"gone"}},
		{"one that was found", refer.Lists{Own: refersTo(false, "p"), Same: true}, false, false, nil},
		{"only a link to it", refer.Lists{Own: p, Public: open}, false, false, []string{"open"}},
		{"already", refer.Lists{Own: open, Same: true}, true, true, []string{"open"}},
	} {
		must(t, w.db.View(t.Context(), func(tx *kv.Tx) error {
			got, err := c.lists.Hides(tx, c.already)
			if got != c.want {
				t.Errorf("%s: %v", c.name, got)
			}
			return err
		}))
		members := make(map[string]json.RawMessage)
		must(t, c.lists.Keep(nil, func(name string, value json.RawMessage) { members[name] = value }))
		if got := refer.Used(members); !slices.Equal(got, c.wantUsed) {
			t.Errorf("%s: used %v, want %v", c.name, got, c.wantUsed)
		}
	}
}
