package nats_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	kvnats "github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// sharedCluster is a cluster of three for all tests that do not break it.
var sharedCluster = sync.OnceValues(func() (*natstest.Cluster, error) {
	dir, err := os.MkdirTemp("", "ctxd-stream-")
	if err != nil {
		return nil, err
	}
	sharedDir = dir
	return natstest.StartClusterIn(dir, natstest.ClusterOptions{})
})

var sharedDir string

func TestMain(m *testing.M) {
	if natstest.RunAsServers() {
		return
	}
	code := m.Run()
	if sharedDir != "" {
		c, err := sharedCluster()
		if err == nil {
			c.Close()
		}
		_ = os.RemoveAll(sharedDir)
	}
	os.Exit(code)
}

func cluster(t *testing.T) *natstest.Cluster {
	t.Helper()
	c, err := sharedCluster()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// begun makes a store on servers.
func begun(t testing.TB, c *natstest.Cluster) *kvnats.Identity {
	t.Helper()
	id, _, err := kvnats.CreateStore(t.Context(), kvnats.CreateOptions{Servers: kvnats.Servers{URL: c.URL()}, Name: "laptop", Single: c.Single()})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// joined is another machine of a store.
func joined(t *testing.T, c *natstest.Cluster, id *kvnats.Identity) *kvnats.Identity {
	t.Helper()
	secret, err := kvnats.ParseSecret(id.Words())
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := kvnats.JoinStore(t.Context(), kvnats.JoinOptions{Servers: kvnats.Servers{URL: c.URL()}, Secret: secret, Name: "desktop"})
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// opened follows the log of a store until the end of the test.
func opened(t testing.TB, url string, id *kvnats.Identity) *kvnats.Log {
	t.Helper()
	l, err := kvnats.OpenLog(kvnats.Servers{URL: url}, id, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// read returns the entries behind a position and the position of the last.
func read(t *testing.T, l *kvnats.Log, after outbox.Position) (entries []string, at outbox.Position) {
	t.Helper()
	at = after
	err := l.Read(t.Context(), after, func(p outbox.Position, entry []byte) error {
		entries = append(entries, string(entry))
		at = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries, at
}

func appended(t *testing.T, l *kvnats.Log, after outbox.Position, entry string) outbox.Position {
	t.Helper()
	at, err := l.Append(t.Context(), after, []byte(entry))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestSYNC1_TwoMachinesHaveOneOrder(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a, b := opened(t, c.URL(), id), opened(t, c.URL(), joined(t, c, id))
	first := appended(t, a, id.Start(), "from a")
	entries, at := read(t, b, id.Start())
	if fmt.Sprint(entries) != "[from a]" || at != first {
		t.Fatalf("b reads %q at %v, want the entry of a at %v", entries, at, first)
	}
	second := appended(t, b, at, "from b")
	if second.Seq <= first.Seq {
		t.Errorf("positions %d and %d do not grow", first.Seq, second.Seq)
	}
	if _, err := a.Append(t.Context(), first, []byte("too late")); !errors.Is(err, outbox.ErrBehind) {
		t.Fatalf("an append behind another one: %v", err)
	}
	entries, at = read(t, a, first)
	if fmt.Sprint(entries) != "[from b]" || at != second {
		t.Errorf("a reads %q at %v", entries, at)
	}
	appended(t, a, at, "")
	if entries, _ = read(t, b, second); len(entries) != 1 || entries[0] != "" {
		t.Errorf("an empty entry is read as %q", entries)
	}
}

// Whoever appends at one place at the same time: one gets it.
func TestSYNC2_OneOfAllThatAppendGetsThePlace(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	const machines, rounds = 4, 8
	logs := make([]*kvnats.Log, machines)
	for i := range logs {
		logs[i] = opened(t, c.URL(), id)
	}
	at := id.Start()
	for round := range rounds {
		var won sync.Map
		var all sync.WaitGroup
		for i, l := range logs {
			all.Go(func() {
				p, err := l.Append(t.Context(), at, fmt.Appendf(nil, "%d from %d", round, i))
				switch {
				case err == nil:
					won.Store(i, p)
				case !errors.Is(err, outbox.ErrBehind):
					t.Error(err)
				}
			})
		}
		all.Wait()
		winners := 0
		want := ""
		before := at
		won.Range(func(i, p any) bool {
			winners++
			want = fmt.Sprintf("[%d from %d]", round, i)
			at = p.(outbox.Position)
			return true
		})
		if winners != 1 {
			t.Fatalf("round %d: %d machines got one place", round, winners)
		}
		for i, l := range logs {
			if entries, p := read(t, l, before); fmt.Sprint(entries) != want || p != at {
				t.Fatalf("round %d: machine %d reads %q at %v, want %s at %v", round, i, entries, p, want, at)
			}
		}
	}
}

func TestSYNC2_AnEntryOverTheLimitOfAMessageTravelsInParts(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, MaxPayload: 64 << 10})
	id := begun(t, c)
	a, b := opened(t, c.URL(), id), opened(t, c.URL(), id)
	large := make([]byte, 500_000)
	_, _ = rand.Read(large)
	at := appended(t, a, id.Start(), string(large))
	if at.Seq < 5 {
		t.Errorf("it took %d messages", at.Seq)
	}
	next := appended(t, a, at, "small")
	entries, end := read(t, b, id.Start())
	if len(entries) != 2 || entries[0] != string(large) || entries[1] != "small" || end != next {
		t.Fatalf("read %d entries at %v, want two at %v", len(entries), end, next)
	}
	if entries, _ := read(t, b, at); fmt.Sprint(entries) != "[small]" {
		t.Errorf("behind the large one: %d entries", len(entries))
	}
}

func TestSYNC1_ChangesSignalsWhatAnotherMachineHasWritten(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a, b := opened(t, c.URL(), id), opened(t, c.URL(), id)
	at := appended(t, a, id.Start(), "first")
	got := id.Start()
	for got != at { // a signal may be one of the connection
		changed(b)
		_, got = read(t, b, got)
	}
}

func TestSYNC1_ManyEntriesAreReadAtOnce(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	at := id.Start()
	var want []string
	for i := range 300 { // more than what is kept of the newest
		text := fmt.Sprintf("entry %d %s", i, bytes.Repeat([]byte("x"), i))
		want = append(want, text)
		at = appended(t, a, at, text)
	}
	b := opened(t, c.URL(), id)
	entries, end := read(t, b, id.Start())
	if fmt.Sprint(entries) != fmt.Sprint(want) || end != at {
		t.Errorf("read %d entries up to %d, want %d up to %d", len(entries), end.Seq, len(want), at.Seq)
	}
	stop := errors.New("enough")
	err := b.Read(t.Context(), id.Start(), func(p outbox.Position, _ []byte) error {
		if p.Seq == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("the error of the caller became %v", err)
	}
}

func TestSYNC6_AnotherPositionAndAnotherKeyAreRefused(t *testing.T) {
	campaign.Only(t)
	c := cluster(t)
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	first := appended(t, a, id.Start(), "first")
	second := appended(t, a, first, "second")
	nothing := func(outbox.Position, []byte) error { t.Error("an entry was handed over"); return nil }
	for name, after := range map[string]outbox.Position{
		"a store with another history":    {Seq: first.Seq, Mark: second.Mark},
		"a store that never began":        {},
		"the end, with another history":   {Seq: second.Seq, Mark: first.Mark},
		"more than what the servers have": {Seq: second.Seq + 1, Mark: second.Mark},
	} {
		b := opened(t, c.URL(), id)
		err := b.Read(t.Context(), after, nothing)
		var f *fault.Error
		if !errors.Is(err, outbox.ErrForked) || !errors.As(err, &f) || f.Retryable || f.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	stranger := begun(t, c)
	wrong := opened(t, c.URL(), kvnats.With(id, stranger))
	if err := wrong.Read(t.Context(), id.Start(), nothing); kvnats.ReasonOf(err) != kvnats.ReasonWrongKey {
		t.Errorf("another key: %v", err)
	}
}

func TestSYNC4_WithoutServersItIsUnavailableAtOnceAndComesBack(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	at := appended(t, a, id.Start(), "before")
	c.Stop(0)
	for a.Connected() {
		<-time.After(time.Millisecond)
	}
	_, err := a.Append(t.Context(), at, []byte("meanwhile"))
	if f := retryable(err); !f {
		t.Fatalf("appended without servers: %v", err)
	}
	if err := a.Read(t.Context(), at, nil); !retryable(err) {
		t.Fatalf("read without servers: %v", err)
	}
	if err := errors.Join(c.Start(0), c.Ready()); err != nil {
		t.Fatal(err)
	}
	reached(t, a)
	at = appended(t, a, at, "after")
	if entries, end := read(t, opened(t, c.URL(), id), id.Start()); fmt.Sprint(entries) != "[before after]" || end != at {
		t.Errorf("read %q", entries)
	}
}

// reached returns when the servers answer. Connected may still tell of a connection that has ended.
func reached(t *testing.T, l *kvnats.Log) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); ; <-time.After(time.Millisecond) {
		_, err := l.End(t.Context())
		if err == nil {
			return
		}
		if !retryable(err) || time.Now().After(limit) {
			t.Fatal(err)
		}
	}
}

func retryable(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Unavailable && f.Retryable
}

func TestSYNC4_OpeningNeedsNoServers(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	id := begun(t, c)
	c.Stop(0)
	a := opened(t, c.URL(), id)
	if err := a.Read(t.Context(), id.Start(), nil); !retryable(err) {
		t.Fatalf("read without servers: %v", err)
	}
	if err := errors.Join(c.Start(0), c.Ready()); err != nil {
		t.Fatal(err)
	}
	reached(t, a)
	appended(t, a, id.Start(), "after")
}

// What the consumer has brought is handed over without the servers, and Read stays the one that
// says what is wrong.
func TestSYNC1_WhatHasComeIsReadWithoutAsking(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	id := begun(t, c)
	proxy := natstest.NewProxy(t, c, 0)
	a, b := opened(t, c.URL(), id), opened(t, proxy.URL(), id)
	at := appended(t, a, id.Start(), "first")
	got := id.Start()
	arrived := func() (entries []string, all bool) {
		all, err := b.Arrived(got, func(p outbox.Position, entry []byte) error {
			got, entries = p, append(entries, string(entry))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return entries, all
	}
	if _, all := arrived(); all {
		t.Error("it says that there is nothing, and has never looked")
	}
	for got != at { // the first time it is read
		changed(b)
		_, got = read(t, b, got)
	}
	read(t, b, got) // now its position is found in the log
	first := at
	at = appended(t, a, at, "second")
	var entries []string
	all := false
	for len(entries) == 0 {
		changed(b)
		entries, all = arrived()
	}
	if fmt.Sprint(entries) != "[second]" || got != at || !all {
		t.Errorf("%q came, all %v", entries, all)
	}
	proxy.Cut()
	got = first
	if entries, _ := arrived(); fmt.Sprint(entries) != "[second]" {
		t.Errorf("cut off from the servers it has %q", entries)
	}
}

// A store that could not be begun to its end leaves nothing on the servers.
func TestSYNC8_AStoreThatIsNotBegunLeavesNothing(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	nowhere := filepath.Join(t.TempDir(), "no folder", "key")
	_, _, err := kvnats.CreateStore(t.Context(), kvnats.CreateOptions{Servers: kvnats.Servers{URL: c.URL()}, Name: "laptop", Single: true, Path: nowhere})
	if fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("begun without a key file: %v", err)
	}
	nc, err := nats.Connect(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	list := js.StreamNames(t.Context())
	for name := range list.Name() {
		t.Errorf("the servers keep %s", name)
	}
	if list.Err() != nil {
		t.Error(list.Err())
	}
}
