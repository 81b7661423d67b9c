package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// secret matches what stands in private records only: words that begin with
// zq, the ids of those records included, and one number.
var secret = regexp.MustCompile(`(?i)zq\w*|990099`)

// cursors of the daemon hold the name of the record that they stand behind.
var cursors = regexp.MustCompile(`(?:"nextCursor":"|again with cursor \d+\.)([A-Za-z0-9_-]+)`)

// seedSecrets writes the vault of canaries, and entities around a private one.
func (d *daemon) seedSecrets() {
	d.t.Helper()
	dir := filepath.Join(d.t.TempDir(), "V")
	must(d.t, fixtures.WriteCanaries(dir))
	_, err := d.Rooms.Vaults.Import(d.t.Context(), vault.ImportRequest{Path: dir})
	must(d.t, err)
	for _, r := range slices.Concat(fixtures.CanaryRecords, fixtures.CanaryMemories) {
		d.put(r[0], r[1])
	}
	d.put("memory.add", `{"id":"zqbees","statement":"Bees are kept","private":true}`,
		"memory.add", `{"id":"zqhives","statement":"Hives are white","private":true}`,
		"memory.add", `{"id":"zqworked","statement":"It was worked out","tier":"working","private":true,"tags":["zqlabel"]}`,
		"memory.outcome", `{"ids":["zqworked"],"outcome":"worked"}`,
		"memory.outcome", `{"ids":["zqworked"],"outcome":"worked"}`,
		"books.add", `{"id":"zqbook","title":"Zqbook of scales","author":"Zqauthor","name":"zqfile.md","mimeType":"md","text":"# Zqhead\n\nZqpassage of scales.","private":true}`,
		"books.add", `{"id":"open1","title":"Open book","mimeType":"md","text":"# Hive of [[Zqtitle Secret]]\n\nScales of @Zqname and [[Zqtitle Secret|zqlabel]]."}`)
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
	{"related_notes", `{"note":"zqnote"}`},
	{"related_notes", `{"note":"{Zqtitle Secret}"}`},
	{"related_notes", `{"note":"{Weekly}","limit":50}`},
	{"related_notes", `{"note":"{Thing}","limit":50}`},
	{"related_notes", `{"note":"Open"}`},
	{"read_notes", `{"notes":["zqnote","Zqtitle Secret","{Zqtitle Secret}","Weekly","Open","Thing"]}`},
	{"list_notes", `{}`},
	{"list_notes", `{"limit":1}`},
	{"list_notes", `{"limit":3}`},
	{"list_notes", `{"folder":"Zqfolder"}`},
	{"list_notes", `{"tag":"zqtag"}`},
	{"list_notes", `{"type":"Zqtype"}`},
	{"list_notes", `{"vault":"V","changedSince":"2020-01-01"}`},
	{"recent_changes", `{"limit":200}`},
	{"recent_changes", `{"limit":1}`},
	{"list_tags", `{}`},
	{"list_tags", `{"prefix":"zq"}`},
	{"list_tags", `{"limit":1}`},
	{"explain_context", `{}`},
	{"write_note", `{"title":"Weekly","text":"x"}`},
	{"write_note", `{"note":"zqnote","text":"x","dryRun":true}`},
	{"write_note", `{"note":"zqnote","text":"x"}`},
	{"write_note", `{"note":"Open","text":"x"}`},
	{"append_to_note", `{"note":"Weekly","text":"x"}`},
	{"append_to_note", `{"note":"zqnote","text":"x"}`},
	{"put_entity", `{"entity":"Bob","fields":{}}`},
	{"put_entity", `{"entity":"zqboss","fields":{}}`},
	{"put_entity", `{"type":"Person","name":"Bob"}`},
	{"put_entity", `{"entity":"ann","fields":{"boss":"zqboss"}}`},
	{"propose_edit", `{"note":"Open","old":"Back to","new":"x"}`},
	{"propose_edit", `{"note":"Zqtitle Secret","text":"x"}`},
	{"query", `{"query":"SELECT p FROM Person p WHERE p.boss IS NOT NULL OR p.boss.name = 'x' OR p.pay > 0 ORDER BY p.friend"}`},
	{"read_note", `{"note":"zqnote"}`},
	{"read_note", `{"note":"Zqtitle Secret"}`},
	{"read_note", `{"note":"Zqfolder/Zqpath.md"}`},
	{"read_note", `{"note":"{Zqtitle Secret}"}`},
	{"read_note", `{"note":"Weekly"}`},
	{"read_note", `{"note":"Open"}`},
	{"read_note", `{"note":"Thing"}`},
	{"read_note", `{"note":"Title.md"}`},
	{"search_notes", `{"query":"about"}`},
	{"get_entity", `{"entity":"cid"}`},
	{"assemble_context", `{"message":"@Cid knows, see [[Title]]","searchNotes":8}`},
	{"get_entity", `{"entity":"zqboss"}`},
	{"get_entity", `{"entity":"Zqname"}`},
	{"get_entity", `{"entity":"Zqnick"}`},
	{"get_entity", `{"entity":"bob","depth":3}`},
	{"get_entity", `{"entity":"ann","depth":3}`},
	{"get_entity", `{"entity":"dan","depth":3}`},
	{"list_entities", `{}`},
	{"list_entities", `{"limit":1}`},
	{"list_entities", `{"type":"Person","limit":2}`},
	{"list_entities", `{"type":"Person","limit":4}`},
	{"list_entities", `{"limit":6}`},
	{"list_entities", `{"type":"Zqtype"}`},
	{"list_entities", `{"type":"Declared"}`},
	{"list_entities", `{"type":"Thing"}`},
	{"list_types", `{}`},
	{"memory_profile", `{}`},
	{"memory_profile", `{"limit":1}`},
	{"memory_insights", `{"text":"scales"}`},
	{"memory_insights", `{"text":"What of the label zqlabel?"}`},
	{"memory_insights", `{"text":"Zqstatement about two scales of zqlabel"}`},
	{"recall", `{"query":"scales","limit":50}`},
	{"recall", `{"query":"Zqstatement about two scales"}`},
	{"recall", `{"query":"zqlabel","tags":["zqlabel"]}`},
	{"recall", `{"query":"Bees are kept","after":"2020-01-01"}`},
	{"recall", `{"memory":"zqmemory"}`},
	{"recall", `{"query":"It was worked out"}`},
	{"recall", `{"memory":"#1"}`},
	{"recall", `{"memory":"open"}`},
	{"search_books", `{"query":"scales","limit":50}`},
	{"search_books", `{"query":"Zqpassage of scales in the Zqbook"}`},
	{"read_book", `{"id":"zqbook"}`},
	{"read_book", `{"id":"zqbook.000000"}`},
	{"read_book", `{"id":"[id:zqbook]","text":true}`},
	{"read_book", `{"id":"zqbook","section":"Zqhead"}`},
	{"read_book", `{"id":"Zqbook of scales"}`},
	{"read_book", `{"id":"book"}`},
	{"read_book", `{"id":"open1"}`},
	{"read_book", `{"id":"Open book","text":true}`},
	{"remember", `{"statement":"Zqstatement about two scales"}`},
	{"remember", `{"statement":"Scales are new","supersedes":["#3"]}`},
	{"remember", `{"statement":"Bees are kept"}`},
	{"remember", `{"statement":"Scales are new","supersedes":["zqmemory"]}`},
	{"remember", `{"statement":"@Zqname weighs @Ann","kind":"event"}`},
	{"update_memory", `{"memory":"#4","tags":["x"]}`},
	{"update_memory", `{"memory":"zqmemory","confidence":0.9}`},
	{"update_memory", `{"memory":"[id:open]","statement":"Scales are weighed"}`},
	{"update_memory", `{"memory":"[id:open]","tags":["y"]}`},
	{"record_outcome", `{"outcome":"worked","memories":["zqmemory","open"]}`},
	{"record_outcome", `{"outcome":"worked","memories":["#4"]}`},
	{"record_outcome", `{"outcome":"worked","memories":["#5"]}`},
	{"record_outcome", `{"outcome":"worked","memories":["#6"]}`},
	{"record_outcome", `{"outcome":"worked","memories":["#7"]}`},
	{"record_response", `{"outcome":"worked"}`},
	{"record_response", `{"outcome":"worked","takeaway":"It was worked out"}`},
	{"forget_memory", `{"memory":"@claim_1"}`},
	{"forget_memory", `{"memory":"zqmemory","wrong":true}`},
	{"query", `{"query":"SELECT MAX(p.pay) FROM Person p"}`},
	{"query", `{"query":"SELECT p FROM Person ORDER BY p.name"}`},
	{"query", `{"query":"SELECT p FROM Person WHERE p.boss.name LIKE 'Zq%' OR p.name LIKE 'Zq%'"}`},
	{"query", `{"query":"SELECT MAX(p.boss.name) FROM Person p"}`},
	{"query", `{"query":"SELECT t FROM Xqtype t"}`},
	{"query", `{"query":"SELECT t FROM Thing t WHERE t.xqcolour = 'x'"}`},
	{"query", `{"query":"SELECT p FROM Person WHERE p.boss = {this}","this":"zqboss"}`},
	{"explore_graph", `{"record":"zqboss"}`},
	{"explore_graph", `{"record":"ann","depth":4}`},
	{"explore_graph", `{"record":"{Open}","depth":4}`},
	{"find_path", `{"from":"ann","to":"ben"}`},
	{"find_path", `{"from":"ann","to":"zqboss"}`},
	{"find_path", `{"from":"dan","to":"ann"}`},
	{"assemble_context", `{"message":"What do @Zqname, @Zqnick and @Ann think of [[Zqtitle Secret]], [[Zqplain]], [[Open]] and scales?","searchNotes":8,"maxDepth":4}`},
	{"assemble_context", `{"message":"@Bob and [[Weekly]]","entities":["[id:zqboss]","[id:zqbob]"],"notes":["[id:zqnote]","[id:{Zqtitle Secret}]"]}`},
}

