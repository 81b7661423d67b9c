package vault_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// A dry run has a store of its own, which must know the same limits.
func TestRPC6_AnImportLeavesOutFilesOverTheLimit(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	ents, err := entities.Open(db, entities.Options{Limits: entities.Limits{Fields: 1}})
	must(t, err)
	ns, err := notes.Open(db, ents, notes.Options{MaxBody: 10})
	must(t, err)
	im := vault.NewImporter(db, ents, ns, vault.ImporterOptions{})
	dir := importFolder(t, map[string]string{
		"fits.md": "0123456789", "long.md": "0123456789a",
		".ctxd/types/T.yaml": "name: T\nfields: [{name: a, type: text}, {name: b, type: text}]\n",
	})
	for _, dry := range []bool{true, false} {
		res, err := im.Import(ctx, vault.ImportRequest{Path: dir, DryRun: dry})
		must(t, err)
		reasons := make(map[string]string)
		for _, s := range res.Skipped {
			reasons[s.Path] = s.Reason
		}
		if res.Notes != 1 || reasons["long.md"] != "larger than 10 bytes" {
			t.Errorf("dry run %v: %+v", dry, res)
		}
		if want := "type left out: fields: fields has 2 items, at most 1 are allowed"; reasons[".ctxd/types/T.yaml"] != want {
			t.Errorf("dry run %v: %q, want %q", dry, reasons[".ctxd/types/T.yaml"], want)
		}
	}
}
