package rpc_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// writable is a daemon with a vault that may be written, and in its folder Shared by remote connections, too.
func writable(t *testing.T) (d *daemon, dir string, far *client.Client) {
	t.Helper()
	d, dir = start(t), t.TempDir()
	for p, text := range map[string]string{
		"Own.md": "# Own\r\none\r\n", "Shared/Open.md": "# Open\none\n", "Shared/Secret.md": "---\nprivate: true\n---\nhush\n",
		"Shared/Mixed.md": "# Mixed\nwith [[Secret]]\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, p), []byte(text), 0o600))
	}
	must(t, d.Call(t.Context(), "vault.import", protocol.VaultImport{Path: dir, Name: "Writable"}, nil))
	far, err := d.dialAs(t.Context(), client.Options{Name: "far", Audience: "remote"})
	must(t, err)
	t.Cleanup(func() { far.Close() })
	return d, dir, far
}

func fileText(t *testing.T, dir, p string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, p))
	must(t, err)
	return string(data)
}

func wantFault(t *testing.T, err error, kind fault.Kind, reason fault.Reason) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Reason != reason {
		t.Fatalf("%v (%+v), want kind %v and reason %q", err, f, kind, reason)
	}
	return f
}

// TestSRCH60_NotesOfAVaultAreWrittenOverTheWire by put, patch and delete, each of which can be undone.
func TestSRCH60_NotesOfAVaultAreWrittenOverTheWire(t *testing.T) {
	d, dir, _ := writable(t)
	call := func(method string, params, result any) error { return d.Call(t.Context(), method, params, result) }
	var own protocol.NoteFull
	must(t, call("notes.get", protocol.NoteGet{Ref: "Own"}, &own))
	if own.Hash != notes.HashOf(own.Body) {
		t.Errorf("its hash is %q", own.Hash)
	}
	var saved protocol.NoteSaved
	body := "# Own\ntwo"
	must(t, call("notes.patch", protocol.NotePatch{ID: own.ID, Body: &body, IfVersion: &own.Version, Conditions: protocol.Conditions{DryRun: true}}, &saved))
	if saved.Diff == "" || saved.Write != "" || fileText(t, dir, "Own.md") != "# Own\r\none\r\n" {
		t.Errorf("a dry run says %+v", saved)
	}
	must(t, call("notes.patch", protocol.NotePatch{ID: own.ID, Body: &body, Conditions: protocol.Conditions{IfHash: own.Hash}}, &saved))
	if text := fileText(t, dir, "Own.md"); text != "# Own\r\ntwo\r\n" || saved.Hash != notes.HashOf(text) || saved.Write == "" || saved.Version != own.Version+1 {
		t.Errorf("the file is %q, the answer %+v", text, saved)
	}
	err := call("notes.patch", protocol.NotePatch{ID: own.ID, Body: &body, Conditions: protocol.Conditions{IfHash: own.Hash}}, nil)
	if f := wantFault(t, err, fault.Conflict, fault.Changed); f.Sides == nil || *f.Sides != (fault.Sides{Current: "# Own\r\ntwo\r\n", Wanted: "# Own\r\ntwo\r\n"}) {
		t.Errorf("the sides are %+v", f.Sides)
	}
	more := "three"
	must(t, call("notes.patch", protocol.NotePatch{ID: own.ID, Append: &more}, &saved))
	if text := fileText(t, dir, "Own.md"); text != "# Own\r\ntwo\r\nthree\r\n" {
		t.Errorf("the file is %q", text)
	}
	title := protocol.Some("Other")
	wantFault(t, call("notes.patch", protocol.NotePatch{ID: own.ID, Append: &more, Title: title}, nil), fault.Conflict, fault.VaultBacked)
	wantFault(t, call("notes.patch", protocol.NotePatch{ID: own.ID, Append: &more, Body: &body}, nil), fault.Invalid, "")
	wantFault(t, call("notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: own.ID, Title: "Other", Body: body}}, nil), fault.Conflict, fault.VaultBacked)

	must(t, call("notes.get", protocol.NoteGet{Ref: "Own"}, &own))
	must(t, call("notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ // a record that was read, changed and is put back
		ID: own.ID, Title: own.Title, Body: own.Body + "four\r\n", Path: own.Path, Tags: own.Tags, VaultBacked: true, Private: true,
	}}, &saved))
	if text := fileText(t, dir, "Own.md"); text != "# Own\r\ntwo\r\nthree\r\nfour\r\n" || !saved.Private {
		t.Errorf("the file is %q, the answer %+v", text, saved)
	}
	must(t, call("notes.put", protocol.NotePut{Vault: "Writable", NoteRecord: protocol.NoteRecord{
		Title: "Ideas", Folder: "New", Body: "text\n", Tags: []string{"later"}, Aliases: []string{`an "other"`},
	}}, &saved))
	if text := fileText(t, dir, "New/Ideas.md"); text != "---\naliases: [\"an \\\"other\\\"\"]\ntags: [\"later\"]\n---\ntext\n" || saved.Title != "Ideas" ||
		len(saved.Aliases) != 1 || saved.Aliases[0] != `an "other"` || !saved.VaultBacked {
		t.Errorf("the file is %q, the answer %+v", text, saved)
	}
	err = call("notes.put", protocol.NotePut{Vault: "Writable", NoteRecord: protocol.NoteRecord{Path: "New/Ideas.md", Body: "x"}}, nil)
	if f := wantFault(t, err, fault.Conflict, fault.Exists); len(f.Candidates) != 1 || f.Candidates[0].ID != saved.ID {
		t.Errorf("%+v", f.Candidates)
	}
	var gone protocol.NoteDeleted
	must(t, call("notes.delete", protocol.ByID{ID: saved.ID}, &gone))
	if gone.Trash != ".trash/Ideas.md" || fileText(t, dir, gone.Trash) == "" {
		t.Errorf("%+v", gone)
	}
	var writes protocol.VaultWrites
	must(t, call("vault.history", protocol.VaultHistory{Page: protocol.Page{Limit: 2}}, &writes))
	if len(writes.Writes) != 2 || writes.Total != 5 || writes.NextCursor == "" || writes.Writes[0].Action != "trash" || writes.Writes[1].Action != "create" {
		t.Errorf("%+v", writes)
	}
	var undone protocol.VaultUndone
	must(t, call("vault.undo", protocol.VaultUndo{ID: writes.Writes[0].ID}, &undone))
	if undone.Path != "New/Ideas.md" || undone.NoteID != saved.ID || fileText(t, dir, "New/Ideas.md") == "" {
		t.Errorf("%+v", undone)
	}
	after := protocol.Page{Limit: 3, Cursor: writes.NextCursor}
	writes = protocol.VaultWrites{}
	must(t, call("vault.history", protocol.VaultHistory{Page: after}, &writes))
	if len(writes.Writes) != 3 || writes.Writes[2].Path != "Own.md" || writes.NextCursor != "" {
		t.Errorf("%+v", writes)
	}
}

