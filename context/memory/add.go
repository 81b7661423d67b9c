package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Added is what has become of a draft.
type Added struct {
	Memory    *record.Memory
	Duplicate bool // the memory was there, and is mentioned once more
}

// Add writes memories down in one transaction, all or none. What the reader can't see is not
// there for him: neither as a duplicate nor as what a draft refers to. With several drafts
// an error names the one at fault as "memories[i]".
//
// The errors are Invalid for what no memory may say, NotFound for an id that nothing has,
// Conflict for an id or handle that is taken and for a superseded memory that cannot be, and
// Limit for a size over its limit, also of the tier memoryBank.
func (s *Store) Add(ctx context.Context, v *audience.View, drafts []Draft) ([]Added, error) {
	if len(drafts) == 0 {
		return nil, fault.Field("memories", "memories is empty").WithHint("give at least one memory")
	}
	if len(drafts) > MaxMany {
		return nil, fault.TooLarge("memories", len(drafts), MaxMany, "items")
	}
	under := func(i int, err error) error {
		if err == nil || len(drafts) == 1 {
			return err
		}
		return fault.Under(fmt.Sprintf("memories[%d]", i), err)
	}
	list := make([]*Adding, len(drafts))
	bank := 0
	for i := range drafts {
		a, err := s.adding(v, &drafts[i])
		if err != nil {
			return nil, under(i, err)
		}
		if inBank(a.record) {
			bank++
		}
		list[i] = a
	}
	if err := s.roomInBank(bank); err != nil {
		return nil, err
	}
	out := make([]Added, len(drafts))
	written := make([]string, len(drafts))
	err := s.update(ctx, func(tx *kv.Tx) error {
		for i := range drafts {
			if err := list[i].addTx(tx); err != nil {
				return under(i, err)
			}
			out[i].Duplicate, written[i] = list[i].same, list[i].id
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.keepCap(ctx, written); err != nil {
		return nil, err
	}
	for i, id := range written {
		if out[i].Memory, err = s.after(v, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// after returns a memory as its writer may see it after a write, also one that is private by
// its source and so hidden from him from now on.
func (s *Store) after(v *audience.View, id string) (*record.Memory, error) {
	list := s.shown(v, func() []*Record { return []*Record{s.byID[id]} })
	if len(list) == 0 { // deleted by another caller since
		return nil, fault.Missing("memory", id)
	}
	return list[0], nil
}

// addTx writes one memory, or finds the one that says the same: m is that one then.
func (s *Store) addTx(tx *kv.Tx, v *audience.View, d *Draft, m *Record, says TierStatement) (same bool, err error) {
	now := s.now(tx)
	private, err := s.becomesPrivate(tx, v, m)
	if err != nil {
		return false, err
	}
	old, err := s.said(tx, v, says, private)
	if err != nil {
		return false, err
	}
	if old != nil {
		return true, s.saidAgain(tx, v, old, m, now)
	}
	m.ID = cmp.Or(d.ID, s.opts.NewID())
	if err := entities.CheckID("id", m.ID); err != nil {
		return false, err
	}
	if there, err := Records.Has(tx, m.ID); err != nil || there {
		if err == nil {
			err = (&fault.Error{
				Kind: fault.Conflict, Reason: fault.Exists, Ref: m.ID, Field: "id", Msg: "there is a memory of that id",
			}).WithHint("memory.patch changes it; leave out id for a new memory")
		}
		return false, err
	}
	m.Source.Machine = s.opts.Machine()
	m.CreatedAt, m.UpdatedAt, m.TierSince, m.ConfidenceAt = now, now, now, now
	if !d.CreatedAt.IsZero() {
		m.CreatedAt = d.CreatedAt.UTC().Truncate(time.Millisecond)
	}
	if err := s.references(tx, v, &Record{}, m); err != nil {
		return false, err
	}
	if err := s.supersede(tx, v, m, now); err != nil {
		return false, err
	}
	m.Number = s.taken.Next()
	s.taken.Claim(tx, m.ID, m.Number, m.Statement, says)
	if err := s.claim(tx, v, m, d.Handle); err != nil {
		return false, err
	}
	into, err := checkIDs("contexts", d.Contexts, maxReferences)
	if err != nil {
		return false, err
	}
	if err := s.tree.Join(tx, v, m.ID, into, now); err != nil {
		return false, err
	}
	return false, Records.Put(tx, m.ID, m)
}

// saidAgain counts that the memory old is mentioned once more by m, which becomes it. What m
// supersedes, old does.
func (s *Store) saidAgain(tx *kv.Tx, v *audience.View, old, m *Record, now time.Time) error {
	ends := slices.DeleteFunc(slices.Clone(m.Supersedes), func(id string) bool { return slices.Contains(old.Supersedes, id) })
	*m = *old
	if len(ends) > 0 {
		m.Supersedes = ends
		if err := s.supersede(tx, v, m, now); err != nil {
			return err
		}
		m.Supersedes = append(slices.Clone(old.Supersedes), ends...)
		if err := s.next(tx, old, m, now); err != nil {
			return err
		}
	}
	return s.count(tx, old.ID, func(u *Use) { u.Mentioned++ })
}

// update runs a transaction that may give memories numbers and statements.
func (s *Store) update(ctx context.Context, fn func(tx *kv.Tx) error) error {
	var last *kv.Tx
	defer func() { s.taken.End(last) }()
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		s.taken.End(last) // of a try before
		last = tx
		err := fn(tx)
		if err != nil {
			s.taken.End(tx) // before another transaction begins, so that it takes the same numbers
		}
		return err
	})
}

// write puts a memory in the place of the one that it was, in a transaction of update.
func (s *Store) write(tx *kv.Tx, old, m *Record) error {
	if old == nil || old.Tier != m.Tier || old.Statement != m.Statement {
		s.taken.Claim(tx, m.ID, m.Number, m.Statement, NewTierStatement(&m.MemoryRecord))
	}
	return Records.Put(tx, m.ID, m)
}

// now is the time of a transaction, as records carry it.
func (s *Store) now(tx *kv.Tx) time.Time { return tx.Now(s.opts.Now).UTC().Truncate(time.Millisecond) }

// becomesPrivate reports whether a new memory is private when it is written: for a reader who does not see its sources by
// itself alone.
func (s *Store) becomesPrivate(tx *kv.Tx, v *audience.View, m *Record) (bool, error) {
	if m.Private || v.Hides() {
		return m.Private, nil
	}
	private, err := s.fromPrivate(tx, &m.Source)
	if err != nil || private {
		return private, err
	}
	return s.anyPrivate(tx, m.Supersedes)
}

// said returns the memory that says something in its tier, and is still relied on, as far as the reader sees it;
// nil for none. What is private and what is public say the same apart: counted as one, the public record would tell of the
// private one by its mentions, or by not being there.
func (s *Store) said(tx *kv.Tx, v *audience.View, says TierStatement, private bool) (*Record, error) {
	for _, id := range s.taken.Said(says) {
		old, err := Records.Get(tx, id)
		if err != nil {
			return nil, err
		}
		if old == nil {
			continue
		}
		seen, _, err := s.faceTx(tx, v, old)
		if err != nil {
			return nil, err
		}
		if !seen.stillSays(says) {
			continue
		}
		hidden, err := s.anyPrivate(tx, []string{id})
		if err != nil {
			return nil, err
		}
		if hidden == private && v.Sees(hidden) {
			return old, nil
		}
	}
	return nil, nil
}

// stillSays reports whether a memory, nil for none, is relied on and says something in its tier.
func (m *Record) stillSays(says TierStatement) bool {
	return m != nil && (m.Current() || m.Status == record.MemoryDeprecated) && NewTierStatement(&m.MemoryRecord) == says
}

// seesTx is sees inside a transaction.
func (s *Store) seesTx(tx *kv.Tx, v *audience.View, m *Record) (bool, error) {
	if !v.Hides() {
		return true, nil
	}
	private, err := s.fromPrivate(tx, &m.Source)
	return err == nil && v.Sees(m.Private || private), err
}

// fromPrivate reports whether a source is private; what is gone is not.
func (s *Store) fromPrivate(tx *kv.Tx, source *record.MemorySource) (bool, error) {
	for _, from := range []struct {
		id    string
		state func(*kv.Tx, string) (private, found bool, err error)
	}{{source.NoteID, s.opts.Source}, {source.ConversationID, s.conversation(source)}} {
		if from.id == "" || from.state == nil {
			continue
		}
		private, _, err := from.state(tx, from.id)
		if err != nil || private {
			return private, err
		}
	}
	return false, nil
}

// conversation is Options.Conversation for a source, nil without one.
func (s *Store) conversation(source *record.MemorySource) func(*kv.Tx, string) (private, found bool, err error) {
	if s.opts.Conversation == nil {
		return nil
	}
	return func(tx *kv.Tx, id string) (private, found bool, err error) {
		return s.opts.Conversation(tx, id, source.MessageIDs)
	}
}

// references refuses ids that m has and old has not, if nothing has them which the reader sees, and
// makes a memory private that comes from something private.
func (s *Store) references(tx *kv.Tx, v *audience.View, old, m *Record) error {
	for i, id := range m.EntityIDs {
		if slices.Contains(old.EntityIDs, id) {
			continue
		}
		found := s.opts.Entity != nil && !v.HidesEntity(id)
		if found {
			var err error
			if found, err = s.opts.Entity(tx, id); err != nil {
				return err
			}
		}
		if !found {
			return missingIn("entity", id, fmt.Sprintf("entityIds[%d]", i))
		}
	}
	for i, id := range m.NoteIDs {
		if slices.Contains(old.NoteIDs, id) {
			continue
		}
		if err := s.source(tx, v, "note", fmt.Sprintf("noteIds[%d]", i), id, s.opts.Source); err != nil {
			return err
		}
	}
	if m.Source.NoteID != old.Source.NoteID {
		if err := s.source(tx, v, "note", "source.noteId", m.Source.NoteID, s.opts.Source); err != nil {
			return err
		}
	}
	if id := m.Source.ConversationID; id != old.Source.ConversationID {
		err := s.source(tx, v, "conversation", "source.conversationId", id, s.conversation(&m.Source))
		if err != nil {
			return err
		}
	}
	private, err := s.fromPrivate(tx, &m.Source)
	m.Private = m.Private || private
	return err
}

// source refuses the id of a source that is not there for a reader; an empty one names none.
func (s *Store) source(tx *kv.Tx, v *audience.View, sort, field, id string,
	state func(*kv.Tx, string) (private, found bool, err error),
) error {
	if id == "" {
		return nil
	}
	if state != nil {
		private, found, err := state(tx, id)
		if err != nil {
			return err
		}
		if found && v.Sees(private) {
			return nil
		}
	}
	return missingIn(sort, id, field)
}

// supersede ends what m says holds no more.
func (s *Store) supersede(tx *kv.Tx, v *audience.View, m *Record, now time.Time) error {
	for i, id := range m.Supersedes {
		field := fmt.Sprintf("supersedes[%d]", i)
		if id == m.ID {
			return fault.Field(field, "a memory cannot supersede itself").WithHint("leave it out")
		}
		old, err := Records.Get(tx, id)
		if err != nil {
			return err
		}
		sees := false
		if old != nil {
			if sees, err = s.seesTx(tx, v, old); err != nil {
				return err
			}
		}
		if !sees {
			return missingIn("memory", id, field)
		}
		m.Private = m.Private || old.Private
		was, old, err := s.revisedAs(tx, v, old, now, func(old *Record) error {
			if !old.Current() {
				err := transition(old, record.MemorySuperseded)
				err.Field = field
				return err
			}
			old.Status, old.SupersededBy = record.MemorySuperseded, m.ID
			if old.ValidTo == nil {
				end := now
				if m.ValidFrom != nil {
					end = *m.ValidFrom
				}
				if old.ValidFrom != nil && end.Before(*old.ValidFrom) { // also by a clock that was set back
					end = *old.ValidFrom
				}
				old.ValidTo = &end
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := s.next(tx, was, old, now); err != nil {
			return err
		}
	}
	return nil
}

// transition is the error for a status that a memory cannot take.
func transition(m *Record, to string) *fault.Error {
	msg := fmt.Sprintf("a memory that is %s cannot become %s", m.Status, to)
	if m.Status == to {
		msg = "the memory is " + to + " already"
	}
	return &fault.Error{
		Kind: fault.Conflict, Reason: fault.State, Ref: m.ID, Msg: msg,
		Hint: "memory.get shows its status; memory.restore brings an archived one back",
	}
}

// claim gives a memory the handle that was asked for, or one made of what it says. Where somebody has
// that handle whom the reader does not see, it is made of the words that were asked for.
func (s *Store) claim(tx *kv.Tx, v *audience.View, m *Record, asked string) error {
	words, by := m.Statement, handleOwner{Kind: KindMemory, ID: m.ID}
	if asked != "" {
		h, err := refs.CheckHandle(asked, refs.MemoryHandle)
		if err != nil {
			return err
		}
		hidden, err := s.ownedUnseen(tx, v, refs.FoldHandle(h))
		if err != nil {
			return err
		}
		if !hidden {
			m.Handle = h
			return s.names.Claim(tx, h, by)
		}
		words = strings.ReplaceAll(h, "_", " ")
	}
	var err error
	m.Handle, err = s.names.Choose(tx, by, func(try int) (string, error) {
		hex := refs.ShortHandleHex
		if try >= refs.MaxHandleTries {
			hex = refs.LongHandleHex
		}
		return refs.NewMemoryHandle(words, m.Kind, hex, s.opts.Random)
	})
	return err
}

// ownedUnseen reports whether a memory or a context has a handle that the reader does not see. Of what something else has
// nobody knows here whether he sees it: it counts as unseen.
func (s *Store) ownedUnseen(tx *kv.Tx, v *audience.View, folded string) (bool, error) {
	if !v.Hides() {
		return false, nil
	}
	by, err := handleOwners.Get(tx, folded)
	if err != nil {
		return false, err
	}
	if by == nil {
		free, err := s.names.Free(tx, folded)
		return !free, err
	}
	if by.Kind == KindContext {
		c, err := StoredContexts.Get(tx, by.ID)
		return c != nil && !(v.Sees(c.Private) && c.isCalled(folded)), err
	}
	m, err := Records.Get(tx, by.ID)
	if err != nil || m == nil {
		return false, err
	}
	sees, err := s.seesTx(tx, v, m)
	return !(sees && m.isCalled(folded)), err
}

// HandleTaken reports whether a memory or a context has a handle, inside a transaction. folded is
// what refs.FoldHandle makes of it.
func (s *Store) HandleTaken(tx *kv.Tx, folded string) (bool, error) {
	return handleOwners.Has(tx, folded)
}

// next writes what has become of a memory as its next version.
func (s *Store) next(tx *kv.Tx, old, m *Record, now time.Time) error {
	m.Version = old.Version + 1
	m.UpdatedAt = now
	if now.Before(old.UpdatedAt) { // a clock may be set back
		m.UpdatedAt = old.UpdatedAt
	}
	if m.Status == record.MemoryArchived && old.Status != record.MemoryArchived {
		at := m.UpdatedAt
		m.ArchivedAt = &at
	}
	if old.Statement != m.Statement || old.Summary != m.Summary || quality(old) != quality(m) ||
		!sameSource(old.Source, m.Source) {
		private, err := s.fromPrivate(tx, &old.Source)
		if err != nil {
			return err
		}
		err = versions.Put(tx, versionKey(m.ID, old.Version), &Version{
			Version: old.Version, Statement: old.Statement, Summary: old.Summary,
			Quality: quality(old), Source: old.Source, Private: old.Private || private, UpdatedAt: old.UpdatedAt,
		})
		if err != nil {
			return err
		}
	}
	if err := s.turn(tx, old, m); err != nil {
		return err
	}
	if err := s.keepChange(tx, old, m); err != nil {
		return err
	}
	return s.write(tx, old, m)
}

// turn decides by which handles remote readers know a memory. One that becomes public gets another handle than it got
// while it was private, which leads local readers to it still (PRIV-12).
func (s *Store) turn(tx *kv.Tx, old, m *Record) error {
	if old.Private == m.Private {
		if !m.Private {
			m.OpenHandles = m.OpenHandles.Opened(m.Handle)
		}
		return nil
	}
	open, anew := m.OpenHandles.Turned(m.Handle, m.Aliases, m.Private)
	m.OpenHandles = open
	if m.Private {
		return nil
	}
	if len(open) == 0 { // a program that did not know of private versions may have written some
		if err := hideVersions(tx, m.ID); err != nil {
			return err
		}
	}
	if anew {
		former := m.Handle
		if err := s.claim(tx, nil, m, ""); err != nil {
			return err
		}
		m.HandleText = ""
		m.OpenHandles = append(slices.Clip(open), refs.FoldHandle(m.Handle))
		var err error
		if m.Aliases, err = keepFormer(tx, m.Aliases, former); err != nil {
			return err
		}
	}
	return audience.KeepClosedTx(tx, HandledMemory(m), m.Aliases, m.OpenHandles)
}

// hideVersions makes private all that a memory said before.
func hideVersions(tx *kv.Tx, id string) error {
	for key, was := range versions.All(tx, id+"/") {
		if was.Private {
			continue
		}
		hidden := *was
		hidden.Private = true
		if err := versions.Put(tx, key, &hidden); err != nil {
			return err
		}
	}
	return tx.Err()
}

func sameSource(a, b record.MemorySource) bool {
	return a.Kind == b.Kind && a.Client == b.Client && a.ConversationID == b.ConversationID &&
		a.NoteID == b.NoteID && a.Machine == b.Machine && slices.Equal(a.MessageIDs, b.MessageIDs)
}

// quality is what a memory is worth as it is stored, in integer hundredths: 0.7 times 0.7 is not 0.49 in binary.
func quality(m *Record) float64 { return FromHundredths(ToHundredths(m.Importance * m.Confidence)) }

// qualityAt is the quality of a memory as sure as it is at a time, which it ranks by.
func qualityAt(m *Record, now time.Time) float64 {
	return FromHundredths(ToHundredths(m.Importance * ConfidenceAt(&m.MemoryRecord, now)))
}

// faded is a memory as sure as it is now.
func (s *Store) faded(m *Record) *Record {
	if !Fades(&m.MemoryRecord) {
		return m
	}
	out := *m
	out.Confidence = ConfidenceAt(&m.MemoryRecord, s.opts.Now())
	return &out
}

// count changes the counters of a memory, which leaves the memory as it is.
func (s *Store) count(tx *kv.Tx, id string, change func(*Use)) error {
	u, err := uses.Get(tx, id)
	if err != nil {
		return err
	}
	if u == nil {
		u = &Use{}
	}
	change(u)
	return uses.Put(tx, id, u)
}

// tagged reports whether a list of tags has one, or one below it.
func tagged(list []string, tag string) bool {
	tag = audience.FoldStatement(strings.TrimPrefix(tag, "#"))
	return slices.ContainsFunc(list, func(have string) bool { return audience.LabelWithin(have, tag) })
}
