package daemon

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// without are the records of a configuration in which features are off.
func without(settings ...string) config.Records {
	r := config.Default().Records
	for i := range protocol.Features {
		for _, s := range settings {
			if protocol.Features[i].Setting == s {
				r.Features[i] = false
			}
		}
	}
	return r
}

// TestMEM80_WhatIsOffDoesNotStart: nothing of a feature that is off runs in the background, and of the others all does.
func TestMEM80_WhatIsOffDoesNotStart(t *testing.T) {
	unsetAll(t)
	for name, c := range map[string]struct {
		off                               []string
		promotes, keeps, extracts, scores bool
	}{
		"all on":     {nil, true, true, true, true},
		"promotion":  {[]string{"memory.promotion"}, false, true, true, true},
		"upkeep":     {[]string{"memory.upkeep"}, true, false, true, true},
		"extraction": {[]string{"memory.extraction"}, true, true, false, true},
		"outcomes":   {[]string{"memory.outcomes"}, true, true, true, false},
		"memories":   {[]string{"memory.enabled"}, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := OpenRooms(t.TempDir(), slog.New(slog.DiscardHandler), without(c.off...))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.KV.Close() })
			if got := promotes(t, r); got != c.promotes {
				t.Errorf("a memory that is due moves by itself: %v", got)
			}
			if got := kept(t, r); got != c.keeps {
				t.Errorf("upkeep runs by itself: %v", got)
			}
			if got := r.Facts != nil; got != c.extracts {
				t.Errorf("facts are looked for: %v", got)
			}
			v := r.Audience.View(audience.Local)
			if err := r.Learn.Outcomes.Answered(t.Context(), v, "talk", "answer", []string{"a"}); err != nil {
				t.Fatal(err)
			}
			if got := r.Learn.Outcomes.Unscored(v, "talk"); got != c.scores {
				t.Errorf("an answer waits to be scored: %v", got)
			}
			r.Learn.Flush(t.Context())
		})
	}
}

// promotes tells whether what is due a minute later moves a memory that has proved itself.
func promotes(t *testing.T, r *rpc.Deps) bool {
	t.Helper()
	ctx, v := context.Background(), r.Audience.View(audience.Local)
	if _, err := r.Memory.Add(ctx, v, []memory.Draft{{ID: "a", Statement: "Stretch before the run", Tier: record.TierWorking}}); err != nil {
		t.Fatal(err)
	}
	err := r.Memory.Revise(ctx, func(tx *kv.Tx) ([]string, error) {
		return nil, r.Memory.CountTx(tx, "a", func(u *memory.Use) { *u = memory.Use{Uses: 2, Worked: 2, Score: 0.9} })
	})
	if err == nil {
		err = r.Learn.Keep(ctx, v, time.Hour)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Memory.Stored("a").Tier == record.TierHistory
}

// kept tells whether there was a run of upkeep: none is due then.
func kept(t *testing.T, r *rpc.Deps) bool {
	t.Helper()
	due, err := r.Learn.Upkeep.Due(t.Context(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return !due
}
