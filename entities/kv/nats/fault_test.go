package nats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// changed returns when there may be something new, or after a while: nothing signals once more what a
// reading that failed has not seen.
func changed(l *nats.Log) {
	select {
	case <-l.Changes():
	case <-time.After(time.Second):
	}
}

// awaitEntry returns once there is an entry behind a position.
func awaitEntry(t *testing.T, l *nats.Log, after outbox.Position) {
	t.Helper()
	found := false
	for !found {
		changed(l)
		_ = l.Read(t.Context(), after, func(outbox.Position, []byte) error { // the next try finds it
			found = true
			return nil
		})
	}
}

// An acknowledgement that is lost on the way, also since somebody else gives up the connection meanwhile: the entry is there
// once, and its writer is told so.
func TestSYNC2_ALostAcknowledgementIsSettled(t *testing.T) {
	for name, meanwhile := range map[string]func(*nats.Log){
		"answers are lost":           func(*nats.Log) {},
		"the connection is given up": nats.MoveOn,
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t)
			id := begun(t, c)
			p := natstest.NewProxy(t, c, 0)
			a, watcher := opened(t, p.URL(), id), opened(t, c.URL(), id)
			at := appended(t, a, id.Start(), "first")
			p.DropFromServer()
			healed := make(chan struct{})
			go func() { // when the entry has arrived, everything is passed on again
				defer close(healed)
				awaitEntry(t, watcher, at)
				meanwhile(a)
				p.Heal()
			}()
			next, err := a.Append(t.Context(), at, []byte("second"))
			<-healed
			if err != nil {
				t.Fatalf("the entry is there, and its writer is told %v", err)
			}
			if entries, end := read(t, watcher, id.Start()); fmt.Sprint(entries) != "[first second]" || end != next {
				t.Errorf("the log holds %q up to %v, the writer has %v", entries, end, next)
			}
			appended(t, a, next, "third")
		})
	}
}

// A writer that gives up does not know; what it reads later decides.
func TestSYNC2_AnOutcomeThatNobodyTellsIsUnknown(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	p := natstest.NewProxy(t, c, 0)
	a := opened(t, p.URL(), id)
	at := appended(t, a, id.Start(), "first")
	watcher := opened(t, c.URL(), id)
	ctx, cancel := context.WithCancel(t.Context())
	p.DropFromServer()
	go func() { // it gives up as soon as its entry is there
		awaitEntry(t, watcher, at)
		cancel()
	}()
	_, err := a.Append(ctx, at, []byte("second"))
	if !errors.Is(err, outbox.ErrUnknown) {
		t.Fatalf("told %v", err)
	}
	p.Heal()
	reached(t, a)
	if _, err := a.Append(t.Context(), at, []byte("another")); !errors.Is(err, outbox.ErrBehind) {
		t.Errorf("something else at its place: %v", err)
	}
	if entries, _ := read(t, a, id.Start()); fmt.Sprint(entries) != "[first second]" {
		t.Errorf("the log holds %q", entries)
	}
}

// A machine that dies in the middle of an entry, or is overtaken, leaves parts that nobody reads.
func TestSYNC2_PartsWithoutTheLastAreVoid(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	id := begun(t, c)
	a, b := opened(t, c.URL(), id), opened(t, c.URL(), id)
	at := appended(t, a, id.Start(), "first")
	parts := nats.Parts(a, at, []byte("a large entry that is cut"), 3)
	nats.Publish(t, a, parts[0])
	nats.Publish(t, a, parts[1])
	if entries, end := read(t, b, at); len(entries) != 0 || end != at {
		t.Fatalf("of an entry without its end %q was read", entries)
	}
	nats.HurryPastOthers(t)
	at = appended(t, b, at, "second")
	if entries, end := read(t, b, id.Start()); fmt.Sprint(entries) != "[first second]" || end != at {
		t.Errorf("read %q", entries)
	}
	// Somebody who is let in by the servers repeats a message. What went before stands.
	nats.Publish(t, a, parts[2])
	for name, l := range map[string]*nats.Log{"who knows the end": b, "who begins": opened(t, c.URL(), id)} {
		var entries []string
		err := l.Read(t.Context(), id.Start(), func(_ outbox.Position, entry []byte) error {
			entries = append(entries, string(entry))
			return nil
		})
		if nats.ReasonOf(err) != nats.ReasonMoved || fmt.Sprint(entries) != "[first second]" {
			t.Errorf("%s: read %q, told %v", name, entries, err)
		}
		if _, err := l.Append(t.Context(), at, []byte("third")); nats.ReasonOf(err) != nats.ReasonMoved {
			t.Errorf("%s: appended behind it: %v", name, err)
		}
	}
}

