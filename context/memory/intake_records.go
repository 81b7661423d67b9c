package memory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// context takes a context in.
func (t *Intake) context(tx *kv.Tx, line int, row *StoredContext) error {
	c := *row
	if err := checkContext(&c); err != nil {
		return t.leave(line, c.ID, err)
	}
	have, err := StoredContexts.Get(tx, c.ID)
	if err != nil {
		return err
	}
	if _, twice := t.planned.contexts[c.ID]; have != nil || twice {
		if have != nil && have.Name == c.Name && have.UpdatedAt.Equal(c.UpdatedAt) {
			t.Same++
			return nil
		}
		return t.leave(line, c.ID, fault.Field("id", "another context has the id"))
	}
	depth, err := t.depth(tx, c.ParentID)
	if err != nil {
		return err
	}
	if depth < 0 || depth >= maxContextDepth {
		t.conflict(Conflict{Line: line, ID: c.ID, Field: "parentId", Message: "the context above it is not there", Taken: true})
		c.ParentID, depth = "", 0
	}
	by := handleOwner{Kind: KindContext, ID: c.ID}
	ok, err := t.claim(tx, c.Handle, refs.ContextHandle, by)
	if err != nil {
		return err
	}
	if !ok {
		t.conflict(Conflict{Line: line, ID: c.ID, Field: "handle", Message: "the handle is taken", Taken: true})
		if !t.plan {
			c.HandleText = ""
			if err := t.s.tree.Claim(tx, t.v, &c, nil, ""); err != nil {
				return err
			}
		}
	}
	if c.Aliases, err = t.aliases(tx, line, c.Aliases, refs.ContextHandle, by); err != nil {
		return err
	}
	t.Contexts++
	if t.plan {
		t.planned.contexts[c.ID] = depth + 1
		return nil
	}
	return StoredContexts.Put(tx, c.ID, &c)
}

// depth is how deep a context lies, 0 for no context, -1 for one that is not there.
func (t *Intake) depth(tx *kv.Tx, id string) (depth int, err error) {
	for ; id != ""; depth++ {
		if d, ok := t.planned.contexts[id]; ok {
			return depth + d, nil
		}
		c, err := StoredContexts.Get(tx, id)
		if err != nil {
			return 0, err
		}
		if c == nil || depth > maxContextDepth {
			return -1, nil
		}
		id = c.ParentID
	}
	return depth, nil
}

func checkContext(c *StoredContext) (err error) {
	if err := entities.CheckID("id", c.ID); err != nil {
		return err
	}
	if c.Name, err = entities.CheckName("name", c.Name, maxContextName); err != nil {
		return err
	}
	if c.Description, err = checkText("description", c.Description, maxContextDescription); err != nil {
		return err
	}
	if c.Version < 1 {
		return fault.Field("version", "version is under 1")
	}
	return checkOther(c.Other, c.HandleText, c.CreatedAt, c.UpdatedAt)
}

// memory takes a memory in.
func (t *Intake) memory(tx *kv.Tx, line int, row *Whole) error {
	m := row.Record
	t.owner = m.ID
	if err := checkWhole(&m, row); err != nil {
		return t.leave(line, m.ID, err)
	}
	if t.seen[m.ID] {
		return t.leave(line, m.ID, fault.Field("id", "the memory is in the file before"))
	}
	have, err := Records.Get(tx, m.ID)
	if err != nil {
		return err
	}
	t.meet(m.ID)
	if have != nil {
		if have.Statement != m.Statement || !have.UpdatedAt.Equal(m.UpdatedAt) {
			return t.leave(line, m.ID, fault.Field("id", "the memory is there, and was changed here or there since"))
		}
		t.Same++
		t.current = m.ID
		return nil
	}
	if other, err := t.saidElsewhere(tx, &m); err != nil || other != "" {
		if err != nil {
			return err
		}
		t.left[m.ID] = other
		return t.leave(line, m.ID, fault.Field("statement", "memory %s of the same tier says the same", other))
	}
	t.renameIDs(&m)
	if err := t.name(tx, line, &m); err != nil {
		return err
	}
	if err := t.joins(tx, line, m.ID, row.Contexts); err != nil {
		return err
	}
	private, err := t.s.fromPrivate(tx, &m.Source)
	if err != nil {
		return err
	}
	m.Private = m.Private || private
	m.Source.Machine = t.s.opts.Machine() // of this store: a file may say anything
	t.current = m.ID
	t.count(&m)
	if t.plan {
		return nil
	}
	if row.Use != nil {
		if err := uses.Put(tx, m.ID, row.Use); err != nil {
			return err
		}
	}
	return t.s.write(tx, nil, &m)
}

