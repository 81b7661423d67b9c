package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// seed writes a small world in which nothing is private.
func (d *daemon) seed() {
	d.t.Helper()
	d.put("types.put", `{"name":"Team","fields":[{"name":"lead","type":"entity_ref","targetType":"Person"}]}`,
		"types.put", `{"name":"Person","fields":[{"name":"role","type":"text"},{"name":"level","type":"select","options":["junior","lead"]},
			{"name":"team","type":"entity_ref","targetType":"Team"},
			{"name":"leads","type":"computed","query":"SELECT t FROM Team WHERE t.lead = {this}"}]}`,
		"notes.putMany", `{"notes":[
			{"id":"kickoff","title":"Kickoff","body":"---\nstatus: done\n---\nWe met. See [[Alpha]] and [[Nowhere]].\n\n- scales #plan","path":"meetings/kickoff.md","aliases":["Start"]},
			{"id":"alpha","title":"Alpha","body":"Text of Alpha about scales. [[Kickoff]]","path":"projects/alpha.md"},
			{"id":"sync1","title":"Sync","body":"one","path":"a/Sync.md"},{"id":"sync2","title":"Sync","body":"two","path":"b/Sync.md"},
			{"id":"old","title":"Old","body":"scales of old"}]}`,
		"notes.archive", `{"id":"old"}`,
		"entities.putMany", `{"entities":[
			{"id":"core","type":"Team","name":"Core","fields":{"lead":"alice"}},
			{"id":"alice","type":"Person","name":"Alice","aliases":["Al"],"noteId":"alpha","fields":{"role":"Engineer","team":"core"}},
			{"id":"bob","type":"Person","name":"Bob","fields":{"team":"core"}},
			{"id":"bob2","type":"Person","name":"Bob"},
			{"id":"gone","type":"Person","name":"Gone"}]}`,
		"entities.trash", `{"id":"gone"}`)
}

