package rpc_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// The attacks on the protocol. What may be asked is read from rpc.discover, so that a new
// method is attacked without a line here; a test fails when no attack can call it with
// success. Each attack has a daemon of its own, over a copy of a store with public and
// private records, and several connections. Its steps are made from bytes: calls with
// params that fit their schemas and such that don't, batches, notifications,
// cancellations, ids that come again, frames that break off, endings.
//
// What must hold whatever is sent:
//
//   - Every request is answered once, with a result that fits its schema or an error that
//     the contract lists for its method. None is internal.
//   - A remote connection gets no word that stands in private records alone, and nothing
//     else gets into the log.
//   - Afterwards the daemon answers, holds no memory for calls, has a store that
//     admin.check finds whole, and leaves no goroutine.

// attackLimits are small where a step must be able to go beyond them.
var attackLimits = rpc.Limits{MessageBytes: 512 << 10, TextBytes: 32 << 10, Nesting: 64, Batch: 16, InFlight: 24, HeaderBytes: 1 << 10}

// battlefield is what all attacks of a test begin with.
type battlefield struct {
	dir  string // vaults, a store and a backup of it
	doc  *discovered
	talk string // id of a conversation
}

// vaultFiles are the files of the vaults.
var vaultFiles = map[string]string{
	"Notes/One.md":                     "# One\n\nSee [[Two]], [[Zqcanaryvault]] and @Alice. #plan scales",
	"Notes/Sub/Two.md":                 "---\ntype: Person\nrole: Lead\nfriend: '[[One]]'\ncustom: 3\n---\nscales [[Nowhere]]",
	"Notes/Zqcanaryvault.md":           "---\nprivate: true\ntype: Zqcanarykind\nzqcanaryfield: Zqcanaryvalue\naliases: [Zqcanaryother]\n---\n# Zqcanaryhead\n\nscales Zqcanaryword [[One]] #zqcanarytag",
	"Notes/zqcanaryfolder/Doubtful.md": "---\nprivate: true\nbroken: [\n---\nZqcanarytext",
	"Notes/.ctxd/types/Place.yaml":     "name: Place\nfields:\n  - name: at\n    type: text\n  - name: near\n    type: entity_ref\n    targetType: Place\n",
	"Notes/Park.md":                    "---\ntype: Place\nat: north\nnear: '[[Park]]'\n---\n[a](Sub/Two.md)",
	"Other/One.md":                     "# One of Other\n\n[[Inner/Two]]",
	"Other/Inner/Two.md":               "---\ntags: [a, b]\ncreated: 2001-02-03\n---\nText",
	"Other/bad.md":                     "\xff\xfe",
	"Empty/.keep":                      "",
}

// exportedChats is a data export of another program.
const exportedChats = `[{"uuid":"t1","name":"Talk","created_at":"2025-05-01T08:00:00Z","updated_at":"2025-05-01T08:00:00Z","chat_messages":[` +
	`{"uuid":"t1m1","sender":"human","text":"scales of [[Open]]","created_at":"2025-05-01T08:00:00Z"},` +
	`{"uuid":"t1m2","sender":"assistant","text":"said","created_at":"2025-05-01T08:00:01Z"}]}]`

