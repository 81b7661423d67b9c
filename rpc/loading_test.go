package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// starting is a daemon whose store is not open yet.
type starting struct {
	*daemon
	release chan error // lets the store be opened, or not
	loaded  chan error // gets what Load returned
	cancel  context.CancelFunc
}

func startSlowly(t *testing.T, opts rpc.Options) *starting {
	t.Helper()
	s := &starting{release: make(chan error, 1), loaded: make(chan error, 1)}
	opts.OpenStore = func() (*kv.Store, error) {
		if err := <-s.release; err != nil {
			return nil, err
		}
		return kv.Open(kv.InMemory, kv.Options{})
	}
	s.daemon = launch(t, opts)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() { s.loaded <- s.srv.Load(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case s.release <- nil:
		default:
		}
		select {
		case <-s.loaded:
		default:
		}
	})
	return s
}

// open opens the store.
func (s *starting) open() {
	s.t.Helper()
	s.release <- nil
	must(s.t, <-s.loaded)
}

// peer is a client of a daemon that writes bytes.
func (d *daemon) peer() *peer {
	d.t.Helper()
	return (&bench{t: d.t, path: d.path}).connect()
}

// waits checks that a call of the connection has not begun, and that others are
// answered meanwhile.
func (p *peer) waits(methods ...string) {
	p.t.Helper()
	p.call("look", "admin.connections", "")
	var all protocol.Connections
	r := p.reply()
	if string(r.ID) != `"look"` {
		p.t.Fatalf("answered before it can be: %s %s", r.ID, r.Result)
	}
	must(p.t, json.Unmarshal(r.Result, &all))
	for _, c := range all.Connections {
		var queued []string
		for _, k := range c.Calls {
			if k.Method != "admin.connections" {
				queued = append(queued, k.Method)
				if k.State != protocol.CallQueued {
					p.t.Errorf("%s is %s", k.Method, k.State)
				}
			}
		}
		if c.Client.Name == "test" && !slices.Equal(queued, methods) {
			p.t.Fatalf("%v wait, want %v", queued, methods)
		}
	}
}

func TestLoadingCallsWaitAndRunInOrder(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	p := s.peer() // initialize is answered
	p.call("put", "notes.put", `{"id":"n1","title":"One"}`)
	p.call("get", "notes.get", `{"ref":"n1"}`)
	p.call("patch", "notes.patch", `{"id":"n1","title":"Two"}`)
	p.call("list", "notes.list", "")
	p.call("import", "vault.import", `{"path":"`+t.TempDir()+`"}`)
	p.waits("notes.put", "notes.get", "notes.patch", "notes.list", "vault.import")
	s.open()
	got := map[string]string{}
	for range 5 {
		r := p.reply()
		if r.Error != nil {
			t.Errorf("%s: %v", r.ID, r.Error)
		}
		got[string(r.ID)] = string(r.Result)
	}
	if !strings.Contains(got[`"get"`], `"id":"n1"`) || !strings.Contains(got[`"list"`], `"title":"Two"`) {
		t.Errorf("a read does not see the mutations before it: %v", got)
	}
}

// Reads that have waited run beside each other as soon as they can.
func TestLoadingReadsRunSideBySide(t *testing.T) {
	levers := newLevers(t)
	s := startSlowly(t, rpc.Options{Methods: levers.methods()})
	levers.letGo()
	p := s.peer()
	p.call("long", "test.wait", `{"name":"long"}`)
	p.call("short", "notes.list", "")
	p.waits("test.wait", "notes.list")
	s.open()
	levers.begun("long")
	p.wantResult(`"short"`, "")
	levers.open("long")
	p.wantResult(`"long"`, "")
}

