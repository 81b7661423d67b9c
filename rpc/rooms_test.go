package rpc_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/cites"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
	"github.com/ctxd/ctxd/rpc/servertest"
	"github.com/ctxd/ctxd/rpc/socket"
)

// daemon is the whole server over an empty store in memory, and a client of it.
type daemon struct {
	*client.Client
	t       *testing.T
	path    string // of the socket
	srv     *rpc.Server
	data    string // folder of the store
	broken  bool   // its store can't be closed well
	schemas map[string]*jsonschema.Resolved
	stopped chan struct{}
}

func start(t *testing.T) *daemon {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	return startOver(t, db, rpc.Options{})
}

// roomsOver opens the rooms over a store, which search by words alone.
func roomsOver(db *kv.Store) (*rpc.Deps, error) { return roomsWith(db, search.Options{}) }

func roomsWith(db *kv.Store, finding search.Options) (*rpc.Deps, error) {
	return roomsClocked(db, finding, nil)
}

// roomsClocked opens the rooms with another clock for records; nil: the time.
func roomsClocked(db *kv.Store, finding search.Options, now func() time.Time) (*rpc.Deps, error) {
	return roomsOn(db, roomsOptions{Finding: finding, Now: now})
}

// roomsOptions are what rooms are opened with. The zero value works.
type roomsOptions struct {
	Finding search.Options
	Now     func() time.Time                  // nil: the time
	Machine func() string                     // what it is called in a shared store; nil: the store is not shared
	NewID   func(prefix string) func() string // nil: ids are counted where there is a clock, and random otherwise
	Random  io.Reader                         // of the ends of handles; nil: the system's
}

// ids returns what makes the ids of a kind of records; nil: they are random.
func (o *roomsOptions) ids(prefix string) func() string {
	if o.NewID == nil {
		return nil
	}
	return o.NewID(prefix)
}