// TestSRCH60_ARemoteConnectionIsToldNothingOfPrivateFiles: they are answered as notes that do not exist.
func TestSRCH60_ARemoteConnectionIsToldNothingOfPrivateFiles(t *testing.T) {
	d, dir, far := writable(t)
	id := func(ref string) string {
		var n protocol.NoteFull
		must(t, d.Call(t.Context(), "notes.get", protocol.NoteGet{Ref: ref}, &n))
		return n.ID
	}
	call := func(method string, params, result any) error { return far.Call(t.Context(), method, params, result) }
	more, body := "more", "# Open\ntwo\n"
	var saved protocol.NoteSaved
	must(t, call("notes.patch", protocol.NotePatch{ID: id("Open"), Body: &body}, &saved))
	must(t, call("notes.put", protocol.NotePut{Vault: "Writable", NoteRecord: protocol.NoteRecord{Path: "Shared/New.md", Body: "new\n"}}, nil))
	wantFault(t, call("notes.patch", protocol.NotePatch{ID: id("Own"), Append: &more}, nil), fault.Conflict, fault.VaultBacked)
	for _, method := range []string{"notes.patch", "notes.delete"} {
		for _, dry := range []bool{false, true} {
			params := map[string]any{"id": id("Secret")}
			if method == "notes.patch" {
				params["append"], params["dryRun"] = more, dry
			}
			hidden := wantFault(t, call(method, params, nil), fault.NotFound, "")
			params["id"] = "none"
			none := wantFault(t, call(method, params, nil), fault.NotFound, "")
			if hidden.Hint != none.Hint {
				t.Errorf("%s tells a private note from none: %v, %v", method, hidden, none)
			}
		}
	}
	var mixed protocol.NoteFull
	must(t, call("notes.get", protocol.NoteGet{Ref: "Mixed"}, &mixed))
	if mixed.Hash != "" {
		t.Error("the hash of a text is told of which a part is not")
	}
	for _, guess := range []string{"# Mixed\nwith [[Secret]]\n", "# Mixed\nwith [[Other]]\n", mixed.Body} { // none is confirmed
		on := protocol.Conditions{IfHash: notes.HashOf(guess), DryRun: true}
		err := call("notes.patch", protocol.NotePatch{ID: mixed.ID, Append: &more, Conditions: on}, nil)
		if f := wantFault(t, err, fault.Conflict, fault.Changed); f.Sides != nil {
			t.Errorf("%+v", f.Sides)
		}
	}
	wantFault(t, call("notes.patch", protocol.NotePatch{ID: mixed.ID, Body: &body}, nil), fault.Unavailable, "")
	saved = protocol.NoteSaved{}
	must(t, call("notes.patch", protocol.NotePatch{ID: mixed.ID, Append: &more}, &saved))
	if saved.Diff+saved.Hash != "" || fileText(t, dir, "Shared/Mixed.md") != "# Mixed\nwith [[Secret]]\nmore\n" {
		t.Errorf("the answer is %+v", saved)
	}
	must(t, d.Call(t.Context(), "notes.patch", protocol.NotePatch{ID: id("Secret"), Append: &more}, nil))
	var writes protocol.VaultWrites
	must(t, call("vault.history", protocol.VaultHistory{}, &writes))
	for _, w := range writes.Writes {
		if w.Diff != "" || w.Path == "Shared/Secret.md" {
			t.Errorf("it is told %+v", w)
		}
	}
	if writes.Total != 3 || len(writes.Writes) != 3 {
		t.Errorf("%+v", writes)
	}
	if text := fileText(t, dir, "Shared/Secret.md"); text != "---\nprivate: true\n---\nhush\nmore\n" {
		t.Errorf("the private file is %q", text)
	}
}

