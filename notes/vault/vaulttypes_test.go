package vault_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// typesOf lists the types of a store: whose each is, its name, how it came about, its fields
// and how many live entities it has.
func (w *watchWorld) typesOf() (list []string) {
	for _, t := range w.ents.Types() {
		kind := "declared"
		if t.Inferred {
			kind = "inferred"
		}
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = f.Name + ":" + string(f.Type)
		}
		list = append(list,
			fmt.Sprintf("%s/%s %s %s %d", t.Vault, t.Name, kind, strings.Join(fields, ","), w.ents.CountOf(t)))
	}
	return list
}

func (w *watchWorld) wantTypes(t *testing.T, when string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.typesOf()); diff != "" {
		t.Errorf("%s: %s", when, diff)
	}
}

// valuesOf returns the values of the entity that is made from a note of a vault.
func (w *watchWorld) valuesOf(t *testing.T, vault, path string) entities.Values {
	t.Helper()
	e := w.ents.Get(notesIn(t, w, vault, path).EntityID)
	if e == nil {
		t.Fatalf("%s of %s has no entity", path, vault)
	}
	return e.Fields
}

func (w *watchWorld) asks(t *testing.T, query string) (names []string) {
	t.Helper()
	res, err := wql.New(w.ents, wql.Options{}).Query(ctx, query, wql.QueryOptions{})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	for _, row := range res.Rows {
		names = append(names, row.Name)
	}
	slices.Sort(names)
	return names
}

