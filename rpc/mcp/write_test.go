package mcp_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/servertest"
	"github.com/ctxd/ctxd/rpc/socket"
)

var writtenID = regexp.MustCompile(`\[id:([^\]]+)\], which is at version (\d+) now\.\n$`)

// TestMCP3_NotesAreWritten: made, replaced and added to, by a host that may.
func TestMCP3_NotesAreWritten(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{AllowWrite: true})
	made := h.call("write_note", `{"title":"Plan","text":"First of all.","path":"plans/Plan.md","tags":["new"]}`)
	m := writtenID.FindStringSubmatch(made)
	if m == nil || m[2] != "1" {
		t.Fatalf("%s", made)
	}
	n := d.Rooms.Notes.Get(d.wholeID(m[1]))
	if n == nil || n.Title != "Plan" || n.Body != "First of all." || n.Path != "plans/Plan.md" || strings.Join(n.Tags, " ") != "new" || n.Private {
		t.Errorf("%+v", n)
	}
	h.contains("a title twice", h.fails("write_note", `{"title":"plan","text":"x"}`), "there is a note with that title", "Try: give it as note", "Plan [id:"+m[1]+"] plans/Plan.md")
	h.call("append_to_note", `{"note":"Plan","text":"- one"}`)
	h.call("append_to_note", `{"note":"[[Plan]]","text":"- two\n"}`)
	if n = d.Rooms.Notes.Get(d.wholeID(m[1])); n.Body != "First of all.\n- one\n- two\n" || n.Version != 3 {
		t.Errorf("%+v", n)
	}
	h.call("write_note", `{"note":"plans/Plan.md","text":"Anew.","title":"The plan"}`)
	if n = d.Rooms.Notes.Get(d.wholeID(m[1])); n.Body != "Anew." || n.Title != "The plan" || n.Path != "plans/Plan.md" || strings.Join(n.Tags, " ") != "new" {
		t.Errorf("%+v", n)
	}
	for args, want := range map[string]string{
		`{"text":"x"}`:                              "title is needed",
		`{"note":"Nothing","text":"x"}`:             "no such note",
		`{"note":"Alpha","path":"x.md","text":"x"}`: "path is for a new note",
		`{"note":"Sync","text":"x"}`:                "several notes",
	} {
		h.contains(args, h.fails("write_note", args), want)
	}
}

// TestMCP3_EntitiesAreWritten: references by name.
func TestMCP3_EntitiesAreWritten(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{AllowWrite: true})
	made := h.call("put_entity", `{"type":"person","name":"Eve","aliases":["Evi"],"fields":{"role":"Lead","team":"@Core"}}`)
	m := writtenID.FindStringSubmatch(made)
	if m == nil {
		t.Fatalf("%s", made)
	}
	if e := d.Rooms.Entities.Get(d.wholeID(m[1])); e.Name != "Eve" || e.Type != "Person" || e.Fields["team"] != "core" || e.Fields["role"] != "Lead" {
		t.Errorf("%+v", e)
	}
	h.call("put_entity", `{"entity":"Evi","fields":{"role":null,"level":"lead"}}`)
	h.call("put_entity", `{"entity":"Core","fields":{"lead":"Eve"}}`)
	if e := d.Rooms.Entities.Get(d.wholeID(m[1])); e.Fields["role"] != nil || e.Fields["level"] != "lead" || e.Fields["team"] != "core" || e.Version != 2 {
		t.Errorf("%+v", e)
	}
	if e := d.Rooms.Entities.Get("core"); e.Fields["lead"] != d.wholeID(m[1]) {
		t.Errorf("%+v", e)
	}
	for args, want := range map[string]string{
		`{"name":"x"}`:                                            "type and name are needed",
		`{"type":"Person","name":"eve"}`:                          "there is an entity of that type and name",
		`{"type":"Persn","name":"x"}`:                             "Persn",
		`{"entity":"Eve","type":"Team"}`:                          "type is for a new entity",
		`{"entity":"Eve","fields":{"team":"Nobody"}}`:             "no such entity (fields.team)",
		`{"entity":"Eve","fields":{"level":"boss"}}`:              "level",
		`{"type":"Person","name":"x","fields":{"team":"Nobody"}}`: "no such entity (fields.team)",
	} {
		h.contains(args, h.fails("put_entity", args), want)
	}
}

