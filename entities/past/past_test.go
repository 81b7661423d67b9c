package past_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/past"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) (*kv.Store, *past.Names) {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	names, err := past.Open(db)
	must(t, err)
	return db, names
}

// TestPRIV4_NamesAreKeptAsAModelSays keeps and forgets names of several owners, beside a
// map, and opens the store again.
func TestPRIV4_NamesAreKeptAsAModelSays(t *testing.T) {
	texts := []string{"", "a", "b", "a longer name than the others"}
	kinds := []past.Kind{
		past.NoteName, past.NotePath, past.NoteID, past.EntityName, past.EntityHandle, past.EntityID,
		past.Handle, past.ContextName, past.MemoryID, past.ContextID, past.ConversationID,
	}
	rapid.Check(t, func(rt *rapid.T) {
		db, names := open(t, kv.InMemory)
		model := make(map[past.Name]map[past.Name]bool) // by owner
		name := func(what string) past.Name {
			return past.Name{Kind: rapid.SampledFrom(kinds).Draw(rt, what), Text: rapid.SampledFrom(texts).Draw(rt, what)}
		}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			owner := past.Name{Kind: past.NoteID, Text: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "owner")}
			if rapid.IntRange(0, 3).Draw(rt, "forget") == 0 {
				var gone *past.Names
				stop := false
				db.OnCommit(func(cs *kv.ChangeSet) {
					if !stop {
						gone = names.Forgotten(cs)
					}
				})
				must(t, db.Update(t.Context(), func(tx *kv.Tx) error { return past.ForgetTx(tx, owner) }))
				stop = true
				for n := range model[owner] {
					if gone == nil || !gone.Has(n.Kind, n.Text) {
						rt.Fatalf("%v is not among the forgotten", n)
					}
				}
				delete(model, owner)
				continue
			}
			list := []past.Name{name("one"), name("two")}
			must(t, db.Update(t.Context(), func(tx *kv.Tx) error { return past.KeepTx(tx, owner, list) }))
			if model[owner] == nil {
				model[owner] = make(map[past.Name]bool)
			}
			for _, n := range list {
				model[owner][n] = true
			}
		}
		again, err := past.Open(db)
		must(t, err)
		want, longest := int64(0), 0
		for _, of := range model {
			want += int64(len(of))
			for n := range of {
				switch n.Kind {
				case past.NoteName, past.NotePath, past.EntityName, past.ContextName:
					longest = max(longest, len(n.Text))
				}
			}
		}
		for _, have := range []*past.Names{names, again} {
			if have.Len() != want || have.Longest() < longest || have.Longest() >= longest+16 {
				rt.Fatalf("%d names of at most %d bytes, want %d of %d", have.Len(), have.Longest(), want, longest)
			}
			for _, kind := range kinds {
				for _, text := range texts {
					n := past.Name{Kind: kind, Text: text}
					if kept := model[past.Name{Kind: past.NoteID, Text: "x"}][n] || model[past.Name{Kind: past.NoteID, Text: "y"}][n]; have.Has(kind, text) != kept {
						rt.Fatalf("%c %q is kept: %v, want %v", kind, text, !kept, kept)
					}
				}
			}
		}
	})
}

// TestPRIV4_NamesSurviveABackup: a restored store knows what the one before did, and
// stores hash the same name differently.
func TestPRIV4_NamesSurviveABackup(t *testing.T) {
	owner, name := past.Name{Kind: past.NoteID, Text: "n"}, past.Name{Kind: past.NoteName, Text: "old"}
	keys := make(map[string]bool)
	for i := range 2 {
		db, _ := open(t, filepath.Join(t.TempDir(), "store"))
		must(t, db.Update(t.Context(), func(tx *kv.Tx) error { return past.KeepTx(tx, owner, []past.Name{name}) }))
		must(t, db.View(t.Context(), func(tx *kv.Tx) error {
			for id := range kv.NewCollection[map[string]any]("private-past").All(tx, "") {
				keys[id] = true
			}
			return tx.Err()
		}))
		file := filepath.Join(t.TempDir(), fmt.Sprint(i, ".ctxdbackup"))
		_, err := db.Backup(t.Context(), file, kv.BackupOptions{})
		must(t, err)
		dir := filepath.Join(t.TempDir(), "restored")
		other, _ := open(t, dir)
		_, err = other.Restore(t.Context(), file, kv.RestoreOptions{})
		must(t, err)
		must(t, other.Close())
		_, restored := open(t, dir)
		if !restored.Has(past.NoteName, "old") || restored.Has(past.EntityName, "old") || restored.Len() != 1 {
			t.Errorf("%d names are restored", restored.Len())
		}
	}
	if len(keys) != 2 {
		t.Errorf("two stores have %d hashes", len(keys))
	}
}

// BenchmarkNames tells what a name costs in memory, and what it takes to look for one.
func BenchmarkNames(b *testing.B) {
	const n = 100_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	db, names := open(b, kv.InMemory)
	for i := range n / 1000 {
		must(b, db.Update(b.Context(), func(tx *kv.Tx) error {
			for j := range 1000 {
				owner := past.Name{Kind: past.NoteID, Text: fmt.Sprint(i, "-", j)}
				err := past.KeepTx(tx, owner, []past.Name{{Kind: past.NoteName, Text: fmt.Sprintf("a name of the past %d %d", i, j)}})
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		names.Has(past.NoteName, "a name of the present")
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/name")
	runtime.KeepAlive(db)
}
