package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// delta is a piece of a text, or several that were joined: those from Seq to To.
type delta struct {
	Subject string `json:"subject"`
	Seq     int    `json:"seq"`
	To      int    `json:"to"`
	Text    string `json:"text"`
}

// joinDeltas makes one delta of those that wait.
func joinDeltas(waiting []delta) []delta {
	var text strings.Builder
	for _, d := range waiting {
		text.WriteString(d.Text)
	}
	first, last := waiting[0], waiting[len(waiting)-1]
	return []delta{{first.Subject, first.Seq, last.To, text.String()}}
}

func keepDeltas(waiting []delta) []delta { return waiting }

// talk is a job that sends n pieces of a size.
type talk struct {
	Subject string `json:"subject"`
	N       int    `json:"n"`
	Size    int    `json:"size"`
}

func (p talk) piece(i int) delta {
	return delta{p.Subject, i, i, strings.Repeat(string(rune('a'+i%26)), p.Size)}
}

func (p talk) text() string {
	var out strings.Builder
	for i := range p.N {
		out.WriteString(p.piece(i + 1).Text)
	}
	return out.String()
}

var talking = protocol.JobKind{Name: "talk", PerConnection: 2, Total: 3, Interactive: true}

// speakers are methods that only tests have: a job that sends deltas, and a call that
// follows it.
func speakers(feed *jsonrpc.Feed[delta], learned chan<- error) []rpc.Method {
	return []rpc.Method{
		rpc.DefineJob("test.talk", talking, func(ctx context.Context, _ *rpc.Session, p talk) (string, error) {
			stream := rpc.Deltas(ctx, feed, p.Subject)
			for i := range p.N {
				err := stream.Send(ctx, p.piece(i+1))
				if err != nil {
					learned <- err
					return "", err
				}
			}
			return "done", nil
		}),
		rpc.Define("test.follow", protocol.Control, func(_ context.Context, s *rpc.Session, p named) (string, error) {
			rpc.Follow(s, feed, p.Name)
			return p.Name, nil
		}),
	}
}

// heard reads deltas until the reply, if one is to come, or until the last piece.
func (p *peer) heard(t *testing.T, of talk, reply bool) (text string, deltas int) {
	t.Helper()
	var out strings.Builder
	next := 1
	for next <= of.N || reply {
		r := p.reply()
		if r.Method == "" {
			if string(r.Result) != `"done"` {
				t.Fatalf("the reply is %s %+v", r.Result, r.Error)
			}
			if next <= of.N {
				t.Fatalf("the reply came before delta %d", next)
			}
			return out.String(), deltas
		}
		var d delta
		must(t, json.Unmarshal(r.Params, &d))
		if r.Method != "test.delta" || d.Seq != next || d.Subject != of.Subject {
			t.Fatalf("got %s %s %d to %d, want %d", r.Method, d.Subject, d.Seq, d.To, next)
		}
		next = d.To + 1
		out.WriteString(d.Text)
		deltas++
	}
	return out.String(), deltas
}

func (p *peer) talk(id int, of talk) {
	p.t.Helper()
	params, err := json.Marshal(of)
	must(p.t, err)
	p.call(id, "test.talk", string(params))
}

// Deltas come whole and in order, and before the reply, to the caller and to those
// that follow.
func TestCHAT17_DeltasComeInOrderBeforeTheReply(t *testing.T) {
	feed := jsonrpc.NewFeed("test.delta", joinDeltas)
	b := serveRooms(t, rpc.Limits{}, rpc.Deps{}, speakers(feed, make(chan error, 9))...)
	of := talk{"c1", 1000, 40}
	follower, other, caller := b.connect(), b.connect(), b.connect()
	follower.call(1, "test.follow", `{"name":"c1"}`)
	follower.wantResult("1", "")
	other.call(1, "test.follow", `{"name":"c2"}`)
	other.wantResult("1", "")
	caller.talk(7, of)
	text, _ := caller.heard(t, of, true)
	if text != of.text() {
		t.Error("the caller heard another text")
	}
	text, _ = follower.heard(t, of, false)
	if text != of.text() {
		t.Error("the follower heard another text")
	}
	other.call(2, "test.history", "")
	other.wantResult("2", "") // and nothing before
	must(t, follower.nc.Close())
	until(t, "the follower leaves", func() bool { return feed.Followers("c1") == 0 })
}