// ids are the ids of the notes by title.
func (d *daemon) ids() map[string]string {
	ids := make(map[string]string)
	for n := range d.Rooms.Notes.All() {
		ids[n.Title] = n.ID
	}
	return ids
}

func filled(args string, ids map[string]string) string {
	return regexp.MustCompile(`\{[A-Z][A-Za-z ]*\}`).ReplaceAllStringFunc(args, func(s string) string { return ids[strings.Trim(s, "{}")] })
}

// allAttempts are the attempts, and calls about each record.
func (d *daemon) allAttempts() map[string][]string {
	ids := d.ids()
	all := make(map[string][]string)
	add := func(tool, args string) { all[tool] = append(all[tool], args) }
	for _, a := range attempts {
		add(a.tool, filled(a.args, ids))
	}
	for n := range d.Rooms.Notes.All() {
		add("read_note", `{"note":"`+n.ID+`"}`)
		add("explore_graph", `{"record":"`+n.ID+`","depth":1}`)
		add("related_notes", `{"note":"`+n.ID+`"}`)
		add("find_path", `{"from":"`+n.ID+`","to":"`+ids["Open"]+`"}`)
		add("assemble_context", `{"message":"x","notes":["[id:`+n.ID+`]"],"searchNotes":0}`)
	}
	for e := range d.Rooms.Entities.All() {
		add("get_entity", `{"entity":"`+e.ID+`","depth":2}`)
		add("explore_graph", `{"record":"`+e.ID+`","depth":1}`)
		add("assemble_context", `{"message":"x","entities":["[id:`+e.ID+`]"],"searchNotes":0}`)
	}
	// The last is what explain_context tells of.
	add("assemble_context", `{"message":"Who is @Ann?","maxDepth":4}`)
	return all
}

