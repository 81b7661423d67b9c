package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Bounds of what one import takes in.
const (
	MaxNumber    = 999_999_999 // of a memory, as references are read
	MaxUsed      = 1_000_000   // numbers that nobody has any more
	MaxOther     = 64 << 10    // bytes of members of one record that are not known here
	maxConflicts = 1000        // that a report names
	maxEvidence  = 200
)

// ImportResult says what an import has done, or would do.
type ImportResult = record.MemoryImported

// Conflict is what an import met with one of its records.
type Conflict = record.MemoryConflict

// Intake takes rows in: Plan tells what would become of them, in groups, all of them before the first of
// Write, which does it and gets the same groups. Each group is one transaction. What an intake that was
// interrupted has written, the next one finds to be there. One goroutine at a time may use it.
type Intake struct {
	s    *Store
	v    *audience.View
	last int64

	plan    bool
	seen    map[string]bool   // ids of memories and drafts of this pass
	left    map[string]string // memories that are not taken in, by id, to those that say the same
	planned planned
	bank    int // active memories of memoryBank that are new
	kept    int // of them, what may not be archived
	used    int

	sets *synonymSetIndex // all that there are, those of rows before included; nil: not read yet

	current string // memory that versions are of, "" while they are left out
	owner   string // memory that the last row but versions was
	version int

	file  string   // that the row is from
	added []string // to seen by this group

	ImportResult
}

// planned is what rows before would have written.
type planned struct {
	contexts map[string]int // to how deep they lie
	numbers  map[int64]bool
	handles  map[string]bool
	said     map[TierStatement]bool
}

// NewIntake begins to take rows in. last is the last number that was given where they come from. The error
// of a reader who does not see everything is Unavailable.
func (s *Store) NewIntake(v *audience.View, last int64) (*Intake, error) {
	if err := wholeOnly(v); err != nil {
		return nil, err
	}
	if last < 0 || last > MaxNumber {
		return nil, fault.Field("lastNumber", "the last number is not between 0 and %d", MaxNumber).
			WithHint("export the memories again")
	}
	return &Intake{
		s: s, v: v, last: last, plan: true, seen: make(map[string]bool), left: make(map[string]string),
		planned: planned{make(map[string]int), make(map[int64]bool), make(map[string]bool), make(map[TierStatement]bool)},
	}, nil
}

// Plan tells what would become of rows.
func (t *Intake) Plan(ctx context.Context, rows []Row) error {
	for i := range rows {
		if m := rows[i].Memory; m != nil {
			t.last = max(t.last, min(m.Number, MaxNumber))
		}
		if u := rows[i].Used; u != nil {
			t.last = max(t.last, min(u.To, MaxNumber))
		}
	}
	return t.s.db.View(ctx, func(tx *kv.Tx) error { return t.all(tx, rows) })
}

// Planned ends the plan. The error is Limit where more memories would always be kept than memoryBank holds.
func (t *Intake) Planned() (ImportResult, error) {
	plan := t.ImportResult
	plan.Archived = t.overflow()
	t.s.mu.RLock()
	n := t.s.kept + t.kept
	t.s.mu.RUnlock()
	if most := t.s.opts.Limits.Bank; t.kept > 0 && n > most {
		return plan, fault.TooLarge("tier", n, most, "memories that memoryBank may not archive").
			WithHint("those that are pinned or always injected are never archived: unpin some of them")
	}
	t.plan, t.seen, t.planned, t.ImportResult, t.bank, t.used = false, make(map[string]bool), planned{}, ImportResult{}, 0, 0
	t.current, t.owner, t.sets = "", "", nil
	return plan, nil
}

// overflow is how many memories the cap of memoryBank is exceeded by with those that are planned.
func (t *Intake) overflow() int {
	t.s.mu.RLock()
	defer t.s.mu.RUnlock()
	return max(0, t.s.bank+t.bank-t.s.opts.Limits.Bank)
}

// Write takes rows in.
func (t *Intake) Write(ctx context.Context, rows []Row) error {
	rows = slices.Clone(rows)
	for i := range rows { // a View may not be asked inside the transaction for what it looks up by itself
		if d := rows[i].Draft; d != nil && d.EntityIDs == nil {
			about := *d
			about.EntityIDs = NamedEntities(t.v, d.Statement)
			rows[i].Draft = &about
		}
	}
	was := t.state()
	t.added = nil
	return t.s.update(ctx, func(tx *kv.Tx) error {
		t.setState(was) // Update may call this again, from the beginning
		t.sets = nil    // others may have changed them since the group before
		if err := t.raise(tx); err != nil {
			return err
		}
		return t.all(tx, rows)
	})
}

// Finish archives what the cap of memoryBank has no room for, what is worth least first.
func (t *Intake) Finish(ctx context.Context) (ImportResult, error) {
	_, t.Archived = t.s.overCap(nil)
	t.Archived = max(0, t.Archived)
	return t.ImportResult, t.s.keepCap(ctx, nil)
}

// state is what a group changes.
type intakeState struct {
	taken          ImportResult
	current, owner string
	bank, version  int
	used           int
}

func (t *Intake) state() intakeState {
	return intakeState{t.ImportResult, t.current, t.owner, t.bank, t.version, t.used}
}

func (t *Intake) setState(was intakeState) {
	t.ImportResult, t.current, t.owner, t.bank, t.version = was.taken, was.current, was.owner, was.bank, was.version
	t.used, t.Conflicts = was.used, slices.Clone(t.Conflicts)
	for _, id := range t.added {
		delete(t.seen, id)
	}
}

