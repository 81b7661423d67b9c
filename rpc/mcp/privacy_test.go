package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/mcp"
)

// secret matches what stands in private records only: words that begin with
// zq, the ids of those records included, and one number.
var secret = regexp.MustCompile(`(?i)zq\w*|990099`)

// cursors of the daemon hold the name of the record that they stand behind.
var cursors = regexp.MustCompile(`"nextCursor":"([^"]*)"`)

// files are a vault in which private notes lie beside public ones that speak of
// them in every way there is.
var files = map[string]string{
	"Zqfolder/Zqpath.md": "---\nprivate: true\ntitle: Zqtitle Secret\naliases: [Zqalias]\ntags: [zqtag]\n---\nZqbody with scales. See [[Open]].",
	"Zqfolder/Zqitem.md": "---\nprivate: true\ntype: Zqtype\nzqfield: Zqvalue\n---\nscales",
	"Hidden.md":          "---\nprivate: true\ntype: Thing\ncolour: red\nzqcolour: Zqred\n---\nscales",
	"Thing.md":           "---\ntype: Thing\ncolour: blue\n---\nA thing with scales.",
	"Open.md": "---\nref: '[[Zqtitle Secret]]'\nplain: Zqtitle Secret\n---\n# Open\n\n" +
		"Scales are here. [[Zqtitle Secret]], [[zqtitle secret#Zqhead|see Zqword]], ![[Zqpath]] and `[[Zqalias]]`.\n\n" +
		"<!-- [[Zqtitle Secret]] --> [Qlabel](Zqfolder/Zqpath.md) <a href=\"Zqfolder/Zqpath.md\">there</a> [x][y] [Q *two*](<Zqfolder/Zqpath.md> \"t\")\n\n" +
		"```\n[[Zqfolder/Zqpath|Zqcode]] ./Zqfolder/Zqpath.md\n```\n\n| a |\n|---|\n| [[Zqtitle Secret\\|Zqcell]] |\n\n[y]: Zqfolder%2FZqpath.md \"Zqreftitle\"\n\n" +
		"Scales by [Zqreflabel][y], <a href=\"Zqfolder/Zqpath.md\">Zqanchor</a> and [Zqapp](obsidian://open?vault=V&file=Zqpath).\n\nBack to [[Thing]] and [the thing](Thing.md), https://example.com/scales.md.",
	"Title.md":      "---\ntitle: About [[Zqtitle Secret]] and [[Title]]\naliases: ['on [[Zqpath]]']\ntype: Thing\n---\nscales, see [[Open]]",
	"a/Weekly.md":   "public weekly about scales",
	"b/Zqweekly.md": "---\nprivate: true\ntitle: Weekly\n---\nZqweeklybody",
}

// seedSecrets writes the vault, and entities around a private one.
func (d *daemon) seedSecrets() {
	d.t.Helper()
	dir := filepath.Join(d.t.TempDir(), "V")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(d.t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(d.t, os.WriteFile(path, []byte(text), 0o600))
	}
	_, err := d.rooms.Vaults.Import(d.t.Context(), watch.Request{Path: dir})
	must(d.t, err)
	d.put("types.put", `{"name":"Zqdeclared","fields":[]}`, "entities.put", `{"id":"zqonly","type":"Zqdeclared","name":"Zqonly","private":true}`,
		"types.put", `{"name":"Empty","fields":[{"name":"size","type":"number"}]}`,
		"types.put", `{"name":"Person","fields":[{"name":"pay","type":"number"},{"name":"boss","type":"entity_ref"},{"name":"about","type":"text"},
			{"name":"file","type":"note_ref"},{"name":"friend","type":"entity_ref"},
			{"name":"top","type":"computed","query":"SELECT MAX(p.pay) FROM Person p"},
			{"name":"same","type":"computed","query":"SELECT p FROM Person WHERE p.boss = {this}"}]}`,
		"notes.put", `{"id":"zqnote","title":"Zqplain","body":"Zqtext with scales","private":true}`,
		"entities.putMany", `{"entities":[
			{"id":"zqboss","type":"Person","name":"Zqname","aliases":["Zqnick"],"private":true,"fields":{"pay":990099,"about":"Zqabout","boss":"ann"}},
			{"id":"zqbob","type":"Person","name":"Bob","private":true},
			{"id":"bob","type":"Person","name":"Bob","fields":{"friend":"cid"}},
			{"id":"ann","type":"Person","name":"Ann","fields":{"pay":10,"boss":"zqboss","about":"see [[Zqtitle Secret]]","file":"zqnote","friend":"bob"}},
			{"id":"ben","type":"Person","name":"Ben","fields":{"boss":"zqboss","friend":"cid"}},
			{"id":"cid","type":"Person","name":"Cid [[Zqtitle Secret]]","aliases":["Cid","[[Zqpath]]"]},
			{"id":"dan","type":"Person","name":"Dan","fields":{"boss":"zqboss"}}]}`)
}

