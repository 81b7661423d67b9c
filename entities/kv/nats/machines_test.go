package nats_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// A memory says by name on which machine it was written, so no two of a store are called the same.
func TestSYNC8_NamesOfMachinesAreApart(t *testing.T) {
	c := cluster(t)
	id := begun(t, c) // laptop
	joined(t, c, id)
	third := joined(t, c, id)
	secret, err := nats.ParseSecret(id.Words())
	if err != nil {
		t.Fatal(err)
	}
	same, _, err := nats.JoinStore(t.Context(), nats.JoinOptions{Servers: nats.Servers{URL: c.URL()}, Secret: secret, Name: "laptop", Former: id.Machine()})
	if err != nil {
		t.Fatal(err)
	}
	if third.Name() != "desktop 2" || same.Name() != "laptop" {
		t.Errorf("the third is called %q, the first one %q when it joins anew", third.Name(), same.Name())
	}
	list, err := opened(t, c.URL(), id).Machines(t.Context())
	if err != nil || len(list) != 4 || list[1].Name != "desktop" || list[2].Name != "desktop 2" || list[3].Name != "laptop" {
		t.Errorf("machines %+v, %v", list, err)
	}
}

func TestSYNC8_ARemovedMachineGetsNothingNew(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	second, third := joined(t, c, id), joined(t, c, id)
	a, b, removed := opened(t, c.URL(), id), opened(t, c.URL(), second), opened(t, c.URL(), third)
	at := appended(t, a, id.Start(), "before")
	read(t, b, id.Start())
	read(t, removed, id.Start())
	list, err := a.Machines(t.Context())
	if err != nil || len(list) != 3 || list[0].Name != "laptop" || list[2].Number != 3 || third.Machine() != 3 {
		t.Fatalf("machines %+v, %v", list, err)
	}
	old := id.Words()
	words, err := a.Remove(t.Context(), at, 3)
	if err != nil || words == old || words != id.Words() {
		t.Fatalf("removing: %v", err)
	}
	after := appended(t, a, at, "after")
	entries, end := read(t, b, at)
	if fmt.Sprint(entries) != "[after]" || end != after || second.Words() != words {
		t.Errorf("who stays reads %q", entries)
	}
	appended(t, b, end, "from who stays")
	err = removed.Read(t.Context(), at, func(outbox.Position, []byte) error { t.Error("it got an entry"); return nil })
	if !errors.Is(err, nats.ErrRemoved) || retryable(err) {
		t.Errorf("the removed machine is told %v", err)
	}
	if _, err := removed.Append(t.Context(), at, []byte("all the same")); !errors.Is(err, nats.ErrRemoved) {
		t.Errorf("the removed machine writes: %v", err)
	}
	if err := removed.Announce(t.Context(), nats.Presence{}); err != nil {
		t.Errorf("it says that it is there: %v", err)
	}
	if list, err = b.Machines(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("machines %+v, %v", list, err)
	}
	oldSecret, err := nats.ParseSecret(old)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := nats.JoinStore(t.Context(), nats.JoinOptions{Servers: nats.Servers{URL: c.URL()}, Secret: oldSecret}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("joining with the old words: %v", err)
	}
	fourth := joined(t, c, id)
	if fourth.Machine() != 4 {
		t.Errorf("a number was given twice: %d", fourth.Machine())
	}
	if entries, _ := read(t, opened(t, c.URL(), fourth), id.Start()); fmt.Sprint(entries) != "[before after from who stays]" {
		t.Errorf("who joins with the new words reads %q", entries)
	}
	if _, err := a.Remove(t.Context(), after, 3); fault.KindOf(err) != fault.NotFound {
		t.Errorf("removing it again: %v", err)
	}
	if _, err := a.Remove(t.Context(), after, 1); fault.KindOf(err) != fault.Invalid {
		t.Errorf("removing itself: %v", err)
	}
}

// The key that was taken away does not get in, even by hand.
func TestSYNC8_AnEntryWithAnOldKeyIsRefused(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	second := joined(t, c, id)
	a, removed := opened(t, c.URL(), id), opened(t, c.URL(), second)
	at := appended(t, a, id.Start(), "before")
	if _, err := a.Remove(t.Context(), at, 2); err != nil {
		t.Fatal(err)
	}
	end := nats.HeadOf(t, a, at)
	forged := nats.SealedAt(removed, end, []byte("forged"))
	nats.Publish(t, a, forged)
	err := a.Read(t.Context(), at, func(outbox.Position, []byte) error { t.Error("it was handed over"); return nil })
	if nats.ReasonOf(err) != nats.ReasonWrongKey {
		t.Errorf("told %v", err)
	}
}

