package learn

import (
	"cmp"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
)

// judged is a pair of facts that may have to do with each other.
type judged struct {
	key          pairKey
	older, newer *fact
	Judgement
}

// since is since when a fact holds.
func since(m *memory.Record) time.Time {
	if m.ValidFrom != nil {
		return *m.ValidFrom
	}
	return m.CreatedAt
}

func inOrder(a, b *fact) (older, newer *fact) {
	if cmp.Or(since(a.m).Compare(since(b.m)), cmp.Compare(a.m.Number, b.m.Number)) > 0 {
		return b, a
	}
	return a, b
}

// judge judges the facts that are near to each other or share a topic.
func (r *run) judge() error {
	if r.judged {
		return nil
	}
	if err := r.findNear(); err != nil {
		return err
	}
	consider := func(a, b *fact, like func() float64) {
		at := [2]int32{min(a.place, b.place), max(a.place, b.place)}
		if _, is := r.seen[at]; a == b || is || a.hidden != b.hidden || !a.m.Current() || !b.m.Current() {
			return
		}
		k := keyOf(a.m.ID, b.m.ID)
		if r.known(k) {
			return
		}
		r.seen[at] = struct{}{}
		older, newer := inOrder(a, b)
		j := JudgePair(older.said, newer.said, like())
		r.report.Pairs++
		if j.Verdict != VerdictUnsure {
			r.report.Decided++
		}
		if j.Verdict != VerdictBoth {
			r.found = append(r.found, judged{k, older, newer, j})
		}
	}
	type subject struct {
		topic  string
		hidden bool
	}
	topics := make(map[subject][]*fact)
	for _, f := range r.order {
		if err := yield.Point(r.ctx); err != nil {
			return err
		}
		for _, h := range r.nearTo(f) {
			if other := r.facts[h.id]; other != nil {
				consider(f, other, func() float64 { return h.like })
			}
		}
		for _, topic := range f.said.Topics() {
			of := subject{topic, f.hidden}
			topics[of] = append(topics[of], f)
		}
	}
	for i, f := range r.order {
		if yield.Every(r.ctx, 64, i) != nil {
			return r.ctx.Err()
		}
		for _, topic := range f.said.Topics() {
			of := topics[subject{topic, f.hidden}]
			for _, other := range of[max(0, len(of)-maxTopic):] {
				consider(f, other, func() float64 { return r.like(f, other) })
			}
		}
	}
	slices.SortFunc(r.found, func(a, b judged) int {
		return cmp.Or(cmp.Compare(b.newer.m.Number, a.newer.m.Number), cmp.Compare(a.older.m.Number, b.older.m.Number))
	})
	r.found = slices.CompactFunc(r.found, func(a, b judged) bool { return a.key == b.key }) // after a reload
	r.judged = true
	return nil
}

// maxTopic is how many facts of a topic are compared with each one of it, the last ones.
const maxTopic = 32

// like is how alike two facts are by their vectors, 0 without.
func (r *run) like(a, b *fact) (like float64) {
	if r.near.index == nil {
		return 0
	}
	cosine := r.near.index.Cosine(a.m.ID, b.m.ID)
	if cosine == 0 {
		return 0
	}
	return r.near.levels.Likeness(cosine)
}

// contradictions has the newer of two facts supersede the older one where it says that something changed, and contests
// both where they contradict each other.
func (r *run) contradictions() error {
	if err := r.release(); err != nil {
		return err
	}
	if err := r.judge(); err != nil {
		return err
	}
	waiting := make(map[string]int)
	for k, p := range r.pairs {
		if p.State == PairQueued {
			waiting[k.a]++
			waiting[k.b]++
		}
	}
	against := make(map[string]int)
	for i := range r.found {
		if j := &r.found[i]; j.Verdict == VerdictContradiction && j.older.m.Current() && j.newer.m.Current() && !r.known(j.key) {
			against[j.older.m.ID]++
			against[j.newer.m.ID]++
		}
	}
	for _, verdict := range []Verdict{VerdictUpdate, VerdictContradiction, VerdictUnsure} {
		var list []planned
		for i := range r.found {
			j := &r.found[i]
			if j.Verdict != verdict || !j.older.m.Current() || !j.newer.m.Current() || r.known(j.key) {
				continue
			}
			switch verdict {
			case VerdictUpdate:
				list = append(list, r.supersedes(j.newer, j.older, j.Why))
			case VerdictContradiction:
				if against[j.older.m.ID] > maxAgainst || against[j.newer.m.ID] > maxAgainst {
					continue
				}
				list = append(list, r.contests(j.older, j.newer, j.Why))
			default:
				if waiting[j.older.m.ID] >= maxWaiting || waiting[j.newer.m.ID] >= maxWaiting {
					continue
				}
				waiting[j.older.m.ID]++
				waiting[j.newer.m.ID]++
				list = append(list, r.queues(j.key, j.older, j.Why))
			}
			if state := list[len(list)-1].state; state != nil {
				r.pairs[j.key] = state
			}
		}
		if err := r.apply(list); err != nil {
			return err
		}
	}
	return nil
}

