package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestRPC7_ReadsRunSideBySide(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call("slow", "test.wait", `{"name":"r"}`)
	b.begun("r")
	p.call("fast", "test.history", "")
	p.wantResult(`"fast"`, "")
	b.open("r")
	p.wantResult(`"slow"`, `"r"`)
}

func TestRPC7_PoolIsBounded(t *testing.T) {
	b := serve(t, rpc.Limits{Concurrency: 2})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"a"}`)
	b.begun("a")
	p.call(2, "test.wait", `{"name":"b"}`)
	b.begun("b")
	p.call(3, "test.wait", `{"name":"c"}`)
	// A control method is answered while the pool is full, which shows that the
	// third call has been read.
	p.send(hello + "\n")
	p.wantError(`"hello"`, protocol.CodeInvalidRequest)
	select {
	case name := <-b.started:
		t.Fatalf("%s began beyond the pool", name)
	default:
	}
	b.open("b")
	p.wantResult("2", "")
	b.begun("c")
	b.open("a")
	b.open("c")
	p.reply()
	p.reply()
}

func TestRPC7_MutationsRunInOrderAndReadsSeeThem(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call("before", "test.wait", `{"name":"read"}`)
	b.begun("read") // an earlier read holds no mutation up
	p.call("w1", "test.write", `{"name":"slow1"}`)
	b.begun("slow1")
	p.call("r0", "test.history", "")
	p.call("w2", "test.write", `{"name":"two"}`)
	p.call("r1", "test.history", "")
	p.call("w3", "test.write", `{"name":"three"}`)
	p.call("r2", "test.history", "")
	b.open("slow1")
	got := map[string]string{}
	for range 6 {
		r := p.reply()
		got[string(r.ID)] = string(r.Result)
	}
	for id, atLeast := range map[string]string{`"r0"`: "slow1", `"r1"`: "slow1 two", `"r2"`: "slow1 two three"} {
		if !strings.Contains(got[id], atLeast) {
			t.Errorf("read %s saw %s, want at least %s", id, got[id], atLeast)
		}
	}
	if b.history() != "slow1 two three" {
		t.Errorf("order: %s", b.history())
	}
	b.open("read")
	p.wantResult(`"before"`, "")
}

func TestRPC7_OtherConnectionsAreNotHeldUp(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p, q := b.connect(), b.connect()
	p.call(1, "test.write", `{"name":"slow"}`)
	b.begun("slow")
	q.call(1, "test.write", `{"name":"quick"}`)
	q.wantResult("1", "")
	q.call(2, "test.history", "")
	q.wantResult("2", `"quick"`)
	b.open("slow")
	p.wantResult("1", "")
}

func TestRPC7_JobsStandOutsideTheOrder(t *testing.T) {
	b := serve(t, rpc.Limits{Jobs: 1})
	p := b.connect()
	p.call("job", "test.job", `{"name":"j"}`)
	b.begun("j")
	p.call("w", "test.write", `{"name":"x"}`)
	p.wantResult(`"w"`, "")
	p.call("r", "test.history", "")
	p.wantResult(`"r"`, `"x"`)
	p.call("job2", "test.job", `{"name":"j2"}`)
	if e := p.wantError(`"job2"`, protocol.CodeLimit); !e.Data.Retryable {
		t.Error("it is not said to be retryable")
	}
	b.open("j")
	p.wantResult(`"job"`, "")
}

func TestRPC7_CancelWhileOthersRun(t *testing.T) {
	b := serve(t, rpc.Limits{Concurrency: 1})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"running"}`)
	b.begun("running")
	p.call("q", "test.wait", `{"name":"queued"}`)
	p.cancel("q")
	p.wantError(`"q"`, protocol.CodeCancelled)
	p.cancel("no such")
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n")
	p.wantError("1", protocol.CodeCancelled)
	p.call(2, "test.history", "")
	p.wantResult("2", "")
}

func TestRPC7_CancelFindsAnyID(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	for _, c := range []struct{ id, cancel string }{
		{`"a\u0062"`, `"ab"`}, {`null`, `null`}, {`1.5`, `1.5`}, {`12345678901234567890123`, `12345678901234567890123`}, {`-1`, `-1`},
	} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"test.wait","params":{"name":"x"}}`+"\n", c.id))
		b.begun("x")
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%s}}`+"\n", c.cancel))
		p.wantError(c.id, protocol.CodeCancelled)
	}
}