// What was acknowledged is in the lists at once, although any of the servers may be the last to have it.
func TestSYNC8_ListsHoldWhatWasAcknowledged(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	at := id.Start()
	for n := range 12 {
		at = appended(t, a, at, "entry")
		if _, err := a.PutSnapshot(t.Context(), at, bytes.NewReader([]byte("state")), func(int64) {}); err != nil {
			t.Fatal(err)
		}
		states, err := a.Snapshots(t.Context())
		if err != nil || len(states) != min(n+1, 2) || states[0].At != at {
			t.Fatalf("after %d states: %+v, %v", n+1, states, err)
		}
		joined(t, c, id)
		machines, err := a.Machines(t.Context())
		if err != nil || len(machines) != n+2 {
			t.Fatalf("%d machines take part, listed are %+v, %v", n+2, machines, err)
		}
	}
}

func TestSYNC8_LeavingEndsTheList(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	second := joined(t, c, id)
	b := opened(t, c.URL(), second)
	appended(t, b, id.Start(), "entry")
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := opened(t, c.URL(), id).Machines(t.Context())
	if err != nil || len(list) != 1 || list[0].Number != 1 {
		t.Errorf("machines %+v, %v", list, err)
	}
}

func TestSYNC7_ASnapshotComesBackAndTheLogIsPurgedBehindTheSecondNewest(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	state := make([]byte, 9<<20)
	half := rand.NewChaCha8([32]byte{1})
	_, _ = half.Read(state[:5<<20]) // the rest is zeros
	at := id.Start()
	positions := []outbox.Position{at}
	for i := range 3 {
		at = appended(t, a, at, fmt.Sprint(i))
		positions = append(positions, at)
		if _, err := a.PutSnapshot(t.Context(), at, bytes.NewReader(state[:9<<20-i]), func(int64) {}); err != nil {
			t.Fatal(err)
		}
	}
	b := opened(t, c.URL(), joined(t, c, id))
	list, err := b.Snapshots(t.Context())
	if err != nil || len(list) != 2 || list[0].At != positions[3] || list[1].At != positions[2] {
		t.Fatalf("snapshots %+v, %v", list, err)
	}
	var got bytes.Buffer
	var taken nats.PartialSnapshot
	interrupted := errors.New("interrupted")
	err = b.TakeSnapshot(t.Context(), list[0], &taken, &stopping{&got, 1, interrupted}, func(int64) {})
	if !errors.Is(err, interrupted) || taken.Pieces != 1 {
		t.Fatalf("interrupted after %d pieces: %v", taken.Pieces, err)
	}
	if err := b.TakeSnapshot(t.Context(), list[0], &taken, &got, func(int64) {}); err != nil || !bytes.Equal(got.Bytes(), state[:9<<20-2]) {
		t.Fatalf("%d bytes came back, %v", got.Len(), err)
	}
	err = b.Read(t.Context(), positions[1], func(outbox.Position, []byte) error { return nil })
	if !errors.Is(err, outbox.ErrGone) {
		t.Errorf("behind the first: %v", err)
	}
	if entries, _ := read(t, b, positions[2]); fmt.Sprint(entries) != "[2]" {
		t.Errorf("behind the second: %q", entries)
	}
}

func TestSYNC7_APurgeLeavesNothingOfWhatWasBeforeAPosition(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	at := id.Start()
	put := func(at outbox.Position) {
		t.Helper()
		if _, err := a.PutSnapshot(t.Context(), at, bytes.NewReader([]byte("state")), func(int64) {}); err != nil {
			t.Fatal(err)
		}
	}
	first := appended(t, a, at, "deleted later")
	put(first)
	second := appended(t, a, first, "the deletion")
	if _, err := a.Purge(t.Context(), second); !retryable(err) {
		t.Errorf("without a newer state: %v", err)
	}
	put(second)
	if n := nats.Objects(t, a); n != 2 {
		t.Fatalf("%d objects before", n)
	}
	if got, err := a.Purge(t.Context(), second); err != nil || got != second.Seq+1 {
		t.Fatalf("the first message is %d, %v", got, err)
	}
	list, err := a.Snapshots(t.Context())
	if err != nil || len(list) != 1 || list[0].At != second || nats.Objects(t, a) != 1 {
		t.Errorf("snapshots %+v, %d objects, %v", list, nats.Objects(t, a), err)
	}
	// One that was on its way meanwhile does not stay either.
	put(first)
	if list, err = a.Snapshots(t.Context()); err != nil || len(list) != 1 || list[0].At != second || nats.Objects(t, a) != 1 {
		t.Errorf("afterwards snapshots %+v, %d objects, %v", list, nats.Objects(t, a), err)
	}
	b := opened(t, c.URL(), joined(t, c, id))
	for _, gone := range []outbox.Position{id.Start(), first} {
		err := b.Read(t.Context(), gone, func(outbox.Position, []byte) error { t.Error("it was handed over"); return nil })
		if !errors.Is(err, outbox.ErrGone) {
			t.Errorf("behind %d: %v", gone.Seq, err)
		}
	}
	if third := appended(t, a, second, "after"); third.Seq != second.Seq+1 {
		t.Errorf("the next message is %d", third.Seq)
	}
	if entries, _ := read(t, b, second); fmt.Sprint(entries) != "[after]" {
		t.Errorf("behind the purge: %q", entries)
	}
}

