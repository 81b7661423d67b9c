package learn

// Upkeep keeps facts in order: it counts what supports them, lets fade what nobody repeats, settles or contests what
// contradicts another, merges what says the same, and asks a model what rules cannot decide.
//
// Facts are the memories of the tiers memoryBank and patterns. A run goes through its steps in their order. Each step
// looks at what is stored, plans its changes, and writes them in transactions of at most 100 memories, with an event
// for each. A change whose memory is not any more what it was planned for is left out. So a run that was killed goes on
// where it was, a second run finds nothing to do, and a dry run plans the same changes and writes none.
//
// Facts that a remote reader sees and facts that he does not see are never compared, and a private source supports
// private facts alone: nothing of what a remote reader is shown depends on a record that he is not shown. A model that
// is not on this machine is asked about the first alone, in the words that a remote reader is shown. A report names all
// facts, so it is for a local reader; [Keeper.Conflicts] and [Keeper.Settle] take the View of theirs.
//
// The records are
//
//	learn-pair     two facts of which something was decided, or waits to be, by both ids
//	learn-pair-of  the same by the ids in the other order
//	learn-upkeep   the last run, and up to when messages were looked at
//
// Everything may be called concurrently; one run or undo works at a time, and another is refused with Unavailable.
// Between facts a run gives way to calls (package yield). It costs O(memories² · dimensions), and O(messages ·
// dimensions) for each fact that a new message repeats, and holds the vectors of the memories meanwhile.

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
)

// run is one run under way. One goroutine works at it.
type run struct {
	keeper *Keeper
	ctx    context.Context
	steps  []string // empty: all
	dry    bool
	report *UpkeepReport
	last   lastRun
	at     time.Time // of the run, also when it goes on after a kill

	facts  map[string]*fact // as they are by what was planned so far
	order  []*fact          // those that stand, by number
	pairs  map[pairKey]*Pair
	near   *space
	found  []judged              // pairs of facts that may have to do with each other
	starts map[string]string     // of things, by memory; see mayRepeat
	seen   map[[2]int32]struct{} // pairs that were judged, by places of facts: there are millions

	changed bool // something, in this round
	judged  bool // what is in sight, in this round
}

// fact is a memory that is kept in order.
type fact struct {
	m      *memory.Record // that of the store, or what is planned of it
	said   *Statement
	hidden bool
	place  int32 // among all facts of the run
	// farthest is the last of the memories near to it that were looked at as what supports it.
	farthest string
}

func isFact(m *memory.Record) bool {
	return (m.Tier == record.TierBank || m.Tier == record.TierPatterns) && stands(m)
}

// sure is how sure a fact is at the time of the run.
func (r *run) sure(m *memory.Record) float64 { return memory.ConfidenceAt(&m.MemoryRecord, r.at) }

// begin reads what is stored, and notes that a run has begun.
func (r *run) begin() error {
	k := r.keeper
	state, err := k.state(r.ctx)
	if err != nil {
		return err
	}
	if state.Undoing && !r.dry {
		if err := k.undo(r.ctx, state, nil); err != nil {
			return err
		}
		if state, err = k.state(r.ctx); err != nil {
			return err
		}
	}
	r.last = *state
	if resumed := state.RunID != "" && !state.Done && !r.dry; resumed {
		if len(state.Steps) == 0 || len(r.steps) == 0 {
			r.steps = nil
		} else {
			r.steps = append(slices.Clone(r.steps), state.Steps...)
		}
	} else {
		r.last = lastRun{
			RunID: k.opts.NewID(), At: k.opts.Now().UTC().Truncate(time.Millisecond), Steps: r.steps,
			LookedAt: state.LookedAt, Before: state.LookedAt,
		}
		if err := r.note(); err != nil {
			return err
		}
	}
	r.at = r.last.At
	if !r.dry {
		r.report.RunID = r.last.RunID
	}
	return r.load()
}

// note writes what is known of the run.
func (r *run) note() error {
	if r.dry {
		return nil
	}
	return r.keeper.opts.DB.Update(r.ctx, func(tx *kv.Tx) error { return runs.Put(tx, lastRunKey, &r.last) })
}