// attempts are calls by which a model may try to get at private records. The
// ids of the vault's notes stand as {Title}.
var attempts = []struct{ tool, args string }{
	{"search_notes", `{"query":"scales","limit":50}`},
	{"search_notes", `{"query":"Zqbody Zqtext"}`},
	{"search_notes", `{"query":"Zqtitle"}`},
	{"search_notes", `{"query":"the Zqtitle secret"}`},
	{"search_notes", `{"query":"scales","types":["Zqtype","Thing"]}`},
	{"search_notes", `{"query":"scales","tags":["zqtag"]}`},
	{"search_notes", `{"query":"scales","folder":"Zqfolder"}`},
	{"read_note", `{"id":"zqnote"}`},
	{"read_note", `{"title":"Zqtitle Secret"}`},
	{"read_note", `{"path":"Zqfolder/Zqpath.md"}`},
	{"read_note", `{"id":"{Zqtitle Secret}"}`},
	{"read_note", `{"title":"Weekly"}`},
	{"read_note", `{"title":"Open"}`},
	{"read_note", `{"title":"Thing"}`},
	{"read_note", `{"path":"Title.md"}`},
	{"search_notes", `{"query":"about"}`},
	{"get_entity", `{"id":"cid"}`},
	{"assemble_context", `{"message":"@Cid knows, see [[Title]]","searchNotes":8}`},
	{"get_entity", `{"id":"zqboss"}`},
	{"get_entity", `{"name":"Zqname"}`},
	{"get_entity", `{"name":"Zqnick"}`},
	{"get_entity", `{"name":"bob","depth":4}`},
	{"get_entity", `{"id":"ann","depth":4}`},
	{"get_entity", `{"id":"dan","depth":4}`},
	{"list_entities", `{}`},
	{"list_entities", `{"limit":1}`},
	{"list_entities", `{"type":"Person","limit":2}`},
	{"list_entities", `{"type":"Person","limit":4}`},
	{"list_entities", `{"limit":6}`},
	{"list_entities", `{"type":"Zqtype"}`},
	{"list_entities", `{"type":"Zqdeclared"}`},
	{"list_entities", `{"type":"Thing"}`},
	{"list_types", `{}`},
	{"query", `{"query":"SELECT MAX(p.pay) FROM Person p"}`},
	{"query", `{"query":"SELECT p FROM Person ORDER BY p.name"}`},
	{"query", `{"query":"SELECT p FROM Person WHERE p.boss.name LIKE 'Zq%' OR p.name LIKE 'Zq%'"}`},
	{"query", `{"query":"SELECT MAX(p.boss.name) FROM Person p"}`},
	{"query", `{"query":"SELECT t FROM Xqtype t"}`},
	{"query", `{"query":"SELECT t FROM Thing t WHERE t.xqcolour = 'x'"}`},
	{"query", `{"query":"SELECT p FROM Person WHERE p.boss = {this}","this":"zqboss"}`},
	{"explore_graph", `{"id":"zqboss"}`},
	{"explore_graph", `{"id":"ann","depth":4}`},
	{"explore_graph", `{"id":"{Open}","depth":4}`},
	{"find_path", `{"from":"ann","to":"ben"}`},
	{"find_path", `{"from":"ann","to":"zqboss"}`},
	{"find_path", `{"from":"dan","to":"ann"}`},
	{"assemble_context", `{"message":"What do @Zqname, @Zqnick and @Ann think of [[Zqtitle Secret]], [[Zqplain]], [[Open]] and scales?","searchNotes":8,"maxDepth":4}`},
	{"assemble_context", `{"message":"@Bob and [[Weekly]]","entityIds":["zqboss","zqbob"],"noteIds":["zqnote","{Zqtitle Secret}"]}`},
}

