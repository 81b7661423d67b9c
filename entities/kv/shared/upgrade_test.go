package shared_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// second has a program that keeps facts in another way.
func second(o *kv.Options) {
	o.Format = 2
	o.Upgrade = func(tx *kv.Tx, _ int) error {
		for id, text := range facts.All(tx, "") {
			fresh := *text + "+"
			if err := facts.Put(tx, id, &fresh); err != nil {
				return err
			}
		}
		return tx.Err()
	}
}

func TestSYNC7_MachinesAreUpgradedAndJoinWithAnOlderState(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	b := joined(t, a, words)
	a.put("a", "1")
	a.stop()
	b.put("b", "2")
	a.upgrade = second
	a.start()
	defer a.stop()
	a.put("new", "3")
	err := b.db.CatchUp(t.Context())
	var f *fault.Error
	if !errors.As(err, &f) || f.Retryable || !strings.Contains(f.Hint, "install the newer version") {
		t.Errorf("an old program is told %v", err)
	}
	if got := records(t, b.db); got != "[a=1 b=2 old=from before]" {
		t.Errorf("an old program reads %s", got)
	}
	b.stop()
	b.upgrade = second
	b.start()
	defer b.stop()
	// The state on the servers is of the older format still.
	third := &machine{t: t, dir: t.TempDir(), url: c.URL(), upgrade: second}
	o := joinOptions(t, c.URL(), third.dir, words)
	o.Store.Format = 2
	if _, err := shared.Join(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	third.start()
	defer third.stop()
	third.put("last", "4")
	for _, m := range []*machine{a, b, third} {
		if got := m.all(); got != "[a=1+ b=2+ last=4 new=3 old=from before+]" {
			t.Errorf("it has %s", got)
		}
	}
	_, want, err := a.db.Digest()
	for _, m := range []*machine{b, third} {
		_, sum, failed := m.db.Digest()
		if err != nil || failed != nil || sum != want {
			t.Errorf("it differs, %v, %v", err, failed)
		}
	}
}

// local is a program that keeps the facts of one machine in another way, too.
func local(o *kv.Options) {
	second(o)
	shared := o.Upgrade
	o.Upgrade = func(tx *kv.Tx, from int) error {
		for id, text := range own.All(tx, "") {
			fresh := *text + "+"
			if err := own.Put(tx, id, &fresh); err != nil {
				return err
			}
		}
		return errors.Join(shared(tx, from), tx.Err())
	}
}

func (m *machine) ofItsOwn() string {
	m.t.Helper()
	var list []string
	err := m.db.View(m.t.Context(), func(tx *kv.Tx) error {
		for id, text := range own.All(tx, "") {
			list = append(list, id+"="+*text)
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// A machine whose program was updated joins anew before it is started with it: what is its own
// comes into the format of the state that it takes.
func TestSYNC7_WhoJoinsAnewAfterAnUpdateKeepsItsOwn(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	b := joined(t, a, words)
	text := "mine"
	if err := b.db.Update(t.Context(), func(tx *kv.Tx) error { return own.Put(tx, "x", &text) }); err != nil {
		t.Fatal(err)
	}
	b.stop()
	a.stop()
	a.upgrade = local
	a.start()
	if err := a.replica.Snapshot(t.Context(), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	a.put("new", "1")
	b.upgrade = local
	o := joinOptions(t, c.URL(), b.dir, words)
	o.Again = true
	local(&o.Store)
	if _, err := shared.Join(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	b.start()
	if got := b.all() + " " + b.ofItsOwn(); got != "[new=1 old=from before+] x=mine+" {
		t.Errorf("it has %s", got)
	}
	b.stop()
	a.stop()

	// The other way round, an upgrade would take what is new already for old.
	older := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	d, others := begun(t, older.URL())
	defer d.stop()
	if err := d.replica.Snapshot(t.Context(), func(int64) {}); err != nil && !errors.Is(err, nats.ErrLeased) {
		t.Fatal(err)
	}
	o = joinOptions(t, older.URL(), b.dir, others)
	o.Again = true
	local(&o.Store)
	_, err := shared.Join(t.Context(), o)
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.Hint, "ctxd compact") {
		t.Errorf("with an older state it is told %v", err)
	}
	b.start()
	defer b.stop()
	if got := b.all() + " " + b.ofItsOwn(); got != "[new=1 old=from before+] x=mine+" {
		t.Errorf("after a join that was refused it has %s", got)
	}
}