func (k *Keeper) state(ctx context.Context) (s *lastRun, err error) {
	err = k.opts.DB.View(ctx, func(tx *kv.Tx) error {
		s, err = runs.Get(tx, lastRunKey)
		return err
	})
	if s == nil {
		s = &lastRun{}
	}
	return s, err
}

// load reads facts and pairs.
func (r *run) load() error {
	r.facts, r.order, r.found, r.seen, r.judged = make(map[string]*fact), nil, nil, make(map[[2]int32]struct{}), false
	r.starts = make(map[string]string)
	for m := range r.keeper.opts.Memory.All() {
		if isFact(m) {
			r.facts[m.ID] = &fact{m: m, said: ReadStatement(m.Statement), hidden: r.keeper.hides(m)}
		}
	}
	for _, f := range r.facts {
		r.order = append(r.order, f)
	}
	slices.SortFunc(r.order, func(a, b *fact) int { return cmp.Compare(a.m.Number, b.m.Number) })
	for i, f := range r.order {
		f.place = int32(i)
	}
	r.report.Facts = len(r.order)
	r.pairs = make(map[pairKey]*Pair)
	return r.keeper.opts.DB.View(r.ctx, func(tx *kv.Tx) error {
		for text, p := range pairRecords.All(tx, "") {
			r.pairs[parse(text)] = p
		}
		return tx.Err()
	})
}

// work goes through the steps. Of what is near to a fact, and of what has its topic, some facts are looked at; where one of them goes,
// another comes into sight. So rules are gone through until they find nothing: the next run would find it otherwise.
func (r *run) work(progress func(step string, done, total int)) error {
	model := len(UpkeepSteps) - 1
	for round := 0; round == 0 || r.changed; round++ {
		r.changed, r.judged = false, false
		r.order = slices.DeleteFunc(r.order, func(f *fact) bool { return !isFact(f.m) })
		for i, step := range UpkeepSteps[:model] {
			if !r.has(step) || round > 0 && step == StepExtraction {
				continue
			}
			if round == 0 {
				progress(step, i, len(UpkeepSteps))
			}
			if err := r.do(step); err != nil {
				return err
			}
		}
	}
	if !r.has(StepModel) {
		return nil
	}
	progress(StepModel, model, len(UpkeepSteps))
	return r.ask()
}

func (r *run) has(step string) bool { return len(r.steps) == 0 || slices.Contains(r.steps, step) }

func (r *run) do(step string) error {
	if step != StepExtraction && r.near == nil {
		if err := r.vectors(); err != nil {
			return err
		}
	}
	switch step {
	case StepExtraction:
		return r.extract()
	case StepEvidence:
		return r.evidence()
	case StepDecay:
		return r.decay()
	case StepContradictions:
		return r.contradictions()
	}
	return r.merging()
}

func (r *run) skip(why string) {
	if !slices.Contains(r.report.Skipped, why) {
		r.report.Skipped = append(r.report.Skipped, why)
	}
}

// extract has facts taken out of what was said.
func (r *run) extract() error {
	if r.keeper.opts.Extract == nil || r.dry {
		return nil
	}
	added, tokens, err := r.keeper.opts.Extract(r.ctx)
	r.report.Tokens += tokens
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	if err != nil {
		r.skip("extraction: " + fault.Message(err))
	}
	for _, id := range added {
		r.report.Changes = append(r.report.Changes, UpkeepChange{
			Kind: record.LearnedAdded, ID: id, Why: "it was said in a conversation",
			Before: record.LearnedMemory{ID: id}, After: record.LearnedMemory{ID: id},
		})
	}
	return r.load()
}

// decay notes which facts are no longer relied on, or are again.
func (r *run) decay() error {
	var list []planned
	for _, f := range r.order {
		status := relied(f.m, r.sure(f.m))
		if !memory.Fades(&f.m.MemoryRecord) || status == f.m.Status {
			continue
		}
		why := "nobody has said it again for long"
		if status == record.MemoryActive {
			why = "it is sure enough"
		}
		list = append(list, planned{
			kind: record.LearnedDecayed, why: why, silent: true, hidden: f.hidden,
			parts: []part{r.quietly(f, func(m *memory.Record) { m.Status = status })},
		})
	}
	return r.apply(list)
}

