package shared_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/entities/kv/stream/streamtest"
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
	c := streamtest.Start(t, streamtest.Options{Servers: 1})
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
