package learn

// A Promoter moves memories between the tiers by what became of them: from working to history at a score of 0.7 and two
// uses, from history to patterns at 0.9 and three; what falls below 0.2 is archived. It goes on until nothing moves, so
// that a second run changes nothing.
//
// One [Promoter] of a store moves memories; its runs are done one after the other. Each move is checked again in its
// transaction and written together with its event. Nothing that is pinned or always injected is archived, and facts of
// memoryBank are left alone.
//
// [PromotionPace] says when a run is due: at the start, each 30 minutes and each 20 messages. It has no clock of its
// own and starts nothing.
//
// A run is O(memories) in memory and writes what moves, [group] memories a transaction. The errors are those of the
// store, and that of the context.

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Limits of the tiers: scores in hundredths, and uses.
const (
	historyScore, historyUses   = memory.ProvenScore, memory.ProvenUses
	patternsScore, patternsUses = 90, 3
	archiveScore                = 20 // below it
)

// group is how many memories one transaction moves: others wait for it.
var group = 200

// step is what a run does with a memory next.
type step int

const (
	stays step = iota
	toHistory
	toPatterns
	toArchive
)

// next says what is due for a memory.
func next(m *memory.Record, u *memory.Use) step {
	if m.Tier == record.TierBank || !m.Current() && m.Status != record.MemoryDeprecated {
		return stays
	}
	s := memory.Score(u)
	switch {
	case s < archiveScore && !m.Pinned && !m.AlwaysInject:
		return toArchive
	case m.Status == record.MemoryDeprecated:
		return stays
	case m.Tier == record.TierWorking && s >= historyScore && u.Uses >= historyUses:
		return toHistory
	case m.Tier == record.TierHistory && s >= patternsScore && u.Uses >= patternsUses:
		return toPatterns
	}
	return stays
}

// Promoter moves memories. The zero value with DB and Memories set works.
type Promoter struct {
	Memories *memory.Store
	Now      func() time.Time // nil: time.Now

	mu sync.Mutex // held while a run is under way
}

// PromotionReport says what a run did, or would do.
type PromotionReport struct {
	Moved    []record.MovedMemory // in the order of the numbers; of one memory in the order of its tiers
	Archived []string
}

// Run moves what is due, or tells with dryRun what a run would do. v says of which memories it tells and, with dryRun,
// which it looks at; a run itself looks at all.
func (o *Promoter) Run(ctx context.Context, v *audience.View, dryRun bool) (*PromotionReport, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := o.due()
	r := &PromotionReport{Moved: []record.MovedMemory{}, Archived: []string{}}
	if dryRun {
		for _, m := range due {
			if memory.Sees(v, m) {
				u := o.Memories.Counters(m.ID)
				at := *m
				r.foresee(&at, &u)
			}
		}
		return r, nil
	}
	for ids := range slices.Chunk(due, group) {
		if err := o.move(ctx, v, ids, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// due are the memories for which something is due, by their numbers.
func (o *Promoter) due() []*memory.Record {
	var list []*memory.Record
	for m := range o.Memories.All() {
		u := o.Memories.Counters(m.ID)
		if next(m, &u) != stays {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *memory.Record) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// foresee notes what would become of a memory.
func (r *PromotionReport) foresee(m *memory.Record, u *memory.Use) {
	for {
		from := m.Tier
		s := next(m, u)
		if s == stays {
			return
		}
		s.apply(m, u, m.TierSince)
		r.note(m, from, s)
	}
}

func (r *PromotionReport) note(m *memory.Record, from string, s step) {
	if s == toArchive {
		r.Archived = append(r.Archived, m.ID)
		return
	}
	r.Moved = append(r.Moved, record.MovedMemory{ID: m.ID, From: from, To: m.Tier})
}

// apply does a step to a memory.
func (s step) apply(m *memory.Record, u *memory.Use, now time.Time) {
	switch s {
	case toHistory:
		m.Tier, m.TierSince = record.TierHistory, now
	case toPatterns:
		m.Tier, m.TierSince = record.TierPatterns, now
		learned(m, u)
	case toArchive:
		m.Status = record.MemoryArchived
	}
}

// learned has what was learned from an exchange be a solution, or a lesson where it failed once, with the messages as
// its evidence.
func learned(m *memory.Record, u *memory.Use) {
	if m.Kind != record.MemoryTakeaway {
		return
	}
	m.Kind = record.MemorySolution
	if u.Failed > 0 {
		m.Kind = record.MemoryLesson
	}
	for _, id := range m.Source.MessageIDs {
		if !slices.Contains(m.Evidence, id) {
			m.Evidence = append(slices.Clone(m.Evidence), id)
			m.EvidenceCount++
		}
	}
}

// move moves a group of memories in one transaction.
func (o *Promoter) move(ctx context.Context, v *audience.View, due []*memory.Record, r *PromotionReport) error {
	before := PromotionReport{slices.Clone(r.Moved), slices.Clone(r.Archived)}
	return o.Memories.Revise(ctx, func(tx *kv.Tx) ([]string, error) {
		*r = PromotionReport{slices.Clone(before.Moved), slices.Clone(before.Archived)}
		for _, m := range due {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := o.moveOne(tx, v, m.ID, r); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

func (o *Promoter) moveOne(tx *kv.Tx, v *audience.View, id string, r *PromotionReport) error {
	for {
		m, u, err := o.Memories.FindTx(tx, nil, id)
		if fault.KindOf(err) == fault.NotFound {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		s := next(m, &u)
		if s == stays {
			return nil
		}
		was, now, err := o.Memories.ReviseTx(tx, id, false, func(m *memory.Record, now time.Time) error {
			s.apply(m, &u, now)
			return nil
		})
		if err != nil {
			return err
		}
		e := Event{Kind: record.LearnedPromoted, At: o.now(tx)}
		if s == toArchive {
			e.Kind = record.LearnedArchived
		}
		AddChange(&e, CompareMemory(&was.MemoryRecord, &now.MemoryRecord, nil, nil))
		if err := AppendEvent(tx, &e); err != nil {
			return err
		}
		if memory.Sees(v, now) {
			r.note(now, was.Tier, s)
		}
	}
}

func (o *Promoter) now(tx *kv.Tx) time.Time {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return tx.Now(now).UTC().Truncate(time.Millisecond)
}

// Promotion is due when this much has passed, or so many messages were said, since the last run.
const (
	promoteInterval      = 30 * time.Minute
	promoteEveryMessages = 20
)

// PromotionPace says when a run is due. It is safe for concurrent use.
type PromotionPace struct {
	mu       sync.Mutex
	last     time.Time // zero: there was none
	messages int
}

// Said counts messages.
func (p *PromotionPace) Said(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages += n
}

// Due reports whether a run is due, and counts it as done then. A clock that is set back begins anew.
func (p *PromotionPace) Due(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	passed := now.Sub(p.last)
	if !p.last.IsZero() && passed >= 0 && passed < promoteInterval && p.messages < promoteEveryMessages {
		return false
	}
	p.last, p.messages = now, 0
	return true
}
