package daemon

import (
	"log/slog"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV14_AStoreOfEarlierRules: what a former version stored as public is decided anew when the rooms open.
func TestPRIV14_AStoreOfEarlierRules(t *testing.T) {
	dir := t.TempDir()
	for _, hidden := range []bool{false, true} {
		r, err := OpenRooms(dir, slog.New(slog.DiscardHandler), config.Default().Records)
		if err != nil {
			t.Fatal(err)
		}
		if !hidden {
			_, err = r.Notes.Put(t.Context(), notes.Draft{ID: "a", Title: "Diary", Body: "text"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			old := *r.Notes.Get("a")
			old.Body = "private:: true\n"
			err = r.KV.Update(t.Context(), func(tx *kv.Tx) error { return notes.Records.Put(tx, "a", &old) })
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := r.Audience.View(audience.Remote).Note("a") == nil; got != hidden {
			t.Errorf("a remote reader does not see it: %v, want %v", got, hidden)
		}
		if err := r.KV.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