// REL-8: the caller is answered within 100 ms, also when the handler takes no
// notice. The reply is waited for, and the handler is let go only afterwards.
func TestRPC7_CancelAnswersForAStubbornHandler(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.stubborn", `{"name":"s"}`)
	b.begun("s")
	start := time.Now()
	p.cancel(1)
	p.wantError("1", protocol.CodeCancelled)
	t.Logf("answered after %v", time.Since(start))
	b.open("s")
	p.call(2, "test.history", "")
	p.wantResult("2", "") // and not the late result of the first
}

func TestRPC7_CancelMutations(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call("started", "test.write", `{"name":"slow"}`)
	b.begun("slow")
	p.call("queued", "test.write", `{"name":"never"}`)
	p.call("r", "test.history", "")
	p.call("next", "test.write", `{"name":"next"}`)
	p.cancel("queued")
	p.wantError(`"queued"`, protocol.CodeCancelled)
	p.cancel("started")
	b.open("slow")
	p.wantResult(`"started"`, `"slow"`)
	for range 2 {
		p.reply()
	}
	if got := b.history(); got != "slow next" {
		t.Errorf("written: %s", got)
	}
}

func TestRPC7_CancelJob(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.job", `{"name":"j"}`)
	b.begun("j")
	p.cancel(1)
	p.wantError("1", protocol.CodeCancelled)
}

func TestRPC7_CloseCancelsReadsAndCompletesMutations(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"read"}`)
	b.begun("read")
	p.call(2, "test.write", `{"name":"slow"}`)
	b.begun("slow")
	p.call(3, "test.write", `{"name":"queued"}`)
	p.send(hello + "\n") // its answer shows that all of it was read
	p.wantError(`"hello"`, protocol.CodeInvalidRequest)
	if err := p.nc.Close(); err != nil {
		t.Fatal(err)
	}
	b.log.await(t, "method=test.wait code=-32800") // nothing else ends it
	b.open("slow")
	b.log.await(t, "method=test.write code=0")
	b.srv.Wait()
	if got := b.history(); got != "slow queued" {
		t.Errorf("written: %s", got)
	}
}

func TestRPC7_NotificationAndImmediateClose(t *testing.T) {
	b := serve(t, rpc.Limits{})
	for i := range 50 {
		p := b.connect()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"test.write","params":{"name":"n%d"}}`+"\n", i))
		_ = p.nc.Close()
	}
	b.srv.Wait()
	if n := len(strings.Fields(b.history())); n != 50 {
		t.Errorf("%d of 50 were written", n)
	}
}

func TestRPC7_HalfCloseDrainsReplies(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"r"}`)
	b.begun("r")
	p.call(2, "test.write", `{"name":"w"}`)
	p.call(3, "test.size", `{"n":3000000}`)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"test.history"}`) // no line break at the end
	if err := p.nc.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for range 3 {
		r := p.reply()
		ids = append(ids, string(r.ID))
	}
	slices.Sort(ids)
	if got := strings.Join(ids, ""); got != "234" {
		t.Errorf("replies %s", got)
	}
	b.open("r")
	p.wantResult("1", `"r"`)
	p.closed()
}

// A client that closes for good after it had closed its half is gone: what it
// waits for is cancelled.
func TestRPC7_CloseAfterHalfCloseCancelsReads(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"r"}`)
	b.begun("r")
	_ = p.nc.CloseWrite()
	_ = p.nc.Close()
	b.log.await(t, "method=test.wait code=-32800")
}

func TestRPC6_InFlight(t *testing.T) {
	b := serve(t, rpc.Limits{InFlight: 4})
	p := b.connect()
	for i := range 4 {
		p.call(i, "test.wait", `{"name":"w"}`)
	}
	p.call("over", "test.history", "")
	if e := p.wantError(`"over"`, protocol.CodeLimit); !e.Data.Retryable {
		t.Error("it is not said to be retryable")
	}
	p.cancel(2) // reading goes on
	p.wantError("2", protocol.CodeCancelled)
	p.call("room", "test.history", "")
	p.wantResult(`"room"`, "")
	b.open("w")
	for range 3 {
		p.reply()
	}
}

// Notifications can't be refused, since nobody would be told: they wait.
func TestRPC6_NotificationsWaitForRoom(t *testing.T) {
	b := serve(t, rpc.Limits{InFlight: 2})
	p := b.connect()
	for i := range 100 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"test.write","params":{"name":"n%d"}}`+"\n", i))
	}
	_ = p.nc.CloseWrite()
	p.closed()
	b.srv.Wait()
	if n := len(strings.Fields(b.history())); n != 100 {
		t.Errorf("%d of 100 were written", n)
	}
}