// ids are the ids of the notes by title.
func (d *daemon) ids() map[string]string {
	ids := make(map[string]string)
	for n := range d.rooms.Notes.All() {
		ids[n.Title] = n.ID
	}
	return ids
}

func filled(args string, ids map[string]string) string {
	return regexp.MustCompile(`\{[A-Z][A-Za-z ]*\}`).ReplaceAllStringFunc(args, func(s string) string { return ids[strings.Trim(s, "{}")] })
}

func TestCTX34_NothingPrivateComesOut(t *testing.T) {
	d := start(t)
	d.seedSecrets()
	ids := d.ids()
	for _, include := range []bool{false, true} {
		h := d.open(mcp.Options{IncludePrivate: include})
		told := 0
		for _, a := range attempts {
			before := len(h.wire.String())
			_ = h.result(a.tool, filled(a.args, ids))
			said := h.wire.String()[before:]
			for _, m := range cursors.FindAllStringSubmatch(said, -1) {
				if plain, err := base64.RawURLEncoding.DecodeString(m[1]); err == nil {
					said += string(plain)
				}
			}
			for title, id := range ids { // ids of a vault are no words
				if n := d.rooms.Notes.Get(id); n != nil && n.Private && strings.Contains(said, id) {
					said += " zq-id-of-" + title
				}
			}
			if found := secret.FindAllString(said, -1); found != nil {
				told++
				if !include {
					t.Errorf("%s %s: %q\n%s", a.tool, a.args, found, said)
				}
			}
		}
		d.resourcesTell(h, include)
		if include && told < len(attempts)-14 {
			t.Errorf("only %d of %d attempts show what a local model may see", told, len(attempts))
		}
	}
}

// resourcesTell lists and reads all resources, and asks the prompt.
func (d *daemon) resourcesTell(h *host, include bool) {
	t := d.t
	t.Helper()
	list, err := h.ListResources(t.Context(), nil)
	must(t, err)
	said := asJSON(t, list)
	for _, uri := range []string{"ctxd://entity/ann", "ctxd://entity/dan"} {
		list.Resources = append(list.Resources, &sdk.Resource{URI: uri})
	}
	for _, r := range list.Resources {
		res, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
		must(t, err)
		said += asJSON(t, res)
	}
	got, err := h.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask_notes", Arguments: map[string]string{"message": "@Ann [[Open]] [[Weekly]] scales"}})
	must(t, err)
	said += asJSON(t, got)
	if found := secret.FindString(said); (found != "") != include {
		t.Errorf("private shown: %v, but %q is in\n%s", include, found, said)
	}
	for _, uri := range []string{"ctxd://note/zqnote", "ctxd://entity/zqboss"} {
		_, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if (err == nil) != include {
			t.Errorf("private shown: %v, and %s is %v", include, uri, err)
		}
	}
}

