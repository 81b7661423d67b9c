package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Delete removes a memory, its former versions, its counters, its handles, its places in contexts
// and what other memories say of it. Only that its number is used stays (MEM-5). One that is
// neither archived nor retracted needs force, else the error is a Conflict.
func (s *Store) Delete(ctx context.Context, v *audience.View, id string, force bool, ifVersion *int) error {
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		m, err := s.findTx(tx, v, id)
		if err != nil {
			return err
		}
		if m, _, err = s.faceTx(tx, v, m); err != nil {
			return err
		}
		if ifVersion != nil && *ifVersion != m.Version {
			return fault.Stale("memory", id, m.Version, *ifVersion)
		}
		if !force && m.Status != record.MemoryArchived && m.Status != record.MemoryRetracted {
			return (&fault.Error{
				Kind: fault.Conflict, Reason: fault.State, Ref: id, Field: "force", Msg: "the memory is " + m.Status,
			}).WithHint("archive or retract it first, or give force: it cannot be brought back")
		}
		return s.deleteAll(tx, []string{id})
	})
}

func (s *Store) deleteTx(tx *kv.Tx, m *Record) error {
	if err := releaseHandles(tx, HandledMemory(m), handleFolds(m.Handle, m.Aliases), s.opts.Source); err != nil {
		return err
	}
	for key := range versions.All(tx, m.ID+"/") {
		if err := versions.Delete(tx, key); err != nil {
			return err
		}
	}
	if err := uses.Delete(tx, m.ID); err != nil {
		return err
	}
	if err := numbers.Put(tx, numberKey(m.Number), &usedNumber{}); err != nil {
		return err
	}
	if err := raise(tx, m.Number); err != nil {
		return err
	}
	if err := s.tree.Unlink(tx, m.ID); err != nil {
		return err
	}
	return Records.Delete(tx, m.ID)
}

// raise has numbers be given behind one from the next start on.
func raise(tx *kv.Tx, last int64) error {
	have, err := lastNumber.Get(tx, lastKey)
	if err != nil || have != nil && *have >= last {
		return err
	}
	return lastNumber.Put(tx, lastKey, &last)
}

const lastKey = "last"

// unname takes memories that are deleted out of what others say of them. It changes their
// version and not when they were changed: what they say is the same. hidden are those that remote readers did not see.
// O(memories).
func (s *Store) unname(tx *kv.Tx, gone, hidden map[string]bool) error {
	for _, id := range s.naming(gone) {
		m, err := Records.Get(tx, id)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		m.unnameChanges(gone, hidden)
		m.Supersedes, m.Contradicts = without(m.Supersedes, gone), without(m.Contradicts, gone)
		m.Evidence = without(m.Evidence, gone)
		if gone[m.SupersededBy] {
			m.SupersededBy = ""
		}
		if gone[m.MergedInto] { // what it was merged into says nothing any more
			m.MergedInto, m.Status = "", record.MemoryRetracted
		}
		m.Version++
		if err := Records.Put(tx, id, m); err != nil {
			return err
		}
	}
	return nil
}

// naming returns the memories that name one of others.
func (s *Store) naming(others map[string]bool) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []string
	names := func(id string) bool { return others[id] }
	for id, m := range s.byID {
		if !others[id] && (slices.ContainsFunc(m.ChangedBy(), names) || slices.ContainsFunc(m.Supersedes, names) ||
			slices.ContainsFunc(m.Contradicts, names) || slices.ContainsFunc(m.Evidence, names)) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

func without(list []string, gone map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return gone[id] })
}

// Origin says what memories stem from.
type Origin = record.MemoryOrigin

// forgetting is an order to forget that is under way, so that a start goes on with it.
type forgetting struct {
	Origin
	Names  []string        `json:"names,omitempty"` // of the entity, as they were then
	Reader audience.Reader `json:"reader"`
}

var orders = kv.NewCollection[forgetting]("memory-forget")

// How many memories, and how many contexts and sets of synonyms, one transaction of Forget deletes.
const (
	forgetGroup  = 100
	forgetOthers = 1000
)

// Stemming is what stems from an origin, by ids.
type Stemming struct {
	Memories []string // in the order of their numbers
	Contexts []string // only where all is forgotten; each before the one above it
	Synonyms []string // only where all is forgotten
}

func (st *Stemming) len() int { return len(st.Memories) + len(st.Contexts) + len(st.Synonyms) }

// Forgotten counts what Forget has deleted.
type Forgotten struct{ Memories, Contexts, Synonyms int }

// Stemming returns what stems from an origin, or is about a subject, and what the reader sees. O(memories), for a subject
// O(memories and their versions).
func (s *Store) Stemming(ctx context.Context, v *audience.View, o Origin) (*Stemming, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	subject, err := NewSubject(v, o)
	if err != nil {
		return nil, err
	}
	return s.stemming(ctx, v, o, subject)
}

