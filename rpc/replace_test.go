package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// generation opens rooms over a store of its own in which everything says which
// of many it is.
func generation(ctx context.Context, n int) (*rpc.Deps, error) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		return nil, err
	}
	rooms, err := roomsOver(db)
	if err != nil {
		return nil, err
	}
	_, _, err = rooms.Entities.PutType(ctx, entities.Type{Name: "Mark", Fields: []entities.Field{{Name: "gen", Type: record.Number}}}, nil, false)
	if err != nil {
		return nil, err
	}
	for i := range 10 {
		_, err := rooms.Entities.Put(ctx, entities.Entity{ID: fmt.Sprintf("e%d", i), Type: "Mark", Name: fmt.Sprint(i), Fields: entities.Values{"gen": float64(n)}}, nil)
		if err != nil {
			return nil, err
		}
		_, err = rooms.Notes.Put(ctx, notes.Draft{ID: fmt.Sprintf("n%d", i), Title: fmt.Sprint(i), Folder: fmt.Sprint(n)}, nil)
		if err != nil {
			return nil, err
		}
	}
	return rooms, nil
}

// generations returns which generations are in an answer.
func generations(t *testing.T, answer json.RawMessage) (list []int) {
	t.Helper()
	var got struct {
		Entities []struct{ Fields struct{ Gen int } }
		Notes    []struct{ Folder string }
	}
	must(t, json.Unmarshal(answer, &got))
	for _, e := range got.Entities {
		list = append(list, e.Fields.Gen)
	}
	for _, n := range got.Notes {
		var gen int
		if _, err := fmt.Sscan(n.Folder, &gen); err == nil { // those of the writers have none
			list = append(list, gen)
		}
	}
	return list
}

// The rooms are replaced time and again while clients read and write: no call
// fails, and none sees another state than that of one moment, or an earlier one
// than has been seen.
func TestReplaceUnderLoad(t *testing.T) {
	const rounds, readers, writers = 25, 6, 2
	first, err := generation(t.Context(), 0)
	must(t, err)
	d := launch(t, rpc.Options{Rooms: first})
	var current atomic.Int64
	over := make(chan struct{})
	var all sync.WaitGroup
	var reads, writes atomic.Int64
	answered := make(chan struct{}, 1)
	tick := func(count *atomic.Int64) {
		count.Add(1)
		select {
		case answered <- struct{}{}:
		default:
		}
	}
	for i := range readers {
		c := d.listen()
		all.Go(func() {
			for at := 0; ; at++ {
				select {
				case <-over:
					return
				default:
				}
				least := current.Load()
				var raw json.RawMessage
				if err := c.Call(context.Background(), []string{"entities.list", "notes.list"}[(at+i)%2], nil, &raw); err != nil {
					t.Error(err)
					return
				}
				tick(&reads)
				list := generations(t, raw)
				if len(list) != 10 {
					t.Errorf("%d records, want 10: %s", len(list), raw)
				}
				for _, gen := range list {
					if gen != list[0] || int64(gen) < least {
						t.Errorf("generations %v, at least %d wanted", list, least)
						return
					}
				}
			}
		})
	}
	for w := range writers {
		c := d.listen()
		all.Go(func() {
			for at := 0; ; at++ {
				select {
				case <-over:
					return
				default:
				}
				if err := c.Call(context.Background(), "notes.put", map[string]any{"id": fmt.Sprintf("w%d-%d", w, at%50), "title": "x"}, nil); err != nil {
					t.Error(err)
					return
				}
				tick(&writes)
			}
		})
	}
	for n := 1; n <= rounds; n++ {
		for range 20 {
			select {
			case <-answered:
			case <-time.After(patience):
				t.Fatal("no call is answered")
			}
		}
		must(t, d.srv.Replace(t.Context(), protocol.LoadRestoring, func(old *rpc.Deps) (*rpc.Deps, error) {
			fresh, err := generation(t.Context(), n)
			if err != nil {
				return nil, err
			}
			return fresh, old.KV.Close() // who still used it would fail
		}))
		current.Store(int64(n))
	}
	close(over)
	all.Wait()
	t.Logf("%d reads and %d writes over %d replacements", reads.Load(), writes.Load(), rounds)
	if stats := d.do("admin.stats", "{}"); at(stats, "entities") != 10.0 {
		t.Errorf("%v", stats)
	}
}

// replace starts a replacement that is held up where it replaces, and returns
// what lets it go on, with the rooms or without, and what tells of its end.
func (d *daemon) replace(ctx context.Context) (replacing chan struct{}, goOn chan *rpc.Deps, done chan error) {
	replacing, goOn, done = make(chan struct{}), make(chan *rpc.Deps, 1), make(chan error, 1)
	over := make(chan struct{})
	d.t.Cleanup(func() { close(over) })
	go func() {
		done <- d.srv.Replace(ctx, protocol.LoadRestoring, func(*rpc.Deps) (*rpc.Deps, error) {
			close(replacing)
			select {
			case fresh := <-goOn:
				if fresh != nil {
					return fresh, nil
				}
			case <-over: // the test has failed
			}
			return nil, errNotReplaced
		})
	}()
	return replacing, goOn, done
}

