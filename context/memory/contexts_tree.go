package memory

// A contextTree keeps the tree of contexts, the parts of a life that memories belong to: what is written of them, below
// which they lie, and which memory belongs to which.
//
// The Store calls it, and nobody else writes contexts. It knows of a memory only its id: its functions say whether a
// reader finds one, and what has a handle that a reader does not see. What is shown of a context, and what is looked up
// in memory, is for the Store, which keeps a view of both.
//
// A reader is a View: what it does not see is missing, and is neither deleted nor unlinked for it. A tree may be used
// concurrently: all that it keeps is in transactions.
//
// The records are of the collections context, by id, and context-memory, which says since when a memory belongs to a
// context, by both ids.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// StoredContext is a context as it is stored.
type StoredContext struct {
	record.Context
	// HandleText is what the handle was made of, once the context is called something else: who
	// may not see a name in it does not see the handle.
	HandleText string `json:"handleText,omitempty"`
	// OpenHandles are those that a remote reader may know it by, once it has been private.
	OpenHandles refs.OpenHandles `json:"openHandles,omitempty"`
	// Other is what an import said of it in members that are not known here. Exports say it again.
	Other map[string]json.RawMessage `json:"other,omitempty"`
}

// ShowsHandle reports whether the handle is made of nothing that a reader is not shown.
func (c *StoredContext) ShowsHandle(v *audience.View) bool {
	made := cmp.Or(c.HandleText, c.Name)
	return !v.Hides() || v.TextOf("", made) == made
}

// isCalled is that of a memory.
func (c *StoredContext) isCalled(handle string) bool {
	return refs.FoldHandle(handle) == refs.FoldHandle(c.Handle) || c.OpenHandles.Has(handle)
}

// contextMember says since when a memory belongs to a context.
type contextMember struct {
	At time.Time `json:"at"`
}

// The collections that the records lie in.
var (
	StoredContexts = kv.NewCollection[StoredContext]("context")
	contextMembers = kv.NewCollection[contextMember]("context-memory") // by Key
)

// memberKey is what a member is filed under. Ids hold no slash, so one parts them.
func memberKey(id, memoryID string) string { return id + "/" + memoryID }

// cutMemberKey returns the context and the memory of a Key.
func cutMemberKey(key string) (id, memoryID string) {
	id, memoryID, _ = strings.Cut(key, "/")
	return id, memoryID
}

// contextTree writes contexts. All members must be set.
type contextTree struct {
	DB     *kv.Store
	Names  handleClaims
	Now    func(tx *kv.Tx) time.Time // of a transaction, as records carry it
	NewID  func() string
	Random io.Reader // of what handles end with

	// Memory returns fault.NotFound for a memory that a reader does not see.
	Memory func(tx *kv.Tx, v *audience.View, id string) error
	// Unseen reports whether something has a handle that a reader does not see.
	Unseen func(tx *kv.Tx, v *audience.View, folded string) (bool, error)
}

