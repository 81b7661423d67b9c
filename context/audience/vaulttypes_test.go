package audience_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH36_AVaultThatIsNotSeenHasNoTypes for a remote reader: neither its name nor what it
// declares is told, and a type of the same name is that of the vault which is seen.
func TestSRCH36_AVaultThatIsNotSeenHasNoTypes(t *testing.T) {
	w := openRooms(t, notes.Options{})
	for vault, field := range map[string]string{"Affair": "with", "Work": "due"} {
		_, _, err := w.ents.PutType(t.Context(), entities.Type{
			Name: "Task", Vault: vault, Fields: []entities.Field{{Name: field, Type: record.Text}},
		}, nil, true)
		must(t, err)
	}
	putNotes(t, w,
		notes.Draft{ID: "a", Vault: "Affair", Path: "a.md", Body: "---\ntype: Task\nwith: Ann\nprivate: true\n---\n"},
		notes.Draft{ID: "b", Vault: "Work", Path: "b.md", Body: "---\ntype: Task\ndue: soon\n---\n"})
	seen := func(v *audience.View) (list []string) {
		for _, typ := range v.Types() {
			list = append(list, typ.Vault+" "+typ.Fields[0].Name)
		}
		return list
	}
	if diff := gocmp.Diff([]string{"Affair with", "Work due"}, seen(w.local)); diff != "" {
		t.Error("local", diff)
	}
	if diff := gocmp.Diff([]string{"Work due"}, seen(w.remote)); diff != "" {
		t.Error("remote", diff)
	}
	if _, err := w.local.FindType("Task", ""); fault.KindOf(err) != fault.Conflict {
		t.Errorf("local: %v", err)
	}
	if typ, err := w.remote.FindType("task", ""); err != nil || typ.Vault != "Work" {
		t.Errorf("remote: %+v, %v", typ, err)
	}
	_, hidden := w.remote.FindType("Task", "Affair")
	_, missing := w.remote.FindType("Task", "Nobody")
	if fault.KindOf(hidden) != fault.NotFound || fault.KindOf(missing) != fault.NotFound {
		t.Errorf("%v, %v", hidden, missing)
	}
	if typ := w.remote.Type("Task"); typ == nil || typ.Vault != "Work" {
		t.Errorf("%+v", typ)
	}
	putNotes(t, w, notes.Draft{ID: "c", Vault: "Affair", Path: "c.md", Body: "x"})
	if diff := gocmp.Diff([]string{"Affair with", "Work due"}, seen(w.remote)); diff != "" {
		t.Error("remote, of a vault with a public note", diff)
	}
}
