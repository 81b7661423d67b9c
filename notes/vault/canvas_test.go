package vault_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSRCH33_CanvasesAreNotes of their own kind: links to them and in them count.
func TestSRCH33_CanvasesAreNotes(t *testing.T) {
	dir := importFolder(t, map[string]string{
		"Plan.md":        "see ![[Board.canvas]] and [[Tasks.base]] and [[broken.canvas]]",
		"A/Board.canvas": `{"nodes":[{"type":"text","text":"Ask [[Plan]] #todo","x":0,"y":0},{"type":"file","file":"Plan.md","y":9}]}`,
		"Tasks.base":     "filters: file.hasLink([[Plan]])\n",
		"broken.canvas":  "{",
		"empty.canvas":   "",
	})
	w := open(t, kv.InMemory)
	res := w.imports(t, vault.ImportRequest{Path: dir})
	if res.Notes != 4 || res.Links != 6 || res.Unresolved != 1 {
		t.Errorf("%d notes, %d links, %d unresolved", res.Notes, res.Links, res.Unresolved)
	}
	if len(res.Skipped) != 1 || res.Skipped[0] != (vault.ImportSkip{Path: "broken.canvas", Reason: "not a canvas that can be read"}) {
		t.Errorf("skipped %+v", res.Skipped)
	}
	plan, err := w.notes.ByPath("Plan.md", nil)
	must(t, err)
	for p, want := range map[string]notes.Note{
		"A/Board.canvas": {}, "Tasks.base": {}, "empty.canvas": {}, "Plan.md": {},
	} {
		switch {
		case strings.HasSuffix(p, ".canvas"):
			want.Kind = "canvas"
		case strings.HasSuffix(p, ".base"):
			want.Kind = "base"
		}
		n, err := w.notes.ByPath(p, nil)
		must(t, err)
		if n.Kind != want.Kind {
			t.Errorf("%s is of kind %q", p, n.Kind)
		}
	}
	b, err := w.notes.ByPath("A/Board.canvas", nil)
	must(t, err)
	if b.Title != "Board" || !slices.Equal(b.Tags, []string{"todo"}) || !strings.Contains(b.Body, "Ask [[Plan]] #todo") {
		t.Errorf("%+v", b)
	}
	if got := w.notes.Targets(plan.ID); got[0] != b.ID || got[1] == "" || got[2] != "" {
		t.Errorf("the note links to %q", got)
	}
	if got := w.notes.Incoming(plan.ID); len(got) != 2 || got[0].Title != "Board" || got[0].Count != 2 || got[1].Count != 1 {
		t.Errorf("backlinks %+v", got)
	}
	if got := w.status(t); got.Attachments != 0 {
		t.Errorf("%d attachments", got.Attachments)
	}
	write(t, dir, "broken.canvas", "{}")
	if res = w.imports(t, vault.ImportRequest{Path: dir}); res.Unresolved != 0 || res.Written != 1 {
		t.Errorf("mended: %+v", res)
	}
}