// seedFiles imports a vault with a note, its line ends as Windows has them, and an entity.
func (d *daemon) seedFiles() {
	d.t.Helper()
	dir := filepath.Join(d.t.TempDir(), "V")
	must(d.t, os.MkdirAll(filepath.Join(dir, "a"), 0o700))
	for name, text := range map[string]string{
		"a/Dos.md": "one\r\ntwo\r\nthree\r\n", "Plain.md": "# Plain\n\nThe plan is late.\nThe end.\nThe end.",
		"Eve.md": "---\ntype: Person\n---\nShe knows [[Hidden]].", "Hidden.md": "---\nprivate: true\n---\nx",
	} {
		must(d.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, err := d.Rooms.Vaults.Import(d.t.Context(), vault.ImportRequest{Path: dir})
	must(d.t, err)
}

// TestMCP3_EditsOfFilesAreProposed: as a diff, and nothing is written.
func TestMCP3_EditsOfFilesAreProposed(t *testing.T) {
	d := start(t)
	d.seed()
	d.seedFiles()
	h := d.open(mcp.Options{AllowWrite: true})
	for args, want := range map[string]string{
		`{"note":"Plain","old":"is late","new":"is done"}`:  "--- a/Plain.md\n+++ b/Plain.md\n@@ -1,5 +1,5 @@\n # Plain\n \n-The plan is late.\n+The plan is done.\n The end.\n The end.\n\\ No newline at end of file\n",
		`{"note":"Dos","old":"two\nthree","new":"2\n3"}`:    "--- a/a/Dos.md\n+++ b/a/Dos.md\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n-three\r\n+2\r\n+3\r\n",
		`{"note":"a/Dos.md","text":"one\ntwo\nthree\n4\n"}`: "--- a/a/Dos.md\n+++ b/a/Dos.md\n@@ -1,3 +1,4 @@\n one\r\n two\r\n three\r\n+4\r\n",
		`{"note":"Dos","text":"one\ntwo\nthree\n"}`:         "Nothing would change.\n",
	} {
		if text := h.call("propose_edit", args); text != want {
			t.Errorf("%s: %q", args, text)
		}
	}
	for args, want := range map[string]string{
		`{"note":"Plain","old":"The end","new":"x"}`: "old stands in the note several times",
		`{"note":"Plain","old":"nowhere","new":"x"}`: "old does not stand in the note",
		`{"note":"Plain"}`:                           "either old and new are needed, or text",
		`{"note":"Plain","old":"x","text":"y"}`:      "either old and new are needed, or text",
		`{"note":"Alpha","text":"y"}`:                "comes from no file",
		`{"note":"Eve","old":"She","new":"He"}`:      "parts of the note are private",
		`{"note":"Hidden","text":"y"}`:               "no such note",
	} {
		h.contains(args, h.fails("propose_edit", args), want)
	}
	for tool, args := range map[string]string{
		"write_note": `{"note":"Plain","text":"x"}`, "append_to_note": `{"note":"Dos","text":"x"}`, "put_entity": `{"entity":"Eve","fields":{}}`,
	} {
		h.contains(tool, h.fails(tool, args), "comes from a file", "propose_edit")
	}
	if n, err := d.Rooms.Notes.ByTitle("Plain", nil); err != nil || n.Version != 1 {
		t.Errorf("%v %v", n, err)
	}
	text := d.open(mcp.Options{AllowWrite: true, IncludePrivate: true}).call("propose_edit", `{"note":"Eve","old":"She","new":"He"}`)
	h.contains("a model on this machine", text, "-She knows [[Hidden]].\n", "+He knows [[Hidden]].\n")
}

// TestMCP3_WhatIsNotShownIsNotLost: a text of which parts are withheld is not written
// back.
func TestMCP3_WhatIsNotShownIsNotLost(t *testing.T) {
	d := start(t)
	d.put("notes.put", `{"id":"p","title":"P","body":"x","private":true}`, "notes.put", `{"id":"n","title":"N","body":"see [[P]]"}`)
	h := d.open(mcp.Options{AllowWrite: true})
	h.contains("write_note", h.fails("write_note", `{"note":"N","text":"x"}`), "parts of the note are private", "ask the user")
	if n := d.Rooms.Notes.Get("n"); n.Body != "see [[P]]" {
		t.Errorf("%+v", n)
	}
	h.call("append_to_note", `{"note":"N","text":"by somebody who does not see it all"}`)
	d.open(mcp.Options{AllowWrite: true, IncludePrivate: true}).call("append_to_note", `{"note":"N","text":"more"}`)
	if n := d.Rooms.Notes.Get("n"); n.Body != "see [[P]]\nby somebody who does not see it all\nmore\n" {
		t.Errorf("%+v", n)
	}
}

// TestSRCH60_FilesAreWrittenWhereTheUserAllowsIt: by a model on this machine in one folder, and by one elsewhere in another,
// where private notes do not exist for it.
func TestSRCH60_FilesAreWrittenWhereTheUserAllowsIt(t *testing.T) {
	d := &daemon{servertest.Start(t, servertest.Options{Write: []vault.WriteRule{{Folder: "/"}, {Folder: "/AI/", Remote: true}}}), t}
	dir := t.TempDir()
	for p, text := range map[string]string{"Own.md": "# Own\none\n", "AI/Open.md": "# Open\r\none\r\n", "AI/Hidden.md": "---\nprivate: true\n---\nhush\n"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, p), []byte(text), 0o600))
	}
	d.Call("vault.import", map[string]any{"path": dir, "name": "V"}, nil)
	holds := func(p, want string) {
		t.Helper()
		if data, err := os.ReadFile(filepath.Join(dir, p)); err != nil || string(data) != want {
			t.Errorf("%s is %q, %v; want %q", p, data, err, want)
		}
	}
	near, far := d.open(mcp.Options{AllowWrite: true, IncludePrivate: true}), d.open(mcp.Options{AllowWrite: true})
	near.contains("a dry run", near.call("append_to_note", `{"note":"Own","text":"- two","dryRun":true}`), "+- two")
	holds("Own.md", "# Own\none\n")
	near.call("append_to_note", `{"note":"Own","text":"- two"}`)
	near.call("write_note", `{"note":"Own","text":"# Own\nthree"}`)
	holds("Own.md", "# Own\nthree\n")
	near.call("write_note", `{"title":"New","text":"text","path":"AI/New.md","vault":"V","tags":["a"]}`)
	holds("AI/New.md", "---\ntags: [\"a\"]\n---\ntext")
	far.call("append_to_note", `{"note":"Open","text":"two"}`)
	holds("AI/Open.md", "# Open\r\none\r\ntwo\r\n")
	far.call("write_note", `{"note":"Open","text":"# Open\nthree"}`)
	holds("AI/Open.md", "# Open\r\nthree\r\n")
	far.contains("another folder", far.fails("append_to_note", `{"note":"Own","text":"x"}`), "may not write to it", "propose_edit")
	far.contains("a private note", far.fails("append_to_note", `{"note":"Hidden","text":"x"}`), "no such note")
	far.contains("its place", far.fails("write_note", `{"title":"Hidden","text":"x","path":"AI/Hidden.md","vault":"V"}`), "no note can be made at that path")
	holds("AI/Hidden.md", "---\nprivate: true\n---\nhush\n")
}

