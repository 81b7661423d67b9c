package shared_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// overwrites writes one record again and again, until so many times or until it is refused.
func (m *machine) overwrites(most int) (err error) {
	m.t.Helper()
	b := make([]byte, 64<<10)
	for n := 0; n < most && err == nil; n++ {
		_, _ = rand.Read(b)
		text := base64.StdEncoding.EncodeToString(b)
		err = m.db.Update(m.t.Context(), func(tx *kv.Tx) error { return facts.Put(tx, "large", &text) })
	}
	return err
}

// Servers that are full: nothing is lost or unknown, the status says it, a compaction makes
// room, and writes go on by themselves.
func TestSYNC7_ACompactionMakesRoomOnFullServers(t *testing.T) {
	const room, endless = 8 << 20, 1000
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	b := joined(t, a, words)
	defer b.stop()
	defer a.stop()
	if err := c.Limit(room); err != nil {
		t.Fatal(err)
	}
	if err := a.overwrites(30); err != nil {
		t.Fatal(err)
	}
	if err := a.replica.Snapshot(t.Context(), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	err := a.overwrites(endless)
	if !errors.Is(err, outbox.ErrFull) || errors.Is(err, outbox.ErrUnknown) {
		t.Fatalf("full servers: %v", err)
	}
	s, err := a.replica.Status(t.Context())
	if err != nil || s.Trouble == nil || !s.Trouble.Retryable || !strings.Contains(s.Trouble.Msg, "no room") || !s.Connected || s.Newest != s.Applied {
		t.Errorf("status %+v, %v", s, err)
	}
	if h := a.replica.Health(); h.Trouble == nil || !strings.Contains(h.Trouble.Hint, "ctxd compact") {
		t.Errorf("health %+v", h)
	}
	if got := records(t, a.db); !strings.Contains(got, "old=from before") {
		t.Errorf("it reads %d bytes", len(got))
	}
	done, err := a.replica.Compact(t.Context(), func() error { return a.db.Compact(t.Context(), nil) }, func(string, int64, int64) {})
	if err != nil || !done.Done {
		t.Fatalf("compaction %+v, %v", done, err)
	}
	if err := a.overwrites(1); err != nil {
		t.Fatal(err)
	}
	a.put("after", "it")
	for m := range map[*machine]bool{a: true, b: true} {
		if got := m.all(); !strings.Contains(got, "after=it") {
			t.Errorf("one has %d bytes", len(got))
		}
	}
	if s, err = a.replica.Status(t.Context()); err != nil || s.Trouble != nil {
		t.Errorf("then %+v, %v", s.Trouble, err)
	}
}

// A state that has no room is told, and tried again less and less often.
func TestSYNC7_AStateThatHasNoRoomIsToldAndTriedLater(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, _ := begun(t, c.URL())
	defer a.stop()
	if err := a.replica.Snapshot(t.Context(), func(int64) {}); err != nil && !errors.Is(err, nats.ErrLeased) {
		t.Fatal(err)
	}
	if err := a.overwrites(10); err != nil {
		t.Fatal(err)
	}
	a.replica.FailedState(t.Context(), errors.Join(outbox.ErrFull))
	if h := a.replica.Health(); len(h.Warnings) == 0 || !strings.Contains(h.Warnings[len(h.Warnings)-1], "state could not be written") {
		t.Errorf("warned of %q", h.Warnings)
	}
	a.replica.FailedState(t.Context(), nil)
	for _, w := range a.replica.Health().Warnings {
		if strings.Contains(w, "state could not be written") {
			t.Errorf("still warned: %s", w)
		}
	}
}
