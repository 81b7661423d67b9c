package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// profileKinds come into a profile behind what is always injected.
var profileKinds = []string{
	record.MemoryIdentity, record.MemoryPreference, record.MemoryGoal, record.MemoryProject,
}

// inProfile reports whether a memory may be in a profile.
func inProfile(m *Record) bool {
	return m.Status == record.MemoryActive && (m.AlwaysInject || m.Tier == record.TierBank && slices.Contains(profileKinds, m.Kind))
}

// MaxProfile is how many memories a profile has at most.
const MaxProfile = 12

// standing are the memories that are in prompts without a search, of all readers, in their order. It is made when
// it is asked for and holds until one of them changes: a store may have a thousand, and prompts show a dozen
// (BenchmarkPERF19).
type standing struct {
	profile, pinned []*Record
	changed         []*Record // of all that stands for anybody, those whose status others changed; see orderedFor
	// One of the profile is less sure from until on, and so another may be better, or one begins or ceases to hold; zero:
	// never. They are in their order since from.
	from, until time.Time
}

// holds reports whether the order is that of now.
func (d *standing) holds(now func() time.Time) bool {
	if d.until.IsZero() {
		return true
	}
	at := now()
	return !at.Before(d.from) && at.Before(d.until)
}

// stands notes that a memory is there, or is no more. Hold s.mu.
func (s *Store) stands(m *Record, is bool) {
	if !m.Pinned && !inProfile(m) && !slices.ContainsFunc(m.changes(), func(c StatusChange) bool {
		return c.Was != nil
	}) {
		return
	}
	s.inOrder.Store(nil)
	if is {
		s.standing[m.ID] = m
	} else {
		delete(s.standing, m.ID)
	}
}

// ordered returns what stands in prompts. Hold s.mu.
func (s *Store) ordered() *standing {
	if known := s.inOrder.Load(); known != nil && known.holds(s.opts.Now) {
		return known
	}
	now := s.opts.Now()
	made := &standing{from: now}
	upTo := func(at time.Time) {
		if !at.IsZero() && (made.until.IsZero() || at.Before(made.until)) {
			made.until = at
		}
	}
	for _, m := range s.standing {
		upTo(m.NextChange(now))
		if made.add(m, now) {
			upTo(nextFade(&m.MemoryRecord, now))
		}
		if len(m.changes()) > 0 {
			made.changed = append(made.changed, m)
		}
	}
	made.sort(now)
	s.inOrder.Store(made) // no commit comes between: it would need s.mu
	return made
}

// add takes a memory in where it stands, and reports whether it is in the profile.
func (d *standing) add(m *Record, now time.Time) (known bool) {
	if !m.Holds(now) {
		return false
	}
	if known = inProfile(m); known {
		d.profile = append(d.profile, m)
	}
	if m.Pinned && m.Current() {
		d.pinned = append(d.pinned, m)
	}
	return known
}

func (d *standing) sort(now time.Time) {
	first := func(m *Record) int {
		if m.AlwaysInject {
			return 0
		}
		return 1
	}
	slices.SortFunc(d.profile, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(qualityAt(b, now), qualityAt(a, now)),
			b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.Number, b.Number))
	})
	slices.SortFunc(d.pinned, func(a, b *Record) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.Number, a.Number))
	})
}

// orderedFor returns what stands in the prompts of a reader: ordered, but for what others changed whom he does not see.
// Hold s.mu.
func (s *Store) orderedFor(v *audience.View) *standing {
	all := s.ordered()
	if !v.Hides() {
		return all
	}
	other := make(map[string]*Record)
	for _, m := range all.changed {
		if seen := s.face(v, m); seen != m {
			other[m.ID] = seen
		}
	}
	if len(other) == 0 {
		return all
	}
	replaced := func(m *Record) bool { return other[m.ID] != nil }
	made := &standing{
		profile: slices.DeleteFunc(slices.Clone(all.profile), replaced), pinned: slices.DeleteFunc(slices.Clone(all.pinned), replaced),
	}
	now := s.opts.Now()
	for _, m := range other {
		made.add(m, now)
	}
	made.sort(now)
	return made
}

// firstSeen returns the first of a list that a reader sees, at most limit, and whether there are more.
func firstSeen(v *audience.View, list []*Record, limit int) (seen []*Record, more bool) {
	seen = make([]*Record, 0, min(limit, len(list)))
	for _, m := range list {
		switch {
		case !Sees(v, m):
		case len(seen) == limit:
			return seen, true
		default:
			seen = append(seen, m)
		}
	}
	return seen, false
}

// Profile returns what is known about the user: what is always injected, then the best active
// memories of the kinds identity, preference, goal and project.
func (s *Store) Profile(v *audience.View, limit int) []*record.Memory {
	return s.shown(v, func() []*Record {
		list, _ := firstSeen(v, s.orderedFor(v).profile, limit)
		return list
	})
}

// Standing returns the ids of the memories that a reader has in his prompts without a search: those of the profile,
// and those that are pinned, the last changed first, most of each at most. more tells that more are pinned.
func (s *Store) Standing(v *audience.View, most int) (profile, pinned []string, more bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.orderedFor(v)
	known, _ := firstSeen(v, d.profile, min(most, MaxProfile))
	held, more := firstSeen(v, d.pinned, most)
	return idsOf(known), idsOf(held), more
}

func idsOf(list []*Record) []string {
	ids := make([]string, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	return ids
}

// Seen is Shown without what is kept apart from a memory: how it was used, and its contexts. What it returns must
// not be changed, since a local reader is given the records of the store: ten copies take longer than the rest of
// a small prompt (BenchmarkPERF19).
func (s *Store) Seen(v *audience.View, ids []string) []*record.MemoryRecord {
	list, out := make([]*Record, len(ids)), make([]*record.MemoryRecord, len(ids))
	s.mu.RLock()
	for i, id := range ids {
		m := s.as(v, s.byID[id])
		if m == nil {
			continue
		}
		list[i], out[i] = m, &m.MemoryRecord
		if v.Hides() {
			masked := m.MemoryRecord
			s.hide(v, m, &masked)
			out[i] = &masked
		}
	}
	s.mu.RUnlock()
	if v.Hides() {
		for i, m := range list {
			if m != nil {
				mask(v, m, out[i])
			}
		}
	}
	return out
}