// closed waits until new calls wait.
func (d *daemon) closed() {
	d.t.Helper()
	until(d.t, "calls wait", func() bool { return d.do("admin.health", "{}")["loading"] != nil })
}

var errNotReplaced = errors.New("not replaced")

func newLevers(t *testing.T) *bench {
	t.Helper()
	return &bench{t: t, started: make(chan string, 16), gates: map[string]chan struct{}{}}
}

// letGo lets all calls go on when a test has failed: the server waits for them.
// Call it once the server is there, which ends after what comes later.
func (b *bench) letGo() {
	b.t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, gate := range b.gates {
			select {
			case <-gate:
			default:
				close(gate)
			}
		}
	})
}

func TestReplaceWaitsForCallsUnderWay(t *testing.T) {
	levers := newLevers(t)
	d := launch(t, rpc.Options{Rooms: mustRooms(t), Methods: levers.methods()})
	levers.letGo()
	old := d.srv.Rooms()
	reading, writing := d.peer(), d.peer()
	reading.call("r", "test.wait", `{"name":"r"}`) // run by its reader, at first
	levers.begun("r")
	writing.call("w", "test.write", `{"name":"slow"}`)
	levers.begun("slow")
	replacing, goOn, done := d.replace(t.Context())
	d.closed()
	h := d.do("admin.health", "{}")
	d.want(h, "loading.phase", protocol.LoadRestoring)
	d.want(h, "loading.stage", protocol.StageCalls)
	d.want(h, "status", protocol.Warning)
	writing.call("w2", "test.write", `{"name":"later"}`)
	reading.call("r2", "notes.list", "")
	reading.call("h", "admin.health", "")
	reading.wantResult(`"h"`, "") // which also shows that the calls have been read
	select {
	case <-replacing:
		t.Fatal("the rooms are replaced under calls that use them")
	default:
	}
	levers.open("r")
	reading.wantResult(`"r"`, `"r"`)
	levers.open("slow")
	writing.wantResult(`"w"`, `"slow"`)
	<-replacing
	if got := levers.history(); got != "slow" {
		t.Errorf("written: %s", got)
	}
	fresh := mustRooms(t)
	goOn <- fresh
	must(t, <-done)
	writing.wantResult(`"w2"`, `"later"`)
	reading.wantResult(`"r2"`, "")
	if d.srv.Rooms() != fresh {
		t.Error("other rooms are open than were to be")
	}
	must(t, old.KV.Close())
}

func mustRooms(t *testing.T) *rpc.Deps {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	rooms, err := roomsOver(db)
	must(t, err)
	return rooms
}

// A replacement that fails, or is withdrawn, leaves everything as it was.
func TestReplaceThatFails(t *testing.T) {
	levers := newLevers(t)
	d := launch(t, rpc.Options{Rooms: mustRooms(t), Methods: levers.methods()})
	levers.letGo()
	d.do("notes.put", `{"id":"n","title":"x"}`)
	rooms := d.srv.Rooms()
	l := d.listen("notes.changed")
	replacing, goOn, done := d.replace(t.Context())
	<-replacing
	p := d.peer()
	p.call(1, "notes.get", `{"ref":"n"}`)
	p.waits("notes.get")
	goOn <- nil
	if err := <-done; !errors.Is(err, errNotReplaced) {
		t.Error(err)
	}
	p.wantResult("1", "")

	p.call(2, "test.stubborn", `{"name":"s"}`)
	levers.begun("s")
	ctx, cancel := context.WithCancel(t.Context())
	_, _, done = d.replace(ctx)
	d.closed()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.do("notes.get", `{"ref":"n"}`)
	levers.open("s")
	p.wantResult("2", "")
	if d.srv.Rooms() != rooms {
		t.Error("the rooms are others")
	}
	d.do("notes.put", `{"id":"m","title":"x"}`)
	l.want("notes.changed put m") // and nothing before
}

func TestReplaceEndsJobs(t *testing.T) {
	levers := newLevers(t)
	d := launch(t, rpc.Options{Rooms: mustRooms(t), Methods: levers.methods()})
	levers.letGo()
	p := d.peer()
	p.call("job", "test.job", `{"name":"j"}`)
	levers.begun("j")
	replacing, goOn, done := d.replace(t.Context())
	e := p.wantError(`"job"`, protocol.CodeUnavailable)
	if !e.Data.Retryable || e.Data.Hint == "" {
		t.Errorf("%+v", e)
	}
	<-replacing
	p.call("job2", "test.job", `{"name":"j2"}`)
	p.waits("test.job")
	goOn <- nil
	<-done
	levers.begun("j2")
	p.cancel("job2")
	p.wantError(`"job2"`, protocol.CodeCancelled)
}