func TestRPC8_PanicsAndDefects(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	for _, method := range []string{"test.panic", "test.panicWrite", "test.fail", "test.unencodable"} {
		p.call(1, method, "")
		text := p.line()
		e := parseReply(t, text).Error
		if e == nil || e.Code != protocol.CodeInternal || e.Data.Kind != "internal" || e.Data.Ref == "" {
			t.Fatalf("%s: %s", method, text)
		}
		if strings.Contains(text, secret) || strings.Contains(text, "goroutine") {
			t.Errorf("%s leaks: %s", method, text)
		}
		if !strings.Contains(b.log.String(), e.Data.Ref) {
			t.Errorf("%s: incident %s is not in the log", method, e.Data.Ref)
		}
	}
	if !strings.Contains(b.log.String(), "order_test.go") && !strings.Contains(b.log.String(), "harness_test.go") {
		t.Error("the log does not say where it panicked")
	}
	p.call(2, "test.write", `{"name":"on"}`)
	p.wantResult("2", "")
}

func TestErrorsAreMappedByKind(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	for kind, want := range map[string]string{
		"invalid":     `{"code":-32602,"message":"role must be a string","data":{"kind":"invalid_params","field":"fields.role","hint":"give a text","retryable":false}}`,
		"not_found":   `{"code":1001,"message":"no note with id \"n1\"","data":{"kind":"not_found","ref":"n1","retryable":false}}`,
		"conflict":    `{"code":1002,"message":"two notes have that title","data":{"kind":"conflict","retryable":false,"candidates":[{"id":"a","title":"A"}]}}`,
		"unavailable": `{"code":1003,"message":"the disk is full","data":{"kind":"unavailable","retryable":true}}`,
		"limit":       `{"code":1004,"message":"title has 600 characters, at most 512 are allowed","data":{"kind":"limit","field":"title","hint":"shorten title to 512 characters","retryable":false}}`,
		"deadline":    `{"code":1005,"message":"the search took too long","data":{"kind":"deadline","retryable":true}}`,
		"query":       `{"code":1006,"message":"there is no type Persn","data":{"kind":"query","hint":"did you mean Person?","retryable":false,"line":1,"column":15}}`,
		"cancelled":   `{"code":-32800,"message":"the call was cancelled","data":{"kind":"cancelled","retryable":false}}`,
	} {
		p.call(1, "test.fault", `{"name":"`+kind+`"}`)
		if got := p.line(); got != `{"jsonrpc":"2.0","id":1,"error":`+want+`}` {
			t.Errorf("%s:\n got %s\nwant %s", kind, got, want)
		}
	}
	p.call(1, "test.fault", `{"name":"internal"}`)
	if text := p.line(); strings.Contains(text, secret) || !strings.Contains(text, "-32603") {
		t.Error(text)
	}
}

func TestReadTimeoutIsADeadline(t *testing.T) {
	b := serve(t, rpc.Limits{ReadTimeout: time.Second}) // which the handshake has as well
	p := b.connect()
	p.call(1, "test.wait", `{"name":"r"}`)
	p.wantError("1", protocol.CodeDeadline)
}

func TestLifecycle(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.dial()
	p.call(1, "test.history", "")
	p.wantError("1", protocol.CodeNotInitialized)
	p.call(2, "rpc.discover", "")
	if r := p.reply(); !strings.HasPrefix(string(r.Result), `{"openrpc"`) {
		t.Errorf("discover: %.100s", r.Result)
	}
	for version, code := range map[string]int{"3.0": protocol.CodeUnavailable, "99": protocol.CodeUnavailable, "x": protocol.CodeInvalidParams, "1.x": protocol.CodeInvalidParams} {
		p.call(3, "initialize", `{"clientInfo":{"name":"t"},"protocolVersion":"`+version+`"}`)
		e := p.wantError("3", code)
		if code == protocol.CodeUnavailable && (!strings.Contains(e.Message, version) || !strings.Contains(e.Message, protocol.Version)) {
			t.Errorf("the versions are not in: %s", e.Message)
		}
	}
	p.call(4, "initialize", `{}`)
	if e := p.wantError("4", protocol.CodeInvalidParams); e.Data.Field != "clientInfo" {
		t.Error(e.Data.Field)
	}
	p.call(5, "initialize", `{"clientInfo":{"name":"t"},"processId":null,"protocolVersion":"2.9","capabilities":{"x":[]}}`)
	var init protocol.InitializeResult
	if err := json.Unmarshal(p.reply().Result, &init); err != nil || init.ProtocolVersion != protocol.Version || len(init.Capabilities.Methods) < len(protocol.Names()) {
		t.Errorf("%+v %v", init, err)
	}
	p.call(6, "test.write", `{"name":"slow"}`)
	b.begun("slow")
	p.call(7, "shutdown", "")
	p.call(8, "test.history", "")
	p.wantError("8", protocol.CodeInvalidRequest)
	b.open("slow")
	p.wantResult("6", "")
	p.wantResult("7", "null")
	p.send(`{"jsonrpc":"2.0","method":"exit"}` + "\n")
	p.closed()
}

