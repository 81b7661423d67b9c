package kv_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/kv"
)

// model is what a store is held to: plain maps.
type model struct {
	d       *disk
	s       *kv.Store
	relaxed bool
	// at is the state after each transaction since the last start, and first the
	// number of the first of these. Every state but the first was acknowledged.
	at      []map[string]string
	first   uint64
	backups map[string]map[string]string // by path
}

func (m *model) seq() uint64 { return m.first + uint64(len(m.at)) - 1 }

func (m *model) state() map[string]string { return m.at[len(m.at)-1] }

func (m *model) open(t *rapid.T) {
	opts := kv.Options{FS: m.d, SnapshotAfter: rapid.SampledFrom([]int64{-1, 1, 2000}).Draw(t, "snapshotAfter")}
	m.relaxed = rapid.Bool().Draw(t, "relaxed")
	if m.relaxed {
		opts.Durability = kv.Relaxed
	}
	var err error
	m.s, err = kv.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
}

// restart opens what a crash left and takes it for the truth, if it may be.
func (m *model) restart(t *rapid.T, d *disk, oldest uint64) {
	_ = m.s.Close()
	m.d = d
	m.open(t)
	if r := m.s.Status().Recovered; r.Lost != 0 || r.Salvaged != 0 {
		t.Fatalf("after a crash: %+v", r)
	}
	seq := m.s.Seq()
	if seq < oldest || seq > m.seq() {
		t.Fatalf("after a crash: transaction %d, want %d to %d", seq, oldest, m.seq())
	}
	m.at, m.first = m.at[seq-m.first:seq-m.first+1], seq
	for path := range m.backups {
		if m.d.names[path] == nil {
			t.Fatalf("the backup %s is gone", path)
		}
	}
}

// durable is the oldest transaction that a power cut may go back to. Only the
// clock flushes a relaxed store, and it is not waited for here.
func (m *model) durable() uint64 {
	if m.relaxed {
		return m.first
	}
	return m.seq()
}

// Random transactions, snapshots, backups, restores, stops, kills and power cuts
// against plain maps, with either durability.
func TestModel(t *testing.T) {
	if checks := figure("", "3000"); checks != "" {
		if err := flag.Set("rapid.checks", checks); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := &model{d: newDisk(), at: []map[string]string{{}}, backups: map[string]map[string]string{}}
		m.open(t)
		defer func() { _ = m.s.Close() }()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		t.Repeat(map[string]func(*rapid.T){
			"update":   m.update,
			"update 2": m.update,
			"update 3": m.update,
			"snapshot": func(t *rapid.T) {
				if err := m.s.Snapshot(ctx); err != nil {
					t.Fatal(err)
				}
				m.flushed()
			},
			"stop": func(t *rapid.T) {
				if err := m.s.Close(); err != nil {
					t.Fatal(err)
				}
				m.flushed()
				m.open(t)
				if r := m.s.Status().Recovered; !r.Clean {
					t.Fatalf("after a stop: %+v", r)
				}
			},
			"kill": func(t *rapid.T) {
				m.restart(t, m.d.restart(), m.seq())
				if r := m.s.Status().Recovered; r.TornBytes != 0 || r.Damaged != nil {
					t.Fatalf("after a kill: %+v", r)
				}
			},
			"power cut": func(t *rapid.T) { m.restart(t, m.d.powerCut(rng), m.durable()) },
			"backup": func(t *rapid.T) {
				path := filepath.Join(dir, fmt.Sprintf("%d.ctxdbackup", rapid.IntRange(0, 2).Draw(t, "backup")))
				if _, err := m.s.Backup(ctx, path, kv.BackupOptions{Overwrite: true}); err != nil {
					t.Fatal(err)
				}
				m.backups[path] = m.state()
			},
			"restore": func(t *rapid.T) {
				if len(m.backups) == 0 {
					t.Skip("no backup")
				}
				path := rapid.SampledFrom(slices.Sorted(maps.Keys(m.backups))).Draw(t, "backup")
				seq := m.s.Seq()
				if _, err := m.s.Restore(ctx, path, kv.RestoreOptions{}); err != nil {
					t.Fatal(err)
				}
				m.at, m.first = []map[string]string{m.backups[path]}, seq+1
				if rapid.Bool().Draw(t, "power cut") {
					m.d = m.d.powerCut(rng)
				}
				m.open(t)
				if r := m.s.Status().Recovered; !r.Clean {
					t.Fatalf("after a restore: %+v", r)
				}
			},
			"": func(t *rapid.T) {
				if m.s.Seq() != m.seq() {
					t.Fatalf("Seq = %d, want %d", m.s.Seq(), m.seq())
				}
				err := m.s.View(ctx, func(tx *kv.Tx) error {
					compareScan(t, tx, m.state(), "")
					compareScan(t, tx, m.state(), "b")
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// flushed takes note that everything so far is durable.
func (m *model) flushed() {
	m.first = m.seq()
	m.at = m.at[len(m.at)-1:]
}

func (m *model) update(t *rapid.T) {
	next, changed := maps.Clone(m.state()), false
	fail := rapid.IntRange(0, 9).Draw(t, "fail") == 0
	refused := errors.New("refused")
	err := m.s.Update(ctx, func(tx *kv.Tx) error {
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			if step(t, tx, next) {
				changed = true
			}
		}
		compareScan(t, tx, next, "")
		if fail {
			return refused
		}
		return nil
	})
	if fail {
		if !errors.Is(err, refused) {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	switch m.s.Seq() {
	case m.seq() + 1:
		m.at = append(m.at, next)
	case m.seq():
		if changed && !maps.Equal(m.state(), next) {
			t.Fatal("a change without a sequence number")
		}
	}
}

var (
	modelID    = rapid.StringMatching(`[a-c/]{1,3}`)
	modelValue = rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("long", 500)))
)

// step does one thing in a transaction and to its model, and says whether it
// wrote.
func step(t *rapid.T, tx *kv.Tx, next map[string]string) (wrote bool) {
	key := modelID.Draw(t, "id")
	switch rapid.IntRange(0, 3).Draw(t, "op") {
	case 0:
		delete(next, key)
		if err := notes.Delete(tx, key); err != nil {
			t.Fatal(err)
		}
	case 1:
		r, err := notes.Get(tx, key)
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := next[key]; (r != nil) != ok || ok && r.Text != want {
			t.Fatalf("Get(%q) = %+v, want %q, %v", key, r, want, ok)
		}
	case 2:
		compareScan(t, tx, next, rapid.SampledFrom([]string{"", "a", "a/", "c"}).Draw(t, "prefix"))
	default:
		v := strings.ToValidUTF8(modelValue.Draw(t, "value"), "?")
		next[key] = v
		if err := notes.Put(tx, key, &record{Text: v}); err != nil {
			t.Fatal(err)
		}
		return true
	}
	return false
}

func compareScan(t *rapid.T, tx *kv.Tx, model map[string]string, prefix string) {
	t.Helper()
	var got, want []string
	for id, r := range notes.All(tx, prefix) {
		got = append(got, fmt.Sprintf("%s=%s", id, r.Text))
	}
	for _, id := range slices.Sorted(maps.Keys(model)) {
		if strings.HasPrefix(id, prefix) {
			want = append(want, fmt.Sprintf("%s=%s", id, model[id]))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("records with prefix %q (-want +got):\n%s", prefix, diff)
	}
}