// Jobs begin while replacements are given up: each runs under one lease and ends,
// or is told to start again.
func TestReplaceGivenUpWhileJobsBegin(t *testing.T) {
	d := start(t)
	vault := t.TempDir()
	must(t, os.WriteFile(filepath.Join(vault, "a.md"), []byte("# A"), 0o600))
	params, err := json.Marshal(protocol.VaultImport{Path: vault})
	must(t, err)
	givenUp, cancel := context.WithCancel(t.Context())
	cancel()
	var jobs sync.WaitGroup
	tried := make(chan struct{})
	for range 4 {
		jobs.Go(func() {
			for i := range 15 {
				if i == 1 {
					<-tried
				}
				_, err := d.try("vault.import", string(params))
				// A job that was answered counts a moment longer as one that runs.
				if e := new(fault.Error); err != nil && (!errors.As(err, &e) || !e.Retryable && e.Kind != fault.Limit) {
					t.Error(err)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { jobs.Wait(); close(over) }()
	for rounds := 0; ; rounds++ {
		select {
		case <-over:
			_, err := d.try("vault.import", string(params))
			for fault.KindOf(err) == fault.Limit && t.Context().Err() == nil { // an answered job ends a moment later
				_, err = d.try("vault.import", string(params))
			}
			must(t, err) // the last lease lasts
			return
		default:
			_ = d.srv.Replace(givenUp, protocol.LoadRestoring, func(old *rpc.Deps) (*rpc.Deps, error) { return nil, givenUp.Err() })
			if rounds == 0 {
				close(tried)
			}
		}
	}
}

// A defect where the rooms are replaced leaves nobody waiting.
func TestReplaceThatPanics(t *testing.T) {
	d := start(t)
	must(t, d.srv.Rooms().KV.Close())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = d.srv.Replace(t.Context(), protocol.LoadRestoring, func(*rpc.Deps) (*rpc.Deps, error) { panic("a defect") })
	}()
	if _, err := d.try("notes.list", "{}"); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
	d.want(d.do("admin.health", "{}"), "status", protocol.Failing)
}

func TestReplaceOneAtATime(t *testing.T) {
	d := start(t)
	replacing, goOn, done := d.replace(t.Context())
	<-replacing
	err := d.srv.Replace(t.Context(), protocol.LoadChecking, func(*rpc.Deps) (*rpc.Deps, error) {
		t.Error("called")
		return nil, nil
	})
	var known *fault.Error
	if !errors.As(err, &known) || known.Kind != fault.Conflict || !known.Retryable {
		t.Error(err)
	}
	goOn <- nil
	<-done
}

// Subscribers learn that everything may be another, and then of each change of
// the new store.
func TestReplaceIsToldOf(t *testing.T) {
	d := start(t)
	d.do("notes.put", `{"id":"old","title":"x"}`)
	l := d.listen("notes.changed", "entities.changed")
	h := d.listen("health.changed")
	replacing, goOn, done := d.replace(t.Context())
	<-replacing
	var health protocol.Health
	must(t, json.Unmarshal(h.next().params, &health))
	if health.Status != protocol.Warning || health.Loading == nil || health.Loading.Phase != protocol.LoadRestoring {
		t.Errorf("told %+v", health)
	}
	fresh, err := generation(t.Context(), 1)
	must(t, err)
	seq := fresh.KV.Seq()
	goOn <- fresh
	must(t, <-done)
	for _, want := range []string{"notes.changed many ", "entities.changed many "} {
		got, c := l.nextChange()
		if got != want || c.Seq != seq {
			t.Errorf("told %q with %d, want %q with %d", got, c.Seq, want, seq)
		}
	}
	d.do("notes.put", `{"id":"new","title":"x"}`)
	l.want("notes.changed put new")
	must(t, json.Unmarshal(h.next().params, &health))
	if health.Status != protocol.Healthy {
		t.Errorf("told %+v", health)
	}
	if _, err := d.try("notes.get", `{"ref":"old"}`); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a note of the old store: %v", err)
	}
}

// A connection that is over while its calls are under way is waited for, too.
func TestReplaceWaitsForConnectionsThatAreOver(t *testing.T) {
	levers := newLevers(t)
	d := launch(t, rpc.Options{Rooms: mustRooms(t), Methods: levers.methods()})
	levers.letGo()
	for _, c := range [][2]string{{"test.stubborn", "r"}, {"test.write", "slow"}} {
		open := len(d.srv.Sessions())
		p := d.peer()
		p.call(1, c[0], `{"name":"`+c[1]+`"}`)
		levers.begun(c[1])
		_ = p.nc.Close()
		until(t, "the connection is over", func() bool { return len(d.srv.Sessions()) == open })
		replacing, goOn, done := d.replace(t.Context())
		d.closed()
		select {
		case <-replacing:
			t.Errorf("%s is not waited for", c[0])
		default:
		}
		levers.open(c[1])
		<-replacing
		goOn <- nil
		<-done
	}
	if !strings.Contains(levers.history(), "slow") {
		t.Error("a mutation was not completed")
	}
}

// A call that is run where it was read is waited for from its first moment, also
// when its connection has been cut since.
func TestReplaceWaitsForCallsOfReaders(t *testing.T) {
	const rounds = 5
	var inside atomic.Int32
	started, gate := make(chan struct{}), make(chan struct{})
	var methods []rpc.Method
	for i := range rounds { // one each: none of them is known to take long
		methods = append(methods, rpc.Define(fmt.Sprintf("test.inside%d", i), protocol.Read, func(_ context.Context, s *rpc.Session, p named) (string, error) {
			inside.Add(1)
			defer inside.Add(-1)
			if p.Name == "cut" {
				_ = s.Notify("test.flood", strings.Repeat("x", 1<<20)) // beyond the limit
			}
			started <- struct{}{}
			<-gate
			return "", nil
		}))
	}
	d := launch(t, rpc.Options{Rooms: mustRooms(t), Methods: methods, Limits: rpc.Limits{OutboundBytes: 100_000}})
	for i := range rounds {
		p := d.peer()
		p.call(1, fmt.Sprintf("test.inside%d", i), `{"name":"`+[]string{"", "cut"}[i%2]+`"}`)
		<-started
		if i%2 > 0 {
			until(t, "the connection is over", func() bool { return len(d.srv.Sessions()) == 1 })
		}
		result := make(chan int32, 1)
		go func() {
			_ = d.srv.Replace(context.Background(), protocol.LoadRestoring, func(*rpc.Deps) (*rpc.Deps, error) {
				result <- inside.Load()
				return nil, errNotReplaced
			})
		}()
		until(t, "calls wait, or it has begun", func() bool { return len(result) > 0 || d.srv.Rooms() == nil })
		gate <- struct{}{}
		if n := <-result; n > 0 {
			t.Fatalf("round %d: replaced while a call was inside", i)
		}
		_ = p.nc.Close()
		until(t, "the connection is over", func() bool { return len(d.srv.Sessions()) == 1 })
	}
}

// What needs no rooms is answered although it came behind reads that wait now.
func TestReplaceLetsOthersPass(t *testing.T) {
	levers := newLevers(t)
	d := launch(t, rpc.Options{Rooms: mustRooms(t), Methods: levers.methods(), Limits: rpc.Limits{Concurrency: 1}})
	levers.letGo()
	p := d.peer()
	p.call("w", "test.write", `{"name":"slow"}`)
	levers.begun("slow")
	p.call("r", "notes.list", "")
	p.call("h", "admin.connections", "")
	until(t, "both wait for the mutation", func() bool { return d.connection("test").Queued == 2 })
	replacing, goOn, done := d.replace(t.Context())
	p.wantResult(`"h"`, "")
	levers.open("slow")
	p.wantResult(`"w"`, "")
	<-replacing
	p.waits("notes.list") // it had not begun
	goOn <- nil
	<-done
	p.wantResult(`"r"`, "")
}

// An import of the daemon itself waits for the rooms, and makes way for others.
func TestReplaceEndsAnImportOfTheDaemon(t *testing.T) {
	s := startSlowly(t, rpc.Options{})
	folder := filepath.Join(t.TempDir(), "Vault")
	must(t, fixtures.CopyVault(folder))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.srv.Import(ctx, vault.ImportRequest{Path: folder}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("withdrawn while it waited: %v", err)
	}
	reading, imported := make(chan struct{}), make(chan error)
	var once sync.Once
	go func() {
		_, err := s.srv.Import(context.Background(), vault.ImportRequest{Path: folder, Progress: func(string, int, int) {
			once.Do(func() {
				close(reading)
				s.closed()
			})
		}})
		imported <- err
	}()
	s.open()
	<-reading
	replacing, goOn, done := s.replace(t.Context())
	var known *fault.Error
	if err := <-imported; !errors.As(err, &known) || known.Kind != fault.Unavailable || !known.Retryable {
		t.Error(err)
	}
	<-replacing
	goOn <- nil
	<-done
	if _, err := s.srv.Import(t.Context(), vault.ImportRequest{Path: folder}); err != nil {
		t.Errorf("started again: %v", err)
	}
}
