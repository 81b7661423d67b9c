package learn

import (
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Undo takes the last run back, as long as there was none after it: each memory is as before, but for what was changed
// since, which stays. What a run did with two facts is not done again by a later one. The errors are NotFound for another
// run than the last one, Unavailable while one works, those of the store, and that of ctx.
func (k *Keeper) Undo(ctx context.Context, runID string) (*UpkeepReport, error) {
	if !k.working.TryLock() {
		return nil, underWay()
	}
	defer k.working.Unlock()
	state, err := k.state(ctx)
	if err != nil {
		return nil, err
	}
	if runID == "" || state.RunID != runID {
		return nil, fault.New(fault.NotFound, "there is no run %q that can be undone", runID).WithRef(runID).
			WithHint("the last run alone can be undone, until the next one; memory.events names it")
	}
	report := &UpkeepReport{RunID: runID, Changes: []UpkeepChange{}}
	return report, k.undo(ctx, state, report)
}

// undo takes a run back. It may be called again where it was ended.
func (k *Keeper) undo(ctx context.Context, state *lastRun, report *UpkeepReport) error {
	state.Undoing, state.Done = true, true
	if err := k.opts.DB.Update(ctx, func(tx *kv.Tx) error { return runs.Put(tx, lastRunKey, state) }); err != nil {
		return err
	}
	list, err := k.eventsOf(ctx, state)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(list, 20) {
		if k.opts.Stopped != nil {
			if err := k.opts.Stopped(); err != nil {
				return err
			}
		}
		var changes []UpkeepChange
		err := k.opts.Memory.Revise(ctx, func(tx *kv.Tx) ([]string, error) {
			changes = nil
			for i := range chunk {
				done, err := k.undoEvent(tx, &chunk[i], state)
				if err != nil {
					return nil, err
				}
				changes = append(changes, done...)
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
		if report != nil {
			report.Changes = append(report.Changes, changes...)
		}
	}
	return k.opts.DB.Update(ctx, func(tx *kv.Tx) error {
		for text, p := range pairRecords.All(tx, "") {
			if p.RunID != state.RunID || p.State == PairUndone {
				continue
			}
			if p.Was == nil {
				if err := deletePair(tx, parse(text)); err != nil {
					return err
				}
			} else if err := putPair(tx, parse(text), p.Was); err != nil {
				return err
			}
		}
		if err := tx.Err(); err != nil {
			return err
		}
		return runs.Put(tx, lastRunKey, &lastRun{LookedAt: state.Before, Done: true})
	})
}

// eventsOf returns the events of a run, the newest first.
func (k *Keeper) eventsOf(ctx context.Context, state *lastRun) (list []Event, err error) {
	log := EventLog{DB: k.opts.DB, Store: k.opts.Memory}
	q := EventQuery{Since: state.At, Limit: 200}
	for {
		page, more, err := log.List(ctx, k.opts.Local, q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if page[i].RunID == state.RunID && page[i].Kind != record.LearnedUndone && page[i].Kind != record.LearnedUpkeep {
				list = append(list, page[i])
			}
		}
		if !more || len(page) == 0 {
			return list, nil
		}
		q.Before = page[len(page)-1].Seq
	}
}

// undoEvent takes one event back.
func (k *Keeper) undoEvent(tx *kv.Tx, e *Event, state *lastRun) (changes []UpkeepChange, err error) {
	back := &Event{Kind: record.LearnedUndone, At: k.opts.Now(), RunID: state.RunID}
	silent := e.Kind == record.LearnedEvidence || e.Kind == record.LearnedDecayed
	for i := range min(len(e.Before), len(e.After)) {
		before, after := &e.Before[i], &e.After[i]
		m, err := memory.Records.Get(tx, after.ID)
		if err != nil {
			return nil, err
		}
		if m == nil || !is(m, before, after) { // it was changed since, or is as before already
			continue
		}
		was, now, err := k.opts.Memory.ReviseTx(tx, after.ID, silent, func(m *memory.Record, _ time.Time) error {
			restore(m, before, after)
			return nil
		})
		if err != nil {
			return nil, err
		}
		c := CompareMemory(&was.MemoryRecord, &now.MemoryRecord, nil, nil)
		AddChange(back, c)
		changes = append(changes, UpkeepChange{Kind: record.LearnedUndone, ID: m.ID, Why: "the run was undone", Before: c.Before, After: c.After})
	}
	if len(changes) == 0 {
		return nil, nil
	}
	if err := AppendEvent(tx, back); err != nil {
		return nil, err
	}
	raised := e.Kind == record.LearnedSuperseded || e.Kind == record.LearnedMerged || e.Kind == record.LearnedContested
	if !raised || len(e.Before) != 2 {
		return changes, nil
	}
	p := &Pair{State: PairUndone, At: k.opts.Now().UTC(), RunID: state.RunID}
	return changes, putPair(tx, keyOf(e.Before[0].ID, e.Before[1].ID), p)
}

// member is one member of a memory that runs change.
type member struct {
	changed func(before, after *record.LearnedMemory) bool
	is      func(m *memory.Record, s *record.LearnedMemory) bool
	set     func(m *memory.Record, s *record.LearnedMemory)
}

func value[T comparable](in func(*record.LearnedMemory) *T, of func(*memory.Record) *T) member {
	or := func(s *record.LearnedMemory) (v T) {
		if p := in(s); p != nil {
			v = *p
		}
		return v
	}
	return member{
		changed: func(b, a *record.LearnedMemory) bool { return in(b) != nil || in(a) != nil },
		is:      func(m *memory.Record, s *record.LearnedMemory) bool { return *of(m) == or(s) },
		set:     func(m *memory.Record, s *record.LearnedMemory) { *of(m) = or(s) },
	}
}

func moment(in func(*record.LearnedMemory) *time.Time, of func(*memory.Record) **time.Time) member {
	return member{
		changed: func(b, a *record.LearnedMemory) bool { return in(b) != nil || in(a) != nil },
		is: func(m *memory.Record, s *record.LearnedMemory) bool {
			x, y := *of(m), in(s)
			return x == nil && y == nil || x != nil && y != nil && x.Equal(*y)
		},
		set: func(m *memory.Record, s *record.LearnedMemory) { *of(m) = in(s) },
	}
}

func list(in func(*record.LearnedMemory) []string, of func(*memory.Record) *[]string) member {
	return member{
		changed: func(b, a *record.LearnedMemory) bool { return len(in(b)) > 0 || len(in(a)) > 0 },
		is:      func(m *memory.Record, s *record.LearnedMemory) bool { return slices.Equal(*of(m), in(s)) },
		set: func(m *memory.Record, s *record.LearnedMemory) {
			*of(m) = append([]string{}, in(s)...)
		},
	}
}

// members are all of them.
var members = []member{
	value(func(s *record.LearnedMemory) *string { return s.Status }, func(m *memory.Record) *string { return &m.Status }),
	value(func(s *record.LearnedMemory) *float64 { return s.Confidence }, func(m *memory.Record) *float64 { return &m.Confidence }),
	value(func(s *record.LearnedMemory) *int { return s.EvidenceCount }, func(m *memory.Record) *int { return &m.EvidenceCount }),
	value(func(s *record.LearnedMemory) *string { return s.SupersededBy }, func(m *memory.Record) *string { return &m.SupersededBy }),
	value(func(s *record.LearnedMemory) *string { return s.MergedInto }, func(m *memory.Record) *string { return &m.MergedInto }),
	moment(func(s *record.LearnedMemory) *time.Time { return s.LastEvidenceAt }, func(m *memory.Record) **time.Time { return &m.LastEvidenceAt }),
	moment(func(s *record.LearnedMemory) *time.Time { return s.EvidenceUpTo }, func(m *memory.Record) **time.Time { return &m.EvidenceUpTo }),
	moment(func(s *record.LearnedMemory) *time.Time { return s.ValidTo }, func(m *memory.Record) **time.Time { return &m.ValidTo }),
	list(func(s *record.LearnedMemory) []string { return s.Evidence }, func(m *memory.Record) *[]string { return &m.Evidence }),
	list(func(s *record.LearnedMemory) []string { return s.Supersedes }, func(m *memory.Record) *[]string { return &m.Supersedes }),
	list(func(s *record.LearnedMemory) []string { return s.Contradicts }, func(m *memory.Record) *[]string { return &m.Contradicts }),
	{
		changed: func(b, a *record.LearnedMemory) bool { return b.ConfidenceAt != nil && a.ConfidenceAt != nil },
		is:      func(m *memory.Record, s *record.LearnedMemory) bool { return m.ConfidenceAt.Equal(*s.ConfidenceAt) },
		set:     func(m *memory.Record, s *record.LearnedMemory) { m.ConfidenceAt = *s.ConfidenceAt },
	},
}

// is reports whether a memory is as it was after a change in what that changed.
func is(m *memory.Record, before, after *record.LearnedMemory) bool {
	any := false
	for _, of := range members {
		if of.changed(before, after) {
			any = true
			if !of.is(m, after) {
				return false
			}
		}
	}
	return any
}

func restore(m *memory.Record, before, after *record.LearnedMemory) {
	for _, of := range members {
		if of.changed(before, after) {
			of.set(m, before)
		}
	}
}
