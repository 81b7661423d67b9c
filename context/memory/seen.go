package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// A StatusChange says that one memory ended or contested another, which keeps it: a reader who does not see By sees the
// memory as if By had left it alone. Its version counts such changes too, but not for that reader.
type StatusChange struct {
	Version   int       `json:"version"`       // that it made
	By        string    `json:"by,omitempty"`  // the other memory; "": one that is gone, and that remote readers did not see
	UpdatedAt time.Time `json:"updatedAt"`     // of the version before
	Was       *heldAs   `json:"was,omitempty"` // how it is without By; nil where By changed nothing of its status
}

// heldAs are the members of a memory by which it holds or not.
type heldAs struct {
	Status       string     `json:"status"`
	SupersededBy string     `json:"supersededBy,omitempty"`
	MergedInto   string     `json:"mergedInto,omitempty"`
	ValidTo      *time.Time `json:"validTo,omitempty"`
	ArchivedAt   *time.Time `json:"archivedAt,omitempty"`
	Confidence   float64    `json:"confidence"`
	ConfidenceAt time.Time  `json:"confidenceAt"`
}

func heldAsOf(m *Record) heldAs {
	return heldAs{m.Status, m.SupersededBy, m.MergedInto, m.ValidTo, m.ArchivedAt, m.Confidence, m.ConfidenceAt}
}

func (h *heldAs) putInto(m *Record) {
	m.Status, m.SupersededBy, m.MergedInto = h.Status, h.SupersededBy, h.MergedInto
	m.ValidTo, m.ArchivedAt, m.Confidence, m.ConfidenceAt = h.ValidTo, h.ArchivedAt, h.Confidence, h.ConfidenceAt
}

// maxStatusChanges is how many a memory keeps, the last ones.
const maxStatusChanges = 50

// changes are the StatusChanges of a memory. Of one that was ended by a program that kept none, the last one is inferred.
func (m *Record) changes() []StatusChange {
	by := m.SupersededBy + m.MergedInto // it has one of them
	if len(m.StatusChanges) > 0 || by == "" || m.Status != record.MemorySuperseded && m.Status != record.MemoryMerged {
		return m.StatusChanges
	}
	was, at := heldAsOf(m), m.UpdatedAt
	was.Status, was.SupersededBy, was.MergedInto = record.MemoryActive, "", ""
	if was.ValidTo != nil && was.ValidTo.Equal(m.UpdatedAt) {
		was.ValidTo = nil
	}
	if m.Version == 2 {
		at = m.CreatedAt
	}
	return []StatusChange{{Version: m.Version, By: by, UpdatedAt: at, Was: &was}}
}

// without returns a memory as it is for a reader who does not see some others: itself where these changed nothing of it.
// from is the first of its changes that left such a mark on its status.
func (m *Record) without(hidden func(id string) bool) (out *Record, from int) {
	list := m.changes()
	out, from = m, len(list)
	last, settled := m.Version, false
	for i := len(list) - 1; i >= 0; i-- {
		c := &list[i]
		if c.By != "" && !hidden(c.By) {
			settled = settled || c.Was != nil
			continue
		}
		if out == m {
			copied := *m
			out = &copied
			out.StatusChanges = nil
		}
		out.Version--
		if c.Version == last {
			out.UpdatedAt, last = c.UpdatedAt, last-1
		}
		if c.Was != nil && !settled {
			c.Was.putInto(out)
			from = i
		}
	}
	if out != m && out.Status == record.MemorySuperseded && out.SupersededBy != "" && hidden(out.SupersededBy) {
		out.Status, out.SupersededBy = record.MemoryActive, ""
	}
	return out, from
}

// versionFor returns the number of a former version for a reader who does not see some other memories, and when that
// version was written.
func (m *Record) versionFor(was *Version, hidden func(id string) bool) (version int, at time.Time) {
	version, at = was.Version, was.UpdatedAt
	last := was.Version
	for _, c := range slices.Backward(m.changes()) {
		if c.Version > was.Version || c.By != "" && !hidden(c.By) {
			continue
		}
		version--
		if c.Version == last {
			at, last = c.UpdatedAt, last-1
		}
	}
	return version, at
}

// hidden returns the test of memories that a reader does not see. Hold s.mu when it is called.
func (s *Store) hidden(v *audience.View) func(id string) bool {
	return func(id string) bool { return !Sees(v, s.byID[id]) }
}

// face returns a memory as a reader sees it who may see it, without what those changed of it that he does not see: itself
// for most. It is how a memory comes to a reader, whatever he asks for. Hold s.mu.
func (s *Store) face(v *audience.View, m *Record) *Record {
	if m == nil || !v.Hides() {
		return m
	}
	out, _ := m.without(s.hidden(v))
	return out
}

// as is face, but nil for a memory that the reader does not see. Hold s.mu.
func (s *Store) as(v *audience.View, m *Record) *Record {
	if !Sees(v, m) {
		return nil
	}
	return s.face(v, m)
}