// A machine that hears nothing of new messages any more begins to follow anew, before it notices
// that its connection is of no use.
func TestSYNC3_WhoHearsNothingFollowsAnew(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	p := natstest.NewProxy(t, c, 0)
	a, b := opened(t, p.URL(), id), opened(t, c.URL(), id)
	at := appended(t, b, id.Start(), "first")
	for got := id.Start(); got != at; {
		changed(a)
		_, got = read(t, a, got)
	}
	for !nats.Follows(a) {
		<-time.After(time.Millisecond)
	}
	p.DropFromServer()
	for nats.Follows(a) {
		if !a.Connected() {
			t.Fatal("it followed until its connection was given up")
		}
		<-time.After(time.Millisecond)
	}
	p.Heal()
	next := appended(t, b, at, "second")
	for got := at; got != next; {
		changed(a)
		if err := a.Read(t.Context(), got, func(p outbox.Position, _ []byte) error { got = p; return nil }); err != nil && !retryable(err) {
			t.Fatal(err)
		}
	}
}

// A machine whose server is cut off from the other two writes over another one.
func TestSYNC9_WhoseServerIsCutOffGoesToAnotherOne(t *testing.T) {
	if !campaign.Full() {
		t.Skip("it takes as long as the servers take to elect a leader: CTXD_CAMPAIGN=full")
	}
	members, routes := parted(t)
	var urls []string
	for i := range members {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", members[i].Port))
	}
	id, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: strings.Join(urls, ",")}, Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	a := opened(t, strings.Join(urls, ","), id)
	at := appended(t, a, id.Start(), "first")
	here, err := a.Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range members {
		for j := range members {
			if i != j && (members[i].Name == here.Server || members[j].Name == here.Server) {
				routes[i][j].Cut()
			}
		}
	}
	for {
		_, err := a.Append(t.Context(), at, []byte("second"))
		if err == nil || errors.Is(err, outbox.ErrBehind) { // by an earlier attempt
			break
		}
		if !retryable(err) && !errors.Is(err, outbox.ErrUnknown) {
			t.Fatal(err)
		}
	}
	there, err := a.Cluster(t.Context())
	if err != nil || there.Server == here.Server {
		t.Errorf("it writes over %s, which nobody else reaches: %v", here.Server, err)
	}
}

// parted are three servers that reach each other over proxies, by who asks whom.
func parted(t *testing.T) (members [3]natstest.Member, routes [3][3]*natstest.Proxy) {
	t.Helper()
	ports, err := natstest.FreePorts(6)
	if err != nil {
		t.Fatal(err)
	}
	for i := range members {
		members[i] = natstest.Member{Name: fmt.Sprintf("server%d", i+1), Dir: t.TempDir(), Port: ports[i], RoutePort: ports[3+i]}
		for j := range members {
			if i == j {
				continue
			}
			p, err := natstest.OpenProxy(fmt.Sprintf("127.0.0.1:%d", ports[3+j]))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			routes[i][j] = p
			members[i].Routes = append(members[i].Routes, strings.TrimPrefix(p.URL(), "nats://"))
		}
	}
	for i := range members {
		if err := members[i].Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(members[i].Stop)
	}
	for i := range members {
		for !members[i].Ready() {
			<-time.After(10 * time.Millisecond)
		}
	}
	return members, routes
}
