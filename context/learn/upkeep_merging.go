package learn

import (
	"cmp"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
)

// surest is how sure the one is at least that others are merged into.
const surest = 0.6

func sureAt(m *memory.Record, at time.Time) float64 { return memory.ConfidenceAt(&m.MemoryRecord, at) }

// merging has facts that say the same become one. What remains of a group once some of it wait is a group of its own.
func (r *run) merging() error {
	if err := r.judge(); err != nil {
		return err
	}
	for {
		list := r.alike()
		for i := range list {
			if list[i].kind == record.LearnedMerged {
				r.report.Same++
			}
		}
		if err := r.apply(list); err != nil || len(list) == 0 {
			return err
		}
	}
}

// alike plans what becomes of groups of facts that say the same.
func (r *run) alike() (list []planned) {
	same := make(map[pairKey]*judged)
	parent := make(map[*fact]*fact)
	var root func(f *fact) *fact
	root = func(f *fact) *fact {
		if p, ok := parent[f]; ok && p != f {
			parent[f] = root(p)
			return parent[f]
		}
		return f
	}
	for i := range r.found {
		j := &r.found[i]
		if j.Verdict != VerdictDuplicate || j.older.m.Status != record.MemoryActive || j.newer.m.Status != record.MemoryActive ||
			r.known(j.key) {
			continue
		}
		same[j.key] = j
		for _, f := range []*fact{j.older, j.newer} {
			if parent[f] == nil {
				parent[f] = f
			}
		}
		parent[root(j.newer)] = root(j.older)
	}
	components := make(map[*fact][]*fact)
	for _, f := range r.order {
		if parent[f] != nil {
			components[root(f)] = append(components[root(f)], f)
		}
	}
	for _, f := range r.order { // in an order that does not depend on maps
		if of := components[f]; of != nil {
			list = append(list, r.merge(of, same)...)
		}
	}
	return list
}

// merge plans what becomes of facts that say the same.
func (r *run) merge(of []*fact, same map[pairKey]*judged) (list []planned) {
	winner := slices.MinFunc(of, func(a, b *fact) int {
		return cmp.Or(cmp.Compare(r.sure(b.m), r.sure(a.m)), cmp.Compare(a.m.Number, b.m.Number))
	})
	for _, loser := range of {
		j := same[keyOf(winner.m.ID, loser.m.ID)]
		switch {
		case loser == winner || j == nil: // the next run sees it beside what it was merged into
		case loser.m.Kind != winner.m.Kind:
			list = append(list, r.queues(j.key, winner, "the same, but of two kinds"))
		case r.sure(winner.m) <= surest:
			list = append(list, r.queues(j.key, winner, "the same, but neither is sure"))
		case loser.m.Pinned || loser.m.AlwaysInject:
			list = append(list, r.queues(j.key, winner, "the same, but one is kept by hand"))
		default:
			list = append(list, r.merges(winner, loser, j.Why))
		}
	}
	return list
}

// merges plans that a fact becomes a part of another.
func (r *run) merges(winner, loser *fact, why string) planned {
	lost := loser.m
	return planned{
		kind: record.LearnedMerged, why: why, with: winner.m.ID, hidden: winner.hidden,
		parts: []part{
			r.part(loser, func(m *memory.Record) { m.Status, m.MergedInto = record.MemoryMerged, winner.m.ID }),
			r.part(winner, func(m *memory.Record) { joined(m, lost) }),
		},
	}
}

// joined gives a fact the evidence of one that was merged into it. When it was last supported stays.
func joined(m, lost *memory.Record) {
	evidence, both := slices.Clone(m.Evidence), 0
	for _, id := range lost.Evidence {
		if slices.Contains(evidence, id) {
			both++
			continue
		}
		evidence = append(evidence, id)
	}
	m.Evidence = evidence[max(0, len(evidence)-maxEvidence):]
	m.EvidenceCount += lost.EvidenceCount - both
	if lost.EvidenceUpTo != nil && (m.EvidenceUpTo == nil || lost.EvidenceUpTo.After(*m.EvidenceUpTo)) {
		m.EvidenceUpTo = lost.EvidenceUpTo
	}
}
