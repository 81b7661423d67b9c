package entities_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openPast(t testing.TB, dir string) (*kv.Store, *entities.PastNames) {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	names, err := entities.OpenPast(db)
	must(t, err)
	return db, names
}

// TestPRIV4_NamesAreKeptAsAModelSays keeps and forgets names of several owners, beside a
// map, and opens the store again.
func TestPRIV4_NamesAreKeptAsAModelSays(t *testing.T) {
	texts := []string{"", "a", "b", "a longer name than the others"}
	kinds := []entities.PastKind{
		entities.PastNoteName, entities.PastNotePath, entities.PastNoteID, entities.PastEntityName, entities.PastEntityHandle, entities.PastEntityID,
		entities.PastHandle, entities.PastContextName, entities.PastMemoryID, entities.PastContextID, entities.PastConversationID,
	}
	rapid.Check(t, func(rt *rapid.T) {
		db, names := openPast(t, kv.InMemory)
		model := make(map[entities.PastName]map[entities.PastName]bool) // by owner
		name := func(what string) entities.PastName {
			return entities.PastName{Kind: rapid.SampledFrom(kinds).Draw(rt, what), Text: rapid.SampledFrom(texts).Draw(rt, what)}
		}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			owner := entities.PastName{Kind: entities.PastNoteID, Text: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "owner")}
			if rapid.IntRange(0, 3).Draw(rt, "forget") == 0 {
				var gone *entities.PastNames
				stop := false
				db.OnCommit(func(cs *kv.ChangeSet) {
					if !stop {
						gone = names.Forgotten(cs)
					}
				})
				must(t, db.Update(t.Context(), func(tx *kv.Tx) error { return entities.ForgetPastTx(tx, owner) }))
				stop = true
				for n := range model[owner] {
					if gone == nil || !gone.Has(n.Kind, n.Text) {
						rt.Fatalf("%v is not among the forgotten", n)
					}
				}
				delete(model, owner)
				continue
			}
			list := []entities.PastName{name("one"), name("two")}
			must(t, db.Update(t.Context(), func(tx *kv.Tx) error { return entities.KeepPastTx(tx, owner, list) }))
			if model[owner] == nil {
				model[owner] = make(map[entities.PastName]bool)
			}
			for _, n := range list {
				model[owner][n] = true
			}
		}
		again, err := entities.OpenPast(db)
		must(t, err)
		want, longest := int64(0), 0
		for _, of := range model {
			want += int64(len(of))
			for n := range of {
				switch n.Kind {
				case entities.PastNoteName, entities.PastNotePath, entities.PastEntityName, entities.PastContextName:
					longest = max(longest, len(n.Text))
				}
			}
		}
		for _, have := range []*entities.PastNames{names, again} {
			if have.Len() != want || have.Longest() < longest || have.Longest() >= longest+16 {
				rt.Fatalf("%d names of at most %d bytes, want %d of %d", have.Len(), have.Longest(), want, longest)
			}
			for _, kind := range kinds {
				for _, text := range texts {
					n := entities.PastName{Kind: kind, Text: text}
					if kept := model[entities.PastName{Kind: entities.PastNoteID, Text: "x"}][n] || model[entities.PastName{Kind: entities.PastNoteID, Text: "y"}][n]; have.Has(kind, text) != kept {
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
	owner, name := entities.PastName{Kind: entities.PastNoteID, Text: "n"}, entities.PastName{Kind: entities.PastNoteName, Text: "old"}
	keys := make(map[string]bool)
	for i := range 2 {
		db, _ := openPast(t, filepath.Join(t.TempDir(), "store"))
		must(t, db.Update(t.Context(), func(tx *kv.Tx) error { return entities.KeepPastTx(tx, owner, []entities.PastName{name}) }))
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
		other, _ := openPast(t, dir)
		_, err = other.Restore(t.Context(), file, kv.RestoreOptions{})
		must(t, err)
		must(t, other.Close())
		_, restored := openPast(t, dir)
		if !restored.Has(entities.PastNoteName, "old") || restored.Has(entities.PastEntityName, "old") || restored.Len() != 1 {
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
	db, names := openPast(b, kv.InMemory)
	for i := range n / 1000 {
		must(b, db.Update(b.Context(), func(tx *kv.Tx) error {
			for j := range 1000 {
				owner := entities.PastName{Kind: entities.PastNoteID, Text: fmt.Sprint(i, "-", j)}
				err := entities.KeepPastTx(tx, owner, []entities.PastName{{Kind: entities.PastNoteName, Text: fmt.Sprintf("a name of the past %d %d", i, j)}})
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
		names.Has(entities.PastNoteName, "a name of the present")
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/name")
	runtime.KeepAlive(db)
}
