package learn

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Conflict is a pair that is open.
type Conflict struct {
	ID, With string
	Why      string
	State    string // Contested or Queued
	At       time.Time
}

// Conflicts returns the pairs that are open as a reader sees them, those that have waited longest first: at most limit
// behind the place after, "" for the beginning, and the place behind them, "" for the end.
func (k *Keeper) Conflicts(ctx context.Context, v *audience.View, after string, limit int) (page []Conflict, next string, err error) {
	type placed struct {
		Conflict
		place string
	}
	var all []placed
	err = k.opts.DB.View(ctx, func(tx *kv.Tx) error {
		for text, p := range pairRecords.All(tx, "") {
			if p.State != PairContested && p.State != PairQueued {
				continue
			}
			of := parse(text)
			a, b := k.opts.Memory.As(v, k.opts.Memory.Stored(of.a)), k.opts.Memory.As(v, k.opts.Memory.Stored(of.b))
			if a == nil || b == nil || !a.Current() || !b.Current() {
				continue
			}
			if cmp.Or(since(a).Compare(since(b)), cmp.Compare(a.Number, b.Number)) < 0 { // the newer one first
				a, b = b, a
			}
			all = append(all, placed{
				Conflict{a.ID, b.ID, p.Why, p.State, p.At}, p.At.UTC().Format("20060102150405.000") + " " + text,
			})
		}
		return tx.Err()
	})
	if err != nil {
		return nil, "", err
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	page = []Conflict{}
	for i := range all {
		if all[i].place <= after {
			continue
		}
		if len(page) == limit {
			return page, next, nil
		}
		page, next = append(page, all[i].Conflict), all[i].place
	}
	return page, "", nil
}

// Waiting returns how many pairs wait for a model or the person. O(pairs).
func (k *Keeper) Waiting(ctx context.Context) (n int, err error) {
	err = k.opts.DB.View(ctx, func(tx *kv.Tx) error {
		for text, p := range pairRecords.All(tx, "") {
			of := parse(text)
			a, b := k.opts.Memory.Stored(of.a), k.opts.Memory.Stored(of.b)
			if p.State == PairQueued && a != nil && b != nil && a.Current() && b.Current() {
				n++
			}
		}
		return tx.Err()
	})
	return n, err
}

// The ways to settle a pair.
const (
	ResolutionKeep      = "keep"      // the first holds, the other was wrong
	ResolutionSupersede = "supersede" // the first holds now, the other held before
	ResolutionRetract   = "retract"   // the first was wrong, the other holds
	// Both is the fourth: both hold.
)

// Resolutions are all of them.
var Resolutions = []string{ResolutionKeep, ResolutionSupersede, ResolutionRetract, BothHold}

// Settle decides a pair that is open; that both hold may be said of any two. It returns the two memories. The errors are Invalid for another resolution,
// NotFound for a memory that the reader does not see, and Conflict for two that are not in conflict.
func (k *Keeper) Settle(ctx context.Context, v *audience.View, id, other, resolution string) ([]*record.Memory, error) {
	if !slices.Contains(Resolutions, resolution) {
		return nil, fault.Field("resolution", "resolution is none of its values").
			WithHint("give keep, supersede, retract or both")
	}
	if id == other {
		return nil, fault.Field("with", "a memory cannot contradict itself").WithHint("give the other one")
	}
	err := k.opts.Memory.Revise(ctx, func(tx *kv.Tx) ([]string, error) {
		a, _, err := k.opts.Memory.FindTx(tx, v, id)
		if err != nil {
			return nil, fault.Under("id", err)
		}
		b, _, err := k.opts.Memory.FindTx(tx, v, other)
		if err != nil {
			return nil, fault.Under("with", err)
		}
		return []string{id, other}, k.settle(tx, v, a, b, resolution)
	})
	if err != nil {
		return nil, err
	}
	return k.opts.Memory.Shown(v, []string{id, other}), nil
}

func (k *Keeper) settle(tx *kv.Tx, v *audience.View, a, b *memory.Record, resolution string) error {
	of := keyOf(a.ID, b.ID)
	p, err := pairRecords.Get(tx, of.text())
	if err != nil {
		return err
	}
	open := p != nil && (p.State == PairContested || p.State == PairQueued)
	contradicts := slices.Contains(a.Contradicts, b.ID) || slices.Contains(b.Contradicts, a.ID)
	contested := a.Status == record.MemoryContested || b.Status == record.MemoryContested
	if !a.Current() || !b.Current() || resolution != BothHold && !open && !contradicts && !contested {
		return (&fault.Error{Kind: fault.Conflict, Reason: fault.State, Ref: a.ID, Msg: "the two memories are not in conflict"}).
			WithHint("memory.conflicts lists what is open")
	}
	e := &Event{Kind: record.LearnedSettled, At: k.opts.Now().UTC()}
	change := func(m *memory.Record, wrong bool, fn func(m *memory.Record)) error {
		still, err := contestedBesides(tx, m.ID, of)
		if err != nil {
			return err
		}
		was, now, err := k.opts.Memory.ReviseAsTx(tx, v, m.ID, func(m *memory.Record, now time.Time) error {
			if !wrong {
				holds(m, p, of, now, still)
			}
			if fn != nil {
				fn(m)
			}
			return nil
		})
		if err == nil {
			AddChange(e, CompareMemory(&was.MemoryRecord, &now.MemoryRecord, nil, nil))
		}
		return err
	}
	wrong := func(m *memory.Record) { m.Status, m.ArchivedAt = record.MemoryRetracted, nil }
	var ofA, ofB func(*memory.Record)
	state := &Pair{State: PairClosed, At: e.At}
	switch resolution {
	case ResolutionKeep:
		ofB = wrong
	case ResolutionRetract:
		ofA = wrong
	case ResolutionSupersede:
		ofA = func(m *memory.Record) { m.Supersedes = with(m.Supersedes, b.ID) }
		ofB = func(m *memory.Record) { superseded(m, a) }
	case BothHold:
		state.State = BothHold
	}
	if err := change(b, resolution == ResolutionKeep, ofB); err != nil {
		return err
	}
	if err := change(a, resolution == ResolutionRetract, ofA); err != nil {
		return err
	}
	if err := putPair(tx, of, state); err != nil {
		return err
	}
	return AppendEvent(tx, e)
}

// contestedBesides reports whether another pair contests a memory.
func contestedBesides(tx *kv.Tx, id string, but pairKey) (bool, error) {
	list, err := pairsWith(tx, id)
	if err != nil {
		return false, err
	}
	for _, k := range list {
		if k == but {
			continue
		}
		p, err := pairRecords.Get(tx, k.text())
		if err != nil || p == nil || p.State != PairContested {
			if err != nil {
				return false, err
			}
			continue
		}
		other := k.a
		if other == id {
			other = k.b
		}
		m, err := memory.Records.Get(tx, other)
		if err != nil {
			return false, err
		}
		if m != nil && m.Current() {
			return true, nil
		}
	}
	return false, nil
}