// TestCTX34_AGuessTellsNothing: what is private and what is not there are
// answered alike.
func TestCTX34_AGuessTellsNothing(t *testing.T) {
	d := start(t)
	d.seedSecrets()
	ids := d.ids()
	h := d.open(mcp.Options{})
	for _, tc := range []struct{ tool, private, nothing string }{
		{"read_note", `{"id":"zqnote"}`, `{"id":"nothing"}`},
		{"read_note", `{"title":"Zqplain"}`, `{"title":"Nothing"}`},
		{"read_note", `{"path":"Zqfolder/Zqpath.md"}`, `{"path":"None/Nothing.md"}`},
		{"get_entity", `{"id":"zqboss"}`, `{"id":"nothing"}`},
		{"get_entity", `{"name":"Zqnick"}`, `{"name":"Nothing"}`},
		{"list_entities", `{"type":"Zqtype"}`, `{"type":"Nothing"}`},
		{"list_entities", `{"type":"Zqdeclared"}`, `{"type":"Nothing"}`},
		{"explore_graph", `{"id":"zqboss"}`, `{"id":"nothing"}`},
		{"find_path", `{"from":"ann","to":"zqboss"}`, `{"from":"ann","to":"nothing"}`},
		{"search_notes", `{"query":"Zqbody"}`, `{"query":"xyzzy"}`},
		{"search_notes", `{"query":"Zqalias"}`, `{"query":"xyzzy"}`},
		{"assemble_context", `{"message":"@Zqname [[Zqplain]] [[{Open}]]","searchNotes":0}`, `{"message":"@Nobody [[Nowhere]] [[{Open}]]","searchNotes":0}`},
		{"assemble_context", `{"message":"x","entityIds":["zqboss"],"noteIds":["zqnote"]}`, `{"message":"x","entityIds":["nothing"],"noteIds":["nothing"]}`},
	} {
		private, nothing := h.result(tc.tool, filled(tc.private, ids)), h.result(tc.tool, filled(tc.nothing, ids))
		if a, b := asJSON(t, private), asJSON(t, nothing); a != b {
			t.Errorf("%s %s: %s\nbut %s: %s", tc.tool, tc.private, a, tc.nothing, b)
		}
	}
}

// TestCTX34_WhatIsPublicStays: private records leave the others as they would be
// without them.
func TestCTX34_WhatIsPublicStays(t *testing.T) {
	d := start(t)
	d.seedSecrets()
	ids := d.ids()
	h := d.open(mcp.Options{})
	_, text := h.call("read_note", `{"title":"Weekly"}`)
	h.contains("the one public note of a title", text, "public weekly")
	_, text = h.call("get_entity", `{"name":"Bob"}`)
	h.contains("the one public entity of a name", text, "[id:bob]")
	out, text := h.call("assemble_context", `{"message":"@Bob and [[a/Weekly]]","searchNotes":0}`)
	h.contains("mentions", text, "### @Bob (Person) [id:bob]", "friend: @Cid (private) [id:cid]", "public weekly")
	if asJSON(t, out["notShown"]) != "[]" {
		t.Errorf("%v", out["notShown"])
	}
	if _, text = h.call("query", `{"query":"SELECT COUNT(*) FROM Person"}`); text != "5" { // ann, ben, bob, cid, dan
		t.Errorf("%s people", text)
	}
	if _, text = h.call("query", `{"query":"SELECT p FROM Person WHERE p.boss.name LIKE 'Zq%'"}`); !strings.HasPrefix(text, "0 entities") {
		t.Errorf("behind a reference: %s", text)
	}
	_, text = h.call("find_path", `{"from":"ann","to":"ben"}`) // the short way leads through a private one
	h.contains("a way around", text, "@Ann", "@Bob", "@Cid (private)", "@Ben (Person) [id:ben], 3 steps", "@Ben (Person) --friend--> @Cid (private) (Person)")
	if _, text = h.call("find_path", `{"from":"ann","to":"ben","maxDepth":2}`); !strings.Contains(text, "not connected") {
		t.Errorf("no way of two steps: %s", text)
	}
	out, _ = h.call("explore_graph", `{"id":"ann","depth":2}`)
	if found := regexp.MustCompile(`"id":"(ben|dan)"`).FindString(asJSON(t, out)); found != "" {
		t.Errorf("%s is reached through a private record only", found)
	}
	_, text = h.call("read_note", filled(`{"id":"{Open}"}`, ids))
	h.contains("the text", text, "Scales are here. (private), (private), (private) and `(private)`", "Back to [[Thing]] and [the thing](Thing.md), https://example.com/scales.md.")
	if strings.Contains(text, "label") || strings.Contains(text, "two") {
		t.Errorf("words that lead to a private note: %s", text)
	}
	_, text = h.call("list_types", `{}`)
	h.contains("types", text, "- Thing\n  colour: text\n", "- Empty\n  size: number", "- Person\n  pay: number")
	out, _ = h.call("search_notes", `{"query":"scales","limit":3}`)
	if n := len(out["notes"].([]any)); n != 3 {
		t.Errorf("%d notes of 3 that are wanted: private ones stood before them", n)
	}
}