// canaries finds in an answer what stands in private records only, and not in the
// question. A model decodes what is encoded, and an id of a private note in a vault is
// no word.
func (d *daemon) canaries(question, said string) []string {
	for _, m := range cursors.FindAllStringSubmatch(said, -1) {
		if plain, err := base64.RawURLEncoding.DecodeString(m[1]); err == nil {
			said = strings.ReplaceAll(said, m[1], string(plain))
		}
	}
	found := secret.FindAllString(said, -1)
	for n := range d.Rooms.Notes.All() {
		if n.Private && strings.Contains(said, n.ID) {
			found = append(found, n.ID)
		}
	}
	return slices.DeleteFunc(found, func(word string) bool { return strings.Contains(strings.ToLower(question), strings.ToLower(word)) })
}

// TestPRIV5_NoCanaryReachesAHost calls every tool, resource and prompt. One that it
// does not know fails it.
func TestPRIV5_NoCanaryReachesAHost(t *testing.T) {
	d := &daemon{servertest.Start(t, servertest.Options{Machine: "Zqmachine"}), t}
	d.seedSecrets()
	all := d.allAttempts()
	for _, include := range []bool{false, true} {
		h := d.open(mcp.Options{IncludePrivate: include, AllowWrite: true})
		list, err := h.ListTools(t.Context(), nil)
		must(t, err)
		for _, tool := range list.Tools {
			told := 0
			for _, args := range all[tool.Name] {
				before := len(h.wire.String())
				_ = h.result(tool.Name, args)
				said := h.wire.String()[before:]
				found := d.canaries(args, said)
				if len(found) > 0 {
					told++
				}
				if len(found) > 0 && !include {
					t.Errorf("%s %s: %q\n%s", tool.Name, args, found, said)
				}
			}
			if include && told == 0 {
				t.Errorf("%s shows a local model nothing that is private: the test proves nothing", tool.Name)
			}
		}
		d.resourcesTell(h, include)
	}
}

