package jsonrpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// replySize is more than a reply may have that is not booked. Of two of them only one is
// written at a time when there is room for twice as much.
const replySize = jsonrpc.ShortValueSize + 1000

// reply makes a method whose result takes so many bytes, and for so long to be written.
func (w *world) reply(name string, size int) jsonrpc.Method {
	return jsonrpc.Method{
		Name: name, Mode: protocol.Read, Early: true,
		Run: func(ctx context.Context, k *jsonrpc.Call) (*jsonrpc.Buffer, error) {
			var p struct{ MS int }
			if err := json.Unmarshal(k.Params(), &p); err != nil {
				return nil, err
			}
			return k.Encode(ctx, new(jsonrpc.Encoder), struct {
				Text string
				Slow slowly
			}{strings.Repeat("x", size), slowly{w, k.Conn(), p.MS}})
		},
	}
}

// slowly takes so many milliseconds to be written.
type slowly struct {
	w    *world
	conn *jsonrpc.Conn
	ms   int
}

func (s slowly) MarshalJSON() ([]byte, error) {
	now := s.w.writing.Add(1)
	defer s.w.writing.Add(-1)
	for most := s.w.mostWriting.Load(); now > most && !s.w.mostWriting.CompareAndSwap(most, now); {
		most = s.w.mostWriting.Load()
	}
	compute(s.ms)
	s.w.written.add(s.conn.ID())
	return []byte(`"done"`), nil
}

// order is the order in which replies were written, by connection.
type order struct {
	mu   sync.Mutex // guards list
	list []uint64
}

func (o *order) add(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, id)
}

// wantNoReplies fails when something is still booked.
func (w *world) wantNoReplies() {
	w.t.Helper()
	if making, waiting := w.Replies(); making != 0 || waiting != 0 {
		w.t.Errorf("%d bytes of replies are booked, and %d wait", making, waiting)
	}
}

// asks connects as processes that each make a call, and read nothing. The calls do not
// run where they are read.
func (w *world) asks(method string, ms int, processes ...int) (all []*caller) {
	warm := w.dial(1)
	warm.in.Buffer(nil, 16*replySize)
	for range 10 { // after which the method is no short one
		warm.send(1, method, 10)
		warm.wantReply()
	}
	w.written.list = nil
	w.mostWriting.Store(0)
	for _, pid := range processes {
		c := w.dial(pid)
		c.in.Buffer(nil, 16*replySize)
		c.send(1, method, ms)
		synctest.Wait()
		all = append(all, c)
	}
	return all
}

// wantReply reads a reply.
func (c *caller) wantReply() {
	c.t.Helper()
	if !c.in.Scan() || !strings.Contains(c.in.Text(), "done") {
		c.t.Fatalf("got %.100s %v", c.in.Text(), c.in.Err())
	}
}

// Long replies are written one after the other when there is no room for two. Clients
// take turns, and who reads nothing holds up nobody. Other calls don't wait for them.
func TestREL6_LongRepliesWaitForMemory(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 8, ReplyTotal: 2 * replySize}, func(w *world) {
		all := w.asks("reply", 10, 100, 100, 101, 102)
		making, waiting := w.Replies()
		if making < replySize || making > 2*replySize || waiting != 3 {
			t.Errorf("%d bytes are booked, and %d replies wait", making, waiting)
		}
		if got := w.Places().Running; got != 1 {
			t.Errorf("%d reads have places, want the one that is written", got)
		}
		other := w.dial(2)
		for _, method := range []string{"short", "storeless"} {
			if d := other.wait(method, 0); d > 0 {
				t.Errorf("a %s read waits %v", method, d)
			}
		}
		if d := w.dial(100).wait("storeless", 0); d > 0 {
			t.Errorf("what needs no store waits %v for replies of its client", d)
		}
		next := w.dial(100)
		next.send(2, "stubborn", 1)
		pass(5 * time.Millisecond)
		if n := w.ConnStats().Queued; n != 2 {
			t.Errorf("a client whose reply waits has %d reads that have not begun, want 2", n)
		}
		pass(40 * time.Millisecond)
		if got := fmt.Sprint(w.written.list); got != "[2 4 5 3]" {
			t.Errorf("written for the connections %s", got)
		}
		w.wantNoReplies()
		if n := w.mostWriting.Load(); n != 1 {
			t.Errorf("%d long replies were written at a time", n)
		}
		for _, c := range append(all, next) {
			c.wantReply()
		}
	})
}

// A reply that is longer than all that there is room for is written alone.
func TestREL6_AReplyLongerThanTheMemoryIsWrittenAlone(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 8, ReplyTotal: 2 * replySize}, func(w *world) {
		for _, c := range w.asks("huge", 10, 100, 101, 102) {
			c.wantReply()
		}
		if n := w.mostWriting.Load(); n != 1 {
			t.Errorf("%d long replies were written at a time", n)
		}
		pass(time.Millisecond)
		w.wantNoReplies()
	})
}

// A read whose reply waits ends at once when it is withdrawn or its connection is closed,
// and leaves nothing behind.
func TestREL8_AReplyThatWaitsCanBeWithdrawn(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 8, ReplyTotal: 2 * replySize}, func(w *world) {
		all := w.asks("reply", 1000, 100, 101, 102)
		began := time.Now()
		_, _ = all[1].nc.Write([]byte(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n"))
		if !all[1].in.Scan() || !strings.Contains(all[1].in.Text(), "-32800") {
			t.Fatalf("got %.100s", all[1].in.Text())
		}
		synctest.Wait()
		if _, waiting := w.Replies(); waiting != 1 {
			t.Errorf("%d replies wait, want one", waiting)
		}
		go w.cutAll()
		synctest.Wait()
		if _, waiting := w.Replies(); waiting != 0 {
			t.Errorf("%d replies wait, and their connections are closed", waiting)
		}
		if d := time.Since(began); d > 0 {
			t.Errorf("that took %v", d)
		}
		pass(2 * time.Second)
		if got := fmt.Sprint(w.written.list); got != "[2]" {
			t.Errorf("written for the connections %s", got)
		}
		w.wantNoReplies()
		if got, want := w.Places(), (jsonrpc.PoolStats{Free: 8}); got != want {
			t.Errorf("the places stand at %+v", got)
		}
	})
}