// minReliedConfidence is how sure a fact is at least that is relied on.
const minReliedConfidence = 0.3

// relied is the status of a fact that is so sure.
func relied(m *memory.Record, sure float64) string {
	switch {
	case m.Status == record.MemoryActive && sure < minReliedConfidence:
		return record.MemoryDeprecated
	case m.Status == record.MemoryDeprecated && sure >= minReliedConfidence:
		return record.MemoryActive
	}
	return m.Status
}

// planned is a change that is to be made.
type planned struct {
	kind, why string
	with      string // of the first part
	silent    bool   // it makes no version
	hidden    bool
	parts     []part
	pair      *pairKey
	state     *Pair     // of pair; nil: it is deleted
	of        [2]string // statements of pair, where nothing but state is written and it is about them
}

// part is what becomes of one memory.
type part struct {
	was, is *memory.Record
	fn      func(*memory.Record)
}

// quietly plans a change of a fact that makes no version. From now on it is as if it were made.
func (r *run) quietly(f *fact, fn func(*memory.Record)) part {
	is := *f.m
	fn(&is)
	p := part{was: f.m, is: &is, fn: fn}
	f.m = &is
	return p
}

// part plans a change of a fact that makes a version.
func (r *run) part(f *fact, fn func(*memory.Record)) part {
	p := r.quietly(f, fn)
	f.m.Version++
	return p
}

// maxTxMemories is how many memories are changed in a transaction at most.
const maxTxMemories = 100

// apply makes changes.
func (r *run) apply(list []planned) error {
	if r.dry {
		for i := range list {
			r.tell(&list[i])
		}
		r.changed = r.changed || len(list) > 0
		return nil
	}
	for chunk := range slices.Chunk(list, maxTxMemories/2) {
		if err := r.stopped(); err != nil {
			return err
		}
		var done []*planned
		err := r.keeper.opts.Memory.Revise(r.ctx, func(tx *kv.Tx) ([]string, error) {
			done = nil
			var together *Event
			hidden := false
			for i := range chunk {
				p := &chunk[i]
				ok, err := r.current(tx, p)
				if err != nil {
					return nil, err
				}
				if !ok {
					continue
				}
				if len(p.parts) == 0 {
					if err := r.writePair(tx, *p.pair, p.state); err != nil {
						return nil, err
					}
					done = append(done, p)
					continue
				}
				if together != nil && (together.Kind != p.kind || !p.silent || hidden != p.hidden) {
					if err := AppendEvent(tx, together); err != nil {
						return nil, err
					}
					together = nil
				}
				hidden = p.hidden
				if together == nil {
					together = &Event{Kind: p.kind, At: r.at, RunID: r.last.RunID}
				}
				if err := r.write(tx, p, together); err != nil {
					return nil, err
				}
				done = append(done, p)
			}
			if together == nil {
				return nil, nil
			}
			return nil, AppendEvent(tx, together)
		})
		if err != nil {
			return err
		}
		for _, p := range done {
			r.tell(p)
		}
		r.changed = r.changed || len(done) > 0
		if len(done) < len(chunk) { // somebody else has changed some
			if err := r.reload(); err != nil {
				return err
			}
		}
	}
	return nil
}

// stopped gives way to calls, and ends the run when its context has ended.
func (r *run) stopped() error {
	if r.keeper.opts.Stopped != nil {
		if err := r.keeper.opts.Stopped(); err != nil {
			return err
		}
	}
	return yield.Point(r.ctx)
}