func (s *Store) stemming(ctx context.Context, v *audience.View, o Origin, subject *Subject) (*Stemming, error) {
	meant := func(m *Record) bool { return o.Of(&m.Source) }
	if subject != nil {
		before, err := s.aboutBefore(ctx, subject)
		if err != nil {
			return nil, err
		}
		meant = func(m *Record) bool { return subject.about(m) || before[m.ID] && o.Within(m.CreatedAt) }
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []*Record
	for _, m := range s.byID {
		if meant(m) && Sees(v, m) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *Record) int { return cmp.Compare(a.Number, b.Number) })
	out := &Stemming{Memories: make([]string, len(list))}
	for i, m := range list {
		out.Memories[i] = m.ID
	}
	if o.All {
		out.Contexts, out.Synonyms = s.deepestFirst(v), s.setsSeen(v)
	}
	return out, nil
}

// deepestFirst returns the contexts that the reader sees, each before the one above it.
func (s *Store) deepestFirst(v *audience.View) (list []string) {
	depth := make(map[string]int)
	for id, c := range s.contexts {
		if !v.Sees(c.Private) {
			continue
		}
		list = append(list, id)
		for above := c; above != nil && depth[id] <= maxContextDepth; above = s.contexts[above.ParentID] {
			depth[id]++
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(depth[b], depth[a]), cmp.Compare(a, b)) })
	return list
}

// setsSeen returns the sets of synonyms that the reader sees.
func (s *Store) setsSeen(v *audience.View) (list []string) {
	for set := range s.synonyms.All() {
		if v.Sees(set.Private) {
			list = append(list, set.ID)
		}
	}
	slices.Sort(list)
	return list
}

// Forget deletes all memories that stem from an origin and that the reader sees, whatever their
// status, in groups: progress is told after each. Where all is to be forgotten, the contexts and
// synonyms that the reader sees go after them: they say what was remembered, too. The order is kept
// until it is carried out, and Resume goes on with it after a stop in between.
func (s *Store) Forget(ctx context.Context, v *audience.View, o Origin,
	progress func(done, total int),
) (done Forgotten, err error) {
	list, err := s.Stemming(ctx, v, o)
	if err != nil || list.len() == 0 {
		return done, err
	}
	order := &forgetting{Origin: o, Reader: v.Reader()}
	if subject, err := NewSubject(v, o); err == nil && subject != nil {
		order.Names = subject.Names
	}
	key := s.opts.NewID()
	err = s.db.Update(ctx, func(tx *kv.Tx) error { return orders.Put(tx, key, order) })
	if err != nil {
		return done, err
	}
	done, err = s.forget(ctx, list, progress)
	if err != nil {
		return done, err
	}
	return done, s.db.Update(ctx, func(tx *kv.Tx) error { return orders.Delete(tx, key) })
}

func (s *Store) forget(ctx context.Context, list *Stemming, progress func(done, total int)) (done Forgotten, err error) {
	for _, kind := range []struct {
		ids    []string
		group  int
		done   *int
		delete func(tx *kv.Tx, ids []string) error
	}{
		{list.Memories, forgetGroup, &done.Memories, s.deleteAll},
		{list.Contexts, forgetOthers, &done.Contexts, s.tree.DeleteAll},
		{list.Synonyms, forgetOthers, &done.Synonyms, deleteSets},
	} {
		for group := range slices.Chunk(kind.ids, kind.group) {
			if err := ctx.Err(); err != nil {
				return done, err
			}
			if err := s.db.Update(ctx, func(tx *kv.Tx) error { return kind.delete(tx, group) }); err != nil {
				return done, err
			}
			*kind.done += len(group)
			if progress != nil {
				progress(done.Memories+done.Contexts+done.Synonyms, list.len())
			}
		}
	}
	return done, nil
}

func deleteSets(tx *kv.Tx, ids []string) error {
	for _, id := range ids {
		if err := synonymSets.Delete(tx, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteAll(tx *kv.Tx, list []string) error {
	gone, hidden := make(map[string]bool, len(list)), make(map[string]bool)
	for _, id := range list {
		m, err := Records.Get(tx, id)
		if err != nil {
			return err
		}
		if m == nil { // deleted meanwhile
			continue
		}
		if hidden[id], err = s.anyPrivate(tx, []string{id}); err != nil {
			return err
		}
		if err := s.deleteTx(tx, m); err != nil {
			return err
		}
		gone[id] = true
	}
	if s.opts.Deleted != nil {
		if err := s.opts.Deleted(tx, list); err != nil {
			return err
		}
	}
	return s.unname(tx, gone, hidden)
}

// Resume carries out the orders to forget that a stop has interrupted. view makes the View of
// who gave an order.
func (s *Store) Resume(ctx context.Context, view func(audience.Reader) *audience.View) error {
	open := make(map[string]forgetting)
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for key, o := range orders.All(tx, "") {
			open[key] = *o
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	for key, o := range open {
		var subject *Subject
		if o.IsSubject() {
			if subject, err = subjectOf(o.Origin, o.Names); err != nil {
				return err
			}
		}
		list, err := s.stemming(ctx, view(o.Reader), o.Origin, subject)
		if err != nil {
			return err
		}
		if _, err := s.forget(ctx, list, nil); err != nil {
			return err
		}
		if err := s.db.Update(ctx, func(tx *kv.Tx) error { return orders.Delete(tx, key) }); err != nil {
			return err
		}
	}
	return nil
}
