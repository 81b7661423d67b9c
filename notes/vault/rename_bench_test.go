package vault_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// large is a vault of 40,000 notes with six links each; 400 of them link to N0.
func large(b *testing.B) *world {
	b.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		b.Fatal(err)
	}
	store, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const count, group = 40_000, 1000
	for from := 0; from < count; from += group {
		drafts := make([]notes.Draft, group)
		for i := range drafts {
			n := from + i
			var text strings.Builder
			fmt.Fprintf(&text, "# Note %d\n", n)
			for k := 1; k < 6; k++ {
				fmt.Fprintf(&text, "%s [[N%d]]\n", strings.Repeat("word ", 30), (n*7+k*101)%count)
			}
			if n%100 == 0 {
				text.WriteString("see [[N0|the first]]\n")
			}
			drafts[i] = notes.Draft{ID: fmt.Sprint(n), Body: text.String(), Path: fmt.Sprintf("F%d/N%d.md", n%50, n), Vault: "V"}
		}
		if _, err := store.PutMany(context.Background(), drafts); err != nil {
			b.Fatal(err)
		}
	}
	return &world{notes: store, ents: ents, vault: "V"}
}

func BenchmarkLSP6_Rename40000(b *testing.B) {
	w := large(b)
	for name, p := range map[string]string{"hub": "F0/N0.md", "other": "F1/N1.md"} {
		b.Run(name, func(b *testing.B) {
			edits := 0
			for b.Loop() {
				plan, err := vault.RenameNote(w.notes, w.ents, w.where(), vault.NoteRename{Path: p, New: "Another name"})
				if err != nil {
					b.Fatal(err)
				}
				edits = count(plan)
			}
			b.ReportMetric(float64(edits), "edits")
		})
	}
	b.Run("folder", func(b *testing.B) {
		for b.Loop() {
			if _, err := vault.MoveFiles(w.notes, w.where(), []vault.Move{{From: "F1", To: "G/F1"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		where := w.where()
		where.Buffers = map[string]string{"F1/N1.md": "# Note 1\n[[N2]] [[None at all]]\n"}
		check := func(string, string) []record.Diagnostic { return nil }
		for b.Loop() {
			if _, _, err := vault.Diagnose(w.notes, w.ents, check, where, "F1/N1.md"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
