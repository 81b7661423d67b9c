package memory_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// TestREF2_WhatTransactionsUnderWayTake: a number and a statement are taken from when a transaction chose them, for
// good once it is committed, and no longer when it never will be.
func TestREF2_WhatTransactionsUnderWayTake(t *testing.T) {
	x, first, second := memory.NewStatementIndex(), new(kv.Tx), new(kv.Tx)
	m := &record.MemoryRecord{ID: "a", Number: 1, Tier: record.TierBank, Statement: "I like tea"}
	says := memory.NewTierStatement(&record.MemoryRecord{Tier: record.TierBank, Statement: "i like  TEA."})
	state := func(when string, next int64, claimed bool, said ...string) {
		t.Helper()
		if x.Next() != next || x.Claimed(1) != claimed || !slices.Equal(x.Said(says), said) {
			t.Errorf("%s: next %d, claimed %v, said by %q", when, x.Next(), x.Claimed(1), x.Said(says))
		}
	}
	state("empty", 1, false)
	x.Claim(first, m.ID, m.Number, m.Statement, memory.NewTierStatement(m))
	state("chosen", 2, true, "a")
	x.Claim(second, "b", x.Next(), "I like tea", says)
	state("twice", 3, true, "a", "b")
	x.End(second)
	state("the second was refused", 2, true, "a")
	x.Commit(nil, m)
	x.End(first)
	state("committed", 2, false, "a")
	x.Claim(first, "", 7, "", memory.TierStatement{})
	state("raised", 8, false, "a")
	x.End(first)
	other := *m
	other.Statement = "I like coffee"
	x.Commit(m, &other)
	state("changed", 2, false)
	x.Commit(&other, nil)
	x.Raise(4)
	state("deleted", 5, false)
	if x.Last() != 4 {
		t.Errorf("the last number is %d", x.Last())
	}
}
