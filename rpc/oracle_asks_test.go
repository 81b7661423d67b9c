package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// oracleLeftOut are the methods of which nothing is asked, and why.
var oracleLeftOut = map[string]string{
	"shutdown":           "it ends the connection, and shows no record",
	"events.subscribe":   "what it brings is compared in TestPRIV17_TwoStoresTellTheSame",
	"events.unsubscribe": "it shows no record, and what it ends is compared there",
}

// oracleKnown are the records of publicRecords, privateRecords and ambiguousRecords of which is asked.
func oracleKnown(absent bool) (list []struct {
	kind, id, name string
	secret         bool
},
) {
	add := func(kind string, secret bool, ids ...string) {
		for _, id := range ids {
			id, name, _ := strings.Cut(id, " ")
			list = append(list, struct {
				kind, id, name string
				secret         bool
			}{kind, id, servertestNames.fill(name), secret})
		}
	}
	add("note", false, "open Open", "thing Thing", "yard Yard", "lead Lead", "handled Handled")
	add("entity", false, "bob Bob", "ann Ann", "fay Fay", "dee Dee", "yara Yara", "cid Cid")
	add("memory", false, "mlink mlink", "mall mall", "mhandled mhandled", "mold mold")
	add("context", false, "ctx Plans", "hctx Ways")
	add("conversation", false, openChat+" Talk", namedChat+" Named", handledChat+" Handled", "acts acts", "cites cites")
	add("book", false, "book1 Bees", "book2 Talked")
	add("note", true, "psecret {title}", "pfile {file}")
	add("entity", true, "pboss {name}", "plone {lone}")
	add("memory", true, "pmem pmem_{word}")
	add("context", true, "pctx {word}")
	add("conversation", true, privateChat+" talk_{word}", "pacts pacts", "pcites pcites")
	if !absent {
		add("note", false, "twin1 Twin", "pair1 Pair", "tagged Tagged", "lonely Lonely", "front Front", "spelled Spelled", "unsure Unsure", "same1 Same")
		add("entity", false, "noted Noted", "twine1 Twine", "unmet Unmet")
		add("context", false, "below Below")
	}
	return list
}

var servertestNames = secrets(servertest.PairNames[0])

// oracleMethods are the methods of the contract.
func oracleMethods(t *testing.T) (asks []*oracleAsk) {
	d := start(t)
	var raw json.RawMessage
	must(t, d.Call(context.Background(), "rpc.discover", nil, &raw))
	var doc discovered
	must(t, json.Unmarshal(raw, &doc))
	documented := make(map[string]*discoveredMethod)
	for _, m := range doc.Methods {
		documented[m.Name] = m
	}
	var listed protocol.Tools
	must(t, d.Call(context.Background(), "tools.list", json.RawMessage(`{"write":true}`), &listed))
	groups := map[string]string{"notes": "note", "entities": "entity", "memory": "memory", "contexts": "context", "chat": "conversation", "books": "book", "types": "type", "concepts": "concept"}
	for _, m := range protocol.Methods {
		if oracleLeftOut[m.Name] != "" {
			continue
		}
		said := documented[m.Name]
		if said == nil {
			t.Errorf("%s is not in the document", m.Name)
			continue
		}
		params := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
		for _, p := range said.Params {
			params.Properties[p.Name] = p.Schema
			if p.Required {
				params.Required = append(params.Required, p.Name)
			}
		}
		space, _, _ := strings.Cut(m.Name, ".")
		writes := m.Mode == protocol.Mutation || m.Kind == protocol.JobChat || m.Name == "intent.route"
		args := servertest.Arguments{Schema: params, Defs: doc.Components.Schemas, Writes: writes, Group: groups[space], Fixed: map[string]any{}}
		if space == "wql" {
			args.Asks = "wql"
		}
		if m.Name == "chat.send" {
			args.Fixed["stream"] = false
		}
		if m.Name == "books.add" {
			args.Fixed["mimeType"], args.Fixed["text"] = "md", "# Hive\n\nscales of winter"
			delete(params.Properties, "path")
			delete(params.Properties, "data")
		}
		if m.Name == "types.put" {
			args.Fixed["fields"] = []any{map[string]any{"name": "boss", "type": "entity_ref"}, map[string]any{"name": "about", "type": "text"}}
		}
		if params.Properties["deadlineMs"] != nil { // a search that is late on a busy machine tells nothing
			args.Fixed["deadlineMs"] = prompt.MaxDeadlineMS
		}
		if m.Name == "chat.import" || m.Name == "vault.import" {
			args.Fixed["path"] = "/nowhere"
		}
		fixed := len(params.Properties) == 0 || m.LocalOnly()
		a := &oracleAsk{name: m.Name, writes: writes, fixed: fixed, ask: func(r *oracleReader, args string) string { return r.answers(m.Name, args) }}
		a.draw = func(p *servertest.Pair) string {
			if len(params.Properties) == 0 {
				return "{}"
			}
			return p.Arguments(args)
		}
		if m.Name == "tools.call" {
			a.draw = func(p *servertest.Pair) string { return drawTool(t, p, listed) }
		}
		asks = append(asks, a)
	}
	return asks
}

