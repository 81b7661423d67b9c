package vault_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// openShared opens the rooms of a machine that shares its store.
func openShared(t *testing.T, l *kvtest.Log) *watchWorld {
	t.Helper()
	w := &watchWorld{}
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{Log: l.Machine()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	w.ents, err = entities.Open(w.db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.notes, err = notes.Open(w.db, w.ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{})
	return w
}

// What one machine has read of a changed file, the other does not write again when a
// synchroniser brings it the same bytes.
func TestSYNC5_AnEditThatComesInTheFolderToo(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	one, two := openShared(t, l), openShared(t, l)
	files := map[string]string{"a.md": "# Alpha", "b.md": "Beta"}
	atOne, atTwo := importFolder(t, files), importFolder(t, files)
	one.imports(t, vault.ImportRequest{Path: atOne})
	two.imports(t, vault.ImportRequest{Path: atTwo})
	edit := func(at string) {
		write(t, at, "a.md", "# Alpha of one [[b]]")
	}
	edit(atOne)
	one.imports(t, vault.ImportRequest{Path: atOne})
	if err := two.db.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	_, before := l.End()
	edit(atTwo)
	two.imports(t, vault.ImportRequest{Path: atTwo})
	if _, n := l.End(); n != before {
		t.Errorf("the second machine wrote %d entries for the same bytes", n-before)
	}
	n, err := two.notes.ByPath("a.md", nil)
	if err != nil || n.Version != 2 || n.Body != "# Alpha of one [[b]]" {
		t.Errorf("%+v %v", n, err)
	}
	write(t, atTwo, "a.md", "# Alpha of two")
	two.imports(t, vault.ImportRequest{Path: atTwo})
	if n, err = two.notes.ByPath("a.md", nil); err != nil || n.Version != 3 || n.Body != "# Alpha of two" {
		t.Errorf("what comes next: %+v %v", n, err)
	}
}

// Two machines have the same folder. The second one finds its notes there and writes none of
// them; what a file of one says later, the other has, and does not undo.
func TestSYNC5_TwoMachinesWithTheSameFolder(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	one, two := openShared(t, l), openShared(t, l)
	files := map[string]string{"a.md": "# Alpha\n[[b]]", "b.md": "---\ntype: Person\n---\nBeta", "sub/c.md": "Gamma"}
	atOne, atTwo := importFolder(t, files), importFolder(t, files)
	one.imports(t, vault.ImportRequest{Path: atOne})
	catchUp := func() {
		for _, w := range []*watchWorld{one, two} {
			if err := w.db.CatchUp(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	catchUp()
	if live, _, _ := two.notes.Count(); live != 3 {
		t.Fatalf("the other machine has %d notes", live)
	}
	_, before := l.End()
	two.imports(t, vault.ImportRequest{Path: atTwo})
	if _, n := l.End(); n != before {
		t.Errorf("the second machine wrote %d entries for the same bytes", n-before)
	}
	write(t, atTwo, "a.md", "# Alpha two")
	two.imports(t, vault.ImportRequest{Path: atTwo})
	catchUp()
	one.imports(t, vault.ImportRequest{Path: atOne}) // its file is the old one still
	catchUp()
	for i, w := range []*watchWorld{one, two} {
		live, _, _ := w.notes.Count()
		n, err := w.notes.ByPath("a.md", nil)
		if err != nil || live != 3 || n.Body != "# Alpha two" || n.Version != 2 {
			t.Errorf("machine %d has %d notes: %+v %v", i, live, n, err)
		}
	}
}

// A machine without the folder has the notes whole, with their links in both directions. Files
// that are no notes are not there: links to them lead nowhere, and nothing else happens. What
// comes from a file can't be changed there.
func TestSYNC5_AMachineWithoutTheFolder(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	one, two := openShared(t, l), openShared(t, l)
	body := "# Alpha\n[[b]] and ![[pic.png]] and [a plan](files/plan.pdf)\n"
	one.imports(t, vault.ImportRequest{Path: importFolder(t, map[string]string{
		"a.md": body, "b.md": "Beta", "pic.png": "bytes", "files/plan.pdf": "more bytes",
	})})
	if err := two.db.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	n, err := two.notes.ByPath("a.md", nil)
	if err != nil || n.Body != body || !n.VaultBacked {
		t.Fatalf("%+v, %v", n, err)
	}
	here, _ := one.notes.Outgoing(n.ID)
	if len(here) != 3 || here[1].Kind != notes.LinkToAttachment {
		t.Errorf("where the folder is, links lead to %+v", here)
	}
	to, nowhere := two.notes.Outgoing(n.ID)
	if len(to) != 1 || to[0].Path != "b.md" {
		t.Errorf("links lead to %+v", to)
	}
	if len(nowhere) != 2 || nowhere[0].Target != "pic.png" || nowhere[1].Target != "files/plan.pdf" {
		t.Errorf("nowhere lead %+v", nowhere)
	}
	if back := two.notes.Incoming(to[0].ID); len(back) != 1 || back[0].ID != n.ID {
		t.Errorf("backlinks %+v", back)
	}
	if got := two.notes.Attachments(n.Vault); len(got) != 0 {
		t.Errorf("attachments %q", got)
	}
	if list := two.notes.Unresolved(n.Vault, nil); len(list) != 2 {
		t.Errorf("unresolved %+v", list)
	}
	_, err = two.notes.Put(ctx, notes.Draft{ID: n.ID, Body: "another text"}, nil)
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("it was changed: %v", err)
	}
	if _, err := two.im.Status(ctx, n.Vault); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the vault: %v", err)
	}
	if list, err := two.im.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("the vaults are %+v, %v", list, err)
	}
}
