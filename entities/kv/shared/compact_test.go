package shared_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// own stays on a machine.
var own = kv.NewCollection[string]("own").Local()

const canary = "zqcanary"

func (m *machine) delete(id string) {
	m.t.Helper()
	if err := m.db.Update(m.t.Context(), func(tx *kv.Tx) error { return facts.Delete(tx, id) }); err != nil {
		m.t.Fatal(err)
	}
}

// compact is what admin.compact does.
func (m *machine) compact() *shared.Compacted {
	m.t.Helper()
	c, err := m.replica.Compact(m.t.Context(), func() error { return m.db.Compact(m.t.Context(), nil) }, func(string, int64, int64) {})
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

// follows waits until the files of the machine have followed a compaction. It does so by
// itself; this is what it does every half a minute.
func (m *machine) follows(number uint64) {
	m.t.Helper()
	_, l := m.log()
	for {
		_ = m.replica.Attend(m.t.Context())
		list, err := l.Machines(m.t.Context())
		if err != nil {
			m.t.Fatal(err)
		}
		for _, other := range list {
			if other.Number == m.replica.Health().Machine && other.Compacted >= number {
				return
			}
		}
	}
}

// holds returns the files of a machine with a text in them.
func (m *machine) holds(text string) (list []string) {
	m.t.Helper()
	err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			list = append(list, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file that was on its way
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

// log is the log as somebody reads it who has the machine's key.
func (m *machine) log() (*nats.Identity, *nats.Log) {
	m.t.Helper()
	id, err := nats.LoadIdentity(filepath.Join(m.dir, shared.Folder, "key"))
	if err != nil {
		m.t.Fatal(err)
	}
	l, err := nats.OpenLog(nats.Servers{URL: m.url}, id, slog.New(slog.DiscardHandler))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(l.Close)
	if err := l.Await(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	return id, l
}

// joined is a second machine of a store.
func joined(t *testing.T, a *machine, words string) *machine {
	t.Helper()
	a.snapshot()
	b := &machine{t: t, dir: t.TempDir(), url: a.url}
	if _, err := shared.Join(t.Context(), joinOptions(t, a.url, b.dir, words)); err != nil {
		t.Fatal(err)
	}
	b.start()
	return b
}

func TestSYNC7_WhatWasDeletedLeavesTheServersAndTheOtherMachines(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	b := joined(t, a, words)
	a.put("secret", canary)
	a.put("kept", "this stays")
	if got := b.all(); !strings.Contains(got, canary) || len(b.holds(canary)) == 0 || len(a.holds(canary)) == 0 {
		t.Fatalf("the canary is not there, so the test shows nothing: %s", got)
	}
	id, l := a.log()
	readable := 0
	if err := l.Read(t.Context(), id.Start(), func(_ outbox.Position, entry []byte) error {
		if bytes.Contains(entry, []byte(canary)) {
			readable++
		}
		return nil
	}); err != nil || readable == 0 {
		t.Fatalf("the log shows the canary %d times, %v", readable, err)
	}
	a.delete("secret")
	b.all()
	if err := b.replica.AppendNothing(t.Context(), 1); err != nil { // nobody keeps that it was read
		t.Fatal(err)
	}
	got := a.compact()
	if !got.Done || got.Trouble != nil || got.Number != 1 || got.First < 4 || len(got.Machines) != 2 {
		t.Fatalf("%+v", got)
	}
	b.follows(1)
	for _, m := range []*machine{a, b} {
		if list := m.holds(canary); len(list) > 0 {
			t.Errorf("it is in %v", list)
		}
	}
	if err := l.Read(t.Context(), id.Start(), func(outbox.Position, []byte) error { t.Error("an old entry was handed over"); return nil }); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("the old log: %v", err)
	}
	list, err := l.Snapshots(t.Context())
	if err != nil || len(list) != 1 || list[0].At.Seq+1 < got.First {
		t.Errorf("snapshots %+v, %v", list, err)
	}
	ms, err := l.Machines(t.Context())
	if err != nil || len(ms) != 2 || ms[0].Compacted != 1 || ms[1].Compacted != 1 {
		t.Errorf("machines %+v, %v", ms, err)
	}

	// Both go on where they were, also after a start, and a third one joins.
	for _, m := range []*machine{a, b} {
		m.stop()
		m.start()
		defer m.stop()
	}
	b.put("new", "after")
	third := joined(t, a, words)
	defer third.stop()
	const want = "[kept=this stays new=after old=from before]"
	for _, m := range []*machine{a, b, third} {
		if got := m.all(); got != want {
			t.Errorf("it has %s", got)
		}
		m.follows(1)
	}
	if got := b.compact(); got.Number != 2 || !got.Done {
		t.Errorf("again: %+v", got)
	}
}

func TestSYNC7_AMachineThatWasAwayForLongerThanTheLogJoinsAnew(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	defer a.stop()
	b := joined(t, a, words)
	b.put("secret", canary)
	mine := "stays here"
	if err := b.db.Update(t.Context(), func(tx *kv.Tx) error { return own.Put(tx, "mine", &mine) }); err != nil {
		t.Fatal(err)
	}
	b.stop()
	a.all()
	a.delete("secret")
	if got := a.compact(); !got.Done || !got.Machines[1].Stopped || got.Machines[1].Compacted != 0 {
		t.Fatalf("%+v", got)
	}
	b.start()
	err := b.db.CatchUp(t.Context())
	var f *fault.Error
	if !errors.As(err, &f) || f.Retryable || !errors.Is(err, outbox.ErrGone) || !strings.Contains(f.Hint, "ctxd sync join --again") {
		t.Fatalf("it is told %v", err)
	}
	if h := b.replica.Health(); h.Trouble == nil || h.Trouble.Hint != f.Hint {
		t.Errorf("health says %v", h.Trouble)
	}
	if got := records(t, b.db); !strings.Contains(got, canary) {
		t.Errorf("it can't be read meanwhile: %s", got)
	}
	b.stop()
	o := joinOptions(t, c.URL(), b.dir, words)
	if _, err := shared.Join(t.Context(), o); fault.KindOf(err) != fault.Conflict {
		t.Errorf("joining without saying again: %v", err)
	}
	o.Again = true
	again, err := shared.Join(t.Context(), o)
	if err != nil || again.Kept == "" {
		t.Fatalf("%+v, %v", again, err)
	}
	b.start()
	defer b.stop()
	b.put("new", "after")
	if got := a.all(); got != "[new=after old=from before]" || got != b.all() {
		t.Errorf("the first has %s, the second %s", got, b.all())
	}
	if err := b.db.View(t.Context(), func(tx *kv.Tx) error {
		if got, err := own.Get(tx, "mine"); err != nil || got == nil || *got != mine {
			t.Errorf("its own record is %v, %v", got, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// What it had before is kept for a person to decide, and the others learn that.
	b.follows(1)
	if list := b.holds(canary); len(list) != 1 || list[0] != again.Kept {
		t.Errorf("it is in %v", list)
	}
	_, l := a.log()
	ms, err := l.Machines(t.Context())
	if err != nil || len(ms) != 3 || !ms[2].Copies || ms[2].Compacted != 1 {
		t.Errorf("machines %+v, %v", ms, err)
	}
	earlier := filepath.Join(filepath.Dir(again.Kept), "before-joining-20260101T000000.000Z.ctxdbackup")
	if err := os.WriteFile(earlier, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.compact(); !got.Done || len(b.holds(canary)) > 0 {
		t.Errorf("%+v, it is in %v", got, b.holds(canary))
	}
}

func TestSYNC7_WithoutServersACompactionIsNotedAndDoneLater(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, _ := begun(t, c.URL())
	a.put("secret", canary)
	a.delete("secret")
	c.Stop(0)
	for a.replica.Health().Connected {
		runtime.Gosched()
	}
	got := a.compact()
	if got.Done || got.Trouble == nil || !got.Trouble.Retryable || len(a.holds(canary)) > 0 {
		t.Fatalf("%+v, it is in %v", got, a.holds(canary))
	}
	if !a.replica.Health().CompactionDue {
		t.Error("nothing says that it is due")
	}
	a.stop()
	if err := c.Start(0); err != nil {
		t.Fatal(err)
	}
	a.start()
	defer a.stop()
	id, l := a.log()
	for a.replica.Health().CompactionDue {
		_ = a.replica.Attend(t.Context())
	}
	if err := l.Read(t.Context(), id.Start(), func(outbox.Position, []byte) error { return nil }); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("the old log: %v", err)
	}
}