func TestTools(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{Version: "7"})
	if init := h.InitializeResult(); init.ServerInfo.Name != "ctxd" || init.ServerInfo.Version != "7" || !strings.Contains(init.Instructions, "search_notes") {
		t.Errorf("%+v", init)
	}

	out, text := h.call("search_notes", `{"query":"scales"}`)
	h.contains("search", text, "1. [[Alpha]] [id:alpha] projects/alpha.md", "Text of Alpha about scales", "[[Kickoff]]")
	h.contains("search", asJSON(t, out), `"id":"kickoff"`, `"snippet":"Text of Alpha`)
	if strings.Contains(text, "Old") || strings.Contains(asJSON(t, out), "score") {
		t.Errorf("archived notes and scores are not for hosts: %s", text)
	}
	out, _ = h.call("search_notes", `{"query":"scales","limit":1,"folder":"meetings","tags":["plan"],"after":"2020-01-01"}`)
	h.contains("filters", asJSON(t, out), `"id":"kickoff"`)
	_, text = h.call("search_notes", `{"query":"xyzzy"}`)
	if text != "No note was found." {
		t.Errorf("%q", text)
	}

	for _, by := range []string{`{"id":"kickoff"}`, `{"title":"kickoff"}`, `{"path":"meetings/kickoff.md"}`} {
		out, text = h.call("read_note", by)
		h.contains(by, text, "[[Kickoff]] [id:kickoff]\npath: meetings/kickoff.md\ntags: plan\naliases: Start\n", "links: [[Alpha]] [id:alpha]",
			"linked from: [[Alpha]] [id:alpha]\n\n---\nstatus: done\n---\nWe met. See [[Alpha]] and [[Nowhere]].\n\n- scales #plan")
	}
	h.contains("structured", asJSON(t, out), `"links":[{"id":"alpha","title":"Alpha"}]`, `"archived":false`)
	_, text = h.call("read_note", `{"id":"old"}`)
	h.contains("archived", text, "archived: yes")

	_, text = h.call("get_entity", `{"id":"alice"}`)
	h.contains("entity", text, "### @Alice (Person) [id:alice]", "role: Engineer", "team: @Core [id:core]", "### @Core (Team)", "leads: @Core", "note: [id:alpha]")
	for _, name := range []string{"al", "@Alice", " ALICE "} {
		out, _ = h.call("get_entity", asJSON(t, map[string]string{"name": name}))
		if out["id"] != "alice" {
			t.Errorf("%q is %v", name, out)
		}
	}
	d.put("entities.put", `{"id":"odd","type":"Team","name":"Odd [one]"}`)
	out, _ = h.call("get_entity", `{"name":"odd [one]"}`)
	if out["id"] != "odd" {
		t.Errorf("%v", out)
	}
	_, text = h.call("get_entity", `{"id":"alice","depth":0}`)
	if strings.Contains(text, "### @Core") {
		t.Errorf("depth 0 shows %s", text)
	}

	_, text = h.call("list_types", `{}`)
	h.contains("types", text, "- Person\n  role: text\n  level: select of junior, lead\n  team: entity_ref to Team")

	out, text = h.call("explore_graph", `{"id":"core"}`)
	h.contains("graph", text, "- @Core (Team) [id:core], 0 steps\n", "- @Alice (Person) [id:alice], 1 step\n", "@Core (Team) --lead--> @Alice (Person)")
	h.contains("graph", asJSON(t, out), `{"field":"team","from":"bob","to":"core"}`)
	out, _ = h.call("explore_graph", `{"id":"core","limit":2}`)
	if len(out["records"].([]any)) != 2 || out["more"] != true {
		t.Errorf("%v", out)
	}
	out, _ = h.call("explore_graph", `{"id":"alpha","kinds":["note"]}`)
	if strings.Contains(asJSON(t, out), "alice") {
		t.Errorf("only notes: %v", out)
	}
	_, text = h.call("find_path", `{"from":"kickoff","to":"core"}`)
	h.contains("path", text, "[[Kickoff]]", "[[Alpha]]", "@Alice", "@Core (Team) [id:core], 3 steps")
	_, text = h.call("find_path", `{"from":"bob2","to":"core"}`)
	if !strings.Contains(text, "not connected") {
		t.Errorf("%q", text)
	}

	out, text = h.call("assemble_context", `{"message":"What does @Alice plan, see [[Kickoff]] and @Bob?"}`)
	h.contains("context", text, "## Notes pinned by user", "### [[Kickoff]] [id:kickoff]", "### @Alice (Person)", `"Bob" could mean:`, "- Bob [id:bob] Person")
	h.contains("context", asJSON(t, out), `"reason":"directly mentioned"`, `"reason":"ambiguous"`)
	_, text = h.call("assemble_context", `{"message":"scales","entityIds":["bob"],"noteIds":["sync1"],"searchNotes":1,"maxDepth":0,"maxChars":2000}`)
	h.contains("context", text, "@Bob", "[[Sync]]", "## Notes found by search")

	res, err := h.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask_notes", Arguments: map[string]string{"message": "Who is @Alice?"}})
	if err != nil || len(res.Messages) != 2 {
		t.Fatalf("%v %v", res, err)
	}
	h.contains("prompt", asJSON(t, res), "### @Alice (Person)", "Who is @Alice?")
	_, err = h.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask_notes"})
	if err == nil {
		t.Error("a prompt without its argument")
	}
}

func TestQueriesOfALocalModel(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{IncludePrivate: true})
	out, text := h.call("query", `{"query":"SELECT p FROM Person WHERE p.team = {this}","this":"core"}`)
	h.contains("rows", text, "2 entities in all\n- @Alice (Person) [id:alice]\n")
	if out["total"] != 2.0 {
		t.Errorf("%v", out)
	}
	out, text = h.call("query", `{"query":"SELECT COUNT(*) FROM Person"}`)
	if out["value"] != 3.0 || text != "3" {
		t.Errorf("%v %s", out, text)
	}
	_, text = h.call("read_note", `{"id":"kickoff"}`)
	h.contains("the whole text", text, "---\nstatus: done\n---\nWe met.")
	_, text = h.call("list_types", `{}`)
	h.contains("types", text, "leads: computed SELECT t FROM Team WHERE t.lead = {this}")
}

// TestExcerptsAroundWhatWasFound: a note with a link to a private one has its
// snippet made here.
func TestExcerptsAroundWhatWasFound(t *testing.T) {
	d := start(t)
	d.put("notes.putMany", `{"notes":[{"id":"p","title":"P","body":"x","private":true},
		{"id":"n","title":"N","body":"[[P]] `+strings.Repeat("words and ", 100)+`needle `+strings.Repeat("more words ", 100)+`"},
		{"id":"m","title":"M","body":"needle [[P]]"}]}`)
	h := d.open(mcp.Options{})
	out, _ := h.call("search_notes", `{"query":"needle"}`)
	for _, n := range out["notes"].([]any) {
		snippet := n.(map[string]any)["snippet"].(string)
		if !strings.Contains(snippet, "needle") || len([]rune(snippet)) > 201 {
			t.Errorf("%q", snippet)
		}
	}
}

