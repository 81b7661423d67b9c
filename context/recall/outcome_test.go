package recall_test

import (
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// used has a memory have counters.
func (h *house) used(t *testing.T, id string, u memory.Use) {
	t.Helper()
	must(t, h.mem.Revise(t.Context(), func(tx *kv.Tx) ([]string, error) {
		return nil, h.mem.CountTx(tx, id, func(to *memory.Use) { *to = u })
	}))
}

// signalOf returns what a stage made of a hit, 1 for nothing.
func signalOf(res *recall.Result, id, stage string) float64 {
	for _, hit := range res.Hits {
		for _, s := range hit.Signals {
			if hit.ID == id && s.Name == stage {
				return s.Value
			}
		}
	}
	return 1
}

// tried are memories that say the same of tiers, so that nothing but their use tells them apart.
func tried(tiers map[string]string) (list []*memory.Record) {
	for id, tier := range tiers {
		m := fact(id, "The pump is oiled in spring.", 3)
		m.Tier = tier
		list = append(list, m)
	}
	return list
}

func TestMEM24_WhatWorkedComesBefore(t *testing.T) {
	h := open(t, bags(), tried(map[string]string{
		"untried": record.TierHistory, "worked": record.TierHistory, "once": record.TierHistory, "failed": record.TierPatterns, "bank": record.TierBank,
	}), nil)
	h.used(t, "worked", memory.Use{Worked: 2})
	h.used(t, "once", memory.Use{Worked: 1})
	h.used(t, "failed", memory.Use{Failed: 2})
	h.used(t, "bank", memory.Use{Worked: 9})
	req := recall.Request{Query: "pump oiled", Explain: true, Limit: 9}
	res := ask(t, h.ranker(recall.Options{}), h.local, req)
	for id, want := range map[string]float64{"untried": 1, "once": 1, "bank": 1, "worked": 0.85 + 0.3*4/6, "failed": 0.85 + 0.3*2/6} {
		if got := signalOf(res, id, recall.Outcome); got != want {
			t.Errorf("factor of %s: %v, want %v", id, got, want)
		}
	}
	if first, last := res.Hits[0].ID, res.Hits[len(res.Hits)-1].ID; first != "worked" || last != "failed" {
		t.Errorf("found %s", ids(res))
	}
	without := req
	without.Stages = map[string]bool{recall.Outcome: false}
	off := ask(t, h.ranker(recall.Options{}), h.local, without)
	if got := signalOf(off, "worked", recall.Outcome); got != 1 {
		t.Errorf("it is off, and counts %v", got)
	}
	// Successes at the beginning never rank below the untried.
	for worked := 2; worked < 50; worked++ {
		h.used(t, "worked", memory.Use{Worked: worked})
		if got := signalOf(ask(t, h.ranker(recall.Options{}), h.local, req), "worked", recall.Outcome); got <= 1 {
			t.Fatalf("%d successes count %v", worked, got)
		}
	}
}