// A caller who reads slowly makes the job wait, gets what waits joined, and loses
// nothing of it.
func TestCHAT17_ASlowCallerGetsDeltasJoined(t *testing.T) {
	feed := jsonrpc.NewFeed("test.delta", joinDeltas)
	full, read := make(chan int, 1), make(chan struct{})
	of := talk{"c", 1000, 10_000}
	b := serveRooms(t, rpc.Limits{}, rpc.Deps{}, rpc.DefineJob("test.talk", talking, func(ctx context.Context, _ *rpc.Session, p talk) (string, error) {
		stream := rpc.Deltas(ctx, feed, p.Subject)
		impatient, cancel := context.WithCancel(ctx)
		cancel()
		sent := 0
		for stream.Send(impatient, p.piece(sent+1)) == nil { // until there is no room
			sent++
		}
		full <- sent
		<-read
		for ; sent < p.N; sent++ {
			err := stream.Send(ctx, p.piece(sent+1))
			if err != nil {
				return "", err
			}
		}
		return "done", nil
	}))
	p := b.connect()
	p.talk(1, of)
	sent := <-full
	if most := 16 << 20 / of.Size; sent > most { // what is kept, and what the sockets hold
		t.Errorf("%d pieces were sent to a caller who does not read", sent)
	}
	close(read)
	text, deltas := p.heard(t, of, true)
	if text != of.text() {
		t.Error("the caller heard another text")
	}
	if deltas > of.N-50 {
		t.Errorf("%d pieces came in %d deltas", of.N, deltas)
	}
}

// A caller who does not read at all is cut like every slow reader, and the job learns
// it.
func TestCHAT17_ACallerWhoStopsReadingIsCut(t *testing.T) {
	learned := make(chan error, 1)
	feed := jsonrpc.NewFeed("test.delta", keepDeltas)
	b := serveRooms(t, rpc.Limits{WriteStall: 200 * time.Millisecond}, rpc.Deps{}, speakers(feed, learned)...)
	p := b.connect()
	p.talk(1, talk{"c", 1 << 20, 10_000})
	select {
	case err := <-learned:
		if !errors.Is(err, jsonrpc.ErrOver) && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the job does not learn it")
	}
	b.log.await(t, "no progress on a write")
	p.drain()
}

// Nobody waits for a follower: one that does not read is cut, and the others hear
// everything meanwhile.
func TestCHAT17_NobodyWaitsForAFollower(t *testing.T) {
	feed := jsonrpc.NewFeed("test.delta", keepDeltas)
	b := serveRooms(t, rpc.Limits{}, rpc.Deps{}, speakers(feed, make(chan error, 9))...)
	of := talk{"c", 1000, 10_000}
	silent, follower, caller := b.connect(), b.connect(), b.connect()
	for _, p := range []*peer{silent, follower} {
		p.call(1, "test.follow", `{"name":"c"}`)
		p.wantResult("1", "")
	}
	caller.talk(7, of)
	for i := range of.N {
		for _, p := range []*peer{caller, follower} {
			var d delta
			must(t, json.Unmarshal(p.reply().Params, &d))
			if d != of.piece(i+1) {
				t.Fatalf("got delta %d, want %d", d.Seq, i+1)
			}
		}
	}
	caller.wantResult("7", `"done"`)
	b.log.await(t, "slow follower")
	silent.drain()
}