func TestErrorsOfToolsSayWhatToDo(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{IncludePrivate: true})
	for _, tc := range []struct {
		tool, args string
		want       []string
	}{
		{"read_note", `{"title":"Sync"}`, []string{"several notes have that title", "Try: name one", "Sync [id:sync1] a/Sync.md", "[id:sync2]"}},
		{"read_note", `{"title":"Nothing"}`, []string{"there is no such note", "Try: search_notes"}},
		{"read_note", `{}`, []string{"exactly one of id, path and title"}},
		{"read_note", `{"id":"no such id!"}`, []string{"id"}},
		{"get_entity", `{"name":"bob"}`, []string{"several entities", "Bob (Person) [id:bob]", "[id:bob2]"}},
		{"get_entity", `{"name":"gone"}`, []string{"there is no such entity", "list_entities"}},
		{"get_entity", `{"id":"gone"}`, []string{"there is no such entity"}},
		{"get_entity", `{}`, []string{"exactly one of id and name"}},
		{"list_entities", `{"type":"Persn"}`, []string{"there is no such type", "list_types"}},
		{"list_entities", `{"cursor":"???"}`, []string{"cursor"}},
		{"explore_graph", `{"id":"old"}`, []string{"there is no note or entity"}},
		{"find_path", `{"from":"alice","to":"nope"}`, []string{"to"}},
		{"query", `{"query":"SELECT p FROM Persn"}`, []string{"there is no type Persn at line 1, column 15", "Person"}},
		{"search_notes", `{"query":"x","after":"yesterday"}`, []string{"after must be a date"}},
		{"assemble_context", `{"message":"` + strings.Repeat("x", 2<<20) + `"}`, []string{"message has 2097152 bytes", "Try: shorten message"}},
		{"search_notes", `{"query":"x","limit":1000}`, []string{"limit"}},
		{"search_notes", `{"quarry":"x"}`, []string{"quarry"}},
		{"search_notes", `{}`, []string{"query"}},
		{"explore_graph", `{"id":"alice","kinds":["tree"]}`, []string{"kinds"}},
	} {
		h.contains(tc.tool+tc.args, h.fails(tc.tool, tc.args), tc.want...)
	}
	var wire *jsonrpc.Error
	if _, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"}); !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an unknown tool: %v", err)
	}
	long := `{"query":` + strings.Repeat(" ", 10) + `["` + strings.Repeat("x", 1<<20) + `"]}`
	if text := h.fails("search_notes", long); len(text) > 10_000 {
		t.Errorf("an error of %d bytes", len(text))
	}
	if text := h.fails("search_notes", `{"query":"`+strings.Repeat("x ", 5<<20)+`"}`); !strings.Contains(text, "query has 10485760 bytes, at most 8192 are allowed") {
		t.Errorf("a query of 10 MB: %s", text)
	}
}

// TestToolsAreDescribed: a model knows of a tool what is said here.
func TestToolsAreDescribed(t *testing.T) {
	d := start(t)
	names := func(include bool) string {
		var all []string
		list, err := d.open(mcp.Options{IncludePrivate: include}).ListTools(t.Context(), nil)
		must(t, err)
		for _, tool := range list.Tools {
			all = append(all, tool.Name)
			if a := tool.Annotations; !a.ReadOnlyHint || !a.IdempotentHint || *a.DestructiveHint || *a.OpenWorldHint || tool.Title == "" {
				t.Errorf("%s: %+v", tool.Name, a)
			}
			if len(tool.Description) < 30 || tool.OutputSchema == nil {
				t.Errorf("%s says too little", tool.Name)
			}
			undescribed(t, tool.Name+" arguments", tool.InputSchema)
			undescribed(t, tool.Name+" result", tool.OutputSchema)
		}
		return strings.Join(all, " ")
	}
	const want = "assemble_context explore_graph find_path get_entity list_entities list_types query read_note search_notes similar_notes"
	for _, include := range []bool{false, true} {
		if got := names(include); got != want {
			t.Errorf("%s", got)
		}
	}
}

// undescribed finds members of a schema without a description.
func undescribed(t *testing.T, where string, schema any) {
	t.Helper()
	s, _ := schema.(map[string]any)
	if types, two := s["type"].([]any); two {
		t.Errorf("%s is one of %v", where, types)
	}
	if props, ok := s["properties"].(map[string]any); ok {
		for name, p := range props {
			if d, _ := p.(map[string]any)["description"].(string); d == "" {
				t.Errorf("%s: %s has no description", where, name)
			}
			undescribed(t, where+"."+name, p)
		}
	}
	if items, ok := s["items"]; ok {
		undescribed(t, where+"[]", items)
	}
}

