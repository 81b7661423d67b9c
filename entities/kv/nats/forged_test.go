package nats_test

import (
	"bytes"
	"testing"

	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

func TestSYNC8_AStateThatARemovedMachineWritesIsNotTaken(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	third := joined(t, c, id)
	a, removed := opened(t, c.URL(), id), opened(t, c.URL(), third)
	at := appended(t, a, id.Start(), "before")
	if _, err := a.PutSnapshot(t.Context(), at, bytes.NewReader([]byte("state")), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Remove(t.Context(), at, third.Machine()); err != nil {
		t.Fatal(err)
	}
	// It can write on the servers still, with the key that it had.
	forged := outbox.Position{Seq: 1_000_000, Mark: at.Mark}
	if _, err := removed.PutSnapshot(t.Context(), forged, bytes.NewReader([]byte("forged")), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	list, err := a.Snapshots(t.Context())
	if err != nil || len(list) != 1 || list[0].At != at {
		t.Fatalf("states %+v, %v", list, err)
	}
	fourth := opened(t, c.URL(), joined(t, c, id))
	if list, err = fourth.Snapshots(t.Context()); err != nil || len(list) != 1 || list[0].At != at {
		t.Fatalf("who joins is offered %+v, %v", list, err)
	}
	var state bytes.Buffer
	err = fourth.TakeSnapshot(t.Context(), list[0], new(nats.PartialSnapshot), &state, func(int64) {})
	if err != nil || state.String() != "state" {
		t.Errorf("who joins takes %q, %v", &state, err)
	}
}

func TestSYNC6_AStateThatCannotBeReadIsNoState(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	at := appended(t, a, id.Start(), "entry")
	for range 2 {
		if _, err := a.PutSnapshot(t.Context(), at, bytes.NewReader([]byte("state")), func(int64) {}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := a.Snapshots(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("states %+v, %v", list, err)
	}
	nats.SpoilSnapshot(t, a, list[0])
	if list, err = a.Snapshots(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("beside a spoilt one: states %+v, %v", list, err)
	}
}

func TestSYNC6_APieceLargerThanAnyIsNotRead(t *testing.T) {
	c := cluster(t)
	id := begun(t, c)
	a := opened(t, c.URL(), id)
	s, err := a.PutSnapshot(t.Context(), appended(t, a, id.Start(), "entry"), bytes.NewReader([]byte("state")), func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	nats.SpoilPiece(t, a, s, make([]byte, 12<<20))
	var state bytes.Buffer
	err = a.TakeSnapshot(t.Context(), s, new(nats.PartialSnapshot), &state, func(int64) {})
	if nats.ReasonOf(err) != nats.ReasonTooLarge || state.Len() > 0 {
		t.Errorf("%v, %d bytes", err, state.Len())
	}
	nats.SpoilPiece(t, a, s, []byte("something else"))
	err = a.TakeSnapshot(t.Context(), s, new(nats.PartialSnapshot), &state, func(int64) {})
	if nats.ReasonOf(err) != nats.ReasonMalformed || state.Len() > 0 {
		t.Errorf("%v, %d bytes", err, state.Len())
	}
}