// TestSRCH36_EachVaultHasItsOwnTypes imports two vaults that declare a type of one name, and
// a third one that only has notes of it.
func TestSRCH36_EachVaultHasItsOwnTypes(t *testing.T) {
	work := importFolder(t, map[string]string{
		".ctxd/types/Task.yaml": "fields: [{name: due, type: date}, {name: points, type: number}, " +
			"{name: again, type: computed, query: \"SELECT t FROM Task t WHERE t.due = {this.due}\"}]\n",
		"Ship.md": "---\ntype: Task\ndue: 2026-03-01\npoints: 10\nstate: open\n---\n",
	})
	home := importFolder(t, map[string]string{
		".ctxd/types/Task.yaml": "fields: [{name: due, type: text}, {name: points, type: number}, " +
			"{name: again, type: computed, query: \"SELECT t FROM Task t WHERE t.points = {this.points}\"}]\n",
		"Paint.md": "---\ntype: Task\ndue: soon\npoints: 9\n---\n",
		"Mow.md":   "---\ntype: task\ndue: 2026-03-01\npoints: 9\n---\n",
	})
	old := importFolder(t, map[string]string{"Gone.md": "---\ntype: Task\nstate: done\n---\n"})
	dir := t.TempDir()
	w := open(t, dir)
	for name, from := range map[string]string{"work": work, "home": home, "old": old} {
		w.imports(t, vault.ImportRequest{Path: from, Name: name})
	}
	all := []string{
		"home/Task declared due:text,points:number,again:computed 2",
		"old/Task inferred state:text 1",
		"work/Task declared due:date,points:number,again:computed 1",
	}
	check := func(when string) {
		t.Helper()
		w.wantTypes(t, when, all...)
		for at, want := range map[[2]string]entities.Values{
			{"work", "Ship.md"}:  {"due": "2026-03-01", "points": 10.0},
			{"home", "Paint.md"}: {"due": "soon", "points": 9.0},
			{"old", "Gone.md"}:   {"state": "done"},
		} {
			if diff := cmp.Diff(want, w.valuesOf(t, at[0], at[1])); diff != "" {
				t.Errorf("%s, %s: %s", when, at, diff)
			}
		}
	}
	check("imported")
	for name, from := range map[string]string{"work": work, "home": home, "old": old} {
		if res := w.imports(t, vault.ImportRequest{Path: from, Name: name}); res.Written != 0 {
			t.Errorf("the second import of %s wrote %d notes", name, res.Written)
		}
	}
	check("imported again")
	for query, want := range map[string][]string{
		"SELECT t FROM Task t":                                                                    {"Gone", "Mow", "Paint", "Ship"},
		"SELECT t FROM Task t WHERE t.points > 9":                                                 {"Ship"},
		"SELECT t FROM Task t WHERE t.due = 'soon'":                                               {"Paint"},
		"SELECT t FROM Task t WHERE t.due < '2026-04-01'":                                         {"Mow", "Ship"},
		"SELECT t FROM Task t WHERE t.due IS NULL":                                                {"Gone"},
		"SELECT t FROM Task t WHERE t.state IS NULL":                                              {"Mow", "Paint", "Ship"},
		"SELECT t FROM Task t WHERE t.again CONTAINS '" + w.entityOf(t, "home", "Paint.md") + "'": {"Mow", "Paint"},
		"SELECT t FROM Task t WHERE t.again CONTAINS '" + w.entityOf(t, "work", "Ship.md") + "'":  {"Ship"},
	} {
		if diff := cmp.Diff(want, w.asks(t, query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	w = reopened(t, w, dir)
	check("opened again")

	// What a client declares is everybody's: of the vault that has only inferred its own.
	_, _, err := w.ents.PutType(ctx, entities.Type{
		Name: "Task", Fields: []entities.Field{{Name: "state", Type: record.Text}, {Name: "who", Type: record.Text}},
	}, nil, false)
	must(t, err)
	w.wantTypes(t, "put", "/Task declared state:text,who:text 1", all[0], all[2])
	if diff := cmp.Diff(entities.Values{"state": "done"}, w.valuesOf(t, "old", "Gone.md")); diff != "" {
		t.Error(diff)
	}
	e, err := w.ents.Put(ctx, entities.Entity{Type: "Task", Name: "Call", Fields: entities.Values{"who": "Ann"}}, nil)
	must(t, err)
	w.wantTypes(t, "with a client's entity", "/Task declared state:text,who:text 2", all[0], all[2])

	_, err = w.im.Forget(ctx, "home", nil)
	must(t, err)
	w.wantTypes(t, "forgotten", "/Task declared state:text,who:text 2", all[2])
	_, err = w.ents.DeleteType(ctx, "Task", "", true)
	must(t, err)
	w.wantTypes(t, "deleted", all[2][:len(all[2])-1]+"3")
	if e := w.ents.Get(e.ID); !e.Live() || len(e.Fields) != 0 {
		t.Errorf("%+v", e)
	}
}

// TestSRCH36_AForgottenVaultLeavesNoType but what entities of others have values of.
func TestSRCH36_AForgottenVaultLeavesNoType(t *testing.T) {
	dir := importFolder(t, map[string]string{
		".ctxd/types/Task.yaml": "fields: [{name: due, type: date}, {name: salary, type: number}]\n",
		".ctxd/types/Plan.yaml": "fields: [{name: a, type: text}]\n",
		"Ship.md":               "---\ntype: Task\ndue: 2026-03-01\n---\n",
		"Ann.md":                "---\ntype: Person\nage: 5\n---\n",
	})
	w := open(t, t.TempDir())
	w.imports(t, vault.ImportRequest{Path: dir, Name: "v"})
	e, err := w.ents.Put(ctx,
		entities.Entity{Type: "Task", Name: "Call", Fields: entities.Values{"due": "2026-04-01"}}, nil)
	must(t, err)
	_, err = w.im.Forget(ctx, "v", nil)
	must(t, err)
	w.wantTypes(t, "forgotten", "/Task declared due:date 1")
	if e := w.ents.Get(e.ID); e.Fields["due"] != "2026-04-01" {
		t.Errorf("%+v", e)
	}
}

// TestSRCH36_ATypeIsRenamed in one of two vaults: the entities of the other stay as they are.
func TestSRCH36_ATypeIsRenamed(t *testing.T) {
	notesOf := func(value string) map[string]string {
		return map[string]string{
			".ctxd/types/Task.yaml": "fields: [{name: " + value + ", type: text}]\n",
			"N.md":                  "---\ntype: Task\n" + value + ": x\n---\n",
		}
	}
	a, b := importFolder(t, notesOf("one")), importFolder(t, notesOf("two"))
	w := open(t, t.TempDir())
	w.imports(t, vault.ImportRequest{Path: a, Name: "a"})
	w.imports(t, vault.ImportRequest{Path: b, Name: "b"})
	write(t, a, ".ctxd/types/Task.yaml", "name: Job\nfields: [{name: one, type: text}]\n")
	write(t, a, "N.md", "---\ntype: Job\none: changed\n---\n")
	w.imports(t, vault.ImportRequest{Path: a, Name: "a"})
	if diff := cmp.Diff(entities.Values{"one": "changed"}, w.valuesOf(t, "a", "N.md")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(entities.Values{"two": "x"}, w.valuesOf(t, "b", "N.md")); diff != "" {
		t.Error(diff)
	}
}

// TestSRCH36_StoresFromBefore divides inferred types among the vaults that use them, and
// keeps declared ones for everybody until a vault declares them again.
func TestSRCH36_StoresFromBefore(t *testing.T) {
	a := importFolder(t, map[string]string{
		".ctxd/types/Task.yaml": "fields: [{name: due, type: date}]\n",
		"A.md":                  "---\ntype: Task\ndue: 2026-03-01\n---\n",
		"P.md":                  "---\ntype: Person\nage: 5\n---\n",
		"L.md":                  "---\ntype: Place\nat: x\n---\n",
	})
	b := importFolder(t, map[string]string{"P.md": "---\ntype: Person\nborn: x\n---\n"})
	dir := t.TempDir()
	w := open(t, dir)
	w.imports(t, vault.ImportRequest{Path: a, Name: "a"})
	w.imports(t, vault.ImportRequest{Path: b, Name: "b"})
	// As a program before would have it: one type of each name, and no vault anywhere.
	must(t, w.db.Update(ctx, func(tx *kv.Tx) error {
		for key, named := range entities.TypeRecords.All(tx, "") {
			old := &entities.NamedTypes{Type: *named.All()[0]}
			old.Vault = ""
			if key == "person" {
				old.Fields = []entities.Field{{Name: "age", Type: record.Number}, {Name: "born", Type: record.Text}}
			}
			if err := entities.TypeRecords.Put(tx, key, old); err != nil {
				return err
			}
		}
		for id, e := range entities.EntityRecords.All(tx, "") {
			e.Vault = ""
			if err := entities.EntityRecords.Put(tx, id, e); err != nil {
				return err
			}
		}
		return tx.Err()
	}))
	must(t, w.db.Update(ctx, vault.UpgradeVaults))
	w = reopened(t, w, dir)
	w.wantTypes(t, "upgraded", "a/Person inferred age:number 1", "b/Person inferred born:text 1",
		"a/Place inferred at:text 1", "/Task declared due:date 1")
	if diff := cmp.Diff(entities.Values{"due": "2026-03-01"}, w.valuesOf(t, "a", "A.md")); diff != "" {
		t.Error(diff)
	}
	w.imports(t, vault.ImportRequest{Path: a, Name: "a"})
	w.imports(t, vault.ImportRequest{Path: b, Name: "b"})
	w.wantTypes(t, "imported", "a/Person inferred age:number 1", "b/Person inferred born:text 1",
		"a/Place inferred at:text 1", "a/Task declared due:date 1")
}

func reopened(t *testing.T, w *watchWorld, dir string) *watchWorld {
	t.Helper()
	must(t, w.db.Close())
	return open(t, dir)
}

func (w *watchWorld) entityOf(t *testing.T, vault, path string) string {
	t.Helper()
	return notesIn(t, w, vault, path).EntityID
}

func notesIn(t *testing.T, w *watchWorld, vault, path string) *notes.Note {
	t.Helper()
	for n := range w.notes.All() {
		if n.Vault == vault && n.Path == path {
			return n
		}
	}
	t.Fatalf("no note %s in %s", path, vault)
	return nil
}