// TestMCP3_NoWriteIsRepeated: of a connection that breaks it is not known what became of
// a change.
func TestMCP3_NoWriteIsRepeated(t *testing.T) {
	d := start(t)
	d.seed()
	dials := 0
	h := d.open(mcp.Options{AllowWrite: true, Dial: func(ctx context.Context, as client.Options) (*client.Client, error) {
		dials++
		conn, err := socket.Dial(ctx, d.Socket())
		if err != nil {
			return nil, err
		}
		return client.New(ctx, cutAfter{conn, new(atomic.Bool)}, as)
	}})
	h.contains("lost", h.fails("append_to_note", `{"note":"alpha","text":"x"}`), "the change may have been made", "read the record before")
	if dials != 1 {
		t.Errorf("%d connections", dials)
	}
	h.call("read_note", `{"note":"alpha"}`)
	d.Stop()
	h.contains("no daemon", h.fails("append_to_note", `{"note":"alpha","text":"x"}`), "cannot connect")
	d.Listen()
}

// cutAfter is a connection that ends when a change was sent, before its reply.
type cutAfter struct {
	net.Conn
	cut *atomic.Bool
}

func (c cutAfter) Write(p []byte) (int, error) {
	if !strings.Contains(string(p), "notes.patch") {
		return c.Conn.Write(p)
	}
	c.cut.Store(true)
	n, err := c.Conn.Write(p)
	_ = c.Close()
	return n, err
}

func (c cutAfter) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.cut.Load() {
		return 0, io.EOF
	}
	return n, err
}

// TestPRIV17_TheSameFieldIsRefusedEachTime: of several fields of a call that are wrong the first one by name is told.
func TestPRIV17_TheSameFieldIsRefusedEachTime(t *testing.T) {
	d := start(t)
	d.put("types.put", `{"name":"Boat","fields":[{"name":"a","type":"note_ref"},{"name":"b","type":"entity_ref"},{"name":"c","type":"note_ref"},{"name":"d","type":"entity_ref"}]}`)
	h := d.open(mcp.Options{AllowWrite: true})
	for range 12 {
		if said := h.fails("put_entity", `{"type":"Boat","name":"x","fields":{"d":"none","c":"none","b":"none","a":"none"}}`); !strings.Contains(said, "fields.a") {
			t.Fatal(said)
		}
	}
}