// prepare writes the folders and fills the store.
func prepare(t testing.TB) *battlefield {
	t.Helper()
	f := &battlefield{dir: t.TempDir()}
	for name, text := range vaultFiles {
		path := filepath.Join(f.vaults(), name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	data := filepath.Join(f.dir, "data")
	d := besiege(t, data, shortDir(t), &lockedBuffer{})
	c, err := client.Dial(context.Background(), d.path, client.Options{})
	must(t, err)
	last := "" // conversation that was begun
	do := func(method, params string) {
		t.Helper()
		var out struct {
			ConversationID string `json:"conversationId"`
		}
		if f.talk != "" {
			params = strings.ReplaceAll(params, quoted(openChat), quoted(f.talk))
		}
		params = strings.ReplaceAll(params, "{CHAT}", last)
		if err := c.Call(context.Background(), method, json.RawMessage(params), &out); err != nil {
			t.Fatalf("%s %s: %v", method, params, err)
		}
		f.talk = cmp.Or(f.talk, out.ConversationID)
		last = cmp.Or(out.ConversationID, last)
	}
	const s = secrets("Zqcanary")
	for _, r := range slices.Concat(publicRecords(true), privateRecords(true), ambiguousRecords, attackRecords) {
		for call := range strings.SplitSeq(r, "\n") {
			method, params, _ := strings.Cut(call, " ")
			do(method, s.fillParams(params))
		}
	}
	do("chat.import", imported("examples", "Examples", time.Now(), false, // those of the document, which wait when it is attacked
		proposal("36fd2706-8baf-433b-82eb-8c7fada847da", "assignEntity", `{"entityId":"ann","field":"boss","targetId":"bob"}`, time.Now()),
		proposal("46fd2706-8baf-433b-82eb-8c7fada847da", "createTask", `{"title":"Book the hut"}`, time.Now())))
	do("chat.import", strings.ReplaceAll(citing("excerpts", "Excerpts", time.Now().Add(-time.Hour), false, excerptsOf("open", "thing")), "excerpts-m1", "26fd2706-8baf-433b-82eb-8c7fada847da"))
	do("chat.import", s.fillParams(imported("hidden", "{word} examples", time.Now(), true,
		proposal("pact3", "createTask", `{"title":"{word}","noteId":"psecret"}`, time.Now()))))
	do("vault.import", `{"path":`+quoted(filepath.Join(f.vaults(), "Notes"))+`,"watch":true}`)
	do("admin.backup", `{"path":`+quoted(filepath.Join(f.dir, "b.ctxdbackup"))+`}`)
	do("memory.export", `{"path":`+quoted(filepath.Join(f.dir, "m.jsonl"))+`}`)
	var raw json.RawMessage
	must(t, c.Call(context.Background(), "rpc.discover", nil, &raw))
	f.doc, err = readDocument(raw)
	must(t, err)
	must(t, c.Close())
	must(t, d.end())
	return f
}

func (f *battlefield) vaults() string { return filepath.Join(f.dir, "vaults") }

// attackRecords are what examples of the document and guesses of the generator name.
var attackRecords = []string{
	`memory.add {"id":"550e8400-e29b-41d4-a716-446655440000","statement":"what examples are about"}`,
	`memory.archive {"id":"550e8400-e29b-41d4-a716-446655440000"}`,
	`memory.add {"id":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c01","statement":"I have 28 days of leave."}`,
	`memory.add {"id":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c02","statement":"I have 25 days of leave."}`,
	`contexts.put {"id":"health","name":"Health"}`,
	`memory.add {"statement":"The roof has a chimney","tags":["roof","chimney"]}`,
	`books.add {"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","text":"# Winter\n\nScales weigh hives.","mimeType":"md"}`,
	`types.put {"name":"Team","fields":[{"name":"lead","type":"entity_ref","targetType":"Person"}]}`,
	`types.put {"name":"Odd","fields":[{"name":"x","type":"entity_ref","targetType":"Nothing"}]}`,
	`types.put {"name":"Person","fields":[{"name":"pay","type":"number"},{"name":"boss","type":"entity_ref"},{"name":"about","type":"text"},` +
		`{"name":"met","type":"text_list"},{"name":"file","type":"note_ref"},{"name":"friend","type":"entity_ref"},` +
		`{"name":"top","type":"computed","query":"SELECT MAX(p.pay) FROM Person p"},` +
		`{"name":"same","type":"computed","query":"SELECT p FROM Person WHERE p.friend = {this}"},` +
		`{"name":"role","type":"text"},{"name":"age","type":"number"},{"name":"team","type":"entity_ref","targetType":"Team"},` +
		`{"name":"reports","type":"computed","query":"SELECT p FROM Person WHERE p.team = {this}"},{"name":"born","type":"date"},` +
		`{"name":"mail","type":"email"},{"name":"site","type":"url"},{"name":"level","type":"select","options":["junior","senior"]},` +
		`{"name":"on","type":"boolean"},{"name":"crew","type":"entity_ref_list"}]}`,
	`entities.putMany {"entities":[{"id":"core","type":"Team","name":"Core","fields":{"lead":"alice"}},` +
		`{"id":"alice","type":"Person","name":"Alice","aliases":["Al"],"fields":{"role":"Engineer","age":41,"team":"core","crew":["bob","ann"]}},` +
		`{"id":"trashed","type":"Person","name":"Nobody"}]}`,
	`notes.putMany {"notes":[{"id":"kickoff","title":"Kickoff","body":"See [[Alpha]] and [[Nowhere]]. #plan/q1","tags":["plan"]},` +
		`{"id":"alpha","title":"Alpha","body":"The text of Alpha. [[Kickoff]]","path":"projects/alpha.md"},` +
		`{"id":"typed","title":"Typed","body":"---\ntype: Person\nrole: Lead\n---\nscales @Bob"},{"id":"gone","title":"Archived one","body":"kept apart"}]}`,
	`notes.archive {"id":"gone"}`,
	`entities.archive {"id":"trashed"}`,
}

// besieged is a daemon over a folder.
type besieged struct {
	t      testing.TB
	srv    *rpc.Server
	path   string
	served chan error
}

// model is read once: it is large.
var model = embed.LazyBuiltinTable()

// besiege starts a daemon over a store in a folder.
func besiege(t testing.TB, data, dir string, log *lockedBuffer) *besieged {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d := &besieged{t: t, served: make(chan error, 1)}
	d.srv = rpc.New(rpc.Options{
		Methods: rpc.Methods(), Limits: unhurried(attackLimits), Logger: logger,
		Info: protocol.ServerInfo{Name: "ctxd", Version: "0.0.0"}, DataDir: data, Format: 1,
		Stop:      func() {},
		OpenStore: func() (*kv.Store, error) { return kv.Open(data, kv.Options{Format: 1, Logger: logger}) },
		OpenRooms: func(db *kv.Store) (*rpc.Deps, error) {
			return roomsWith(db, search.Options{Dir: filepath.Join(data, "index"), Embedder: model})
		},
	})
	must(t, d.srv.Load(context.Background()))
	ln, err := socket.Listen(filepath.Join(dir, "s"), socket.Options{})
	must(t, err)
	d.path = ln.Path()
	go func() { d.served <- d.srv.Serve(ln) }()
	return d
}

// end ends the daemon as its program does.
func (d *besieged) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.srv.Shutdown(ctx); err != nil {
		return fmt.Errorf("shutdown: %w\n%s", err, stacks())
	}
	d.srv.Wait()
	return errors.Join(<-d.served, d.srv.CloseStore())
}

// stacks returns what every goroutine is at.
func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// attack is one sequence of steps against a daemon.
type attack struct {
	*besieged
	doc     *discovered
	gen     *generator
	log     *lockedBuffer
	conns   [4]*assailant
	readers sync.WaitGroup

	transcript []string

	mu       sync.Mutex // guards what follows
	faults   []string
	answered map[string]bool // methods that succeeded
}

func (a *attack) fault(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

func (a *attack) succeeded(method string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answered[method] = true
}

// run attacks a daemon of its own with the steps that an input stands for, and returns
// the methods that succeeded.
func (f *battlefield) run(t testing.TB, input []byte) map[string]bool {
	t.Helper()
	before := goleak.IgnoreCurrent()
	dir := shortDir(t)
	data := filepath.Join(dir, "data")
	must(t, os.CopyFS(data, os.DirFS(filepath.Join(f.dir, "data"))))
	must(t, os.MkdirAll(filepath.Join(dir, "out"), 0o700))
	must(t, os.Symlink(filepath.Join(f.vaults(), "Other"), filepath.Join(dir, "link")))
	for _, name := range []string{"b.ctxdbackup", "m.jsonl"} {
		content, err := os.ReadFile(filepath.Join(f.dir, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, "chats.json"), []byte(exportedChats), 0o600))

	a := &attack{
		doc: f.doc, gen: &generator{doc: f.doc, vaults: f.vaults(), dir: dir, chats: []string{f.talk}}, log: &lockedBuffer{},
		answered: map[string]bool{},
	}
	a.besieged = besiege(t, data, dir, a.log)
	for step := range slices.Chunk(input, stepBytes) {
		a.step(newChoices(step))
	}
	a.finish()
	if err := a.end(); err != nil {
		a.fault("the daemon does not end well: %v", err)
	}
	a.readers.Wait()
	left := error(nil)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); { // it waits a little by itself
		left = goleak.Find(before, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
		if left == nil {
			break
		}
	}
	if left != nil {
		a.fault("goroutines are left: %v", left)
	}
	log := a.log.String()
	if found := canaries.FindString(log); found != "" {
		a.fault("the log holds %s", found)
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=ERROR") {
			a.fault("the log: %.2000s", line)
		}
	}
	if len(a.faults) > 0 {
		t.Errorf("%s\n\nafter\n%s", strings.Join(a.faults[:min(len(a.faults), 8)], "\n"), strings.Join(a.transcript, "\n"))
	}
	return a.answered
}

// finish waits for what is owed and checks that the daemon is as it was.
func (a *attack) finish() {
	for _, p := range a.conns {
		if p == nil || !p.await() {
			continue
		}
		p.send(`{"jsonrpc":"2.0","id":"last","method":"admin.health"}`, 0, &owed{id: `"last"`, method: a.doc.methods["admin.health"]})
		p.await()
		p.close()
	}
	quiet := make(chan struct{})
	go func() {
		a.srv.Wait()
		close(quiet)
	}()
	select {
	case <-quiet:
	case <-time.After(patience):
		a.fault("calls go on running")
	}
	if st := a.srv.ConnStats(); st.Open != 0 || st.InFlight != 0 || st.Queued != 0 || st.CallBytes != 0 || st.WorkBytes != 0 ||
		st.OutboundBytes != 0 || st.WaitForMemory != 0 || st.ReadsRunning != 0 || st.ReadsLong != 0 || st.ReadsWaiting != 0 {
		a.fault("nothing runs, and %+v is booked", st)
	}
	remote := a.connect(8, 2)
	for _, m := range a.doc.Methods {
		if !m.WholeStore && !m.Daemon && len(m.Params) > 0 && (strings.HasSuffix(m.Name, ".list") || m.Name == "graph.stats") {
			remote.call(m.Name, "{}", true)
		}
	}
	remote.call("notes.search", `{"query":"scales alpha","limit":100}`, true)
	remote.call("context.assemble", `{"text":"@Alice @Cid @Typed [[Open]] [[Kickoff]] scales","searchNotes":8}`, true)
	remote.await()
	remote.close()
	var health protocol.Health
	a.ask("admin.health", &health)
	if health.Store.Mode != "read-write" || health.Store.Deleted != nil {
		a.fault("the store is %+v", health.Store)
	}
	var stats protocol.Stats
	a.ask("admin.stats", &stats)
	if c := stats.Connections; c.InFlight != 1 || c.CallBytes != 2 || c.WorkBytes != 0 || c.WaitForMemory != 0 {
		a.fault("admin.stats runs alone, and says %+v", c)
	}
	var checked protocol.Checked
	a.ask("admin.check", &checked)
	if !checked.OK || !checked.Compared {
		a.fault("admin.check: %v %v %+v", checked.Problems, checked.Compared, checked.Drift)
	}
}

// call sends a request with an id of its own.
func (p *assailant) call(method, params string, succeeds bool) {
	p.serial++
	id := fmt.Sprintf(`"own %d"`, p.serial)
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	p.send(text, 0, &owed{id: id, method: p.a.doc.methods[method], sent: text, succeeds: succeeds})
}

// ask calls a method without params that has to succeed.
func (a *attack) ask(method string, result any) {
	c, err := client.Dial(context.Background(), a.path, client.Options{})
	if err != nil {
		a.fault("%v", err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Call(ctx, method, nil, result); err != nil {
		a.fault("%s: %v", method, err)
	}
}

// FuzzREL6_Protocol attacks the daemon with everything that rpc.discover tells of.
func FuzzREL6_Protocol(f *testing.F) {
	campaign.Only(f)
	if testing.Short() {
		f.Skip("takes long under the race detector; the campaign of the same attacks runs there")
	}
	field := prepare(f)
	for _, input := range seeds() {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		field.run(t, input[:min(len(input), 64*stepBytes)])
	})
}