// What needs no store answers at once, before initialize what may.
func TestLoadingMethodsAtOnce(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	for _, m := range protocol.Methods {
		if m.Store != protocol.Storeless {
			continue
		}
		var p *peer
		switch {
		case m.Name == "initialize":
			s.peer()
			continue
		case m.Early:
			p = (&bench{t: t, path: s.path}).dial()
		default:
			p = s.peer()
			p.call("waits", "notes.put", `{"title":"x"}`)
			if m.Name == "shutdown" {
				p.cancel("waits") // it comes after every earlier mutation
				p.wantError(`"waits"`, protocol.CodeCancelled)
			}
		}
		p.call(m.Name, m.Name, m.Example.Params)
		p.wantResult(fmt.Sprintf("%q", m.Name), "")
		if m.Name == "shutdown" {
			p.send(`{"jsonrpc":"2.0","method":"exit"}` + "\n")
			p.closed()
		}
	}
	<-s.stopped
	s.open()
}

func TestLoadingShutdownComesAfterEarlierMutations(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	p := s.peer()
	p.call(1, "notes.put", `{"title":"x"}`)
	p.call(2, "shutdown", "")
	p.cancel("none")
	s.open()
	p.wantResult("1", "")
	p.wantResult("2", "")
}

func TestLoadingHealth(t *testing.T) {
	var s *starting
	s = startSlowly(t, rpc.Options{OpenRooms: func(db *kv.Store) (*rpc.Deps, error) {
		if l := s.srv.Health().Loading; l == nil || l.Stage != protocol.StageRooms {
			t.Errorf("while the rooms are opened: %+v", l)
		}
		return roomsOver(db)
	}})
	h := s.do("admin.health", "{}")
	for path, want := range map[string]any{
		"status": protocol.Warning, "warnings.0": "the store is being opened; calls wait for it", "loading.phase": protocol.LoadStarting,
		"loading.stage": protocol.StageStore, "store.mode": protocol.StoreLoading, "index.ready": false, "version": "0.0.0",
	} {
		s.want(h, path, want)
	}
	if ms := at(h, "loading.forMs").(float64); ms < 0 || ms > float64(patience.Milliseconds()) {
		t.Errorf("it lasts for %v ms", ms)
	}
	// Who subscribed is told when it is over.
	l := s.listen("health.changed")
	s.open()
	var now protocol.Health
	must(t, json.Unmarshal(l.next().params, &now))
	if now.Status != protocol.Healthy || now.Loading != nil || !now.Index.Ready {
		t.Errorf("told %+v", now)
	}
	s.want(s.do("admin.health", "{}"), "loading", nil)
}

func TestLoadingCallsCanBeWithdrawn(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	p := s.peer()
	for _, c := range [][2]string{
		{"notes.list", ""}, {"notes.put", `{"title":"x"}`}, {"vault.import", `{"path":"/nowhere"}`},
	} {
		for range 20 { // more than may wait at once
			p.call("w", c[0], c[1])
			p.cancel("w")
			p.wantError(`"w"`, protocol.CodeCancelled)
		}
	}
	p.call("stays", "notes.list", "")
	p.waits("notes.list")
	s.open()
	if r := p.reply(); string(r.ID) != `"stays"` || !strings.Contains(string(r.Result), `"notes":[]`) {
		t.Errorf("%s %s: something was run that had been withdrawn", r.ID, r.Result)
	}
}

// The limits of a connection hold for calls that wait.
func TestLoadingCallsAreLimited(t *testing.T) {
	s := startSlowly(t, rpc.Options{Limits: rpc.Limits{InFlight: 4, Jobs: 1}})
	p := s.peer()
	p.call("job", "vault.import", `{"path":"/nowhere"}`)
	p.call("job2", "vault.import", `{"path":"/nowhere"}`)
	p.wantError(`"job2"`, protocol.CodeLimit)
	for i := range 3 {
		p.call(i, "notes.list", "")
	}
	p.call("over", "notes.list", "")
	if e := p.wantError(`"over"`, protocol.CodeLimit); !e.Data.Retryable {
		t.Error("it is not said to be retryable")
	}
	p.cancel(1)
	p.wantError("1", protocol.CodeCancelled)
	p.waits("vault.import", "notes.list", "notes.list")
	s.open()
	for range 3 {
		p.reply()
	}
}