// maxWaiting is how many pairs a fact may wait in: many facts of one form are all about as near to each other.
const maxWaiting = 4

// maxAgainst is how many facts one contradicts at most: where it would contradict more, such as each entry of a list of
// numbers, they are about several things.
const maxAgainst = 3

// supersedes plans that a fact takes the place of an older one.
func (r *run) supersedes(newer, older *fact, why string) planned {
	return planned{
		kind: record.LearnedSuperseded, why: why, with: newer.m.ID, hidden: newer.hidden,
		parts: []part{
			r.part(older, func(m *memory.Record) { superseded(m, newer.m) }),
			r.part(newer, func(m *memory.Record) { m.Supersedes = with(m.Supersedes, older.m.ID) }),
		},
	}
}

// superseded ends that a memory holds.
func superseded(m, by *memory.Record) {
	m.Status, m.SupersededBy = record.MemorySuperseded, by.ID
	if m.ValidTo == nil {
		end := since(by)
		if m.ValidFrom != nil && end.Before(*m.ValidFrom) {
			end = *m.ValidFrom
		}
		m.ValidTo = &end
	}
}

// with is a list with an id at its end.
func with(list []string, id string) []string {
	if slices.Contains(list, id) {
		return list
	}
	return append(slices.Clone(list), id)
}

// contests plans that two facts contradict each other.
func (r *run) contests(a, b *fact, why string) planned {
	k := keyOf(a.m.ID, b.m.ID)
	contest := func(other string) func(m *memory.Record) {
		return func(m *memory.Record) {
			m.Confidence, m.ConfidenceAt = r.sure(m)/2, r.at
			m.Status, m.Contradicts = record.MemoryContested, with(m.Contradicts, other)
		}
	}
	return planned{
		kind: record.LearnedContested, why: why, with: b.m.ID, hidden: a.hidden,
		parts: []part{r.part(a, contest(b.m.ID)), r.part(b, contest(a.m.ID))},
		pair:  &k, state: &Pair{State: PairContested, Why: why, Halved: []string{a.m.ID, b.m.ID}},
	}
}

// queues plans that a pair waits.
func (r *run) queues(k pairKey, of *fact, why string) planned {
	return planned{why: why, hidden: of.hidden, pair: &k, state: &Pair{State: PairQueued, Why: why}, of: statements(r.facts[k.a], r.facts[k.b])}
}

// statements are those of a pair, in the order of its key.
func statements(a, b *fact) [2]string {
	if b.m.ID < a.m.ID {
		a, b = b, a
	}
	return [2]string{a.m.Statement, b.m.Statement}
}

// known reports whether something was decided of a pair, or waits to be.
func (r *run) known(k pairKey) bool {
	p := r.pairs[k]
	return p != nil && p.State != PairClosed
}

// release ends that facts are contested by what is no longer relied on.
func (r *run) release() error {
	var over []pairKey
	for k, p := range r.pairs {
		if p.State == PairContested && !r.open(k) {
			over = append(over, k)
		}
	}
	slices.SortFunc(over, func(a, b pairKey) int { return cmp.Compare(a.text(), b.text()) })
	contested := r.contested() // none of those that are over
	var list []planned
	for _, k := range over {
		p := planned{
			kind: record.LearnedSettled, why: "what contradicted it is no longer relied on",
			pair: &k, state: &Pair{State: PairClosed},
		}
		was := r.pairs[k]
		r.pairs[k] = p.state
		for _, id := range []string{k.a, k.b} {
			if f := r.facts[id]; f != nil && f.m.Current() {
				still := contested[id]
				p.hidden = f.hidden
				p.parts = append(p.parts, r.part(f, func(m *memory.Record) { holds(m, was, k, r.at, still) }))
			}
		}
		list = append(list, p)
	}
	return r.apply(list)
}

// contested are the memories that a pair contests both of which are relied on.
func (r *run) contested() map[string]bool {
	list := make(map[string]bool)
	for k, p := range r.pairs {
		if p.State == PairContested && r.open(k) {
			list[k.a], list[k.b] = true, true
		}
	}
	return list
}

// holds says of a memory of a pair that it holds: it is as sure as before the pair was contested.
func holds(m *memory.Record, p *Pair, k pairKey, at time.Time, still bool) {
	if p != nil && slices.Contains(p.Halved, m.ID) {
		m.Confidence, m.ConfidenceAt = min(1, 2*sureAt(m, at)), at
	}
	other := k.a
	if other == m.ID {
		other = k.b
	}
	m.Contradicts = slices.DeleteFunc(slices.Clone(m.Contradicts), func(id string) bool { return id == other })
	if m.Status == record.MemoryContested && !still {
		m.Status = record.MemoryActive
	}
}