// drawTool draws a call of a tool that models have.
func drawTool(t *testing.T, p *servertest.Pair, listed protocol.Tools) string {
	tool := listed.Tools[p.Below(len(listed.Tools))]
	data, err := json.Marshal(tool.Schema)
	must(t, err)
	of := servertest.Arguments{Schema: new(jsonschema.Schema)}
	must(t, json.Unmarshal(data, of.Schema))
	if tool.Name == "query" {
		of.Asks = "wql"
	}
	return fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool.Name, p.Arguments(of))
}

// answers returns what a method is answered.
func (r *oracleReader) answers(method, params string) string {
	r.t.Helper()
	_ = r.nc.SetDeadline(time.Now().Add(patience))
	r.call("x", method, params)
	for {
		line := r.line()
		if strings.Contains(line, `"id":"x"`) {
			if method == "admin.stats" || method == "admin.health" { // behind the counts of records stand figures of the daemon
				line, _, _ = strings.Cut(line, `"connections"`)
			}
			if method == "admin.connections" {
				line, _, _ = strings.Cut(line, `"requests"`)
			}
			return line
		}
	}
}

// oracleHost is an MCP client of a server over a store.
type oracleHost struct{ *sdk.ClientSession }

func (r *oracleReader) mcp() *oracleHost {
	if r.host != nil {
		return r.host
	}
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.Serve(context.Background(), far, far, mcp.Options{Dial: r.daemon.dialAs, AllowWrite: true, IncludePrivate: r.leaks})
		_ = far.Close()
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil).Connect(r.t.Context(), &sdk.IOTransport{Reader: near, Writer: near}, nil)
	must(r.t, err)
	r.t.Cleanup(func() {
		_ = session.Close()
		<-done
	})
	r.host = &oracleHost{session}
	return r.host
}

// oracleTools are the tools, resources and prompts of MCP.
func oracleTools(t *testing.T) (asks []*oracleAsk) {
	d := start(t)
	d.seed() // the tools of a part without records are not listed
	d.do("memory.add", `{"statement":"I like huts"}`)
	d.do("books.add", `{"text":"# Winter","mimeType":"md","title":"Beekeeping"}`)
	r := &oracleReader{t: t, remoteReader: &remoteReader{nil, d}}
	list, err := r.mcp().ListTools(t.Context(), nil)
	must(t, err)
	for _, tool := range list.Tools {
		data, err := json.Marshal(tool.InputSchema)
		must(t, err)
		args := servertest.Arguments{Schema: new(jsonschema.Schema)}
		must(t, json.Unmarshal(data, args.Schema))
		args.Defs = args.Schema.Defs
		args.Writes = tool.Annotations == nil || !tool.Annotations.ReadOnlyHint
		if tool.Name == "query" {
			args.Asks = "wql"
		}
		asks = append(asks, &oracleAsk{
			name: "mcp " + tool.Name, writes: args.Writes, draw: func(p *servertest.Pair) string { return p.Arguments(args) },
			ask: func(r *oracleReader, args string) string {
				res, err := r.mcp().CallTool(r.t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(args)})
				return oracleSaid(r.t, res, err)
			},
		})
	}
	text := func(name string) servertest.Arguments {
		return servertest.Arguments{Schema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{name: {Type: "string"}}, Required: []string{name}}}
	}
	further := func(name, arg string, ask func(r *oracleReader, arg string) string) {
		asks = append(asks, &oracleAsk{name: "mcp " + name, draw: func(p *servertest.Pair) string { return p.Arguments(text(arg)) }, ask: func(r *oracleReader, args string) string {
			var in map[string]string
			must(r.t, json.Unmarshal([]byte(args), &in))
			return ask(r, in[arg])
		}})
	}
	further("resources/list", "text", func(r *oracleReader, _ string) string {
		res, err := r.mcp().ListResources(r.t.Context(), nil)
		return oracleSaid(r.t, res, err)
	})
	further("resources/read", "uri", func(r *oracleReader, uri string) string {
		res, err := r.mcp().ReadResource(r.t.Context(), &sdk.ReadResourceParams{URI: uri})
		return oracleSaid(r.t, res, err)
	})
	further("prompts/get", "message", func(r *oracleReader, message string) string {
		res, err := r.mcp().GetPrompt(r.t.Context(), &sdk.GetPromptParams{Name: "ask_notes", Arguments: map[string]string{"message": message}})
		return oracleSaid(r.t, res, err)
	})
	return asks
}