// count counts a memory that is new.
func (t *Intake) count(m *Record) {
	t.Memories++
	if !inBank(m) {
		return
	}
	t.bank++
	if t.plan && (m.Pinned || m.AlwaysInject) {
		t.kept++
	}
}

// saidElsewhere returns the memory that says the same in the same tier, is relied on and was there before.
func (t *Intake) saidElsewhere(tx *kv.Tx, m *Record) (string, error) {
	if !m.Current() && m.Status != record.MemoryDeprecated {
		return "", nil
	}
	private, err := t.s.becomesPrivate(tx, t.v, m)
	if err != nil {
		return "", err
	}
	says := NewTierStatement(&m.MemoryRecord)
	for _, id := range t.s.taken.Said(says) {
		if t.seen[id] {
			continue
		}
		old, err := Records.Get(tx, id)
		if err != nil {
			return "", err
		}
		hidden, err := t.s.anyPrivate(tx, []string{id})
		if err != nil {
			return "", err
		}
		if old.stillSays(says) && hidden == private {
			return id, nil
		}
	}
	return "", nil
}

// renameIDs puts in the place of memories that are not taken in those that say the same.
func (t *Intake) renameIDs(m *Record) {
	name := func(id string) string { return cmp.Or(t.left[id], id) }
	m.SupersededBy, m.MergedInto = name(m.SupersededBy), name(m.MergedInto)
	for _, list := range []*[]string{&m.Supersedes, &m.Contradicts, &m.Evidence} {
		*list = slices.Clone(*list)
		for i, id := range *list {
			(*list)[i] = name(id)
		}
	}
}

// name gives a memory its number and its handles, or others where they are taken.
func (t *Intake) name(tx *kv.Tx, line int, m *Record) error {
	free, err := t.numberFree(tx, m.Number)
	switch {
	case err != nil:
		return err
	case !free:
		t.conflict(Conflict{Line: line, ID: m.ID, Field: "number", Message: fmt.Sprintf("the number %d is taken", m.Number), Taken: true})
		if !t.plan {
			m.Number = t.s.taken.Next()
		}
	case t.plan:
		t.planned.numbers[m.Number] = true
	}
	by := handleOwner{Kind: KindMemory, ID: m.ID}
	ok, err := t.claim(tx, m.Handle, refs.MemoryHandle, by)
	if err != nil {
		return err
	}
	if !ok {
		t.conflict(Conflict{Line: line, ID: m.ID, Field: "handle", Message: "the handle is taken", Taken: true})
		if !t.plan {
			m.HandleText = ""
			if err := t.s.claim(tx, t.v, m, ""); err != nil {
				return err
			}
		}
	}
	m.Aliases, err = t.aliases(tx, line, m.Aliases, refs.MemoryHandle, by)
	return err
}

// joins has a memory belong to the contexts that are there.
func (t *Intake) joins(tx *kv.Tx, line int, id string, list []Membership) error {
	for _, in := range list {
		_, there := t.planned.contexts[in.ID]
		if !there {
			var err error
			if there, err = StoredContexts.Has(tx, in.ID); err != nil {
				return err
			}
		}
		if !there {
			t.conflict(Conflict{Line: line, ID: id, Field: "contexts", Message: "a context of it is not there", Taken: true})
			continue
		}
		if t.plan {
			continue
		}
		if err := contextMembers.Put(tx, memberKey(in.ID, id), &contextMember{At: in.At}); err != nil {
			return err
		}
	}
	return nil
}

