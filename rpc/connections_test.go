package rpc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// connections asks for the connections over one that is made for it.
func (b *bench) connections() protocol.Connections {
	b.t.Helper()
	p := b.dial()
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"inspect"}}}` + "\n")
	p.line()
	p.call(1, "admin.connections", "")
	var all protocol.Connections
	if err := json.Unmarshal(p.reply().Result, &all); err != nil {
		b.t.Fatal(err)
	}
	_ = p.nc.Close()
	return all
}

func (b *bench) connection(program string) protocol.Connection {
	b.t.Helper()
	all := b.connections().Connections
	for _, c := range slices.Backward(all) { // one that was closed may still be there
		if c.Client.Name == program {
			return c
		}
	}
	b.t.Fatalf("no connection of %s", program)
	return protocol.Connection{}
}

func TestConnectionsShowTheCallsInFlight(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"read"}`)
	b.begun("read")
	p.call(2, "test.write", `{"name":"slow-a"}`)
	b.begun("slow-a")
	p.call(3, "test.write", `{"name":"b"}`)
	p.call(4, "test.history", "")
	p.call(5, "test.job", `{"name":"job"}`)
	b.begun("job") // so that all before it have been read

	c := b.connection("test")
	var got []string
	for _, k := range c.Calls {
		got = append(got, k.Method+" "+k.State)
		if k.ForMS < 0 || k.ForMS > patience.Milliseconds() {
			t.Errorf("%s for %d ms", k.Method, k.ForMS)
		}
	}
	want := "[test.wait running test.write running test.write queued test.history queued test.job running]"
	if fmt.Sprint(got) != want || c.InFlight != 5 || c.Queued != 2 {
		t.Errorf("%v, %d in flight, %d queued", got, c.InFlight, c.Queued)
	}
	b.open("read")
	b.open("slow-a")
	b.open("job")
	for range 5 {
		p.line()
	}
	if c := b.connection("test"); len(c.Calls) != 0 || c.InFlight != 0 {
		t.Errorf("afterwards: %+v", c)
	}
}

func TestConnectionsCount(t *testing.T) {
	b := serve(t, rpc.Limits{})
	began := time.Now().Add(-time.Second)
	p := b.dial()
	sent, got := 0, 0
	exchange := func(text string) {
		p.send(text)
		sent += len(text)
		got += len(p.line()) + 1
	}
	exchange(hello + "\n")
	exchange(echo + "\n")
	exchange(`{"jsonrpc":"2.0","id":2,"method":"no.such"}` + "\n")
	exchange("{nonsense}\n")
	exchange(`{"jsonrpc":"2.0","id":3,"method":"test.fail"}` + "\n")
	c := b.connection("test")
	want := protocol.Connection{
		ID: c.ID, Client: protocol.PeerInfo{Name: "test"}, PID: c.PID, Framing: "newline", OpenedAt: c.OpenedAt,
		Requests: 4, Errors: 3, BytesIn: int64(sent), BytesOut: int64(got), Topics: []protocol.Topic{}, Calls: []protocol.ConnCall{},
	}
	if fmt.Sprintf("%+v", c) != fmt.Sprintf("%+v", want) {
		t.Errorf("got\n%+v\nwant\n%+v", c, want)
	}
	if c.OpenedAt.Before(began) || c.OpenedAt.After(time.Now()) {
		t.Errorf("opened at %v", c.OpenedAt)
	}
	if runtime.GOOS == "linux" && c.PID != os.Getpid() {
		t.Errorf("process %d, want %d", c.PID, os.Getpid())
	}
	// What went over a connection stays in the totals when it is closed.
	before := b.connections().Totals
	_ = p.nc.Close()
	for len(b.srv.Sessions()) > 0 {
		runtime.Gosched() // until it is over
	}
	after := b.connections().Totals
	if after.Requests < before.Requests || after.Errors != before.Errors || after.BytesIn < before.BytesIn || after.BytesOut < before.BytesOut {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if after.Open != 1 || after.InFlight != 1 {
		t.Errorf("%+v", after)
	}
}

func TestConnectionsSayWhoIsThere(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.dial()
	p.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"app","version":"2"},"processId":%d}}`, os.Getppid())))
	p.framed()
	p.send(frame(`{"jsonrpc":"2.0","id":2,"method":"events.subscribe","params":{"topics":["notes.changed","entities.changed"]}}`))
	p.framed()
	silent := b.dial()
	silent.send(`{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}` + "\n")
	silent.line()
	c := b.connection("app")
	if c.Framing != "content-length" || c.PID != os.Getppid() || c.Client.Version != "2" || fmt.Sprint(c.Topics) != "[entities.changed notes.changed]" {
		t.Errorf("%+v", c)
	}
	if s := b.connection(""); s.Framing != "" || s.Requests != 1 {
		t.Errorf("before initialize: %+v", s)
	}
	// The one that asks sees its own call.
	if own := b.connection("inspect"); own.InFlight != 1 || len(own.Calls) != 1 || own.Calls[0].Method != "admin.connections" || own.Calls[0].State != "running" {
		t.Errorf("itself: %+v", own)
	}
}

// What was dropped with a connection did not go out.
func TestBytesOutOfAConnectionThatWasCut(t *testing.T) {
	b := serve(t, rpc.Limits{OutboundBytes: 1 << 20})
	p := b.connect()
	before := b.srv.ConnStats().BytesOut
	p.sizes(8, 400_000)
	b.log.await(t, "connection closed")
	n, _ := io.Copy(io.Discard, p.in)
	until(t, "what went out is what came", func() bool { return b.srv.ConnStats().BytesOut-before == n })
	until(t, "the connection is over", func() bool { return len(b.srv.Sessions()) == 0 })
	until(t, "what went out is still what came", func() bool { return b.srv.ConnStats().BytesOut-before == n })
}
