package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory/texts"
	"github.com/ctxd/ctxd/context/refs/handle"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Sizes that a context may have, in code points, and how deep contexts lie below each other.
const (
	MaxContextName = 200
	MaxDescription = 2000
	MaxDepth       = 64
)

// ContextDraft is what a client may say of a context.
type ContextDraft struct {
	ID          string // a new UUID when empty
	Handle      string // of a new context; made of the name when empty
	Name        string
	Description string
	ParentID    string // "" for the top
	Private     bool
}

// PutContext writes a context: it replaces the one of that id, an unknown id creates it.
// ifVersion is the version that the caller changes, 0 for a new one, nil for any. The errors
// are NotFound for a parent that is not there, and Conflict for another version, a handle that
// is taken, and a parent that lies below the context.
func (s *Store) PutContext(ctx context.Context, v *audience.View, d ContextDraft, ifVersion *int) (*Context, error) {
	name, err := entities.CheckName("name", d.Name, MaxContextName)
	if err != nil {
		return nil, err
	}
	description, err := texts.Check("description", d.Description, MaxDescription)
	if err != nil {
		return nil, err
	}
	if d.ID == "" {
		d.ID = s.opts.NewID()
	}
	if err := entities.CheckID("id", d.ID); err != nil {
		return nil, err
	}
	var out *contextRecord
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		old, err := contexts.Get(tx, d.ID)
		if err != nil {
			return err
		}
		if old != nil && !v.Sees(old.Private) {
			return fault.Missing("context", d.ID)
		}
		now := s.now(tx)
		out = &contextRecord{Context: Context{
			ID: d.ID, Aliases: []string{}, Name: name, Description: description, ParentID: d.ParentID,
			Private: d.Private, CreatedAt: now, UpdatedAt: now, Version: 1,
		}}
		have := 0
		if old != nil {
			have = old.Version
			out.Handle, out.Aliases, out.CreatedAt, out.Version = old.Handle, old.Aliases, old.CreatedAt, have+1
			out.HandleText = old.HandleText
			if out.HandleText == "" && old.Name != name {
				out.HandleText = old.Name
			}
			if now.Before(old.UpdatedAt) {
				out.UpdatedAt = old.UpdatedAt
			}
		}
		if ifVersion != nil && *ifVersion != have {
			return fault.Stale("context", d.ID, have, *ifVersion)
		}
		if err := s.below(tx, v, out); err != nil {
			return err
		}
		if err := s.claimContext(tx, v, out, old, d.Handle); err != nil {
			return err
		}
		return contexts.Put(tx, out.ID, out)
	})
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.shownContext(v, out), nil
}

// below refuses a parent that is not there, or that lies below the context itself.
func (s *Store) below(tx *kv.Tx, v *audience.View, c *contextRecord) error {
	seen := 0
	for id := c.ParentID; id != ""; {
		parent, err := contexts.Get(tx, id)
		if err != nil {
			return err
		}
		if seen == 0 && (parent == nil || !v.Sees(parent.Private)) {
			return missing("context", id, "parentId")
		}
		if id == c.ID {
			return (&fault.Error{
				Kind: fault.Conflict, Ref: c.ID, Field: "parentId", Msg: "the context would lie below itself",
			}).WithHint("choose a parent that is not below it")
		}
		if parent == nil { // damaged: what lies above is gone
			return nil
		}
		if seen++; seen >= MaxDepth {
			return fault.TooLarge("parentId", seen+1, MaxDepth, "levels")
		}
		id = parent.ParentID
	}
	return nil
}

// claimContext gives a new context the handle that was asked for, or one made of its name.
func (s *Store) claimContext(tx *kv.Tx, v *audience.View, c, old *contextRecord, asked string) error {
	by := owned{ofContext, c.ID}
	switch {
	case old != nil && (asked == "" || handle.Fold(asked) == handle.Fold(old.Handle)):
		return nil
	case old != nil:
		return (&fault.Error{
			Kind: fault.Conflict, Ref: c.ID, Field: "handle", Msg: "the context has a handle already",
		}).WithHint("leave out handle; it stays when the name changes")
	case asked != "":
		h, err := handle.CheckCustom(asked, handle.Context)
		if err != nil {
			return err
		}
		hidden, err := s.ownedUnseen(tx, v, handle.Fold(h))
		if err != nil {
			return err
		}
		if !hidden {
			c.Handle = h
			return s.claimHandle(tx, h, by)
		}
	}
	for try := range handle.Tries + longTries {
		h := handle.ForContext(c.Name)
		if try > 0 {
			var err error
			if h, err = handle.ForContextRetry(c.Name, s.opts.Random); err != nil {
				return fmt.Errorf("%w: %w", errRandom, err)
			}
		}
		free, err := s.handleFree(tx, handle.Fold(h))
		if err != nil {
			return err
		}
		if free {
			c.Handle = h
			return handles.Put(tx, handle.Fold(h), &by)
		}
	}
	return fmt.Errorf("%w: all that were tried are taken", errRandom)
}