// Jobs of a kind have limits of their own, by connection and in all; other kinds keep
// theirs.
func TestJobKindsHaveLimitsOfTheirOwn(t *testing.T) {
	var b *bench
	wait := func(ctx context.Context, _ *rpc.Session, p named) (string, error) {
		b.started <- p.Name
		select {
		case <-b.gate(p.Name):
			return p.Name, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	b = serveRooms(t, rpc.Limits{Jobs: 1}, rpc.Deps{},
		rpc.DefineJob("test.a", protocol.JobKind{Name: "a", PerConnection: 2, Total: 3}, wait),
		rpc.DefineJob("test.alsoA", protocol.JobKind{Name: "a"}, wait),
		rpc.DefineJob("test.b", protocol.JobKind{Name: "b"}, wait))
	p, q := b.connect(), b.connect()
	begin := func(p *peer, id int, method string) {
		t.Helper()
		name := fmt.Sprint(method, id)
		p.call(id, method, fmt.Sprintf(`{"name":%q}`, name))
		b.begun(name)
	}
	refused := func(p *peer, id, method, want string) {
		t.Helper()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"name":"x"}}`+"\n", id, method))
		e := p.wantError(id, protocol.CodeLimit)
		if !e.Data.Retryable || !strings.Contains(e.Message, want) {
			t.Errorf("%+v", e)
		}
	}
	begin(p, 1, "test.a")
	begin(p, 2, "test.alsoA")
	refused(p, "3", "test.a", "more than 2 jobs run")
	begin(p, 4, "test.b") // another kind
	refused(p, "5", "test.b", "more than 1 jobs run")
	begin(q, 6, "test.a")
	refused(q, "7", "test.a", "more than 3 jobs of the kind a")
	b.open("test.a1")
	p.wantResult("1", "")
	begin(q, 8, "test.a") // there is room again
	for _, name := range []string{"test.alsoA2", "test.b4", "test.a6", "test.a8"} {
		b.open(name)
	}
	for range 2 {
		p.reply()
		q.reply()
	}
}

// An interactive job is answered at once when it is withdrawn, whatever its handler
// does, and sends nothing more.
func TestCHAT18_AnInteractiveJobIsWithdrawnAtOnce(t *testing.T) {
	const within = 100 * time.Millisecond
	feed := jsonrpc.NewFeed("test.delta", joinDeltas)
	ended, goOn, learned := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	b := serveRooms(t, rpc.Limits{}, rpc.Deps{}, rpc.DefineJob("test.talk", talking, func(ctx context.Context, _ *rpc.Session, p talk) (string, error) {
		stream := rpc.Deltas(ctx, feed, p.Subject)
		_ = stream.Send(ctx, p.piece(1))
		<-ctx.Done()
		close(ended)
		<-goOn // it is stubborn
		learned <- stream.Send(context.Background(), p.piece(2))
		return "done", nil
	}))
	p := b.connect()
	p.talk(1, talk{"c", 2, 10})
	p.line()
	began := time.Now()
	p.cancel(1)
	p.wantError("1", protocol.CodeCancelled)
	if took := time.Since(began); took > within {
		t.Errorf("it took %v", took)
	}
	<-ended
	close(goOn)
	if err := <-learned; !errors.Is(err, jsonrpc.ErrOver) {
		t.Errorf("a delta after the reply: %v", err)
	}
	p.call(2, "test.history", "")
	p.wantResult("2", "") // and nothing before
}

// An interactive job ends with the connection of its caller; another goes on.
func TestCHAT18_AnInteractiveJobEndsWithItsConnection(t *testing.T) {
	ended, began := make(chan string, 2), make(chan struct{}, 2)
	wait := func(ctx context.Context, _ *rpc.Session, p named) (string, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- p.Name
		return "", ctx.Err()
	}
	b := serveRooms(t, rpc.Limits{}, rpc.Deps{}, rpc.DefineJob("test.talk", talking, wait), rpc.DefineJob("test.long", protocol.JobKind{Name: "long"}, wait))
	p := b.connect()
	p.call(1, "test.long", `{"name":"long"}`)
	p.call(2, "test.talk", `{"name":"talk"}`)
	<-began
	<-began
	must(t, p.nc.Close())
	if got := <-ended; got != "talk" {
		t.Errorf("%s ended", got)
	}
	if len(ended) > 0 {
		t.Error("the other job ended too")
	}
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.srv.Shutdown(expired); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := <-ended; got != "long" {
		t.Errorf("%s ended", got)
	}
}

// A daemon that has waited for as long as it may tells the callers of jobs why they
// end.
func TestShutdownEndsJobs(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call(1, "test.job", `{"name":"j"}`)
	b.begun("j")
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.srv.Shutdown(expired); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	e := p.wantError("1", protocol.CodeUnavailable)
	if !strings.Contains(e.Message, "stopping") {
		t.Errorf("%+v", e)
	}
	p.closed()
}
