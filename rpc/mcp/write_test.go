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
	n := d.Rooms.Notes.Get(m[1])
	if n == nil || n.Title != "Plan" || n.Body != "First of all." || n.Path != "plans/Plan.md" || strings.Join(n.Tags, " ") != "new" || n.Private {
		t.Errorf("%+v", n)
	}
	h.contains("a title twice", h.fails("write_note", `{"title":"plan","text":"x"}`), "there is a note with that title", "Try: give it as note", "Plan [id:"+m[1]+"] plans/Plan.md")
	h.call("append_to_note", `{"note":"Plan","text":"- one"}`)
	h.call("append_to_note", `{"note":"[[Plan]]","text":"- two\n"}`)
	if n = d.Rooms.Notes.Get(m[1]); n.Body != "First of all.\n- one\n- two\n" || n.Version != 3 {
		t.Errorf("%+v", n)
	}
	h.call("write_note", `{"note":"plans/Plan.md","text":"Anew.","title":"The plan"}`)
	if n = d.Rooms.Notes.Get(m[1]); n.Body != "Anew." || n.Title != "The plan" || n.Path != "plans/Plan.md" || strings.Join(n.Tags, " ") != "new" {
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
	if e := d.Rooms.Entities.Get(m[1]); e.Name != "Eve" || e.Type != "Person" || e.Fields["team"] != "core" || e.Fields["role"] != "Lead" {
		t.Errorf("%+v", e)
	}
	h.call("put_entity", `{"entity":"Evi","fields":{"role":null,"level":"lead"}}`)
	h.call("put_entity", `{"entity":"Core","fields":{"lead":"Eve"}}`)
	if e := d.Rooms.Entities.Get(m[1]); e.Fields["role"] != nil || e.Fields["level"] != "lead" || e.Fields["team"] != "core" || e.Version != 2 {
		t.Errorf("%+v", e)
	}
	if e := d.Rooms.Entities.Get("core"); e.Fields["lead"] != m[1] {
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
	for tool, args := range map[string]string{"write_note": `{"note":"N","text":"x"}`, "append_to_note": `{"note":"N","text":"x"}`} {
		h.contains(tool, h.fails(tool, args), "parts of the note are private", "ask the user")
	}
	if n := d.Rooms.Notes.Get("n"); n.Body != "see [[P]]" {
		t.Errorf("%+v", n)
	}
	d.open(mcp.Options{AllowWrite: true, IncludePrivate: true}).call("append_to_note", `{"note":"N","text":"more"}`)
	if n := d.Rooms.Notes.Get("n"); n.Body != "see [[P]]\nmore\n" {
		t.Errorf("%+v", n)
	}
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
