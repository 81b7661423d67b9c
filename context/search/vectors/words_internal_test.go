package vectors

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH43_AHugeNoteGoesOnWhereItWasStopped: what is read of a note of many passages is kept before the rest is; until then
// the note is not ranked by its words. Passages without words hold nothing up.
func TestSRCH43_AHugeNoteGoesOnWhereItWasStopped(t *testing.T) {
	const many, silent = 100, 40
	var body strings.Builder
	for i := range many {
		hive := "Hive"
		if i < silent {
			hive = "A silent hive"
		}
		fmt.Fprintf(&body, "# S%d\n\n%s %d gave honey.\n\n", i, hive, i)
	}
	first := &halting{Words: embedtest.Words{Bags: &embedtest.Bags{Name: "b"}}}
	first.after.Store(2)
	dir := t.TempDir()
	open := func(by embed.Embedder) *rooms {
		db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
		must(t, err)
		return over(t, db, Options{Dir: filepath.Join(dir, "index"), Embedder: by})
	}
	r := open(first)
	r.put(t, notes.Draft{ID: "huge", Title: "Huge", Body: body.String()})
	until(t, "two thirds are read", func() bool { return first.calls.Load() > 2 })
	if q := r.AskWords(ctx, "hive", false); q != nil && q.Knows("huge") {
		t.Error("a note that is half read is ranked by its words")
	}
	must(t, r.db.Close())
	before := len(first.Taken())

	second := &halting{Words: embedtest.Words{Bags: &embedtest.Bags{Name: "b"}}}
	second.after.Store(many)
	r = open(second)
	defer func() { must(t, r.db.Close()) }()
	until(t, "it is made ready before somebody asks", func() bool {
		asked := 0
		second.Set(func() { asked = second.Asked })
		return asked > 0
	})
	r.settled(t)
	if n := len(second.Taken()); before != 2*batchTexts || n > many-2*batchTexts+silent {
		t.Errorf("%d passages were read before the stop and %d after it", before, n)
	}
	key, rows := r.serving.index.Rows("huge")
	if key == (TextKey{}) || len(rows) != many || !r.AskWords(ctx, "hive", false).Knows("huge") {
		t.Fatalf("%d parts under %v", len(rows), key)
	}
	for i, row := range rows {
		if (len(row.Tokens) == 0) != (i < silent) {
			t.Fatalf("part %d has %d bytes of words", i, len(row.Tokens))
		}
	}
}

// halting reads some batches, and is away then. Of what is silent it gives nothing.
type halting struct {
	embedtest.Words
	after, calls atomic.Int64
}

func (h *halting) EmbedTokens(ctx context.Context, texts []string) (embed.Model, []embed.Tokens, error) {
	if h.calls.Add(1) > h.after.Load() {
		return embed.Model{}, nil, fault.New(fault.Unavailable, "it stopped")
	}
	m, all, err := h.Words.EmbedTokens(ctx, texts)
	for i, text := range texts {
		if err == nil && strings.Contains(text, "silent") {
			all[i] = embed.Tokens{}
		}
	}
	return m, all, err
}