func oracleSaid(t *testing.T, result any, err error) string {
	if err != nil {
		return `"error":{` + err.Error()
	}
	data, err := json.Marshal(result)
	must(t, err)
	return string(data)
}

// oracleEditor is an editor, whose pages are kept.
type oracleEditor struct {
	*lsptest.Editor
	page string
}

// oracleCommands are what an editor may ask for a remote reader: the commands that take an audience.
func oracleCommands(*testing.T) (asks []*oracleAsk) {
	args := servertest.Arguments{Schema: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"text": {Type: "string"}, "audience": {Type: "string"}, "limit": {Type: "integer"}}, Required: []string{"text", "audience"},
	}}
	for _, name := range []string{lsp.CommandContext, lsp.CommandGraph} {
		asks = append(asks, &oracleAsk{name: name, draw: func(p *servertest.Pair) string { return p.Arguments(args) }, ask: func(r *oracleReader, args string) string {
			if r.editor == nil {
				e := new(oracleEditor)
				e.Editor = lsptest.Open(r.t, lsptest.Options{Dial: r.daemon.dialAs, Page: func(message, audience string, of *prompt.Result) (string, error) {
					e.page = message + " " + audience + " " + of.System + oracleSaid(r.t, of.Report.Sections, nil)
					return e.page, nil
				}})
				r.editor = e
			}
			if r.leaks {
				args = strings.Replace(args, `"audience":"remote"`, `"audience":"local"`, 1)
			}
			r.editor.page = ""
			var res map[string]any
			err := r.editor.Try("workspace/executeCommand", lsp.ExecuteCommandParams{Command: name, Arguments: []json.RawMessage{json.RawMessage(args)}}, &res)
			delete(res, "file")
			delete(res, "report") // it is for the person, whose connection it follows
			delete(res, "summary")
			return oracleSaid(r.t, res, err) + r.editor.page
		}})
	}
	return asks
}

// TestPRIV17_TwoStoresAnswerAlike asks every method, every tool, resource and prompt of MCP, and the commands of an editor
// that have an audience, of two stores that differ in private records alone.
func TestPRIV17_TwoStoresAnswerAlike(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // a third of its time was the collector's
	for name, asks := range map[string]func(*testing.T) []*oracleAsk{"methods": oracleMethods, "mcp": oracleTools, "lsp": oracleCommands} {
		t.Run(name, func(t *testing.T) {
			o := newOracle(asks(t), false)
			o.run(t, oracleSeed(), oracleEach())
			o.report(t)
		})
	}
	for name := range oracleLeftOut {
		if protocol.Lookup(name) == nil {
			t.Errorf("%s is no method", name)
		}
	}
}

// TestPRIV17_TheOracleSeesALeak: with a reader who sees private records the answers of what shows records differ, and words
// of private texts stand in them.
func TestPRIV17_TheOracleSeesALeak(t *testing.T) {
	campaign.Only(t)
	for name, c := range map[string]struct {
		asks func(*testing.T) []*oracleAsk
		each int
		seen int // of how many asks a leak is found at least
	}{"methods": {oracleMethods, 120, 45}, "mcp": {oracleTools, 12, 20}, "lsp": {oracleCommands, 10, 2}} {
		t.Run(name, func(t *testing.T) {
			var some []*oracleAsk
			for _, a := range c.asks(t) {
				if m := protocol.Lookup(a.name); m == nil && !a.writes || m != nil && !m.LocalOnly() && m.Mode == protocol.Read {
					some = append(some, a)
				}
			}
			o := newOracle(some, true)
			o.run(t, 1, c.each)
			told := 0
			var blind []string
			for _, f := range o.findings {
				if oracleTold([2]string{f.text}, "") != "" {
					told++
				}
			}
			for _, a := range some {
				if !o.found[a.name] {
					blind = append(blind, a.name)
				}
			}
			t.Logf("a leak is seen in %d of %d; not in %v", len(o.found), len(some), blind)
			if len(o.found) < c.seen || told < c.seen/2 {
				t.Errorf("a reader who sees private records is told of in %d of %d asks, and private words in %d", len(o.found), len(some), told)
			}
		})
	}
}