// roomsOn opens the rooms over a store.
func roomsOn(db *kv.Store, o roomsOptions) (*rpc.Deps, error) {
	now, finding := o.Now, o.Finding
	var engine *wql.Engine
	hider := new(cites.AnswerHider)
	ents, err := entities.Open(db, entities.Options{Now: now, NewID: o.ids("entity"), Hide: hider.Entity, CheckQuery: func(ty *entities.Type, f entities.Field) []entities.Diagnostic {
		return engine.CheckField(ty, f)
	}})
	if err != nil {
		return nil, err
	}
	var index *search.Index
	engine = wql.New(ents, wql.Options{Match: func(ctx context.Context, words string) (func(string) bool, error) {
		return index.EntityTest(ctx, ents, words, ents.Get, false)
	}})
	ns, err := notes.Open(db, ents, notes.Options{Now: now, NewID: o.ids("note"), Hide: hider.Note, PrivateFolders: []string{privateFolder}})
	if err != nil {
		return nil, err
	}
	db.OnCommit(engine.Apply)
	gr := graph.Open(db, ents, ns, engine)
	seen := audience.Open(db, audience.Stores{Entities: ents, Notes: ns, WQL: engine, Graph: gr})
	pins := new(chat.Pins)
	mem, err := memory.Open(db, memory.Options{
		Now: now, NewID: o.ids("memory"), Entity: entities.EntityRecords.Has, Source: noteState, Conversation: chat.State, HandleTaken: chat.HasHandle,
		Deleted: func(tx *kv.Tx, ids []string) error { return cmp.Or(pins.Unpin(tx, ids), learn.Forget(tx, ids)) },
		Hide:    chat.HideStanding, Machine: o.Machine, Random: o.Random,
	})
	if err != nil {
		return nil, err
	}
	reading := books.Options{
		Now: now, Conversation: func(tx *kv.Tx, id string) (private, found bool, err error) { return chat.State(tx, id, nil) },
	}
	if reading.NewID = o.ids("book"); reading.NewID == nil && now != nil {
		reading.NewID = servertest.CountedIDs("book")
	}
	if db.Unmended() {
		if err := db.Update(context.Background(), func(tx *kv.Tx) error { return learn.Mend(tx, chat.Conversations.Has) }); err != nil {
			return nil, err
		}
	}
	shelf, err := books.Open(db, reading)
	if err != nil {
		return nil, err
	}
	talk := chat.Options{Now: now, Pins: pins, Memories: mem, Books: shelf, Remote: seen.View(audience.Remote)}
	if talk.NewID = o.ids("chat"); talk.NewID == nil && now != nil { // so that ids are known before
		talk.NewID = servertest.CountedIDs("chat")
	}
	chats, err := chat.Open(db, talk)
	if err != nil {
		return nil, err
	}
	chat.RegisterHandles(seen, mem, chats)
	finding.Gate = seen.Gate
	index = search.Open(db, notedoc.New(ns, notedoc.Options{Public: seen.Public, Revealed: seen.Revealed, Copies: vault.CopiesIn(db)}), finding)
	seen.SetSearch(index)
	said, err := chatdoc.New(db, seen, chatdoc.Options{Now: now})
	if err != nil {
		return nil, err
	}
	finding.Synonyms = mem.SynonymsOf
	ofMemories, ofMessages := finding, finding
	if finding.Dir != "" {
		ofMemories.Dir += "-memories"
		ofMessages.Dir += "-messages"
	}
	read, err := books.NewSource(db, seen)
	if err != nil {
		return nil, err
	}
	ofPassages := finding
	if finding.Dir != "" {
		ofPassages.Dir += "-passages"
	}
	passages := search.Open(db, read, ofPassages)
	remembered := document.New(db, mem, seen)
	memories := search.Open(db, remembered, ofMemories)
	messages := search.Open(db, said, ofMessages)
	indexes := recall.Indexes{
		Memories: recall.Index{Search: memories, Source: remembered}, Store: mem,
		Messages: recall.Index{Search: messages, Source: said}, Message: chatdoc.Recalled,
		Passages: passages, Books: books.Library{Store: shelf, Source: read},
	}
	ranker := recall.New(indexes, recall.Options{Now: now, Gate: seen.Gate, Reranker: reranking})
	waiting := recall.OpenPassive(db, seen, indexes, recall.PassiveOptions{Turns: chatdoc.Turns(chats), Now: now, Rest: time.Nanosecond})
	chats.Follow(waiting)
	spoken := concepts.Open(db, seen, concepts.Options{Store: mem, Memories: remembered, Messages: said, Said: chatdoc.Spoken, SaidField: chatdoc.Said})
	completing := chat.OpenCompleter(db, seen, ents, mem, chats)
	referred := gather.NewResolver(gather.ResolverOptions{
		Memories: mem, Conversation: chats.Handled, Message: chats.Referred, Near: completing.Suggest,
	})
	cites := cites.OpenIndex(db, chats, said.Messages())
	if err := cmp.Or(hider.Use(db, mem, shelf, cites, seen.View(audience.Remote)), ns.HideAnew(context.Background())); err != nil {
		return nil, err
	}
	voices, err := personality.Open(db, personality.Options{Now: now})
	if err != nil {
		return nil, err
	}
	if err := db.Mended(); err != nil {
		return nil, err
	}
	upkeep := learn.NewKeeper(learn.KeeperOptions{
		DB: db, Memory: mem, Index: memories, Local: seen.View(audience.Local), Remote: seen.View(audience.Remote),
		Messages: chatdoc.OwnWords(said), MessageIndex: messages, Now: now,
	})
	learning, err := background.OpenLearning(db, mem, chats, learn.Options{Outcomes: learn.ScorerOptions{Now: now}, Upkeep: upkeep})
	if err != nil {
		return nil, err
	}
	return &rpc.Deps{
		Books: shelf, Passages: passages,
		Personalities: voices, Handles: completing, Refs: referred, Concepts: spoken,
		KV: db, Chat: chats, Cites: cites, Memory: mem, Learn: learning, Memories: memories, Messages: messages, Recall: ranker, Entities: ents, Notes: ns, WQL: engine, Graph: gr,
		Search: index, Audience: seen, Gather: gather.Open(db, seen, gather.Options{
			Refs: referred, Memories: mem, Finder: ranker, Conversations: chats, Passive: waiting, Insights: spoken, Now: now, Personality: voices.Active,
		}),
		Vaults: vault.NewImporter(db, ents, ns, vault.ImporterOptions{Write: []vault.WriteRule{
			{Vault: "Writable", Folder: "/"}, {Vault: "Writable", Folder: "/Shared/", Remote: true},
		}}),
	}, nil
}

func noteState(tx *kv.Tx, id string) (private, found bool, err error) {
	source, err := notes.SourceTx(tx, id)
	if err != nil {
		return false, false, err
	}
	found, err = notes.Records.Has(tx, id)
	return source.Private, found, err
}

// startOver serves the rooms over a store, which it closes at the end.
func startOver(t *testing.T, db *kv.Store, opts rpc.Options) *daemon {
	t.Helper()
	rooms, err := roomsOver(db)
	must(t, err)
	opts.Rooms = rooms
	return launch(t, opts)
}