func TestProgress(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.job", `{"name":"j","progressToken":"tok\u0065n"}`)
	b.begun("j")
	b.open("j")
	for _, want := range []string{
		`{"token":"token","value":{"kind":"begin","title":"test.job","done":0,"total":0}}`,
		`{"token":"token","value":{"kind":"report","message":"working","percentage":50,"done":1,"total":2}}`,
		`{"token":"token","value":{"kind":"end","message":"working","percentage":50,"done":1,"total":2}}`,
	} {
		r := p.reply()
		if r.Method != "$/progress" || string(r.Params) != want && !strings.Contains(string(r.Params), want[len(`{"token":"token"`):]) {
			t.Errorf("got %s %s, want %s", r.Method, r.Params, want)
		}
	}
	p.wantResult("1", `"j"`)
	p.call(2, "test.echo", `{"text":"x","progressToken":7}`)
	for range 2 {
		if r := p.reply(); r.Method != "$/progress" {
			t.Errorf("%+v", r)
		}
	}
	p.wantResult("2", "")
}

func TestShutdownDrains(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p, idle := b.connect(), b.connect()
	p.call(1, "test.wait", `{"name":"r"}`)
	b.begun("r")
	done := make(chan error, 1)
	go func() { done <- b.srv.Shutdown(context.Background()) }()
	idle.closed()
	b.open("r")
	p.wantResult("1", `"r"`)
	p.closed()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownInTime(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.stubborn", `{"name":"s"}`)
	b.begun("s")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.srv.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.wantEnding("1")
	p.closed()
	b.open("s")
}

func TestMethodsAreThoseOfTheContract(t *testing.T) {
	have := []string{}
	for _, m := range rpc.Methods() {
		have = append(have, m.Name)
		if want := protocol.Lookup(m.Name).Mode; m.Mode != want {
			t.Errorf("%s is a %s, want %s", m.Name, m.Mode, want)
		}
		if want := protocol.Lookup(m.Name).Store != protocol.UsesStore; m.Storeless != want {
			t.Errorf("%s passes the gate: %v, want %v", m.Name, m.Storeless, want)
		}
	}
	if want := protocol.Names(); !slices.Equal(have, want) {
		t.Errorf("methods are %v\nthe contract has %v", have, want)
	}
}

// A cancellation concerns what came before it. The call behind it in its batch
// is booked already, but has not been handed over.
func TestRPC7_CancelBeforeItsCallInABatch(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.send(`[{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}},` +
		`{"jsonrpc":"2.0","id":5,"method":"test.history"},{"jsonrpc":"2.0","id":6,"method":"test.write","params":{"name":"w"}},` +
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}},{"jsonrpc":"2.0","id":7,"method":"test.write","params":{"name":"x"}}]` + "\n")
	if got := p.line(); strings.Count(got, `"result"`) != 3 {
		t.Errorf("got %s", got)
	}
}

// A batch of more notifications than there is room for waits for room once, not
// for itself.
func TestRPC6_BatchOfNotificationsOverTheLimit(t *testing.T) {
	b := serve(t, rpc.Limits{InFlight: 2})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"a"}`)
	b.begun("a")
	p.call(2, "test.wait", `{"name":"b"}`)
	b.begun("b")
	n := `{"jsonrpc":"2.0","method":"test.write","params":{"name":"n"}}`
	p.send("[" + strings.Repeat(n+",", 9) + n + "]\n")
	until(t, "the batch has been read", func() bool { return b.srv.ConnStats().Requests >= 13 })
	b.open("a")
	b.open("b")
	p.reply()
	p.reply()
	for {
		p.call(3, "test.history", "")
		if r := p.reply(); r.Error == nil {
			if got := strings.Count(string(r.Result), "n"); got != 10 {
				t.Errorf("%d notifications were run before a later read", got)
			}
			return
		}
	}
}

