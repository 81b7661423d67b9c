package learn

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

const (
	perCall  = 20 // pairs that a model is asked about at once
	maxCalls = 2  // of a run
)

// ask asks a model about the pairs that rules cannot decide. What fails goes on waiting.
func (r *run) ask() error {
	by := r.keeper.opts.Adviser
	if by == nil || r.dry {
		return nil
	}
	list := r.waiting(by.Local())
	for calls := 0; len(list) > 0 && calls < maxCalls; calls++ {
		if err := r.stopped(); err != nil {
			return err
		}
		of := list[:min(perCall, len(list))]
		list = list[len(of):]
		questions := make([]PairQuestion, len(of))
		for i, w := range of {
			questions[i] = w.question
			questions[i].ID = "p" + strconv.Itoa(i+1)
		}
		asking := r.ctx
		if !by.Local() {
			asking = outbound.Unless(r.ctx, func(context.Context) (bool, error) { return r.hiddenMeanwhile(of), nil })
		}
		answers, tokens, err := by.Decide(asking, questions)
		r.report.Tokens += tokens
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			r.skip("model: " + fault.Message(err))
			return nil
		}
		var plan []planned
		for i, w := range of {
			if p, ok := r.answered(w, answers[questions[i].ID]); ok {
				plan = append(plan, p)
			}
		}
		if err := r.apply(plan); err != nil {
			return err
		}
	}
	return nil
}

// waits is a pair that waits for a model.
type waits struct {
	key          pairKey
	older, newer *fact
	question     PairQuestion
}

// waiting are the pairs that a model may be asked about, those that have waited longest first. One that is not on this
// machine is asked about what a remote reader sees, in the words that he is shown.
func (r *run) waiting(local bool) (list []waits) {
	for k, p := range r.pairs {
		if p.State != PairQueued || !r.open(k) {
			continue
		}
		older, newer := inOrder(r.facts[k.a], r.facts[k.b])
		q := PairQuestion{Older: older.m.Statement, Newer: newer.m.Statement, OlderAt: since(older.m), NewAt: since(newer.m)}
		if !local {
			if older.hidden || newer.hidden {
				continue
			}
			var ok bool
			if q.Older, q.Newer, ok = r.shown(older, newer); !ok {
				continue
			}
		}
		list = append(list, waits{k, older, newer, q})
	}
	slices.SortFunc(list, func(a, b waits) int {
		return cmp.Or(r.pairs[a.key].At.Compare(r.pairs[b.key].At), cmp.Compare(a.key.text(), b.key.text()))
	})
	return list
}

// shown returns what two facts say as a remote reader is shown it; ok is false where he does not see both.
func (r *run) shown(a, b *fact) (ofA, ofB string, ok bool) {
	list := r.keeper.opts.Memory.Shown(r.keeper.opts.Remote, []string{a.m.ID, b.m.ID})
	if len(list) != 2 || list[0] == nil || list[1] == nil {
		return "", "", false
	}
	return list[0].Statement, list[1].Statement, true
}

// hiddenMeanwhile reports whether a remote reader is not shown any more what pairs say.
func (r *run) hiddenMeanwhile(of []waits) bool {
	return slices.ContainsFunc(of, func(w waits) bool {
		older, newer, ok := r.shown(w.older, w.newer)
		return !ok || older != w.question.Older || newer != w.question.Newer
	})
}

// answered plans what a model has said of a pair.
func (r *run) answered(w waits, answer string) (p planned, ok bool) {
	if !r.open(w.key) { // another answer has changed one of them
		return p, false
	}
	const why = "a model has said so"
	switch answer {
	case AdviceMerge:
		winner, loser := w.older, w.newer
		if r.sure(loser.m) > r.sure(winner.m) {
			winner, loser = loser, winner
		}
		if winner.m.Status != record.MemoryActive || loser.m.Status != record.MemoryActive || loser.m.Pinned || loser.m.AlwaysInject {
			return p, false
		}
		p = r.merges(winner, loser, why)
	case AdviceNewer:
		p = r.supersedes(w.newer, w.older, why)
	case AdviceContradiction:
		p = r.contests(w.older, w.newer, why)
		r.pairs[w.key] = p.state
		return p, true
	case AdviceKeepBoth:
		return planned{pair: &w.key, state: &Pair{State: BothHold, Why: why}, of: statements(w.older, w.newer)}, true
	default:
		return p, false
	}
	p.pair, p.state = &w.key, &Pair{State: PairClosed, Why: why}
	return p, true
}