// stopping fails at a later write.
type stopping struct {
	io.Writer
	left int
	err  error
}

func (s *stopping) Write(p []byte) (int, error) {
	if s.left--; s.left < 0 {
		return 0, s.err
	}
	return s.Writer.Write(p)
}

func TestSYNC7_OneMachineMakesASnapshotAtATime(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a, b := opened(t, c.URL(), id), opened(t, c.URL(), joined(t, c, id))
	meanwhile := &during{do: func() error {
		_, err := b.PutSnapshot(t.Context(), id.Start(), bytes.NewReader([]byte("b")), func(int64) {})
		return err
	}}
	if _, err := a.PutSnapshot(t.Context(), id.Start(), meanwhile, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(meanwhile.err, nats.ErrLeased) || !retryable(meanwhile.err) {
		t.Errorf("another one meanwhile: %v", meanwhile.err)
	}
	err := meanwhile.do()
	for errors.Is(err, nats.ErrLeased) { // a server may not know yet that the first is done
		err = meanwhile.do()
	}
	if err != nil {
		t.Errorf("another one afterwards: %v", err)
	}
}

// during does something while it is read, and has no more to say.
type during struct {
	do  func() error
	err error
}

func (d *during) Read([]byte) (int, error) {
	d.err = d.do()
	return 0, io.EOF
}

func TestSEC1_TheKeyFileIsForItsOwnerAlone(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	path := filepath.Join(t.TempDir(), "sync.key")
	id, found, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: c.URL()}, Name: "laptop", Single: true, Path: path})
	if err != nil || found.Durability != nats.DurabilitySingle || found.Replicas != 1 || len(found.Warnings) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	again, err := nats.LoadIdentity(path)
	if err != nil || again.Words() != id.Words() || again.Start() != id.Start() {
		t.Fatalf("read back: %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := nats.LoadIdentity(path); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("others can read it: %v", err)
	}
	if _, err := nats.LoadIdentity(path + "x"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("none: %v", err)
	}
	if _, err := nats.ParseIdentity([]byte(`{"format":1}`), ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("half of one: %v", err)
	}
}

func TestSYNC2_WhatAnAcknowledgementIsWorth(t *testing.T) {
	c := cluster(t)
	for said, want := range map[bool]nats.Durability{true: nats.DurabilityQuorumSynced, false: nats.DurabilityQuorum} {
		id, found, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: c.URL()}, Synced: said})
		if err != nil || found.Durability != want || found.Replicas != 3 || found.Reachable != 3 || found.MaxPayload != 1<<20 {
			t.Errorf("%+v, %v", found, err)
		}
		if (len(found.Warnings) == 0) != said {
			t.Errorf("warnings %q", found.Warnings)
		}
		if again, err := opened(t, c.URL(), id).Cluster(t.Context()); err != nil || again.Durability != want {
			t.Errorf("later: %+v, %v", again, err)
		}
	}
	one := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	_, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: one.URL()}})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.Hint == "" {
		t.Errorf("one server where three are asked for: %v", err)
	}
	_, alone, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: one.URL()}, Single: true, Synced: true})
	if err != nil || alone.Durability != nats.DurabilitySingle || len(alone.Warnings) > 0 {
		t.Errorf("one server that was asked for: %+v, %v", alone, err)
	}
	small := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, MaxPayload: 4096})
	if _, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: small.URL()}, Single: true}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("too small a payload: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := nats.CreateStore(ctx, nats.CreateOptions{Servers: nats.Servers{URL: one.URL()}, Single: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("withdrawn: %v", err)
	}
}

// Two machines of which one has a copy of the other's folder are told so, and no longer when one
// of them has ended. One that is started again is not told.
func TestSYNC8_ACopiedKeyIsTold(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	path := filepath.Join(t.TempDir(), "key")
	_, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: c.URL()}, Name: "laptop", Single: true, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	open := func() (*nats.Identity, func()) {
		id, err := nats.LoadIdentity(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := nats.OpenLog(nats.Servers{URL: c.URL()}, id, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		if err := l.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		return id, func() {
			if err := l.Announce(t.Context(), nats.Presence{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, announceOne := open()
	announceOne()
	announceOne()
	if one.Copied() {
		t.Error("a machine alone is told of a copy")
	}
	two, announceTwo := open()
	announceTwo()
	if two.Copied() {
		t.Error("a machine that is started again is told of a copy")
	}
	announceOne()
	announceTwo()
	if !one.Copied() || !two.Copied() {
		t.Errorf("two at a time: %v and %v", one.Copied(), two.Copied())
	}
	announceTwo()
	if two.Copied() {
		t.Error("the other one has ended")
	}
}
