package shared_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// addNew adds a record, with the servers or without.
func addNew(ctx context.Context, db *kv.Store, id string) error {
	ctx = kv.Queueable(ctx, kv.Later{Kind: "add", Body: func() ([]byte, error) { return []byte(id), nil }})
	return db.Update(ctx, func(tx *kv.Tx) error {
		has, err := facts.Has(tx, id)
		if err != nil || has {
			return errors.Join(err, fault.New(fault.Conflict, "it is there"))
		}
		text := "added"
		return facts.Put(tx, id, &text)
	})
}

// settled returns when nothing waits.
func settled(t *testing.T, m *machine) {
	t.Helper()
	for {
		caughtUp(t, m)
		if st, _ := m.db.Replica(); st.Waiting == 0 {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("it waits still")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A machine whose servers are gone adds records, is started again, adds more, and joins anew with
// all of them; its servers are real, and the network between is cut.
func TestSYNC7_WhoJoinsAnewReplaysItsOutbox(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	a.snapshot()
	p := natstest.NewProxy(t, c, 0)
	b := &machine{t: t, dir: t.TempDir(), url: p.URL(), queue: true}
	joins(t, b, words)
	b.start()
	if err := addNew(t.Context(), b.db, "online"); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	for _, id := range []string{"one", "two"} {
		if err := addNew(t.Context(), b.db, id); err != nil {
			t.Fatal(err)
		}
	}
	b.stop()
	b.start()
	if err := addNew(t.Context(), b.db, "three"); err != nil {
		t.Fatal(err)
	}
	if got := records(t, b.db); got != "[old=from before one=added online=added three=added two=added]" {
		t.Errorf("without the servers it has %s", got)
	}
	s, err := b.replica.Status(t.Context())
	if err != nil || s.Waiting == 0 || s.Refused != 0 {
		t.Errorf("status %+v, %v", s, err)
	}
	a.put("meanwhile", "by the others")
	b.stop()
	p.Heal()
	o := joinOptions(t, p.URL(), b.dir, words)
	o.Again = true
	if _, err := shared.Join(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	b.start()
	defer b.stop()
	settled(t, b)
	const want = "[meanwhile=by the others old=from before one=added online=added three=added two=added]"
	if got := a.all(); got != want {
		t.Errorf("the first has %s", got)
	}
	if got := b.all(); got != want {
		t.Errorf("joined anew it has %s", got)
	}
	a.stop()
}