// TestPRIV17_TwoStoresTellTheSame: a remote reader who has subscribed to every topic is told the same by both stores.
func TestPRIV17_TwoStoresTellTheSame(t *testing.T) {
	told := 0
	steps := campaign.Figure(150, 4000)
	if !campaign.Runs() {
		steps = 40
	}
	for seed := uint64(1); steps > 0; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			absent := seed%2 == 0
			pair := servertest.NewPair(seed, absent)
			both := oracleStores(t, absent, false)
			for _, r := range both {
				topics, err := json.Marshal(protocol.Topics)
				must(t, err)
				r.call("s", "events.subscribe", `{"topics":`+string(topics)+`}`)
				r.wantResult(`"s"`, "")
			}
			happens := pair.Begin()
			for range 100 {
				happens = append(happens, pair.Change())
			}
			for i, step := range happens {
				var events [2]string
				for store, r := range both {
					r.clock.to(i + 1)
					r.do(step[store])
					events[store] = r.told(i)
				}
				steps--
				if events[0] != events[1] {
					t.Fatalf("seed %d: told\n%s\nand\n%s\nafter %s", seed, events[0], events[1], (&oracleEntry{at: i, step: step}).String())
				}
				if found := oracleTold(events, ""); found != "" {
					t.Fatalf("%s is told: %s", found, events)
				}
				told += strings.Count(events[0], "\n")
			}
		})
	}
	t.Logf("%d events of %d topics", told, len(protocol.Topics))
}

// told returns what is told of records until the markers come that are written behind what has happened: by topic and record
// what happened to it last, however the events were merged.
func (r *oracleReader) told(n int) string {
	r.t.Helper()
	mark := []servertest.PairCall{
		{Method: "notes.put", Params: fmt.Sprintf(`{"id":"marker","title":"Marker","body":"%d"}`, n)},
		{Method: "entities.put", Params: fmt.Sprintf(`{"id":"marker","type":"Person","name":"Marker","fields":{"pay":%d}}`, n)},
		{Method: "memory.patch", Params: fmt.Sprintf(`{"id":"marker","statement":"Marked %d"}`, n)},
		{Method: "chat.patch", Params: fmt.Sprintf(`{"id":"marker","title":"Marker %d"}`, n)},
	}
	if n == 0 {
		mark[2] = servertest.PairCall{Method: "memory.add", Params: `{"id":"marker","statement":"Marked"}`}
		mark[3] = servertest.PairCall{Method: "chat.put", Params: `{"id":"marker","title":"Marker"}`}
	}
	for _, c := range mark {
		must(r.t, r.daemon.Call(context.Background(), c.Method, json.RawMessage(c.Params), nil))
	}
	last, marked := map[string]string{}, map[string]bool{}
	_ = r.nc.SetDeadline(time.Now().Add(patience))
	for len(marked) < len(mark) {
		line := r.line()
		var e struct {
			Method string
			Params struct {
				IDs  []string
				Kind string
			}
		}
		must(r.t, json.Unmarshal([]byte(line), &e))
		if found := oracleTold([2]string{line}, ""); found != "" {
			last[line] = found
		}
		for _, id := range e.Params.IDs {
			if id == "marker" {
				marked[e.Method] = true
				continue
			}
			last[e.Method+" "+id] = e.Params.Kind
		}
		if e.Method == string(protocol.TopicIndex) || e.Method == string(protocol.TopicPersonality) {
			last[e.Method] = line
		}
	}
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(last)) {
		fmt.Fprintf(&b, "%s %s\n", what, last[what])
	}
	return b.String()
}

// dialAs connects a client of a server in between.
func (d *daemon) dialAs(ctx context.Context, as client.Options) (*client.Client, error) {
	return client.Dial(ctx, d.path, as)
}