func TestLongNotesComeInParts(t *testing.T) {
	d := start(t)
	body := strings.Repeat("añ😀👩‍👩‍👧\n", 500)
	d.put("notes.put", asJSON(t, map[string]string{"id": "n", "title": "N", "body": body}))
	h := d.open(mcp.Options{})
	var all strings.Builder
	parts := 0
	for offset := 0; ; parts++ {
		out, _ := h.call("read_note", fmt.Sprintf(`{"id":"n","offset":%d,"maxChars":100}`, offset))
		text := out["text"].(string)
		if n := len([]rune(text)); n > 100 || n == 0 {
			t.Fatalf("a part of %d characters", n)
		}
		if strings.HasPrefix(text, "\u200d") || strings.HasSuffix(text, "\u200d") {
			t.Fatalf("a family was cut: %q", text)
		}
		all.WriteString(text)
		next, more := out["nextOffset"].(float64)
		if !more {
			break
		}
		offset = int(next)
	}
	if all.String() != body || parts < 40 {
		t.Errorf("%d parts of %d bytes, want %d", parts, all.Len(), len(body))
	}
	if out, _ := h.call("read_note", `{"id":"n","offset":1000000}`); out["text"] != "" {
		t.Errorf("behind the end: %v", out)
	}
}

func TestListingEntitiesByPages(t *testing.T) {
	d := start(t)
	d.put("types.put", `{"name":"P","fields":[]}`)
	var list []string
	for i := range 450 {
		list = append(list, fmt.Sprintf(`{"id":"p%d","type":"P","name":"P %d","private":%v}`, i, i, i%3 == 0 || i > 400))
	}
	d.put("entities.putMany", `{"entities":[`+strings.Join(list, ",")+`]}`)
	for _, include := range []bool{false, true} {
		h := d.open(mcp.Options{IncludePrivate: include})
		seen, pages := 0, 0
		for cursor := ""; ; {
			out, _ := h.call("list_entities", fmt.Sprintf(`{"type":"p","limit":89,"cursor":%q}`, cursor))
			page := out["entities"].([]any)
			seen, pages = seen+len(page), pages+1
			cursor, _ = out["nextCursor"].(string)
			if cursor == "" {
				break
			}
			if len(page) != 89 {
				t.Errorf("a page of %d that is not the last", len(page))
			}
		}
		if want := map[bool]int{false: 267, true: 450}[include]; seen != want || pages != (want+88)/89 {
			t.Errorf("%v: %d entities on %d pages, want %d", include, seen, pages, want)
		}
	}
}

func TestResources(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{})
	templates, err := h.ListResourceTemplates(t.Context(), nil)
	must(t, err)
	if len(templates.ResourceTemplates) != 2 {
		t.Errorf("%v", templates)
	}
	d.put("notes.patch", `{"id":"sync1","body":"newest"}`)
	list, err := h.ListResources(t.Context(), nil)
	must(t, err)
	if len(list.Resources) != 4 || list.Resources[0].URI != "ctxd://note/sync1" || list.Resources[0].Title != "Sync" {
		t.Errorf("%s", asJSON(t, list))
	}
	for uri, want := range map[string]string{
		"ctxd://note/alpha": "Text of Alpha about scales. [[Kickoff]]", "ctxd://entity/alice": "### @Alice (Person)",
	} {
		res, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		must(t, err)
		if c := res.Contents[0]; !strings.HasPrefix(c.Text, want) || c.MIMEType != "text/markdown" || c.URI != uri {
			t.Errorf("%s: %+v", uri, c)
		}
	}
	for _, uri := range []string{"ctxd://note/nope", "ctxd://note/no%20such", "ctxd://entity/gone", "ctxd://tree/x", "file:///etc/passwd", "x\x01\u2028", ""} {
		var wire *jsonrpc.Error
		if _, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); !errors.As(err, &wire) || wire.Code != sdk.CodeResourceNotFound {
			t.Errorf("%q: %v", uri, err)
		}
	}
	must(t, h.Ping(t.Context(), nil))
}

