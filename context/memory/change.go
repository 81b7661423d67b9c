package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Patch says what is to change of a memory; nil members stay as they are.
type Patch struct {
	ID           string
	Tier         *string
	Kind         *string
	Statement    *string
	Summary      *string
	Questions    *[]string
	Domains      *[]string
	Tags         *[]string
	Contexts     *[]string
	EntityIDs    *[]string
	NoteIDs      *[]string
	Importance   *float64
	Confidence   *float64
	Pinned       *bool
	AlwaysInject *bool
	Private      *bool
	ValidFrom    **time.Time
	ValidTo      **time.Time
	Source       *record.MemorySource
	Status       *string // contested is the only one that a patch can give
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// Update changes a memory and keeps what it said before. ifVersion is the version that the
// caller changes, nil for any. The errors are those of Add, and Conflict for another version
// and for a status that the memory cannot take.
func (s *Store) Update(ctx context.Context, v *audience.View, p Patch, ifVersion *int) (*record.Memory, error) {
	return s.change(ctx, v, p.ID, ifVersion, func(tx *kv.Tx, m *Record, now time.Time) error {
		if err := writable(m); err != nil {
			return err
		}
		was := *m
		m.Confidence, m.ConfidenceAt = s.faded(m).Confidence, now // who changes a memory has looked at it
		set(&m.Kind, p.Kind)
		set(&m.Statement, p.Statement)
		set(&m.Summary, p.Summary)
		set(&m.Questions, p.Questions)
		set(&m.Domains, p.Domains)
		set(&m.Tags, p.Tags)
		set(&m.EntityIDs, p.EntityIDs)
		set(&m.NoteIDs, p.NoteIDs)
		set(&m.Importance, p.Importance)
		set(&m.Confidence, p.Confidence)
		set(&m.Pinned, p.Pinned)
		set(&m.AlwaysInject, p.AlwaysInject)
		set(&m.Private, p.Private)
		set(&m.Source, p.Source)
		if m.Statement != was.Statement && m.HandleText == "" {
			m.HandleText = was.Statement
		}
		m.EntityIDs = keptHidden(m.EntityIDs, was.EntityIDs, v.HidesEntity)
		m.NoteIDs = keptHidden(m.NoteIDs, was.NoteIDs, v.HidesNote)
		if p.ValidFrom != nil {
			m.ValidFrom = inUTC(*p.ValidFrom)
		}
		if p.ValidTo != nil {
			m.ValidTo = inUTC(*p.ValidTo)
		}
		if p.Tier != nil && *p.Tier != m.Tier {
			m.Tier, m.TierSince = *p.Tier, now
		}
		if err := checkStored((*StoredMemory)(m)); err != nil {
			return err
		}
		if err := changeStatus(m, p.Status); err != nil {
			return err
		}
		relied(m)
		if err := s.references(tx, v, &was, m); err != nil {
			return err
		}
		if p.Private != nil && !*p.Private && m.Private {
			return (&fault.Error{
				Kind: fault.Conflict, Reason: fault.State, Ref: m.ID, Field: "private",
				Msg: "the memory comes from something private, so it is private",
			}).WithHint("make its source public first")
		}
		return s.joinOnly(tx, v, m.ID, p.Contexts, now)
	})
}

// keptHidden returns a list of ids with those that it had and the reader cannot know of.
func keptHidden(list, had []string, hides func(string) bool) []string {
	for _, id := range had {
		if hides(id) && !slices.Contains(list, id) {
			list = append(slices.Clone(list), id)
		}
	}
	return list
}

// writable refuses changes of what a memory says once it says nothing any more.
func writable(m *Record) error {
	switch m.Status {
	case record.MemoryMerged, record.MemoryRetracted:
		return (&fault.Error{
			Kind: fault.Conflict, Reason: fault.State, Ref: m.ID, Msg: fmt.Sprintf("the memory is %s and cannot be changed", m.Status),
		}).WithHint("add a new memory")
	}
	return nil
}

func changeStatus(m *Record, to *string) error {
	switch {
	case to == nil:
	case !slices.Contains(record.MemoryStatuses, *to):
		return fault.Field("status", "status is none of its values").WithHint("give contested, or leave it out")
	case *to != record.MemoryContested || m.Status != record.MemoryActive:
		err := transition(m, *to)
		err.Field = "status"
		err.Hint = "memory.patch makes an active memory contested; memory.archive, memory.restore and " +
			"memory.retract give other statuses"
		return err
	default:
		m.Status = record.MemoryContested
	}
	return nil
}

// relied ends or begins that a memory is relied on, by its confidence.
func relied(m *Record) {
	m.Status = reliedAs(m.Status, m.Confidence)
}

// reliedAs is the status of a memory that has one, when it is as sure as that.
func reliedAs(status string, confidence float64) string {
	switch {
	case status == record.MemoryActive && confidence < lowConfidence:
		return record.MemoryDeprecated
	case status == record.MemoryDeprecated && confidence >= lowConfidence:
		return record.MemoryActive
	}
	return status
}

// Archive takes a memory out of what is found; Restore brings it back.
func (s *Store) Archive(ctx context.Context, v *audience.View, id string, ifVersion *int) (*record.Memory, error) {
	return s.change(ctx, v, id, ifVersion, archive)
}

// ArchiveTx is Archive in a transaction of another room.
func (s *Store) ArchiveTx(tx *kv.Tx, v *audience.View, id string, ifVersion *int) error {
	_, err := s.changeTx(tx, v, id, ifVersion, archive)
	return err
}

func archive(_ *kv.Tx, m *Record, _ time.Time) error {
	if !m.Current() && m.Status != record.MemoryDeprecated {
		return transition(m, record.MemoryArchived)
	}
	m.Status = record.MemoryArchived
	return nil
}

// Retract says that a memory was wrong. It is found by its id alone from then on, and cannot
// be changed.
func (s *Store) Retract(ctx context.Context, v *audience.View, id string, ifVersion *int) (*record.Memory, error) {
	return s.change(ctx, v, id, ifVersion, func(_ *kv.Tx, m *Record, _ time.Time) error {
		if m.Status == record.MemoryRetracted {
			return transition(m, record.MemoryRetracted)
		}
		m.Status, m.ArchivedAt = record.MemoryRetracted, nil
		return nil
	})
}

// Restore brings an archived memory back, or what it said in a former version as a new one.
// version is 0 for the first. A memory that is brought back begins its time in its tier anew.
func (s *Store) Restore(ctx context.Context, v *audience.View, id string, version int,
	ifVersion *int,
) (*record.Memory, error) {
	return s.change(ctx, v, id, ifVersion, func(tx *kv.Tx, m *Record, now time.Time) error {
		if version == 0 && m.Status != record.MemoryArchived {
			return transition(m, record.MemoryActive)
		}
		if err := writable(m); err != nil {
			return err
		}
		if m.Status == record.MemoryArchived {
			m.Status, m.ArchivedAt, m.TierSince = record.MemoryActive, nil, now
			relied(m)
		}
		if version == 0 {
			return nil
		}
		was, err := s.formerTx(tx, v, id, version)
		if err != nil {
			return err
		}
		sees := false
		if was != nil {
			if sees, err = s.seesVersion(tx, v, was); err != nil {
				return err
			}
		}
		if !sees {
			return (&fault.Error{
				Kind: fault.NotFound, Ref: id, Field: "version", Msg: fmt.Sprintf("the memory has no former version %d", version),
			}).WithHint("memory.versions lists them")
		}
		m.HandleText = m.handleText()
		m.Statement, m.Summary = was.Statement, was.Summary
		m.Private = m.Private || was.Private // a version is as private as it was
		return nil
	})
}

// change writes the next version of a memory that a reader sees.
func (s *Store) change(ctx context.Context, v *audience.View, id string, ifVersion *int,
	fn func(tx *kv.Tx, m *Record, now time.Time) error,
) (*record.Memory, error) {
	var bank bool
	err := s.update(ctx, func(tx *kv.Tx) (err error) {
		bank, err = s.changeTx(tx, v, id, ifVersion, fn)
		return err
	})
	if err != nil {
		return nil, err
	}
	if bank {
		if err := s.keepCap(ctx, []string{id}); err != nil {
			return nil, err
		}
	}
	return s.after(v, id)
}

// changeTx is change in a transaction of update. bank tells whether the memory comes into what is bounded by the cap.
// Somebody asked for the change here, so the memory says from then on that it was written on this machine. ReviseTx and
// archiveAll, which the daemon calls by itself, leave that as it is.
func (s *Store) changeTx(tx *kv.Tx, v *audience.View, id string, ifVersion *int,
	fn func(tx *kv.Tx, m *Record, now time.Time) error,
) (bank bool, err error) {
	m, err := s.findTx(tx, v, id)
	if err != nil {
		return false, err
	}
	now := s.now(tx)
	was, m, err := s.revisedAs(tx, v, m, now, func(m *Record) error {
		if ifVersion != nil && *ifVersion != m.Version {
			return fault.Stale("memory", id, m.Version, *ifVersion)
		}
		before := inBank(m)
		if err := fn(tx, m, now); err != nil {
			return err
		}
		m.Source.Machine = s.opts.Machine()
		bank = inBank(m) && !before
		if bank {
			return s.roomInBank(1)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if err := s.next(tx, was, m, now); err != nil {
		return false, err
	}
	if m.Private && !was.Private {
		if err := s.passOn(tx, m); err != nil {
			return false, err
		}
		return bank, s.hideStanding(tx, []string{m.ID})
	}
	return bank, nil
}

// findTx returns the memory of an id if the reader sees it.
func (s *Store) findTx(tx *kv.Tx, v *audience.View, id string) (*Record, error) {
	m, err := Records.Get(tx, id)
	if err != nil {
		return nil, err
	}
	if m != nil {
		sees, err := s.seesTx(tx, v, m)
		if err != nil {
			return nil, err
		}
		if sees {
			return m, nil
		}
	}
	return nil, fault.Missing("memory", id)
}

// Use counts that a client used memories. It embeds nothing, indexes nothing, and changes
// no memory (MEM-4). It returns how many were counted: ids that the reader does not see, and
// repeated ones, are not.
func (s *Store) Use(ctx context.Context, v *audience.View, list []string) (counted int, err error) {
	if list, err = checkIDs("ids", list, maxReferences); err != nil {
		return 0, err
	}
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		counted = 0
		now := s.now(tx)
		for _, id := range list {
			_, err := s.findTx(tx, v, id)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			if err := s.count(tx, id, func(u *Use) { u.Uses, u.LastUsedAt = u.Uses+1, &now }); err != nil {
				return err
			}
			counted++
		}
		return nil
	})
	return counted, err
}