// TestCTX34_APrivateNoteIsPrivateAtOnce: nothing is remembered between calls.
func TestCTX34_APrivateNoteIsPrivateAtOnce(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{})
	h.call("read_note", `{"id":"alpha"}`)
	d.put("notes.patch", `{"id":"alpha","private":true}`)
	h.fails("read_note", `{"id":"alpha"}`)
	_, text := h.call("read_note", `{"id":"kickoff"}`)
	h.contains("a link to it", text, "See (private) and [[Nowhere]]")
	if strings.Contains(text, "Alpha") {
		t.Errorf("%s", text)
	}
	d.put("notes.patch", `{"id":"alpha","private":false}`)
	h.call("read_note", `{"id":"alpha"}`)
}

// TestCTX34_APrivateEntityOfAPublicNote: the note is shown, and nothing says that
// an entity was made from it.
func TestCTX34_APrivateEntityOfAPublicNote(t *testing.T) {
	d := start(t)
	d.put("types.put", `{"name":"Thing","fields":[]}`, "notes.put", `{"id":"n","title":"N","body":"---\ntype: Thing\n---\nscales"}`)
	h := d.open(mcp.Options{})
	found := func() string {
		out, _ := h.call("search_notes", `{"query":"scales","types":["Thing"]}`)
		read, _ := h.call("read_note", `{"id":"n"}`)
		return asJSON(t, out) + asJSON(t, read)
	}
	entity := d.rooms.Notes.Get("n").EntityID
	h.contains("public", found(), `{"notes":[{"id":"n"`, `"entityId":"`+entity)
	d.put("entities.patch", `{"id":"`+entity+`","private":true}`)
	if text := found(); !strings.HasPrefix(text, `{"notes":[]}`) || strings.Contains(text, entity) {
		t.Errorf("%s", text)
	}
}

// TestCTX34_PrivateNotesDoNotCrowdOut: however many rank higher, the public one
// is found.
func TestCTX34_PrivateNotesDoNotCrowdOut(t *testing.T) {
	d := start(t)
	list := []string{`{"id":"n","title":"N","body":"one needle in much hay"}`}
	for i := range 40 {
		list = append(list, fmt.Sprintf(`{"id":"p%d","title":"needle needle","body":"needle","private":true}`, i))
	}
	d.put("notes.putMany", `{"notes":[`+strings.Join(list, ",")+`]}`)
	out, _ := d.open(mcp.Options{}).call("search_notes", `{"query":"needle","limit":1}`)
	if len(out["notes"].([]any)) != 1 {
		t.Errorf("%v", out)
	}
}

// TestCTX34_MoreLinksThanCanBeLookedUp: what can't be checked is not shown.
func TestCTX34_MoreLinksThanCanBeLookedUp(t *testing.T) {
	d := start(t)
	d.seedSecrets()
	var body strings.Builder
	for i := range 2500 {
		body.WriteString("[[N" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + "]]\n")
	}
	body.WriteString("[[Zqtitle Secret]] end")
	data, err := json.Marshal(map[string]string{"id": "many", "title": "Many", "body": body.String()})
	must(t, err)
	d.put("notes.put", string(data))
	_, text := d.open(mcp.Options{}).call("read_note", `{"id":"many","maxChars":200000}`)
	if secret.MatchString(text) || !strings.HasSuffix(text, "(private) end") || !strings.Contains(text, "[[Na]]") {
		t.Errorf("…%s", text[len(text)-200:])
	}
}