func TestDaemonGoesAndComesBack(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{})
	h.call("read_note", `{"id":"alpha"}`)
	d.stop()
	text := h.fails("read_note", `{"id":"alpha"}`)
	h.contains("without a daemon", text, "the ctxd daemon can't be reached", "ctxd serve")
	if strings.Contains(text, d.path) {
		t.Errorf("a path of this machine: %s", text)
	}
	if _, err := h.ListResources(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("%v", err)
	}
	d.listen()
	h.call("read_note", `{"id":"alpha"}`)
	d.stop()
	d.listen()
	h.call("read_note", `{"id":"alpha"}`) // the host has not noticed at all
}

// breaking is a connection that ends when a call of notes.get was sent, before its
// reply.
type breaking struct{ net.Conn }

func (b breaking) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("notes.get")) {
		_ = b.Close()
		return len(p), nil
	}
	return b.Conn.Write(p)
}

// broken is a connection that the daemon has closed, of which nothing is known
// before something is written.
type broken struct{ net.Conn }

func (b broken) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("notes.get")) {
		return 0, syscall.EPIPE
	}
	return b.Conn.Write(p)
}

func TestAConnectionThatBreaksIsMadeAgain(t *testing.T) {
	for name, through := range map[string]func(net.Conn) net.Conn{
		"while it answers": func(c net.Conn) net.Conn { return breaking{c} },
		"unnoticed":        func(c net.Conn) net.Conn { return broken{c} },
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.seed()
			dials := 0
			h := d.open(mcp.Options{Dial: func(ctx context.Context, audience string) (*client.Client, error) {
				dials++
				if dials > 1 {
					return d.dialFor(ctx, audience)
				}
				conn, err := socket.Dial(ctx, d.path)
				if err != nil {
					return nil, err
				}
				return client.New(ctx, through(conn), client.Options{})
			}})
			h.call("read_note", `{"id":"alpha"}`)
			if dials != 2 {
				t.Errorf("%d connections", dials)
			}
		})
	}
}

// TestAHostCannotFloodTheDaemon: a connection has 64 calls in flight at most;
// what a host sends beyond our share waits, and pings are answered meanwhile.
func TestAHostCannotFloodTheDaemon(t *testing.T) {
	var now, most atomic.Int32
	full, release := make(chan struct{}), make(chan struct{})
	d := start(t, rpc.Define("types.list", protocol.Read, func(context.Context, *rpc.Session, protocol.Empty) (protocol.TypeList, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
			if n == 2 {
				close(full)
			}
		}
		<-release
		now.Add(-1)
		return protocol.TypeList{}, nil
	}))
	h := d.open(mcp.Options{})
	var calls sync.WaitGroup
	for range 100 {
		calls.Go(func() {
			if res, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_types"}); err != nil || res.IsError {
				t.Errorf("%v %v", res, err)
			}
		})
	}
	<-full
	must(t, h.Ping(t.Context(), nil))
	close(release)
	calls.Wait()
	if n := most.Load(); n > 16 {
		t.Errorf("%d calls at once", n)
	}
}

func TestREL8_CancelReachesTheDaemon(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	d := start(t, rpc.Define("notes.search", protocol.Read, func(ctx context.Context, _ *rpc.Session, _ protocol.NoteSearch) (protocol.SearchResult, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return protocol.SearchResult{}, ctx.Err()
	}))
	h := d.open(mcp.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := h.CallTool(ctx, &sdk.CallToolParams{Name: "search_notes", Arguments: json.RawMessage(`{"query":"x"}`)})
		failed <- err
	}()
	<-started
	cancel()
	<-ended
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	h.call("list_types", `{}`)
	var ids []string
	for line := range strings.Lines(h.wire.String()) {
		var m struct{ ID any }
		must(t, json.Unmarshal([]byte(line), &m))
		ids = append(ids, fmt.Sprint(m.ID))
	}
	if got := strings.Join(ids, " "); got != "1 3" { // initialize, list_types
		t.Errorf("replies to %s: a withdrawn call is not answered", got)
	}
}

func TestRPC8_APanicIsAnAnswer(t *testing.T) {
	d := start(t)
	log := &lockedBuffer{}
	h := d.open(mcp.Options{Logger: textLogger(log), Dial: func(context.Context, string) (*client.Client, error) { panic("secret words") }})
	var wire *jsonrpc.Error
	for range 2 {
		_, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_types"})
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInternalError {
			t.Errorf("%v", err)
		}
	}
	if text := log.String(); !strings.Contains(text, "panicked") || strings.Contains(text, "secret") {
		t.Errorf("the log: %s", text)
	}
}