// resourcesTell reads all resources and asks the prompt.
func (d *daemon) resourcesTell(h *host, include bool) {
	t := d.t
	t.Helper()
	templates, err := h.ListResourceTemplates(t.Context(), nil)
	must(t, err)
	var uris []string
	for _, template := range templates.ResourceTemplates {
		switch template.URITemplate {
		case "ctxd://note/{id}":
			for n := range d.Rooms.Notes.All() {
				uris = append(uris, "ctxd://note/"+n.ID)
			}
		case "ctxd://entity/{id}":
			for e := range d.Rooms.Entities.All() {
				uris = append(uris, "ctxd://entity/"+e.ID)
			}
		default:
			t.Errorf("no resource of %s is read", template.URITemplate)
		}
	}
	list, err := h.ListResources(t.Context(), nil)
	must(t, err)
	said := asJSON(t, list)
	for _, uri := range uris {
		res, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err == nil {
			said += asJSON(t, res)
		}
	}
	prompts, err := h.ListPrompts(t.Context(), nil)
	must(t, err)
	for _, p := range prompts.Prompts {
		if p.Name != "ask_notes" {
			t.Errorf("the prompt %s is not asked", p.Name)
		}
	}
	got, err := h.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask_notes", Arguments: map[string]string{"message": "@Ann [[Open]] [[Weekly]] scales"}})
	must(t, err)
	said += asJSON(t, got)
	if found := d.canaries("", said); (len(found) > 0) != include {
		t.Errorf("private shown: %v, but %q is in\n%s", include, found, said)
	}
	for _, uri := range []string{"ctxd://note/zqnote", "ctxd://entity/zqboss"} {
		_, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if (err == nil) != include {
			t.Errorf("private shown: %v, and %s is %v", include, uri, err)
		}
	}
}

// asked are the names and ids that a question asks for in vain: an answer may repeat
// them.
var asked = strings.NewReplacer("Zqname", "NAME", "Nobody", "NAME", "Zqplain", "TITLE", "Nowhere", "TITLE", "zqboss", "ID", "zqnote", "ID", "nothing", "ID")