// TestSRCH60_NotesOfTheStoreHaveTheSameConditions: a hash, lines that are added, and a dry run.
func TestSRCH60_NotesOfTheStoreHaveTheSameConditions(t *testing.T) {
	d := start(t)
	call := func(method string, params, result any) error { return d.Call(t.Context(), method, params, result) }
	var saved protocol.NoteSaved
	put := protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: "n", Title: "N", Body: "one"}, Conditions: protocol.Conditions{DryRun: true}}
	must(t, call("notes.put", put, &saved))
	wantFault(t, call("notes.get", protocol.NoteGet{Ref: "n"}, nil), fault.NotFound, "")
	if saved.Diff == "" {
		t.Error("a dry run says nothing")
	}
	put.DryRun = false
	must(t, call("notes.put", put, nil))
	more, body := "two", "three"
	must(t, call("notes.patch", protocol.NotePatch{ID: "n", Append: &more, Conditions: protocol.Conditions{IfHash: notes.HashOf("one")}}, nil))
	err := call("notes.patch", protocol.NotePatch{ID: "n", Body: &body, Conditions: protocol.Conditions{IfHash: notes.HashOf("one")}}, nil)
	if f := wantFault(t, err, fault.Conflict, fault.Changed); f.Sides == nil || *f.Sides != (fault.Sides{Current: "one\ntwo\n", Wanted: "three"}) {
		t.Errorf("%+v", f.Sides)
	}
	put.IfHash = notes.HashOf("one")
	wantFault(t, call("notes.put", put, nil), fault.Conflict, fault.Changed)
	saved = protocol.NoteSaved{}
	must(t, call("notes.patch", protocol.NotePatch{ID: "n", Body: &body, Conditions: protocol.Conditions{DryRun: true}}, &saved))
	var n protocol.NoteFull
	must(t, call("notes.get", protocol.NoteGet{Ref: "n"}, &n))
	if n.Body != "one\ntwo\n" || n.Version != 2 || saved.Diff == "" {
		t.Errorf("the note is %+v, a dry run says %q", n, saved.Diff)
	}
}