// As returns a memory as a reader sees it, with the texts as they are stored; nil for one that he does not see.
func (s *Store) As(v *audience.View, m *Record) *Record {
	if m == nil || !v.Hides() {
		return m
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.as(v, m)
}

// faceTx is face inside a transaction, with from as without returns it.
func (s *Store) faceTx(tx *kv.Tx, v *audience.View, m *Record) (out *Record, from int, err error) {
	if v == nil || !v.Hides() {
		return m, 0, nil
	}
	out, from = m.without(s.hiddenTx(tx, v, &err))
	return out, from, err
}

// hiddenTx is hidden inside a transaction. Its first error goes to failed.
func (s *Store) hiddenTx(tx *kv.Tx, v *audience.View, failed *error) func(id string) bool {
	return func(id string) bool {
		by, err := Records.Get(tx, id)
		sees := false
		if err == nil && by != nil {
			sees, err = s.seesTx(tx, v, by)
		}
		if *failed == nil {
			*failed = err
		}
		return !sees
	}
}

// revisedAs returns a stored memory before and after a reader changed it as he sees it. Where he gives it another status,
// the one that it has for those who see more stays, but for what was wrong: that is wrong for all.
func (s *Store) revisedAs(tx *kv.Tx, v *audience.View, m *Record, now time.Time, fn func(m *Record) error) (was, is *Record, err error) {
	seen, from, err := s.faceTx(tx, v, m)
	if err != nil {
		return nil, nil, err
	}
	stored, before := *m, *seen
	if err := fn(seen); err != nil {
		return nil, nil, err
	}
	if seen == m {
		return &stored, m, nil
	}
	return &stored, m.changedAs(&before, seen, from, now), nil
}

// archivedAs returns a stored memory archived for remote readers alone, for whom it passes a test that it does not pass as
// it is stored; nil where it does not.
func (s *Store) archivedAs(tx *kv.Tx, m *Record, test func(*Record) bool, now time.Time) (out *Record, err error) {
	seen, from := m.without(func(id string) bool {
		has, failed := Records.Has(tx, id)
		private := false
		if failed == nil {
			private, failed = s.anyPrivate(tx, []string{id})
		}
		err = cmp.Or(err, failed)
		return private || !has
	})
	if err != nil || seen == m || !test(seen) {
		return nil, err
	}
	was := *seen
	seen.Status = record.MemoryArchived
	return m.changedAs(&was, seen, from, now), nil
}

// changedAs returns a stored memory with what a reader changed of it at a time as he sees it.
func (m *Record) changedAs(was, now *Record, from int, at time.Time) *Record {
	if now.Status == record.MemoryArchived && was.Status != record.MemoryArchived {
		if at.Before(was.UpdatedAt) {
			at = was.UpdatedAt
		}
		now.ArchivedAt = &at
	}
	out, all := *now, heldAsOf(m)
	all.Confidence, all.ConfidenceAt = now.Confidence, now.ConfidenceAt
	if was.ValidTo != now.ValidTo {
		all.ValidTo = now.ValidTo
	}
	if now.Status == record.MemoryRetracted {
		all.Status, all.ArchivedAt = now.Status, now.ArchivedAt
	}
	all.putInto(&out)
	out.StatusChanges = slices.Clone(m.changes())
	for i := range out.StatusChanges[from:] {
		if c := &out.StatusChanges[from+i]; c.Was != nil {
			held := heldAsOf(now)
			c.Was = &held
		}
	}
	return &out
}

// keepChange notes in a memory which other one gave it the status that it has now. What else was changed of it, it has
// for those as well who do not see that one.
func (s *Store) keepChange(tx *kv.Tx, old, m *Record) error {
	if m.Status != old.Status {
		if by := m.endedBy(old); by != "" {
			was := heldAsOf(old)
			list := append(slices.Clip(m.StatusChanges), StatusChange{Version: m.Version, By: by, UpdatedAt: old.UpdatedAt, Was: &was})
			m.StatusChanges = list[max(0, len(list)-maxStatusChanges):]
			return nil
		}
	}
	if len(m.StatusChanges) == 0 {
		return nil
	}
	var kept []StatusChange
	for _, c := range m.StatusChanges {
		if m.Status != old.Status && c.By != "" { // what all saw is over
			private, err := s.anyPrivate(tx, []string{c.By})
			if err != nil {
				return err
			}
			if !private {
				continue
			}
		}
		if c.Was != nil {
			was := *c.Was
			was.follow(old, m)
			c.Was = &was
		}
		kept = append(kept, c)
	}
	m.StatusChanges = kept
	return nil
}

// follow changes h as a memory was changed that holds otherwise.
func (h *heldAs) follow(old, m *Record) {
	if m.Status != old.Status {
		h.Status, h.ArchivedAt = m.Status, m.ArchivedAt
	}
	if m.ValidTo != old.ValidTo {
		h.ValidTo = m.ValidTo
	}
	if m.Confidence != old.Confidence || m.ConfidenceAt != old.ConfidenceAt {
		h.Confidence, h.ConfidenceAt = m.Confidence, m.ConfidenceAt
		h.Status = reliedAs(h.Status, h.Confidence)
	}
}

// endedBy returns the memory that gave another one its status, which it has not had before; "" where somebody else did.
func (m *Record) endedBy(old *Record) string {
	switch m.Status {
	case record.MemorySuperseded:
		return m.SupersededBy
	case record.MemoryMerged:
		return m.MergedInto
	case record.MemoryContested:
		for _, id := range m.Contradicts {
			if !slices.Contains(old.Contradicts, id) {
				return id
			}
		}
	}
	return ""
}

// Heirs are the memories that stand for a memory which they ended, for whatever reader.
func (m *Record) Heirs() (list []string) {
	list = []string{m.MergedInto, m.SupersededBy}
	for i := range m.StatusChanges {
		if was := m.StatusChanges[i].Was; was != nil {
			list = append(list, was.MergedInto, was.SupersededBy)
		}
	}
	return slices.DeleteFunc(list, func(id string) bool { return id == "" })
}

// ChangedBy are the memories that changed the status of a memory, which is another one for a reader who does not see them.
func (m *Record) ChangedBy() []string {
	if m.SupersededBy == "" && m.MergedInto == "" && len(m.StatusChanges) == 0 {
		return nil // as of most
	}
	list := m.Heirs()
	for i := range m.StatusChanges {
		list = append(list, m.StatusChanges[i].By)
	}
	return list
}

// Changed returns the ids of the memories whose status others changed that pass a test. O(memories).
func (s *Store) Changed(by func(id string) bool) (ids []string) {
	for m := range s.All() {
		if slices.ContainsFunc(m.ChangedBy(), by) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Turned returns the memories that a commit hides from remote readers or shows to them, but for those whose notes it does;
// nil for none.
func Turned(cs *kv.ChangeSet) (ids map[string]bool) {
	for _, ch := range cs.Changes {
		old, now, ok := Records.Of(ch)
		if !ok || old == nil || now != nil && now.Private == old.Private {
			continue
		}
		if ids == nil {
			ids = make(map[string]bool)
		}
		ids[ch.ID] = true
	}
	return ids
}

// ShownChanges returns what reads the changes of a commit as a reader is told of them: not that a memory changed which he
// sees where another did it whom he does not. stored finds a memory as it is behind the commit, which has not changed it.
func ShownChanges(cs *kv.ChangeSet, v *audience.View, stored func(id string) *Record) func(ch kv.Change) (old, now *Record, ok bool) {
	before, after := make(map[string]*Record), make(map[string]*Record)
	for _, ch := range cs.Changes {
		if old, now, ok := Records.Of(ch); ok {
			before[ch.ID], after[ch.ID] = old, now
		}
	}
	shown := func(m *Record, at map[string]*Record) *Record {
		if !Sees(v, m) {
			return nil
		}
		out, _ := m.without(func(id string) bool {
			by, changed := at[id]
			if !changed {
				by = stored(id)
			}
			return !Sees(v, by)
		})
		return out
	}
	return func(ch kv.Change) (old, now *Record, ok bool) {
		was, is, ok := Records.Of(ch)
		old, now = shown(was, before), shown(is, after)
		same := old != nil && now != nil && was.Version != is.Version && old.Version == now.Version
		return old, now, ok && !same && (old != nil || now != nil)
	}
}

// unnameChanges takes memories that are deleted out of the StatusChanges of another, which names some of them, and counts
// that this makes a version of it. hidden are those of them that remote readers did not see.
func (m *Record) unnameChanges(gone, hidden map[string]bool) {
	named := slices.Concat(m.ChangedBy(), m.Supersedes, m.Contradicts, m.Evidence)
	list := slices.DeleteFunc(slices.Clone(m.changes()), func(c StatusChange) bool { return gone[c.By] && !hidden[c.By] })
	for i := range list {
		c := &list[i]
		if gone[c.By] {
			c.By = ""
		}
		if c.Was != nil && (gone[c.Was.SupersededBy] || gone[c.Was.MergedInto]) {
			was := *c.Was
			if gone[was.MergedInto] {
				was.Status = record.MemoryRetracted
			}
			was.SupersededBy, was.MergedInto = "", ""
			c.Was = &was
		}
	}
	if !slices.ContainsFunc(named, func(id string) bool { return gone[id] && !hidden[id] }) {
		list = append(list, StatusChange{Version: m.Version + 1, UpdatedAt: m.UpdatedAt})
	}
	m.StatusChanges = list[max(0, len(list)-maxStatusChanges):]
}

// formerTx returns a former version by the number that a reader knows it by, nil for none.
func (s *Store) formerTx(tx *kv.Tx, v *audience.View, id string, number int) (was *Version, err error) {
	if !v.Hides() {
		return versions.Get(tx, versionKey(id, number))
	}
	m, err := Records.Get(tx, id)
	if err != nil || m == nil {
		return nil, err
	}
	hidden := s.hiddenTx(tx, v, &err)
	for _, old := range versions.All(tx, id+"/") {
		if n, _ := m.versionFor(old, hidden); n == number {
			was = old
		}
	}
	return was, cmp.Or(err, tx.Err())
}