// TestCTX34_AGuessTellsNothing: what is private and what is not there are
// answered alike.
func TestCTX34_AGuessTellsNothing(t *testing.T) {
	d := start(t)
	d.seedSecrets()
	ids := d.ids()
	h := d.open(mcp.Options{})
	for _, tc := range []struct{ tool, private, nothing string }{
		{"read_note", `{"note":"zqnote"}`, `{"note":"nothing"}`},
		{"read_note", `{"note":"Zqplain"}`, `{"note":"Nothing"}`},
		{"read_note", `{"note":"Zqfolder/Zqpath.md"}`, `{"note":"None/Nothing.md"}`},
		{"get_entity", `{"entity":"zqboss"}`, `{"entity":"nothing"}`},
		{"get_entity", `{"entity":"Zqnick"}`, `{"entity":"Nothing"}`},
		{"list_entities", `{"type":"Zqtype"}`, `{"type":"Nothing"}`},
		{"explore_graph", `{"record":"zqboss"}`, `{"record":"nothing"}`},
		{"find_path", `{"from":"ann","to":"zqboss"}`, `{"from":"ann","to":"nothing"}`},
		{"read_notes", `{"notes":["zqnote","Zqplain"]}`, `{"notes":["nothing","Nowhere"]}`},
		{"related_notes", `{"note":"zqnote"}`, `{"note":"nothing"}`},
		{"related_notes", `{"note":"Zqplain"}`, `{"note":"Nowhere"}`},
		{"read_book", `{"id":"zqbook"}`, `{"id":"nothing"}`},
		{"read_book", `{"id":"zqbook.000000"}`, `{"id":"nothing.000000"}`},
		{"read_book", `{"id":"Zqbook of scales"}`, `{"id":"Nothing at all"}`},
		{"read_book", `{"id":"zqbook","section":"Zqhead"}`, `{"id":"nothing","section":"Zqhead"}`},
		{"search_books", `{"query":"Zqpassage"}`, `{"query":"xyzzy"}`},
		{"search_notes", `{"query":"Zqbody"}`, `{"query":"xyzzy"}`},
		{"search_notes", `{"query":"Zqalias"}`, `{"query":"xyzzy"}`},
		{"assemble_context", `{"message":"@Zqname [[Zqplain]] [[{Open}]]","searchNotes":0}`, `{"message":"@Nobody [[Nowhere]] [[{Open}]]","searchNotes":0}`},
		{"assemble_context", `{"message":"x","entities":["[id:zqboss]"],"notes":["[id:zqnote]"]}`, `{"message":"x","entities":["[id:nothing]"],"notes":["[id:nothing]"]}`},
	} {
		private, nothing := h.result(tc.tool, filled(tc.private, ids)), h.result(tc.tool, filled(tc.nothing, ids))
		if a, b := asked.Replace(asJSON(t, private)), asked.Replace(asJSON(t, nothing)); a != b {
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
	text := h.call("read_note", `{"note":"Weekly"}`)
	h.contains("the one public note of a title", text, "public weekly")
	text = h.call("get_entity", `{"entity":"Bob"}`)
	h.contains("the one public entity of a name", text, "[id:bob]")
	text = h.call("assemble_context", `{"message":"@Bob and [[a/Weekly]]","searchNotes":0}`)
	h.contains("mentions", text, "### @(private) (Person) [id:bob]", "friend: @Cid (private) [id:cid]", "public weekly")
	if strings.Contains(text, "left out") {
		t.Errorf("%s", text)
	}
	text = h.call("query", `{"query":"SELECT COUNT(*) FROM Person"}`)
	if text != "5\n" { // ann, ben, bob, cid, dan
		t.Errorf("%q people", text)
	}
	text = h.call("query", `{"query":"SELECT p FROM Person WHERE p.boss.name LIKE 'Zq%'"}`)
	if text != "0 rows\n" {
		t.Errorf("behind a reference: %s", text)
	}
	text = h.call("find_path", `{"from":"ann","to":"ben"}`) // the short way leads through a private one
	h.contains("a way around", text, "@Ann", "[id:bob]", "@Cid (private)", "@Ben (Person) [id:ben], 3 steps", "@Ben (Person) --friend--> @Cid (private) (Person)")
	text = h.call("find_path", `{"from":"ann","to":"ben","maxDepth":2}`)
	if !strings.Contains(text, "not connected") {
		t.Errorf("no way of two steps: %s", text)
	}
	text = h.call("explore_graph", `{"record":"ann","depth":2}`)
	if found := regexp.MustCompile(`id:(ben|dan)\b`).FindString(text); found != "" {
		t.Errorf("%s is reached through a private record only", found)
	}
	text = h.call("read_note", filled(`{"note":"{Open}"}`, ids))
	h.contains("the text", text, "Scales are here. (private), (private), (private) and `(private)`", "Back to [[Thing]] and [the thing](Thing.md), https://example.com/scales.md.")
	if strings.Contains(text, "label") || strings.Contains(text, "two") {
		t.Errorf("words that lead to a private note: %s", text)
	}
	text = h.call("list_types", `{}`)
	h.contains("types", text, "- Thing, 17 entities\n  colour: text\n", "- Empty, 0 entities\n  size: number", "- Person, 5 entities\n  pay: number")
	text = h.call("search_notes", `{"query":"scales","limit":3}`)
	if n := strings.Count(text, ". [["); n != 3 {
		t.Errorf("%d notes of 3 that are wanted: private ones stood before them", n)
	}
}

// TestCTX34_APrivateNoteIsPrivateAtOnce: nothing is remembered between calls.
func TestCTX34_APrivateNoteIsPrivateAtOnce(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{})
	h.call("read_note", `{"note":"alpha"}`)
	d.put("notes.patch", `{"id":"alpha","private":true}`)
	h.fails("read_note", `{"note":"alpha"}`)
	text := h.call("read_note", `{"note":"kickoff"}`)
	h.contains("a link to it", text, "See (private) and [[Nowhere]]")
	if strings.Contains(text, "Alpha") {
		t.Errorf("%s", text)
	}
	d.put("notes.patch", `{"id":"alpha","private":false}`)
	h.call("read_note", `{"note":"alpha"}`)
}

// TestCTX34_APrivateEntityOfAPublicNote: the note is shown, and nothing says that
// an entity was made from it.
func TestCTX34_APrivateEntityOfAPublicNote(t *testing.T) {
	d := start(t)
	d.put("types.put", `{"name":"Thing","fields":[]}`, "notes.put", `{"id":"n","title":"N","body":"---\ntype: Thing\n---\nscales"}`)
	h := d.open(mcp.Options{})
	found := func() string {
		return h.call("search_notes", `{"query":"scales","types":["Thing"]}`) + h.call("read_note", `{"note":"n"}`)
	}
	entity := d.Rooms.Notes.Get("n").EntityID
	h.contains("public", found(), `1. [[N]] [id:n]`, "\nentity: [id:"+entity[:8]+"]\n")
	d.put("entities.patch", `{"id":"`+entity+`","private":true}`)
	if text := found(); !strings.Contains(text, "\nNo note was found.\n") || strings.Contains(text, entity[:8]) {
		t.Errorf("%s", text)
	}
}

// TestCTX34_PrivateNotesDoNotCrowdOut: however many rank higher, the public one
// is found.
func TestCTX34_PrivateNotesDoNotCrowdOut(t *testing.T) {
	d := start(t)
	list := []string{`{"id":"n","title":"N","body":"one needle in much hay"}`}
	for i := range 120 {
		list = append(list, fmt.Sprintf(`{"id":"p%d","title":"needle needle","body":"needle","private":true}`, i))
	}
	d.put("notes.putMany", `{"notes":[`+strings.Join(list, ",")+`]}`)
	text := d.open(mcp.Options{}).call("search_notes", `{"query":"needle","limit":1}`)
	if !strings.Contains(text, "\n1. [[N]] [id:n]") || strings.Contains(text, "cursor") {
		t.Errorf("%v", text)
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
	text := d.open(mcp.Options{}).call("read_note", `{"note":"many","maxChars":200000}`)
	if secret.MatchString(text) || !strings.HasSuffix(text, "(private) end") || !strings.Contains(text, "[[Na]]") {
		t.Errorf("…%s", text[len(text)-200:])
	}
}