// launch serves the rooms of the options, or those that come with Load.
func launch(t *testing.T, opts rpc.Options) *daemon {
	t.Helper()
	d := &daemon{t: t, stopped: make(chan struct{}, 1), schemas: resultSchemas(t)}
	opts.Methods = append(rpc.Methods(), opts.Methods...)
	opts.Info = protocol.ServerInfo{Name: "ctxd", Version: "0.0.0"}
	d.data = opts.DataDir
	opts.DataDir = cmp.Or(opts.DataDir, os.TempDir())
	opts.Stop = func() { d.stopped <- struct{}{} }
	if opts.OpenRooms == nil {
		opts.OpenRooms = roomsOver
	}
	opts.Limits = unhurried(opts.Limits)
	d.srv = rpc.New(opts)
	ln, err := socket.Listen(filepath.Join(shortDir(t), "s"), socket.Options{})
	must(t, err)
	d.path = ln.Path()
	go func() { _ = d.srv.Serve(ln) }()
	d.Client, err = client.Dial(context.Background(), ln.Path(), client.Options{})
	must(t, err)
	t.Cleanup(func() {
		_ = d.Close()
		must(t, d.srv.Shutdown(context.Background()))
		d.srv.Wait()
		if err := d.srv.CloseStore(); !d.broken {
			must(t, err)
		}
	})
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// resultSchemas returns the schema of the result of every method, as the
// document has it.
func resultSchemas(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	out, err := schemasOnce()
	must(t, err)
	return out
}

var schemasOnce = sync.OnceValues(func() (map[string]*jsonschema.Resolved, error) {
	doc, err := openrpc.Document()
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Methods []struct {
			Name   string
			Result struct{ Schema *jsonschema.Schema }
		}
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	text := strings.ReplaceAll(string(doc), "#/components/schemas/", "#/$defs/")
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		return nil, err
	}
	out := map[string]*jsonschema.Resolved{}
	for _, m := range parsed.Methods {
		if out[m.Name], err = servertest.ResolveSchema(m.Result.Schema, parsed.Components.Schemas); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// try calls a method with params as JSON text. A result must fit its schema.
func (d *daemon) try(method, params string) (map[string]any, error) {
	d.t.Helper()
	var raw json.RawMessage
	if err := d.Call(context.Background(), method, json.RawMessage(params), &raw); err != nil {
		var e *client.Error
		if errors.As(err, &e) && !slices.Contains(protocol.Lookup(method).Errors(), e.Code) {
			d.t.Errorf("%s answered with %d (%s), which the contract does not list for it", method, e.Code, e.Message)
		}
		return nil, err
	}
	var v any
	must(d.t, json.Unmarshal(raw, &v))
	if s := d.schemas[method]; s == nil {
		d.t.Errorf("%s is not in the document", method)
	} else if err := s.Validate(v); err != nil {
		d.t.Errorf("%s: the result does not fit its schema: %v\n%.600s", method, err, raw)
	}
	m, _ := v.(map[string]any)
	return m, nil
}

// do is try for a call that must succeed.
func (d *daemon) do(method, params string) map[string]any {
	d.t.Helper()
	v, err := d.try(method, params)
	if err != nil {
		d.t.Fatalf("%s %.300s: %v", method, params, err)
	}
	return v
}

// at returns a member by its dotted path.
func at(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (d *daemon) want(v any, path string, want any) {
	d.t.Helper()
	if got := at(v, path); fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Errorf("%s is %v, want %v", path, got, want)
	}
}

func (d *daemon) seed() {
	d.t.Helper()
	d.do("types.put", `{"name":"Team","fields":[{"name":"lead","type":"entity_ref","targetType":"Person"}]}`)
	d.do("types.put", `{"name":"Person","fields":[{"name":"role","type":"text"},{"name":"age","type":"number"},
		{"name":"team","type":"entity_ref","targetType":"Team"},
		{"name":"reports","type":"computed","query":"SELECT p FROM Person WHERE p.team = {this}"}]}`)
	d.do("entities.putMany", `{"entities":[
		{"id":"core","type":"Team","name":"Core","fields":{"lead":"alice"}},
		{"id":"alice","type":"Person","name":"Alice","aliases":["Al"],"fields":{"role":"Engineer","age":41,"team":"core"}},
		{"id":"bob","type":"Person","name":"Bob","fields":{"team":"core"}}]}`)
	d.do("notes.putMany", `{"notes":[
		{"id":"kickoff","title":"Kickoff","body":"See [[Alpha]] and [[Nowhere]]. #plan/q1","tags":["plan"]},
		{"id":"alpha","title":"Alpha","body":"The text of Alpha. [[Kickoff]]","path":"projects/alpha.md"}]}`)
}

func TestCoreMethods(t *testing.T) {
	d := start(t)
	d.seed()

	n := d.do("notes.put", `{"id":"n1","title":"One","body":"first","ifVersion":0,"return":"full"}`)
	d.want(n, "version", 1)
	n["title"] = "Two" // a record that was read can be put back
	back, _ := json.Marshal(n)
	n = d.do("notes.put", string(back))
	d.want(n, "title", "Two")
	d.want(n, "version", 2)
	n = d.do("notes.patch", `{"id":"n1","tags":["a"],"path":"x/one.md","ifVersion":2}`)
	d.want(n, "path", "x/one.md")
	d.want(n, "body", nil)
	d.do("notes.get", `{"ref":"n1"}`) // without links
	n = d.do("notes.patch", `{"id":"n1","path":null}`)
	d.want(n, "path", nil)
	d.want(d.do("notes.get", `{"ref":"kickoff"}`), "links.0.id", "alpha")
	d.want(d.do("notes.get", `{"ref":"projects/alpha.md"}`), "backlinks.0.id", "kickoff")
	list := d.do("notes.list", `{"limit":2}`)
	d.want(list, "notes.0.title", "Alpha")
	list = d.do("notes.list", fmt.Sprintf(`{"limit":2,"cursor":%q}`, list["nextCursor"]))
	d.want(list, "notes.0.title", "Two")
	d.want(list, "nextCursor", nil)
	d.want(d.do("notes.complete", `{"prefix":"ki"}`), "items.0.id", "kickoff")
	d.want(d.do("notes.resolve", `{"link":"![[Kickoff#Goals|the goals]]"}`), "id", "kickoff")
	d.want(d.do("notes.resolve", `{"link":"Kickoff#Goals"}`), "heading", "Goals")
	found := d.do("notes.search", `{"query":"text of alpha","explain":true,"filter":{"after":"2020-01-01"}}`)
	d.want(found, "hits.0.id", "alpha")
	d.want(found, "degraded.stage", "semantic")
	d.want(d.do("notes.search", `{"query":"","filter":{"after":"today"}}`), "mode", "lexical")
	found = d.do("notes.search", `{"query":"text fooo:bar","filter":{"vaults":["Nowhere"]}}`)
	d.want(found, "hits", "[]")
	d.want(found, "understood.problems.0.text", "fooo:bar")
	d.want(found, "understood.problems.1.message", "there is no note of vault Nowhere")
	links := d.do("notes.links", `{"ref":"kickoff"}`)
	d.want(links, "outgoing.0.id", "alpha")
	d.want(links, "unresolved.0.target", "Nowhere")
	d.want(d.do("tags.list", `{"prefix":"pl","limit":1}`), "tags.0.name", "plan")
	archived := d.do("notes.archive", `{"id":"n1"}`)
	d.want(d.do("notes.list", `{"archived":true}`), "notes.0.id", "n1")
	d.do("notes.restore", fmt.Sprintf(`{"id":"n1","ifVersion":%v}`, archived["version"]))
	d.do("notes.delete", `{"id":"n1"}`)

	d.want(d.do("types.get", `{"ref":"person"}`), "name", "Person")
	d.want(d.do("types.list", `{}`), "types.0.count", 2)
	d.want(d.do("types.put", `{"name":"Odd","fields":[{"name":"x","type":"entity_ref","targetType":"Nothing"}]}`), "diagnostics.0.severity", "warning")
	d.do("types.delete", `{"name":"Odd"}`)

	e := d.do("entities.put", `{"id":"eve","type":"person","name":"Eve","fields":{"role":"Lead"}}`)
	d.want(e, "type", "Person")
	e = d.do("entities.patch", `{"id":"eve","fields":{"role":null,"age":30},"aliases":["E"]}`)
	d.want(e, "fields.age", 30)
	d.want(e, "fields.role", nil)
	e = d.do("entities.patch", `{"id":"eve","aliases":null}`)
	d.want(e, "aliases", "[]")
	d.want(d.do("entities.get", `{"ref":"alice"}`), "fields.team", "core")
	d.want(d.do("entities.get", `{"ref":"alice","resolve":2}`), "fields.team.name", "Core")
	d.want(d.do("entities.get", `{"ref":" ALICE ","resolve":2}`), "fields.team.name", "Core")
	page := d.do("entities.list", `{"type":"Person","limit":2}`)
	d.want(page, "entities.1.name", "Bob")
	d.want(d.do("entities.list", fmt.Sprintf(`{"type":"Person","limit":2,"cursor":%q}`, page["nextCursor"])), "entities.0.name", "Eve")
	d.want(d.do("entities.complete", `{"prefix":"al","types":["person"]}`), "items.0.id", "alice")
	d.do("entities.archive", `{"id":"eve"}`)
	d.want(d.do("entities.list", `{"archived":true}`), "entities.0.id", "eve")
	d.do("entities.restore", `{"id":"eve"}`)
	d.do("entities.delete", `{"id":"eve"}`)

	rows := d.do("wql.query", `{"query":"SELECT p FROM Person WHERE p.team = {this} ORDER BY p.name DESC","this":"core","explain":true}`)
	d.want(rows, "rows.0.id", "bob")
	d.want(rows, "total", 2)
	d.want(d.do("wql.query", `{"query":"SELECT COUNT(*) FROM Person"}`), "value", 2)
	avg := d.do("wql.query", `{"query":"SELECT AVG(p.age) FROM Person p WHERE p.name = 'Nobody'"}`)
	if v, there := avg["value"]; !there || v != nil {
		t.Errorf("an average of nothing is %v, there %v", v, there)
	}
	d.want(d.do("wql.check", `{"query":"SELECT p FROM Persn"}`), "ok", false)
	d.want(d.do("wql.check", `{"query":"SELECT p FROM Person"}`), "ok", true)

	d.want(d.do("graph.neighbors", `{"ref":"core"}`), "nodes.0.name", "Core")
	d.want(d.do("graph.path", `{"from":"bob","to":"alice"}`), "nodes.1.id", "core")
	d.want(d.do("graph.stats", `{}`), "entities", 3)

	got := d.do("context.assemble", `{"text":"What does @Alice do in [[Kickoff]]?","audience":"local","calendarEvents":[{"title":"1:1","start":"9:00"}]}`)
	if s := at(got, "system").(string); !strings.Contains(s, "Alice") || !strings.Contains(s, "Kickoff") {
		t.Errorf("the prompt lacks what was mentioned: %s", s)
	}
	d.want(d.do("context.recent", `{}`), "reports.0.report.hash", at(got, "report.hash"))

	d.want(d.do("admin.health", `{}`), "status", "healthy")
	stats := d.do("admin.stats", `{}`)
	d.want(stats, "entities", 3)
	d.want(stats, "connections.open", 1)
	d.do("rpc.discover", `{}`)
	d.do("admin.stop", `{}`)
	<-d.stopped
}

func TestVaultMethods(t *testing.T) {
	d := start(t)
	vault := filepath.Join(t.TempDir(), "Vault")
	must(t, fixtures.CopyVault(vault))
	params := fmt.Sprintf(`{"path":%q}`, vault)
	dry := d.do("vault.import", fmt.Sprintf(`{"path":%q,"dryRun":true}`, vault))
	got := d.do("vault.import", params)
	d.want(dry, "notes", got["notes"])
	if n := at(got, "notes").(float64); n < 60 {
		t.Errorf("%v notes", n)
	}
	status := d.do("vault.status", `{}`)
	d.want(status, "notes", got["notes"])
	d.want(status, "links", got["links"])
	d.want(d.do("vault.list", `{}`), "vaults.0.vault", got["vault"])
	d.want(d.do("vault.forget", fmt.Sprintf(`{"vault":%q}`, got["vault"])), "notes", got["notes"])
	d.want(d.do("admin.stats", `{}`), "notes", 0)
}

// Bad input: what each method says to it.
func TestBadInput(t *testing.T) {
	d := start(t)
	d.seed()
	long := strings.Repeat("x", 600)
	body := strings.Repeat("x", 5<<20)
	query := "SELECT p FROM Person WHERE p.name = '" + strings.Repeat("x", 5000) + "'"
	many := strings.TrimSuffix(strings.Repeat(`{"title":"x"},`, 1001), ",")
	const (
		invalid  = protocol.CodeInvalidParams
		missing  = protocol.CodeNotFound
		conflict = protocol.CodeConflict
		limit    = protocol.CodeLimit
	)
	for _, c := range []struct {
		method, params string
		code           int
		field          string
	}{
		{"notes.put", `{"title":5}`, invalid, "title"},
		{"notes.put", `{"title":"x","links":[]}`, invalid, "links"},
		{"notes.put", `{"id":"not an id","title":"x"}`, invalid, "id"},
		{"notes.put", `{"id":"kickoff","title":"x","ifVersion":7}`, conflict, "ifVersion"},
		{"notes.put", `{"id":"kickoff","title":"x","ifVersion":0}`, conflict, "ifVersion"},
		{"notes.put", `{"title":"x","path":"projects/alpha.md"}`, conflict, "path"},
		{"notes.put", `{"title":"` + long + `"}`, limit, "title"},
		{"notes.put", `{"title":"x","body":"` + body + `"}`, limit, "body"},
		{"notes.patch", `{"title":"x"}`, invalid, "id"},
		{"notes.patch", `{"id":"kickoff","body":null}`, invalid, "body"},
		{"notes.patch", `{"id":"none","title":"x"}`, missing, ""},
		{"notes.patch", `{"id":"kickoff","title":"x","ifVersion":9}`, conflict, "ifVersion"},
		{"notes.patch", `{"id":"kickoff","title":"` + long + `"}`, limit, "title"},
		{"notes.putMany", `{}`, invalid, "notes"},
		{"notes.putMany", `{"notes":[{"title":"ok"},{"title":7}]}`, invalid, "notes[1].title"},
		{"notes.putMany", `{"notes":[{"title":"ok"},{"title":"` + long + `"}]}`, limit, "notes[1].title"},
		{"notes.putMany", `{"notes":[` + many + `]}`, limit, "notes"},
		{"notes.get", `{}`, invalid, "ref"},
		{"notes.get", `{"ref":"a","title":"b"}`, invalid, "title"},
		{"notes.get", `{"ref":"none"}`, missing, "ref"},
		{"notes.get", `{"ref":"none.md"}`, missing, "ref"},
		{"notes.get", `{"ref":"[[none]]"}`, missing, "ref"},
		{"notes.list", `{"limit":0}`, invalid, "limit"},
		{"notes.list", `{"limit":1001}`, invalid, "limit"},
		{"notes.list", `{"cursor":"?"}`, invalid, "cursor"},
		{"notes.list", `{"archived":"yes"}`, invalid, "archived"},
		{"notes.list", `{"changedSince":"soon"}`, invalid, "changedSince"},
		{"notes.list", `{"sort":"size"}`, invalid, "sort"},
		{"notes.list", `{"sort":"updated","cursor":"?"}`, invalid, "cursor"},
		{"notes.list", `{"sort":"updated","cursor":"YQBi"}`, invalid, "cursor"}, // of the order by title
		{"notes.archive", `{"id":"none"}`, missing, ""},
		{"notes.archive", `{"id":"kickoff","ifVersion":9}`, conflict, "ifVersion"},
		{"notes.archive", `{}`, invalid, "id"},
		{"notes.restore", `{"id":"none"}`, missing, ""},
		{"notes.delete", `{"id":"none"}`, missing, ""},
		{"notes.delete", `{"id":"kickoff","ifVersion":9}`, conflict, "ifVersion"},
		{"notes.complete", `{"prefix":1}`, invalid, "prefix"},
		{"notes.complete", `{"prefix":"` + body[:1<<20+1] + `"}`, limit, "prefix"},
		{"notes.complete", `{"prefix":"` + body[:1<<20] + `","limit":0}`, invalid, "limit"},
		{"notes.complete", `{}`, invalid, "prefix"},
		{"notes.resolve", `{}`, invalid, "link"},
		{"notes.resolve", `{"link":"x","from":"none"}`, missing, "from"},
		{"notes.search", `{}`, invalid, "query"},
		{"notes.search", `{"query":"x","mode":"best"}`, invalid, "mode"},
		{"notes.search", `{"query":"x","filter":{"after":"soon"}}`, invalid, "filter.after"},
		{"notes.search", `{"query":"x","filter":{"tag":"a"}}`, invalid, "filter.tag"},
		{"notes.links", `{"ref":"none"}`, missing, "ref"},
		{"tags.list", `{"prefix":[]}`, invalid, "prefix"},
		{"types.put", `{"name":"T"}`, invalid, "fields"},
		{"types.put", `{"name":"T","fields":[{"name":"a","type":"colour"}]}`, invalid, "fields[0].type"},
		{"types.put", `{"name":"T","fields":[{"name":"a"}]}`, invalid, "fields[0].type"},
		{"types.put", `{"name":"T","fields":[{"name":"a","type":"computed","query":"SELECT FROM"}]}`, protocol.CodeQuery, "fields[0].query"},
		{"types.put", `{"name":"Person","fields":[]}`, conflict, ""},
		{"types.put", `{"name":"Person","fields":[],"ifVersion":9}`, conflict, "ifVersion"},
		{"types.get", `{"ref":"None"}`, missing, ""},
		{"types.list", `{"x":1}`, invalid, "x"},
		{"types.delete", `{"name":"None"}`, missing, ""},
		{"types.delete", `{"name":"Person"}`, conflict, ""},
		{"entities.put", `{"name":"X"}`, invalid, "type"},
		{"entities.put", `{"type":"None","name":"X"}`, invalid, "type"},
		{"entities.put", `{"type":"Person","name":"X","fields":{"age":"old"}}`, invalid, "fields.age"},
		{"entities.put", `{"type":"Person","name":"X","fields":{"age":{"years":5}}}`, invalid, "fields.age"},
		{"entities.put", `{"type":"Person","name":"X","fields":{"shoe":5}}`, invalid, "fields.shoe"},
		{"entities.put", `{"type":"Person","name":"X","fields":{"role":"a","role":"b"}}`, invalid, "fields.role"},
		{"entities.put", `{"type":"Person","name":"` + long + `"}`, limit, "name"},
		{"entities.put", `{"type":"Person","name":"X","fields":{"role":"` + body[:300<<10] + `"}}`, limit, "fields"},
		{"entities.put", `{"id":"alice","type":"Person","name":"X","ifVersion":9}`, conflict, "ifVersion"},
		{"entities.patch", `{"id":"none","name":"X"}`, missing, ""},
		{"entities.patch", `{"id":"alice","name":null}`, invalid, "name"},
		{"entities.patch", `{"id":"alice","name":"X","ifVersion":9}`, conflict, "ifVersion"},
		{"entities.patch", `{"id":"alice","name":"` + long + `"}`, limit, "name"},
		{"entities.putMany", `{"entities":[{"type":"Person","name":"ok"},{"type":"Person","name":3}]}`, invalid, "entities[1].name"},
		{"entities.putMany", `{"entities":[{"type":"Person","name":"ok","fields":{"age":"x"}}]}`, invalid, "entities[0].fields.age"},
		{"entities.get", `{"ref":"none"}`, missing, "ref"},
		{"entities.get", `{"ref":"alice","resolve":5}`, invalid, "resolve"},
		{"entities.get", `{}`, invalid, "ref"},
		{"entities.get", `{"ref":"alice","name":"Alice"}`, invalid, "name"},
		{"entities.get", `{"ref":"alice","type":"Team"}`, missing, "ref"},
		{"entities.get", `{"ref":"Nobody"}`, missing, "ref"},
		{"entities.get", `{"ref":"Alice","type":"None"}`, missing, ""},
		{"entities.list", `{"type":"None"}`, missing, ""},
		{"entities.archive", `{"id":"none"}`, missing, ""},
		{"entities.archive", `{"id":"alice","ifVersion":9}`, conflict, "ifVersion"},
		{"entities.restore", `{"id":"none"}`, missing, ""},
		{"entities.delete", `{"id":"none"}`, missing, ""},
		{"entities.complete", `{"prefix":"x","limit":0}`, invalid, "limit"},
		{"refs.complete", `{}`, invalid, "prefix"},
		{"refs.complete", `{"prefix":1}`, invalid, "prefix"},
		{"refs.complete", `{"prefix":"x","limit":51}`, invalid, "limit"},
		{"refs.complete", `{"prefix":"x","kinds":["note"]}`, invalid, "kinds[0]"},
		{"wql.query", `{"query":1}`, invalid, "query"},
		{"wql.query", `{"query":"SELECT p FROM Persn"}`, protocol.CodeQuery, ""},
		{"wql.query", `{"query":"SELECT p FROM Person","this":"none"}`, missing, "this"},
		{"wql.query", `{"query":"` + query + `"}`, limit, "query"},
		{"wql.query", `{"query":"SELECT p FROM Person","limit":10001}`, invalid, "limit"},
		{"wql.check", `{}`, invalid, "query"},
		{"graph.neighbors", `{"ref":"none"}`, missing, "ref"},
		{"graph.neighbors", `{"ref":"core","depth":5}`, invalid, "depth"},
		{"graph.neighbors", `{"ref":"core","kinds":["cat"]}`, invalid, "kinds[0]"},
		{"graph.path", `{"from":"core"}`, invalid, "to"},
		{"graph.path", `{"from":"core","to":"none"}`, missing, "to"},
		{"context.assemble", `{"maxDepth":9}`, invalid, "maxDepth"},
		{"context.assemble", `{"audience":"world"}`, invalid, "audience"},
		{"context.assemble", `{"budgets":{"total":"x"}}`, invalid, "budgets.total"},
		{"context.assemble", `{"budgets":{"extra":1}}`, invalid, "budgets.extra"},
		{"context.recent", `{"limit":99}`, invalid, "limit"},
		{"privacy.list", `{"id":"none"}`, missing, ""},
		{"privacy.list", `{"limit":1001}`, invalid, "limit"},
		{"privacy.list", `{"cursor":"x"}`, invalid, "cursor"},
		{"privacy.prose", `{"id":"none"}`, missing, ""},
		{"privacy.prose", `{"limit":0}`, invalid, "limit"},
		{"privacy.prose", `{"limit":1001}`, invalid, "limit"},
		{"privacy.prose", `{"cursor":"x"}`, invalid, "cursor"},
		{"privacy.prose", `{"cursor":"bm90ZS9hAHQ"}`, invalid, "cursor"},
		{"vault.import", `{}`, invalid, "path"},
		{"vault.import", `{"path":"relative"}`, invalid, "path"},
		{"vault.status", `{"vault":"none"}`, missing, ""},
		{"vault.problems", `{"vault":"none"}`, missing, ""},
		{"vault.problems", `{"kinds":["link.lost"]}`, invalid, "kinds[0]"},
		{"vault.problems", `{"limit":1001}`, invalid, "limit"},
		{"vault.forget", `{"vault":"none"}`, missing, ""},
		{"admin.health", `{"x":1}`, invalid, "x"},
		{"admin.backup", `{}`, invalid, "path"},
		{"admin.backup", `{"path":"relative"}`, invalid, "path"},
		{"admin.backup", `{"path":"/x","overwrite":"yes"}`, invalid, "overwrite"},
		{"admin.restore", `{}`, invalid, "path"},
		{"admin.restore", `{"path":"relative","dryRun":true}`, invalid, "path"},
		{"admin.restore", `{"path":"/there/is/none"}`, missing, ""},
		{"admin.restore", `{"path":"/x","checksum":7}`, invalid, "checksum"},
		{"admin.check", `{"x":1}`, invalid, "x"},
		{"admin.stats", `[1]`, invalid, "params"},
		{"admin.stop", `{"now":true}`, invalid, "now"},
		{"rpc.discover", `{"x":1}`, invalid, "x"},
	} {
		_, err := d.try(c.method, c.params)
		var e *client.Error
		if !errors.As(err, &e) {
			t.Errorf("%s %.120s: %v", c.method, c.params, err)
			continue
		}
		if e.Code != c.code || e.Data.Field != c.field {
			t.Errorf("%s %.120s: code %d field %q (%s), want %d %q", c.method, c.params, e.Code, e.Data.Field, e.Message, c.code, c.field)
		}
	}
}

// TestREL6_BoundsOfTimesAndNames: what JSON can't hold and what a terminal would obey is
// refused, or told back so that it can be read.
func TestREL6_BoundsOfTimesAndNames(t *testing.T) {
	d := start(t)
	for params, want := range map[string][2]string{
		`{"createdAt":"9999-12-31T23:59:59-12:00"}`: {"createdAt", "createdAt must be a time such as 2026-01-31T09:30:00Z"},
		`{"createdAt":"0000-01-01T00:00:00+12:00"}`: {"createdAt", "createdAt must be a time such as 2026-01-31T09:30:00Z"},
		`{"":1}`:          {`""`, `"" is not a parameter`},
		`{"\u001b[2J":1}`: {`"\x1b[2J"`, `"\x1b[2J" is not a parameter`},
		`{"\u202e":1}`:    {`"\u202e"`, `"\u202e" is not a parameter`},
		`{"größe":1}`:     {"größe", "größe is not a parameter"},
	} {
		_, err := d.try("notes.put", params)
		var e *client.Error
		if !errors.As(err, &e) || e.Code != protocol.CodeInvalidParams || e.Data.Field != want[0] || e.Message != want[1] {
			t.Errorf("%s: %v", params, err)
		}
	}
	d.do("notes.put", `{"createdAt":"9999-12-31T23:59:59Z"}`)
	d.do("notes.put", `{"body":"---\ncreated: 9999-12-31T23:59:59-12:00\n---\ntext"}`)
}

// A query for a remote model is answered as if private entities did not exist.
func TestCTX34_QueriesOfARemoteAudience(t *testing.T) {
	d := start(t)
	d.seed()
	d.do("entities.patch", `{"id":"bob","private":true}`)
	const count = `"query":"SELECT COUNT(*) FROM Person"`
	d.want(d.do("wql.query", `{`+count+`}`), "value", 2)
	d.want(d.do("wql.query", `{`+count+`,"audience":"local"}`), "value", 2)
	d.want(d.do("wql.query", `{`+count+`,"audience":"remote"}`), "value", 1)
	d.want(d.do("wql.query", `{"query":"SELECT p FROM Person","audience":"remote"}`), "rows.0.id", "alice")
	d.want(d.do("wql.query", `{"query":"SELECT p FROM Person","audience":"remote"}`), "total", 1)
}

// TestCTX34_ARemoteReaderOfAQuery gets no names and texts that tell of private records.
func TestCTX34_ARemoteReaderOfAQuery(t *testing.T) {
	d := start(t)
	d.do("notes.put", `{"id":"secret","title":"Plan","private":true}`)
	d.do("types.put", `{"name":"P","fields":[{"name":"about","type":"text"}]}`)
	d.do("entities.put", `{"id":"a","type":"P","name":"On [[Plan]]","fields":{"about":"see [[Plan]]"}}`)
	for audience, shown := range map[string]string{"local": "[[Plan]]", "remote": "(private)"} {
		d.want(d.do("wql.query", `{"query":"SELECT MAX(p.about) FROM P p","audience":"`+audience+`"}`), "value", "see "+shown)
		d.want(d.do("wql.query", `{"query":"SELECT p FROM P p","audience":"`+audience+`"}`), "rows.0.name", "On "+shown)
	}
}