// A connection that ends takes its reads along; mutations that it sent complete.
func TestLoadingConnectionEnds(t *testing.T) {
	s := startSlowly(t, rpc.Options{Limits: rpc.Limits{Connections: 3}})
	p := s.peer()
	p.call(1, "notes.list", "")
	p.send(`{"jsonrpc":"2.0","method":"notes.put","params":{"id":"sent","title":"x"}}` + "\n")
	p.waits("notes.list", "notes.put")
	_ = p.nc.Close()
	until(t, "the connection is over", func() bool { return len(s.srv.Sessions()) == 1 })
	// What it left waits in the place of a connection.
	s.do("events.subscribe", `{"topics":["health.changed"]}`) // nor does this one give its own
	q := s.peer()
	q.call(1, "notes.get", `{"ref":"sent"}`)
	q.waits("notes.get")
	(&bench{t: t, path: s.path}).dial().closed()
	s.open()
	until(t, "the mutation completes", func() bool {
		_, err := s.try("notes.get", `{"ref":"sent"}`)
		return err == nil
	})
	q.reply() // it may have come before the mutation of the other connection
	s.want(s.do("admin.stats", "{}"), "notes", 1)
	(&bench{t: t, path: s.path}).connect()
}

func TestLoadingHalfCloseWaits(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	p := s.peer()
	p.send(`[{"jsonrpc":"2.0","id":1,"method":"notes.put","params":{"id":"n","title":"x"}},{"jsonrpc":"2.0","id":2,"method":"notes.get","params":{"ref":"n"}},` +
		`{"jsonrpc":"2.0","id":3,"method":"admin.health"}]` + "\n")
	must(t, p.nc.CloseWrite())
	s.open()
	if got := p.line(); strings.Count(got, `"result"`) != 3 {
		t.Errorf("got %s", got)
	}
	p.closed()
}

func TestLoadingFails(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	p := s.peer()
	p.call("read", "notes.list", "")
	p.call("write", "notes.put", `{"title":"x"}`)
	p.call("job", "vault.import", `{"path":"/nowhere"}`)
	p.waits("notes.list", "notes.put", "vault.import")
	why := fault.New(fault.Conflict, "the store is in use by process 7").WithHint("stop it")
	s.release <- why
	if err := <-s.loaded; !errors.Is(err, why) {
		t.Errorf("Load: %v", err)
	}
	for range 3 {
		if r := p.reply(); r.Error == nil || r.Error.Code != protocol.CodeUnavailable || r.Error.Data.Hint != "stop it" ||
			r.Error.Message != "the daemon cannot start: the store is in use by process 7" {
			t.Errorf("%s: %+v", r.ID, r.Error)
		}
	}
	p.call("late", "notes.list", "")
	p.wantError(`"late"`, protocol.CodeUnavailable)
	h := s.do("admin.health", "{}")
	s.want(h, "status", protocol.Failing)
	s.want(h, "store.mode", protocol.StoreClosed)
	if s.srv.Rooms() != nil {
		t.Error("there are rooms")
	}
}

// A start that is given up answers at once, and waits for what it has begun.
func TestLoadingIsGivenUp(t *testing.T) {
	s := startSlowly(t, rpc.Options{OpenRooms: func(*kv.Store) (*rpc.Deps, error) {
		return nil, errors.New("the rooms are opened for nobody")
	}})
	p := s.peer()
	p.call(1, "notes.put", `{"title":"x"}`)
	p.waits("notes.put")
	s.cancel()
	p.wantError("1", protocol.CodeUnavailable)
	p.call(2, "notes.list", "")
	p.wantError("2", protocol.CodeUnavailable)
	s.release <- nil
	if err := <-s.loaded; fault.KindOf(err) != fault.Cancelled {
		t.Errorf("Load: %v", err)
	}
}

// A server that ends before it has loaded keeps nobody waiting.
func TestLoadingServerShutsDown(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	p := s.peer()
	p.call(1, "notes.put", `{"title":"x"}`)
	p.waits("notes.put")
	must(t, s.Close())
	must(t, s.srv.Shutdown(context.Background()))
	p.wantError("1", protocol.CodeUnavailable)
	p.closed()
	s.release <- nil
	if err := <-s.loaded; fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Load: %v", err)
	}
}
