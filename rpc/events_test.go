package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

// told is one notification.
type told struct {
	method string
	params json.RawMessage
}

// changed is the parameter of notes.changed and entities.changed.
type changed struct {
	IDs  []string `json:"ids"`
	Kind string   `json:"kind"`
	Seq  uint64   `json:"seq"`
}

// listener is a client that keeps what it is told.
type listener struct {
	*client.Client
	t    testing.TB
	told chan told
}

func (d *daemon) listen(topics ...string) *listener {
	d.t.Helper()
	l := &listener{t: d.t, told: make(chan told, 10_000)}
	var err error
	l.Client, err = client.Dial(context.Background(), d.path, client.Options{
		OnNotify: func(method string, params json.RawMessage) { l.told <- told{method, params} },
	})
	must(d.t, err)
	d.t.Cleanup(func() { _ = l.Close() })
	if len(topics) > 0 {
		l.subscribe(topics...)
	}
	return l
}

// subscribe returns the topics in effect.
func (l *listener) subscribe(topics ...string) []string { return l.topics("events.subscribe", topics) }

func (l *listener) unsubscribe(topics ...string) []string {
	return l.topics("events.unsubscribe", topics)
}

func (l *listener) topics(method string, topics []string) []string {
	l.t.Helper()
	var out struct{ Topics []string }
	if err := l.Call(context.Background(), method, map[string]any{"topics": topics}, &out); err != nil {
		l.t.Fatal(err)
	}
	return out.Topics
}

// next waits for the next notification.
func (l *listener) next() told {
	l.t.Helper()
	select {
	case n := <-l.told:
		return n
	case <-time.After(patience):
		l.t.Fatal("nothing is told")
		return told{}
	}
}

// nextChange waits for the next change and returns it as "method kind ids".
func (l *listener) nextChange() (string, changed) {
	l.t.Helper()
	n := l.next()
	var c changed
	must(l.t, json.Unmarshal(n.params, &c))
	return fmt.Sprintf("%s %s %s", n.method, c.Kind, strings.Join(c.IDs, ",")), c
}

func (l *listener) want(lines ...string) {
	l.t.Helper()
	for _, want := range lines {
		if got, _ := l.nextChange(); got != want {
			l.t.Fatalf("told %q, want %q", got, want)
		}
	}
}

func TestEventsTellOfEveryKindOfChange(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"Person","fields":[]}`)
	l := d.listen("notes.changed", "entities.changed")
	for _, c := range []struct{ method, params, want string }{
		{"notes.put", `{"id":"n1","title":"One"}`, "notes.changed put n1"},
		{"notes.patch", `{"id":"n1","title":"Two"}`, "notes.changed put n1"},
		{"notes.archive", `{"id":"n1"}`, "notes.changed archive n1"},
		{"notes.restore", `{"id":"n1"}`, "notes.changed restore n1"},
		{"notes.delete", `{"id":"n1"}`, "notes.changed delete n1"},
		{"notes.putMany", `{"notes":[{"id":"a","title":"A"},{"id":"b","title":"B"}]}`, "notes.changed put a,b"},
		{"entities.put", `{"id":"e1","type":"Person","name":"Eve"}`, "entities.changed put e1"},
		{"entities.archive", `{"id":"e1"}`, "entities.changed archive e1"},
		{"entities.restore", `{"id":"e1"}`, "entities.changed restore e1"},
		{"entities.delete", `{"id":"e1"}`, "entities.changed delete e1"},
	} {
		d.do(c.method, c.params)
		got, change := l.nextChange()
		if got != c.want {
			t.Errorf("%s: told %q, want %q", c.method, got, c.want)
		}
		if seq := d.do("admin.health", `{}`); at(seq, "store.seq") != float64(change.Seq) {
			t.Errorf("%s: seq %d, the store is at %v", c.method, change.Seq, at(seq, "store.seq"))
		}
	}
}

// A transaction that changes a note and the entity made from it is told of on
// both topics.
func TestEventsOfOneCommit(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"Person","fields":[]}`)
	l := d.listen("notes.changed", "entities.changed")
	d.do("notes.put", `{"id":"n1","title":"Ann","body":"---\ntype: Person\n---\ntext"}`)
	first, a := l.nextChange()
	second, b := l.nextChange()
	if first != "notes.changed put n1" || !strings.HasPrefix(second, "entities.changed put ") || a.Seq != b.Seq {
		t.Errorf("%s (%d), %s (%d)", first, a.Seq, second, b.Seq)
	}
	d.do("notes.archive", `{"id":"n1"}`)
	l.want("notes.changed archive n1", "entities.changed archive "+b.IDs[0])
}