// Notifications over the limit don't hide what stands behind them.
func TestRPC6_CancelIsReadBehindNotificationsOverTheLimit(t *testing.T) {
	b := serve(t, rpc.Limits{InFlight: 2})
	p := b.connect()
	for _, name := range []string{"a", "b"} {
		p.call(name, "test.wait", `{"name":"`+name+`"}`)
		b.begun(name)
	}
	for range 20 {
		p.send(`{"jsonrpc":"2.0","method":"test.write","params":{"name":"n"}}` + "\n")
	}
	p.cancel("a")
	p.wantError(`"a"`, protocol.CodeCancelled)
	b.open("b")
	p.wantResult(`"b"`, `"b"`)
	_ = p.nc.CloseWrite()
	p.closed()
	if n := len(strings.Fields(b.history())); n != 20 {
		t.Errorf("%d of 20 notifications were run", n)
	}
}

// Calls that go on after they were withdrawn keep their places in the pool.
func TestRPC7_WithdrawnCallsCountInThePool(t *testing.T) {
	var running atomic.Int64
	begun, gate := make(chan int64, 100), make(chan struct{})
	b := serveRooms(t, rpc.Limits{Concurrency: 2}, rpc.Deps{}, rpc.Define("test.stuck", protocol.Read, func(context.Context, *rpc.Session, protocol.Empty) (string, error) {
		begun <- running.Add(1)
		<-gate
		return "", nil
	}))
	defer close(gate)
	p := b.connect()
	for range 2 {
		p.call(1, "test.stuck", "")
		<-begun
		p.cancel(1)
		p.wantError("1", protocol.CodeCancelled)
	}
	for range 5 {
		before := b.srv.ConnStats().Requests
		p.call(2, "test.stuck", "")
		until(t, "the call has been read, alone", func() bool { return b.srv.ConnStats().Requests > before })
		p.send(hello + "\n") // answered once the call is queued, or handed over by its reader
		p.wantError(`"hello"`, protocol.CodeInvalidRequest)
		p.cancel(2)
		p.wantError("2", protocol.CodeCancelled)
	}
	if n := running.Load(); n > 2 {
		t.Errorf("%d calls run in a pool of 2", n)
	}
}

// What calls in flight hold is bounded in bytes too.
func TestRPC6_BytesInFlight(t *testing.T) {
	b := serve(t, rpc.Limits{MessageBytes: 10_000})
	p := b.connect()
	text := strings.Repeat("x", 9_000)
	for range 10 { // one after the other there is always room
		p.call(1, "test.echo", `{"text":"`+text+`"}`)
		p.wantResult("1", "")
		p.call(2, "test.write", `{"name":"`+text+`"}`)
		p.wantResult("2", "")
	}
	p.call("a", "test.write", `{"name":"slow"}`)
	b.begun("slow")
	for i := range 3 {
		p.call(i, "test.write", `{"name":"`+text+`"}`)
	}
	p.call(3, "test.write", `{"name":"late"}`)
	if e := p.wantError("3", protocol.CodeLimit); !e.Data.Retryable {
		t.Error("it is not said to be retryable")
	}
	b.open("slow")
	p.wantResult(`"a"`, "")
	for i := range 3 {
		p.wantResult(strconv.Itoa(i), "")
	}
	p.call(4, "test.write", `{"name":"again"}`)
	p.wantResult("4", "")
}

// Long reads of many connections leave room for those of others: not more than
// so many run at a time, and connections take turns.
func TestRPC7_ConnectionsTakeTurns(t *testing.T) {
	b := serve(t, rpc.Limits{Running: 1})
	greedy, modest := b.connect(), b.connect()
	greedy.call("w", "test.write", `{"name":"slow"}`) // what follows is not run where it is read
	b.begun("slow")
	for _, name := range []string{"g1", "g2", "g3", "g4"} {
		greedy.call(name, "test.wait", `{"name":"`+name+`"}`)
	}
	b.open("slow")
	b.begun("g1")
	// Two at once, so that the first is not run where it is read. When the
	// second is answered the first is in line.
	modest.send(`{"jsonrpc":"2.0","id":"m1","method":"test.wait","params":{"name":"m1"}}` + "\n" + `{"jsonrpc":"2.0","id":"m2","method":"no.such"}` + "\n")
	modest.wantError(`"m2"`, protocol.CodeMethodNotFound)
	for _, name := range []string{"m1", "g2", "g3", "g4", "g1"} {
		b.open(name)
	}
	var order []string
	for range 4 {
		order = append(order, <-b.started)
	}
	if slices.Index(order, "m1") > 2 { // at the latest when it has waited for longest
		t.Errorf("after the first read of one connection came %v", order)
	}
	modest.wantResult(`"m1"`, "")
}