// TestSRCH60_NewNotesGoWhereTheVaultPutsThem: a new note without a folder, and the note of a day with its template.
func TestSRCH60_NewNotesGoWhereTheVaultPutsThem(t *testing.T) {
	d, dir, far := writable(t)
	for p, text := range map[string]string{
		".obsidian/app.json":         `{"newFileLocation":"folder","newFileFolderPath":"Shared/New"}`,
		".obsidian/daily-notes.json": `{"folder":"Shared/Days","format":"YYYY/YYYY-MM-DD","template":"Shared/Secret"}`,
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, p), []byte(text), 0o600))
	}
	var saved protocol.NoteSaved
	put := func(p protocol.NotePut) error {
		p.Vault = "Writable"
		return d.Call(t.Context(), "notes.put", p, &saved)
	}
	must(t, put(protocol.NotePut{NoteRecord: protocol.NoteRecord{Title: "Idea", Body: "x"}}))
	if saved.Path != "Shared/New/Idea.md" || fileText(t, dir, saved.Path) != "x" {
		t.Errorf("%+v", saved)
	}
	for folder, want := range map[string]string{"/": "Root.md", "Other": "Other/Root.md"} {
		must(t, put(protocol.NotePut{NoteRecord: protocol.NoteRecord{Title: "Root", Folder: folder, Body: "x"}}))
		if saved.Path != want {
			t.Errorf("in %s it is %s", folder, saved.Path)
		}
	}

	// A day, whose template is a private note: for a remote connection there is none.
	must(t, far.Call(t.Context(), "notes.put", protocol.NotePut{Vault: "Writable", Day: "2026-03-03", NoteRecord: protocol.NoteRecord{Body: "by far"}}, &saved))
	if text := fileText(t, dir, "Shared/Days/2026/2026-03-03.md"); text != "# 2026-03-03\nby far\n" {
		t.Errorf("a remote connection made %q", text)
	}
	must(t, os.WriteFile(filepath.Join(dir, "Shared/Secret.md"), []byte("# {{date:dddd}}\n"), 0o600))
	must(t, put(protocol.NotePut{Day: "2026-03-04", NoteRecord: protocol.NoteRecord{Body: "- first"}}))
	if text := fileText(t, dir, "Shared/Days/2026/2026-03-04.md"); text != "# Wednesday\n- first\n" || saved.ID == "" {
		t.Errorf("%q, %+v", text, saved)
	}
	again := put(protocol.NotePut{Day: "2026-03-04"})
	if f := wantFault(t, again, fault.Conflict, fault.Exists); len(f.Candidates) != 1 || f.Candidates[0].ID != saved.ID {
		t.Errorf("%+v", f)
	}
	wantFault(t, put(protocol.NotePut{Day: "someday"}), fault.Invalid, "")
	wantFault(t, put(protocol.NotePut{Day: "today", NoteRecord: protocol.NoteRecord{Title: "Mine"}}), fault.Invalid, "")

	// Settings that lead out of the vault are left out, and listed.
	must(t, os.WriteFile(filepath.Join(dir, ".obsidian/daily-notes.json"), []byte(`{"folder":"../out"}`), 0o600))
	must(t, put(protocol.NotePut{Day: "2026-03-05"}))
	if saved.Path != "2026-03-05.md" {
		t.Errorf("%+v", saved)
	}
	must(t, d.Call(t.Context(), "vault.import", protocol.VaultImport{Path: dir, Name: "Writable"}, nil))
	var problems protocol.VaultProblemPage
	must(t, d.Call(t.Context(), "vault.problems", protocol.VaultProblems{Vault: "Writable"}, &problems))
	if !slices.ContainsFunc(problems.Problems, func(p record.VaultProblem) bool { return p.Path == ".obsidian/daily-notes.json" }) {
		t.Errorf("%+v", problems)
	}
}