// draft takes a memory of another program in.
func (t *Intake) draft(tx *kv.Tx, line int, d *Draft) error {
	checked, err := d.Record()
	if err == nil {
		err = entities.CheckID("id", d.ID)
	}
	if err == nil {
		err = checkOther(d.Other, "")
	}
	if err != nil {
		return t.leave(line, "", err)
	}
	m := (*Record)(checked)
	said := NewTierStatement(&m.MemoryRecord)
	if t.seen[d.ID] || t.planned.said[said] {
		t.Same++
		return nil
	}
	t.meet(d.ID)
	has, err := Records.Has(tx, d.ID)
	if err != nil {
		return err
	}
	if !has {
		private, err := t.s.becomesPrivate(tx, t.v, m)
		if err != nil {
			return err
		}
		old, err := t.s.said(tx, t.v, said, private)
		if err != nil {
			return err
		}
		has = old != nil
	}
	if has {
		t.Same++
		return nil
	}
	if t.plan {
		t.planned.said[said] = true
		t.count(m)
		return nil
	}
	_, err = t.s.addTx(tx, t.v, d, m, said)
	if err == nil {
		t.count(m)
	}
	return err
}

// checkWhole refuses a memory that no store can have written, and tidies its lists.
func checkWhole(m *Record, w *Whole) error {
	for _, of := range []struct{ field, id string }{
		{"id", m.ID}, {"supersededBy", m.SupersededBy}, {"mergedInto", m.MergedInto},
	} {
		if of.id == "" && of.field != "id" {
			continue
		}
		if err := entities.CheckID(of.field, of.id); err != nil {
			return err
		}
	}
	if err := checkStored((*StoredMemory)(m)); err != nil {
		return err
	}
	if !slices.Contains(record.MemoryStatuses, m.Status) {
		return fault.Field("status", "status is none of its values")
	}
	if m.Version < 1 {
		return fault.Field("version", "version is under 1")
	}
	for _, list := range []struct {
		field string
		ids   *[]string
	}{{"contradicts", &m.Contradicts}, {"evidence", &m.Evidence}} {
		if list.field == "evidence" && len(*list.ids) > maxEvidence {
			return fault.TooLarge(list.field, len(*list.ids), maxEvidence, "items")
		}
		var err error
		if *list.ids, err = checkIDs(list.field, *list.ids, maxReferences); err != nil {
			return err
		}
	}
	if len(m.Aliases) > maxReferences || len(w.Contexts) > maxReferences {
		return fault.TooLarge("aliases", max(len(m.Aliases), len(w.Contexts)), maxReferences, "items")
	}
	if u := w.Use; u != nil && min(u.Uses, u.Worked, u.Failed, u.Partial, u.Unknown, u.Mentioned) < 0 || u != nil && (u.Score < 0 || u.Score > 1) {
		return fault.Field("use", "a counter is under 0, or the score is not between 0 and 1")
	}
	return checkOther(m.Other, m.HandleText, m.CreatedAt, m.UpdatedAt, m.TierSince, m.ConfidenceAt)
}

// checkFormer refuses a former version that no store can have written.
func checkFormer(was *Version) (err error) {
	if was.Version < 1 {
		return fault.Field("version", "version is under 1")
	}
	if was.Statement, err = checkText("statement", was.Statement, maxStatement); err != nil {
		return err
	}
	if was.Summary, err = checkText("summary", was.Summary, maxSummary); err != nil {
		return err
	}
	if was.Statement == "" {
		return fault.Field("statement", "statement is empty")
	}
	if len(was.Source.MessageIDs) > maxReferences {
		return fault.TooLarge("source.messageIds", len(was.Source.MessageIDs), maxReferences, "items")
	}
	return checkOther(nil, "", was.UpdatedAt)
}

// checkOther refuses too much of what is not known here, and records without their times.
func checkOther(other map[string]json.RawMessage, handleText string, times ...time.Time) error {
	size := 0
	for name, value := range other {
		size += len(name) + len(value)
	}
	if size > MaxOther {
		return fault.TooLarge("other", size, MaxOther, "bytes")
	}
	if _, err := checkText("handleText", handleText, maxStatement); err != nil {
		return err
	}
	for _, at := range times {
		if at.IsZero() || at.Year() > 9999 || at.Year() < 1 {
			return fault.Field("createdAt", "a time of it is missing")
		}
	}
	return nil
}