// raise has numbers be given behind those of where the rows come from, so that these stay free for them.
func (t *Intake) raise(tx *kv.Tx) error {
	if t.last == 0 {
		return nil
	}
	t.s.taken.Claim(tx, "", t.last, "", TierStatement{})
	return raise(tx, t.last)
}

func (t *Intake) all(tx *kv.Tx, rows []Row) error {
	for i := range rows {
		r := &rows[i]
		t.file = r.File
		var err error
		if r.Version == nil {
			t.current, t.owner, t.version = "", "", 0
		}
		switch {
		case r.Synonyms != nil:
			err = t.synonyms(tx, r.Line, r.Synonyms)
		case r.Context != nil:
			err = t.context(tx, r.Line, r.Context)
		case r.Memory != nil:
			err = t.memory(tx, r.Line, r.Memory)
		case r.Version != nil:
			err = t.former(tx, r.Line, r.Version)
		case r.Used != nil:
			err = t.numbers(tx, r.Line, r.Used)
		case r.Draft != nil:
			err = t.draft(tx, r.Line, r.Draft)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// meet remembers that a memory was in what is taken in.
func (t *Intake) meet(id string) { t.seen[id], t.added = true, append(t.added, id) }

func (t *Intake) conflict(c Conflict) {
	t.Total++
	c.File = t.file
	if len(t.Conflicts) < maxConflicts {
		t.Conflicts = append(t.Conflicts, c)
	}
}

// leave lists a record that is not taken in, for what an error says. Errors of the store are returned.
func (t *Intake) leave(line int, id string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		return err
	}
	t.Left++
	t.conflict(Conflict{Line: line, ID: id, Field: f.Field, Message: f.Msg})
	return nil
}

func (t *Intake) former(tx *kv.Tx, line int, f *Former) error {
	switch {
	case f.MemoryID != t.owner:
		t.conflict(Conflict{Line: line, ID: f.MemoryID, Field: "memory", Message: "the version stands behind another memory"})
		return nil
	case t.current == "":
		return nil
	}
	was := f.Version
	was.Source.Machine = t.s.opts.Machine()
	err := checkFormer(&was)
	if err == nil && was.Version <= t.version {
		err = fault.Field("version", "the version is there before")
	}
	if err != nil {
		t.conflict(Conflict{Line: line, ID: f.MemoryID, Field: faultOf(err).Field, Message: faultOf(err).Msg})
		return nil
	}
	t.version = was.Version
	key := versionKey(f.MemoryID, was.Version)
	has, err := versions.Has(tx, key)
	if err != nil || has {
		return err
	}
	t.Versions++
	if t.plan {
		return nil
	}
	return versions.Put(tx, key, &was)
}

func faultOf(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return &fault.Error{Msg: err.Error()}
}

// numbers has numbers not be given any more. Those that somebody has here stay theirs.
func (t *Intake) numbers(tx *kv.Tx, line int, u *Numbers) error {
	if u.From < 1 || u.To < u.From || u.To > MaxNumber {
		t.conflict(Conflict{Line: line, Field: "from", Message: fmt.Sprintf("numbers are from 1 to %d", MaxNumber)})
		return nil
	}
	if t.used += int(u.To - u.From + 1); t.used > MaxUsed {
		return fault.TooLarge("from", t.used, MaxUsed, "used numbers")
	}
	for n := u.From; n <= u.To; n++ {
		free, err := t.numberFree(tx, n)
		if err != nil {
			return err
		}
		if !free {
			continue
		}
		t.Numbers++
		if t.plan {
			t.planned.numbers[n] = true
			continue
		}
		if err := numbers.Put(tx, numberKey(n), &usedNumber{}); err != nil {
			return err
		}
	}
	return nil
}

func (t *Intake) numberFree(tx *kv.Tx, n int64) (bool, error) {
	if n < 1 || n > MaxNumber || t.planned.numbers[n] {
		return false, nil
	}
	t.s.mu.RLock()
	has := t.s.byNumber[n] != ""
	t.s.mu.RUnlock()
	if has || t.s.taken.Claimed(n) {
		return false, nil
	}
	used, err := numbers.Has(tx, numberKey(n))
	return !used, err
}

// claim takes a handle of a row where it is free.
func (t *Intake) claim(tx *kv.Tx, h string, kind refs.HandleKind, by handleOwner) (ok bool, err error) {
	folded := refs.FoldHandle(h)
	if !mayBeHandle(h, kind) || t.planned.handles[folded] {
		return false, nil
	}
	free, err := t.s.names.Free(tx, folded)
	if err != nil || !free {
		return false, err
	}
	if t.plan {
		t.planned.handles[folded] = true
		return true, nil
	}
	return true, handleOwners.Put(tx, folded, &by)
}

// mayBeHandle reports whether a record of the kind may have a handle, as it is written.
func mayBeHandle(h string, kind refs.HandleKind) bool {
	stored, err := refs.CheckHandle(h, kind)
	return err == nil && stored == h
}

// aliases takes the former handles of a row that are free.
func (t *Intake) aliases(tx *kv.Tx, line int, list []string, kind refs.HandleKind, by handleOwner) ([]string, error) {
	out := []string{}
	for _, h := range list {
		ok, err := t.claim(tx, h, kind, by)
		if err != nil {
			return nil, err
		}
		if !ok {
			t.conflict(Conflict{Line: line, ID: by.ID, Field: "aliases", Message: "a former handle is taken", Taken: true})
			continue
		}
		out = append(out, h)
	}
	return out, nil
}