// Sizes that a context may have, in code points, and how deep contexts lie below each other.
const (
	maxContextName        = 200
	maxContextDescription = 2000
	maxContextDepth       = 64
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

// Put writes a context: it replaces the one of that id, an unknown id creates it.
// ifVersion is the version that the caller changes, 0 for a new one, nil for any. The errors
// are NotFound for a parent that is not there, and Conflict for another version, a handle that
// is taken, and a parent that lies below the context.
func (t *contextTree) Put(ctx context.Context, v *audience.View, d ContextDraft, ifVersion *int) (*StoredContext, error) {
	name, err := entities.CheckName("name", d.Name, maxContextName)
	if err != nil {
		return nil, err
	}
	description, err := checkText("description", d.Description, maxContextDescription)
	if err != nil {
		return nil, err
	}
	if d.ID == "" {
		d.ID = t.NewID()
	}
	if err := entities.CheckID("id", d.ID); err != nil {
		return nil, err
	}
	var out *StoredContext
	err = t.DB.Update(ctx, func(tx *kv.Tx) error {
		old, err := StoredContexts.Get(tx, d.ID)
		if err != nil {
			return err
		}
		if old != nil && !v.Sees(old.Private) {
			return fault.Missing("context", d.ID)
		}
		now := t.Now(tx)
		out = &StoredContext{Context: record.Context{
			ID: d.ID, Aliases: []string{}, Name: name, Description: description, ParentID: d.ParentID,
			Private: d.Private, CreatedAt: now, UpdatedAt: now, Version: 1,
		}}
		have := 0
		if old != nil {
			have = old.Version
			out.Handle, out.Aliases, out.CreatedAt, out.Version = old.Handle, old.Aliases, old.CreatedAt, have+1
			out.HandleText, out.OpenHandles = old.HandleText, old.OpenHandles
			if out.HandleText == "" && old.Name != name {
				out.HandleText = old.Name
			}
			if now.Before(old.UpdatedAt) {
				out.UpdatedAt = old.UpdatedAt
			}
			err := audience.RenameHandledTx(tx, HandledContext(old), HandledContext(out))
			if err != nil {
				return err
			}
		}
		if ifVersion != nil && *ifVersion != have {
			return fault.Stale("context", d.ID, have, *ifVersion)
		}
		if err := t.below(tx, v, out); err != nil {
			return err
		}
		if err := t.Claim(tx, v, out, old, d.Handle); err != nil {
			return err
		}
		if old != nil && old.Private != out.Private {
			if err := t.turn(tx, out); err != nil {
				return err
			}
		}
		return StoredContexts.Put(tx, out.ID, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// turn is Store.turn for a context that becomes private, or public.
func (t *contextTree) turn(tx *kv.Tx, c *StoredContext) error {
	open, anew := c.OpenHandles.Turned(c.Handle, c.Aliases, c.Private)
	c.OpenHandles = open
	if c.Private {
		return nil
	}
	if anew {
		former := c.Handle
		if err := t.Claim(tx, nil, c, nil, ""); err != nil {
			return err
		}
		c.HandleText = ""
		c.OpenHandles = append(slices.Clip(open), refs.FoldHandle(c.Handle))
		var err error
		if c.Aliases, err = keepFormer(tx, c.Aliases, former); err != nil {
			return err
		}
	}
	return audience.KeepClosedTx(tx, HandledContext(c), c.Aliases, c.OpenHandles)
}

// below refuses a parent that is not there, or that lies below the context itself.
func (t *contextTree) below(tx *kv.Tx, v *audience.View, c *StoredContext) error {
	seen := 0
	for id := c.ParentID; id != ""; {
		parent, err := StoredContexts.Get(tx, id)
		if err != nil {
			return err
		}
		if seen == 0 && (parent == nil || !v.Sees(parent.Private)) {
			return missingIn("context", id, "parentId")
		}
		if id == c.ID {
			return (&fault.Error{
				Kind: fault.Conflict, Reason: fault.State, Ref: c.ID, Field: "parentId", Msg: "the context would lie below itself",
			}).WithHint("choose a parent that is not below it")
		}
		if parent == nil { // damaged: what lies above is gone
			return nil
		}
		if seen++; seen >= maxContextDepth {
			return fault.TooLarge("parentId", seen+1, maxContextDepth, "levels")
		}
		id = parent.ParentID
	}
	return nil
}

// Claim gives a new context the handle that was asked for, or one made of its name.
func (t *contextTree) Claim(tx *kv.Tx, v *audience.View, c, old *StoredContext, asked string) error {
	by := handleOwner{Kind: KindContext, ID: c.ID}
	switch {
	case old != nil && (asked == "" || refs.FoldHandle(asked) == refs.FoldHandle(old.Handle)):
		return nil
	case old != nil:
		return (&fault.Error{
			Kind: fault.Conflict, Reason: fault.State, Ref: c.ID, Field: "handle", Msg: "the context has a handle already",
		}).WithHint("leave out handle; it stays when the name changes")
	case asked != "":
		h, err := refs.CheckHandle(asked, refs.ContextHandle)
		if err != nil {
			return err
		}
		hidden, err := t.Unseen(tx, v, refs.FoldHandle(h))
		if err != nil {
			return err
		}
		if !hidden {
			c.Handle = h
			return t.Names.Claim(tx, h, by)
		}
	}
	var err error
	c.Handle, err = t.Names.Choose(tx, by, func(try int) (string, error) {
		if try == 0 {
			return refs.NewContextHandle(c.Name), nil
		}
		return refs.NewRandomContextHandle(c.Name, t.Random)
	})
	return err
}

// Delete removes a context, and those below it if subtree, else they move up to where it
// was. It deletes no memory, and no context that the reader does not see. moved counts the contexts
// that moved or went with it, unlinked the memories that belonged to one that is gone, each as far
// as the reader sees them.
func (t *contextTree) Delete(ctx context.Context, v *audience.View, id string,
	subtree bool,
) (moved, unlinked int, err error) {
	err = t.DB.Update(ctx, func(tx *kv.Tx) error {
		moved, unlinked = 0, 0
		c, err := StoredContexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil || !v.Sees(c.Private) {
			return fault.Missing("context", id)
		}
		all := make(map[string][]*StoredContext)
		for _, other := range StoredContexts.All(tx, "") {
			all[other.ParentID] = append(all[other.ParentID], other)
		}
		if err := tx.Err(); err != nil {
			return err
		}
		gone := []*StoredContext{c}
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
					child.UpdatedAt = laterOf(t.Now(tx), child.UpdatedAt)
					if err := StoredContexts.Put(tx, child.ID, child); err != nil {
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
			if err := t.remove(tx, c, left); err != nil {
				return err
			}
		}
		for memoryID := range left {
			err := t.Memory(tx, v, memoryID)
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

// DeleteAll removes contexts. What lies below one of them and is none of them moves up.
func (t *contextTree) DeleteAll(tx *kv.Tx, ids []string) error {
	gone := make(map[string]*StoredContext)
	for _, id := range ids {
		c, err := StoredContexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c != nil { // else deleted meanwhile
			gone[id] = c
		}
	}
	var up []*StoredContext
	for id, c := range StoredContexts.All(tx, "") {
		if gone[id] == nil && gone[c.ParentID] != nil {
			up = append(up, c)
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, c := range up {
		for gone[c.ParentID] != nil {
			c.ParentID = gone[c.ParentID].ParentID
		}
		c.Version, c.UpdatedAt = c.Version+1, laterOf(t.Now(tx), c.UpdatedAt)
		if err := StoredContexts.Put(tx, c.ID, c); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if c := gone[id]; c != nil {
			if err := t.remove(tx, c, make(map[string]bool)); err != nil {
				return err
			}
		}
	}
	return nil
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (t *contextTree) remove(tx *kv.Tx, c *StoredContext, left map[string]bool) error {
	for key := range contextMembers.All(tx, c.ID+"/") {
		_, memoryID := cutMemberKey(key)
		left[memoryID] = true
		if err := contextMembers.Delete(tx, key); err != nil {
			return err
		}
	}
	if err := releaseHandles(tx, HandledContext(c), handleFolds(c.Handle, c.Aliases), nil); err != nil {
		return err
	}
	return StoredContexts.Delete(tx, c.ID)
}

// Link has memories belong to a context, or no more. It returns how many did not before, or did.
func (t *contextTree) Link(ctx context.Context, v *audience.View, id string, memoryIDs []string, belong bool) (changed int, err error) {
	err = t.DB.Update(ctx, func(tx *kv.Tx) error {
		changed = 0
		c, err := StoredContexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil || !v.Sees(c.Private) {
			return fault.Missing("context", id)
		}
		for i, memoryID := range memoryIDs {
			if err := t.Memory(tx, v, memoryID); err != nil {
				if fault.KindOf(err) == fault.NotFound {
					err = missingIn("memory", memoryID, fmt.Sprintf("memoryIds[%d]", i))
				}
				return err
			}
			key := memberKey(id, memoryID)
			has, err := contextMembers.Has(tx, key)
			if err != nil {
				return err
			}
			if has == belong {
				continue
			}
			changed++
			if belong {
				err = contextMembers.Put(tx, key, &contextMember{At: t.Now(tx)})
			} else {
				err = contextMembers.Delete(tx, key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}

// Join has a memory belong to contexts.
func (t *contextTree) Join(tx *kv.Tx, v *audience.View, memoryID string, list []string, now time.Time) error {
	for i, id := range list {
		c, err := StoredContexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil || !v.Sees(c.Private) {
			return missingIn("context", id, fmt.Sprintf("contexts[%d]", i))
		}
		key := memberKey(id, memoryID)
		if has, err := contextMembers.Has(tx, key); err != nil || has {
			if err != nil {
				return err
			}
			continue
		}
		if err := contextMembers.Put(tx, key, &contextMember{At: now}); err != nil {
			return err
		}
	}
	return nil
}

// JoinOnly has a memory belong to these contexts, and of those that the reader sees to no other.
func (t *contextTree) JoinOnly(tx *kv.Tx, v *audience.View, memoryID string, wanted []string, now time.Time) error {
	for id, c := range StoredContexts.All(tx, "") {
		if slices.Contains(wanted, id) || !v.Sees(c.Private) {
			continue
		}
		if err := contextMembers.Delete(tx, memberKey(id, memoryID)); err != nil {
			return err
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	return t.Join(tx, v, memoryID, wanted, now)
}

// Unlink takes a memory out of all its contexts.
func (t *contextTree) Unlink(tx *kv.Tx, memoryID string) error {
	for c := range StoredContexts.All(tx, "") {
		if err := contextMembers.Delete(tx, memberKey(c, memoryID)); err != nil {
			return err
		}
	}
	return tx.Err()
}

// Rename gives a context another handle; the one that it had goes on leading to it. One that it had before
// may come back. The errors are NotFound, Invalid, and Conflict for a handle that is taken.
func (t *contextTree) Rename(ctx context.Context, v *audience.View, id, asked string) (*StoredContext, error) {
	var c *StoredContext
	err := t.DB.Update(ctx, func(tx *kv.Tx) (err error) {
		c, err = StoredContexts.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil || !v.Sees(c.Private) {
			return fault.Missing("context", id)
		}
		r, err := refs.RenameHandle(refs.ContextHandle, c.Handle, c.Aliases, asked)
		if err != nil || r.Same {
			return err
		}
		c.Handle, c.Aliases = r.Handle, r.Former
		if !r.Had {
			if err := t.Claim(tx, v, c, nil, asked); err != nil {
				return err
			}
		}
		if !c.Private {
			c.OpenHandles = c.OpenHandles.Opened(c.Handle)
		}
		c.Version, c.UpdatedAt = c.Version+1, laterOf(t.Now(tx), c.UpdatedAt)
		return StoredContexts.Put(tx, id, c)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Mend gives a context back the handles that lead to it. One that another has by now is replaced.
func (t *contextTree) Mend(tx *kv.Tx, c *StoredContext) error {
	own, former, err := mendHandles(tx, handleOwner{Kind: KindContext, ID: c.ID}, c.Handle, c.Aliases)
	if err != nil || own && len(former) == len(c.Aliases) {
		return err
	}
	c.Aliases = former
	if !own {
		if err := t.Claim(tx, nil, c, nil, ""); err != nil {
			return err
		}
	}
	return StoredContexts.Put(tx, c.ID, c)
}