// current reports whether the memories of a change are what it was planned for.
func (r *run) current(tx *kv.Tx, p *planned) (bool, error) {
	if p.of != [2]string{} {
		for i, id := range []string{p.pair.a, p.pair.b} {
			m, err := memory.Records.Get(tx, id)
			if err != nil || m == nil || m.Statement != p.of[i] || !m.Current() {
				return false, err
			}
		}
	}
	for i := range p.parts {
		m, err := memory.Records.Get(tx, p.parts[i].was.ID)
		if err != nil || m == nil || !same(m, p.parts[i].was) {
			return false, err
		}
	}
	return true, nil
}

// same reports whether a memory was not changed.
func same(a, b *memory.Record) bool {
	return a.Version == b.Version && a.Status == b.Status && a.Confidence == b.Confidence && a.Statement == b.Statement &&
		a.ConfidenceAt.Equal(b.ConfidenceAt) && a.EvidenceCount == b.EvidenceCount && slices.Equal(a.Contradicts, b.Contradicts)
}

func (r *run) write(tx *kv.Tx, p *planned, e *Event) error {
	for i := range p.parts {
		of := &p.parts[i]
		was, now, err := r.keeper.opts.Memory.ReviseTx(tx, of.was.ID, p.silent, func(m *memory.Record, _ time.Time) error {
			of.fn(m)
			return nil
		})
		if err != nil {
			return err
		}
		AddChange(e, CompareMemory(&was.MemoryRecord, &now.MemoryRecord, nil, nil))
		of.is = now
	}
	if p.pair == nil {
		return nil
	}
	return r.writePair(tx, *p.pair, p.state)
}

// writePair notes what a run has decided of a pair, with what was known before it.
func (r *run) writePair(tx *kv.Tx, k pairKey, p *Pair) error {
	was, err := pairRecords.Get(tx, k.text())
	if err != nil {
		return err
	}
	if was != nil && was.RunID == r.last.RunID {
		was = was.Was
	} else if was != nil {
		was.Was = nil
	}
	now := *p
	now.RunID, now.At, now.Was = r.last.RunID, r.at, was
	return putPair(tx, k, &now)
}

// tell adds a change to the report, and makes it what the run knows.
func (r *run) tell(p *planned) {
	for i := range p.parts {
		of := &p.parts[i]
		c := CompareMemory(&of.was.MemoryRecord, &of.is.MemoryRecord, nil, nil)
		with := p.with
		if i > 0 {
			with = p.parts[0].was.ID
		}
		r.report.Changes = append(r.report.Changes, UpkeepChange{
			Kind: p.kind, ID: of.was.ID, With: with, Why: p.why, Before: c.Before, After: c.After,
		})
	}
	if p.pair != nil {
		r.pairs[*p.pair] = p.state
	}
}

// reload takes in what others have changed.
func (r *run) reload() error {
	found := r.found
	if err := r.load(); err != nil {
		return err
	}
	r.found = slices.DeleteFunc(found, func(j judged) bool {
		a, b := r.facts[j.older.m.ID], r.facts[j.newer.m.ID]
		return a == nil || b == nil || a.m.Statement != j.older.m.Statement || b.m.Statement != j.newer.m.Statement
	})
	for i := range r.found {
		r.found[i].older, r.found[i].newer = r.facts[r.found[i].older.m.ID], r.facts[r.found[i].newer.m.ID]
	}
	return nil
}

// end notes that the run is done, and tells what waits.
func (r *run) end() (*UpkeepReport, error) {
	for k, p := range r.pairs {
		if p.State == PairQueued && r.open(k) {
			r.report.Queued++
		}
	}
	if r.dry {
		return r.report, nil
	}
	r.last.Done = true
	err := r.keeper.opts.Memory.Revise(r.ctx, func(tx *kv.Tx) ([]string, error) {
		if err := runs.Put(tx, lastRunKey, &r.last); err != nil {
			return nil, err
		}
		return nil, AppendEvent(tx, &Event{Kind: record.LearnedUpkeep, At: r.at, RunID: r.last.RunID})
	})
	return r.report, err
}

// open reports whether both facts of a pair are relied on.
func (r *run) open(k pairKey) bool {
	a, b := r.facts[k.a], r.facts[k.b]
	return a != nil && b != nil && a.m.Current() && b.m.Current()
}