// DeleteContext removes a context, and those below it if subtree, else they move up to where it
// was. It deletes no memory, and no context that the reader does not see. moved counts the contexts
// that moved or went with it, unlinked the memories that belonged to one that is gone, each as far
// as the reader sees them.
func (s *Store) DeleteContext(ctx context.Context, v *audience.View, id string,
	subtree bool,
) (moved, unlinked int, err error) {
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		moved, unlinked = 0, 0
		c, err := contexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil || !v.Sees(c.Private) {
			return fault.Missing("context", id)
		}
		all := make(map[string][]*contextRecord)
		for _, other := range contexts.All(tx, "") {
			all[other.ParentID] = append(all[other.ParentID], other)
		}
		if err := tx.Err(); err != nil {
			return err
		}
		gone := []*contextRecord{c}
		seen := map[string]bool{id: true}
		for i := 0; i < len(gone); i++ {
			for _, child := range all[gone[i].ID] {
				switch {
				case seen[child.ID]:
				case subtree && v.Sees(child.Private):
					seen[child.ID] = true
					gone = append(gone, child)
					moved++
				default:
					child.ParentID, child.Version = c.ParentID, child.Version+1
					child.UpdatedAt = laterOf(s.now(tx), child.UpdatedAt)
					if err := contexts.Put(tx, child.ID, child); err != nil {
						return err
					}
					if v.Sees(child.Private) {
						moved++
					}
				}
			}
		}
		left := make(map[string]bool)
		for _, c := range gone {
			if err := s.deleteContextTx(tx, c, left); err != nil {
				return err
			}
		}
		for memoryID := range left {
			_, err := s.findTx(tx, v, memoryID)
			switch {
			case err == nil:
				unlinked++
			case fault.KindOf(err) != fault.NotFound:
				return err
			}
		}
		return nil
	})
	return moved, unlinked, err
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (s *Store) deleteContextTx(tx *kv.Tx, c *contextRecord, left map[string]bool) error {
	for key := range members.All(tx, c.ID+"/") {
		_, memoryID := cutKey(key)
		left[memoryID] = true
		if err := members.Delete(tx, key); err != nil {
			return err
		}
	}
	for _, h := range handlesOf(c.Handle, c.Aliases) {
		if err := handles.Delete(tx, h); err != nil {
			return err
		}
	}
	return contexts.Delete(tx, c.ID)
}

// Link has memories belong to a context, or no more. It returns how many did not before, or did.
func (s *Store) Link(ctx context.Context, v *audience.View, id string, memoryIDs []string, belong bool) (changed int, err error) {
	if memoryIDs, err = texts.IDs("memoryIds", memoryIDs, MaxReferences); err != nil {
		return 0, err
	}
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		changed = 0
		c, err := contexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil || !v.Sees(c.Private) {
			return fault.Missing("context", id)
		}
		for i, memoryID := range memoryIDs {
			if _, err := s.findTx(tx, v, memoryID); err != nil {
				if fault.KindOf(err) == fault.NotFound {
					err = missing("memory", memoryID, fmt.Sprintf("memoryIds[%d]", i))
				}
				return err
			}
			key := joinKey(id, memoryID)
			has, err := members.Has(tx, key)
			if err != nil {
				return err
			}
			if has == belong {
				continue
			}
			changed++
			if belong {
				err = members.Put(tx, key, &member{At: s.now(tx)})
			} else {
				err = members.Delete(tx, key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}

// join has a memory belong to contexts.
func (s *Store) join(tx *kv.Tx, v *audience.View, memoryID string, list []string, now time.Time) error {
	for i, id := range list {
		c, err := contexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil || !v.Sees(c.Private) {
			return missing("context", id, fmt.Sprintf("contexts[%d]", i))
		}
		key := joinKey(id, memoryID)
		if has, err := members.Has(tx, key); err != nil || has {
			if err != nil {
				return err
			}
			continue
		}
		if err := members.Put(tx, key, &member{At: now}); err != nil {
			return err
		}
	}
	return nil
}

// joinOnly has a memory belong to these contexts, and of those that the reader sees to no other;
// nil changes nothing.
func (s *Store) joinOnly(tx *kv.Tx, v *audience.View, memoryID string, list *[]string, now time.Time) error {
	if list == nil {
		return nil
	}
	wanted, err := texts.IDs("contexts", *list, MaxReferences)
	if err != nil {
		return err
	}
	for id, c := range contexts.All(tx, "") {
		if slices.Contains(wanted, id) || !v.Sees(c.Private) {
			continue
		}
		if err := members.Delete(tx, joinKey(id, memoryID)); err != nil {
			return err
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	return s.join(tx, v, memoryID, wanted, now)
}

// unlinkTx takes a memory out of all its contexts.
func (s *Store) unlinkTx(tx *kv.Tx, memoryID string) error {
	for c := range contexts.All(tx, "") {
		if err := members.Delete(tx, joinKey(c, memoryID)); err != nil {
			return err
		}
	}
	return tx.Err()
}