// Events of one connection are in the order of the commits, and none is lost
// for a client that reads.
func TestEventsKeepTheOrderOfCommits(t *testing.T) {
	d := start(t)
	l := d.listen("notes.changed")
	const writers, each = 8, 50
	var all sync.WaitGroup
	for w := range writers {
		c := d.listen()
		all.Go(func() {
			for i := range each {
				if err := c.Call(context.Background(), "notes.put", map[string]any{"id": fmt.Sprintf("n%d-%d", w, i), "title": "x"}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	last := uint64(0)
	for len(seen) < writers*each {
		_, c := l.nextChange()
		if c.Seq <= last {
			t.Fatalf("seq %d after %d", c.Seq, last)
		}
		last = c.Seq
		for _, id := range c.IDs {
			if seen[id] {
				t.Errorf("%s twice", id)
			}
			seen[id] = true
		}
	}
}

// A call that follows the subscription on the same connection is told of, sent
// in one go.
func TestEventsSubscribeIsInOrderWithCalls(t *testing.T) {
	d := start(t)
	nc, err := socket.Dial(context.Background(), d.path)
	must(t, err)
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	_, err = nc.Write([]byte(hello + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"topics":["notes.changed"]}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"notes.put","params":{"id":"n1","title":"x"}}` + "\n"))
	must(t, err)
	dec := json.NewDecoder(nc)
	for {
		var m struct {
			Method string
			Params changed
		}
		must(t, dec.Decode(&m))
		if m.Method == "notes.changed" {
			if m.Params.Kind != "put" || !slices.Equal(m.Params.IDs, []string{"n1"}) {
				t.Errorf("%+v", m)
			}
			return
		}
	}
}

func TestEventTopics(t *testing.T) {
	d := start(t)
	l := d.listen()
	for _, c := range []struct {
		edit func(...string) []string
		give []string
		want []string
	}{
		{l.subscribe, []string{}, []string{}},
		{l.subscribe, []string{"notes.changed", "notes.changed"}, []string{"notes.changed"}},
		{l.subscribe, []string{"health.changed", "entities.changed"}, []string{"entities.changed", "health.changed", "notes.changed"}},
		{l.unsubscribe, []string{"index.progress", "health.changed"}, []string{"entities.changed", "notes.changed"}},
		{l.unsubscribe, []string{"notes.changed", "entities.changed"}, []string{}},
		{l.subscribe, []string{"notes.changed"}, []string{"notes.changed"}},
	} {
		if got := c.edit(c.give...); !slices.Equal(got, c.want) {
			t.Fatalf("%v: %v in effect, want %v", c.give, got, c.want)
		}
	}
	for _, method := range []string{"events.subscribe", "events.unsubscribe"} {
		err := l.Call(context.Background(), method, map[string]any{"topics": []string{"health.changed", "weather.changed"}}, nil)
		var e *client.Error
		if !errors.As(err, &e) || e.Code != protocol.CodeInvalidParams || e.Data.Field != "topics[1]" ||
			!strings.Contains(e.Data.Hint, "entities.changed, health.changed, index.progress, memory.changed, notes.changed") {
			t.Errorf("%s: %v %+v", method, err, e)
		}
	}
	// Nothing of the refused call took effect, and only what is subscribed to
	// is told.
	if got := l.subscribe("notes.changed"); !slices.Equal(got, []string{"notes.changed"}) {
		t.Errorf("%v", got)
	}
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("entities.put", `{"id":"e1","type":"Person","name":"Eve"}`)
	d.do("notes.put", `{"id":"n1","title":"x"}`)
	l.want("notes.changed put n1")
}

func TestEventsEndWithTheSubscription(t *testing.T) {
	d := start(t)
	l, gone := d.listen("notes.changed"), d.listen("notes.changed")
	must(t, gone.Close())
	l.unsubscribe("notes.changed")
	if len(l.told) > 0 {
		t.Fatal("told before anything happened")
	}
	d.do("notes.put", `{"id":"quiet","title":"x"}`)
	l.subscribe("notes.changed")
	d.do("notes.put", `{"id":"loud","title":"x"}`)
	for {
		// The quiet one may have been under way, but is not told of twice.
		if line, _ := l.nextChange(); line == "notes.changed put loud" {
			break
		} else if line != "notes.changed put quiet" {
			t.Fatal(line)
		}
	}
}

// A notification fits its schema in the document.
func TestEventsFitTheirSchemas(t *testing.T) {
	d := start(t)
	schemas := notificationSchemas(t)
	l := d.listen("notes.changed", "entities.changed", "index.progress", "health.changed")
	vault := filepath.Join(t.TempDir(), "Vault")
	must(t, fixtures.CopyVault(vault))
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
	met := map[string]bool{}
	for len(met) < 3 {
		n := l.next()
		var v any
		must(t, json.Unmarshal(n.params, &v))
		if s := schemas[n.method]; s == nil {
			t.Fatalf("%s is not in the document", n.method)
		} else if err := s.Validate(v); err != nil {
			t.Errorf("%s %s: %v", n.method, n.params, err)
		}
		met[n.method] = true
	}
}

func notificationSchemas(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	doc, err := openrpc.Document()
	must(t, err)
	var parsed struct {
		Notifications []struct {
			Name   string
			Params []struct {
				Name     string
				Required bool
				Schema   *jsonschema.Schema
			}
		} `json:"x-notifications"`
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	must(t, json.Unmarshal([]byte(strings.ReplaceAll(string(doc), "#/components/schemas/", "#/$defs/")), &parsed))
	out := map[string]*jsonschema.Resolved{}
	for _, n := range parsed.Notifications {
		root := &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{}, Defs: map[string]*jsonschema.Schema{},
			AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		}
		for _, p := range n.Params {
			root.Properties[p.Name] = p.Schema.CloneSchemas()
			if p.Required {
				root.Required = append(root.Required, p.Name)
			}
		}
		for name, s := range parsed.Components.Schemas {
			root.Defs[name] = s.CloneSchemas()
		}
		out[n.Name], err = root.Resolve(nil)
		must(t, err)
	}
	return out
}

func TestIndexProgressOfAnImport(t *testing.T) {
	d := start(t)
	l := d.listen("index.progress")
	vault := filepath.Join(t.TempDir(), "My Vault")
	must(t, fixtures.CopyVault(vault))
	d.do("vault.import", fmt.Sprintf(`{"path":%q,"dryRun":true}`, vault)) // tells nobody else
	got := d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
	stages := map[string]protocol.IndexProgress{}
	for {
		var p protocol.IndexProgress
		must(t, json.Unmarshal(l.next().params, &p))
		if p.Vault != got["vault"] || p.Done > p.Total {
			t.Fatalf("%+v of vault %v", p, got["vault"])
		}
		if last := stages[p.Stage]; p.Done < last.Done {
			t.Fatalf("%+v after %+v", p, last)
		}
		stages[p.Stage] = p
		if p.Stage == "write" && p.Done == p.Total {
			break
		}
	}
	if read := stages["read"]; read.Done == 0 || read.Done != read.Total {
		t.Errorf("reading: %+v", read)
	}
}

// brokenDisk is a file system on which syncing fails once it is broken.
type brokenDisk struct {
	kv.FS
	broken atomic.Bool
}

type brokenFile struct {
	kv.File
	disk *brokenDisk
}

func (d *brokenDisk) OpenFile(name string, flag int, perm fs.FileMode) (kv.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	return brokenFile{f, d}, err
}

func (f brokenFile) Sync() error {
	if f.disk.broken.Load() {
		return errors.New("the disk is broken")
	}
	return f.File.Sync()
}

func TestHealthChangedWhenTheStoreBreaks(t *testing.T) {
	disk := &brokenDisk{FS: kv.OS()}
	db, err := kv.Open(t.TempDir(), kv.Options{FS: disk})
	must(t, err)
	d := startOver(t, db, rpc.Options{})
	d.srv.SetHealth(time.Hour, nil) // it is told because of the call, not by the clock
	l := d.listen("health.changed")
	d.do("notes.put", `{"id":"n1","title":"x"}`)
	disk.broken.Store(true)
	d.broken = true
	if _, err := d.try("notes.put", `{"id":"n2","title":"x"}`); err == nil {
		t.Fatal("a write on a broken disk was acknowledged")
	}
	n := l.next()
	var h protocol.Health
	must(t, json.Unmarshal(n.params, &h))
	if n.method != "health.changed" || h.Status != protocol.Failing || h.Store.Mode != "read-only" || len(h.Warnings) == 0 {
		t.Errorf("%s %s", n.method, n.params)
	}
	// The same trouble is told once.
	for range 3 {
		_, _ = d.try("notes.put", `{"id":"n3","title":"x"}`)
	}
	l.subscribe("notes.changed")
	late := d.listen("health.changed")
	if len(l.told) > 0 || len(late.told) > 0 {
		t.Errorf("told again: %d, %d", len(l.told), len(late.told))
	}
	disk.broken.Store(false)
}

// A store that breaks by itself says so, long before the daemon looks.
func TestHealthChangedWhenTheStoreBreaksByItself(t *testing.T) {
	disk := &brokenDisk{FS: kv.OS()}
	data := t.TempDir()
	var d *daemon
	d = launch(t, rpc.Options{DataDir: data, OpenStore: func() (*kv.Store, error) {
		return kv.Open(data, kv.Options{FS: disk, Durability: kv.Relaxed, OnStatus: func() { d.srv.HealthChanged() }})
	}})
	must(t, d.srv.Load(context.Background()))
	d.srv.SetHealth(time.Hour, nil)
	l := d.listen("health.changed")
	d.broken = true
	disk.broken.Store(true)
	d.do("notes.put", `{"id":"n1","title":"x"}`) // acknowledged before it is flushed
	var h protocol.Health
	must(t, json.Unmarshal(l.next().params, &h))
	if h.Status != protocol.Failing || h.Store.Mode != "read-only" {
		t.Errorf("told %+v", h)
	}
}

// What nobody in the daemon notices is found on the daemon's rounds.
func TestHealthChangedOnARound(t *testing.T) {
	d := start(t)
	var status atomic.Value
	status.Store(protocol.Healthy)
	d.srv.SetHealth(10*time.Millisecond, func() protocol.Health {
		return protocol.Health{Status: status.Load().(string), Warnings: []string{}}
	})
	l := d.listen("health.changed")
	for _, want := range []string{protocol.Warning, protocol.Healthy} {
		status.Store(want)
		var h protocol.Health
		must(t, json.Unmarshal(l.next().params, &h))
		if h.Status != want {
			t.Errorf("%s, want %s", h.Status, want)
		}
	}
}

// slow is a subscriber that does not read: a reply waits for it, so that its
// events are held back.
type slow struct {
	*peer
}

func (d *daemon) slow(topics string) *slow {
	d.t.Helper()
	d.do("notes.put", `{"id":"big","title":"Big","body":"`+strings.Repeat("x", 4<<20)+`"}`)
	nc, err := socket.Dial(context.Background(), d.path)
	must(d.t, err)
	_ = nc.SetDeadline(time.Now().Add(patience))
	d.t.Cleanup(func() { _ = nc.Close() })
	s := &slow{peer: &peer{t: d.t, nc: nc.(*net.UnixConn), in: bufio.NewReader(nc)}}
	s.send(strings.Replace(hello, `"test"`, `"slow"`, 1) + "\n")
	s.line()
	s.call(1, "events.subscribe", `{"topics":[`+topics+`]}`)
	s.line()
	s.call(2, "notes.get", `{"ref":"big"}`)
	for d.waiting("slow") <= rpc.MaxHeldEventBytes {
		d.do("admin.health", `{}`) // until the reply waits
	}
	return s
}

// connection returns what the daemon says of the connection of a program.
func (d *daemon) connection(program string) protocol.Connection {
	d.t.Helper()
	var all protocol.Connections
	must(d.t, d.Call(context.Background(), "admin.connections", nil, &all))
	for _, c := range all.Connections {
		if c.Client.Name == program {
			return c
		}
	}
	return protocol.Connection{}
}

func (d *daemon) waiting(program string) int64 { return d.connection(program).WaitingBytes }

// change reads the next message, which must be a change.
func (s *slow) change() string {
	s.t.Helper()
	text := s.line()
	var c changed
	must(s.t, json.Unmarshal(parseReply(s.t, text).Params, &c))
	if c.IDs == nil || c.Seq == 0 {
		s.t.Errorf("a change without ids or seq: %s", text)
	}
	return fmt.Sprintf("%s %s %s", parseReply(s.t, text).Method, c.Kind, strings.Join(c.IDs, ","))
}

func (s *slow) wantChanges(lines ...string) {
	s.t.Helper()
	for _, want := range lines {
		if got := s.change(); got != want {
			s.t.Fatalf("told %q, want %q", got, want)
		}
	}
}

func TestREL7_EventsOfASlowReaderAreMerged(t *testing.T) {
	d := start(t)
	d.seed()
	s := d.slow(`"notes.changed","entities.changed"`)
	before := d.waiting("slow")
	for i := range 1000 {
		d.do("notes.put", fmt.Sprintf(`{"id":"n%d","title":"x"}`, i%3))
	}
	d.do("notes.archive", `{"id":"n0"}`)
	d.do("notes.patch", `{"id":"n0","title":"y"}`)
	d.do("notes.delete", `{"id":"n1"}`)
	d.do("entities.put", `{"id":"carl","type":"Person","name":"Carl"}`)
	d.do("entities.archive", `{"id":"carl"}`)
	if waits := d.waiting("slow"); waits > before {
		t.Errorf("%d bytes wait, it were %d before the events", waits, before)
	}
	s.line() // the reply that waited
	s.wantChanges("entities.changed archive carl", "notes.changed archive n0", "notes.changed delete n1", "notes.changed put n2")
	// From here on it is told one by one again.
	d.do("notes.put", `{"id":"n7","title":"x"}`)
	d.do("notes.put", `{"id":"n7","title":"y"}`)
	s.wantChanges("notes.changed put n7", "notes.changed put n7")
}

func TestREL7_TooManyEventsBecomeOne(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes many notes")
	}
	d := start(t)
	s := d.slow(`"notes.changed","index.progress"`)
	for i := 0; i <= rpc.MaxListedIDs; i += 1000 {
		var list []string
		for j := range 1000 {
			list = append(list, fmt.Sprintf(`{"id":"n%d","title":"t%d"}`, i+j, i+j))
		}
		d.do("notes.putMany", `{"notes":[`+strings.Join(list, ",")+`]}`)
	}
	vault := filepath.Join(t.TempDir(), "Vault")
	must(t, fixtures.CopyVault(vault))
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
	s.line()
	progress := parseReply(t, s.line()) // the last one alone
	if progress.Method != "index.progress" || !strings.Contains(string(progress.Params), `"stage":"`) {
		t.Errorf("%s %s", progress.Method, progress.Params)
	}
	s.wantChanges("notes.changed many ")
	d.do("notes.put", `{"id":"n7","title":"x"}`)
	s.wantChanges("notes.changed put n7")
}

// A subscriber that goes away while events are held back for it costs nothing
// afterwards: goleak sees a goroutine that is left.
func TestREL7_ASlowReaderMayGo(t *testing.T) {
	d := start(t)
	s := d.slow(`"notes.changed"`)
	l := d.listen("notes.changed")
	d.do("notes.put", `{"id":"n1","title":"x"}`)
	must(t, s.nc.Close())
	d.do("notes.put", `{"id":"n2","title":"x"}`)
	l.want("notes.changed put n1", "notes.changed put n2")
}

// A connection that is cut while it changes its topics is no subscriber after.
func TestSubscribersEndWithTheirConnections(t *testing.T) {
	b := serve(t, rpc.Limits{OutboundBytes: 6 << 10})
	sub := `{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"topics":["notes.changed"]}}` + "\n"
	flood := strings.Repeat(sub+strings.Replace(sub, "subscribe", "unsubscribe", 1), 700)
	for range 300 {
		p := b.connect()
		_, _ = p.nc.Write([]byte(flood)) // and never reads: it is cut for its queue
		_ = p.nc.Close()
	}
	until(t, "all connections are over", func() bool { return len(b.srv.Sessions()) == 0 })
	until(t, "no subscriber is left", func() bool { return b.srv.Subscribers() == 0 })
}
