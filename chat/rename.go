package chat

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Rename gives a conversation another handle; the one that it had goes on leading to it. One that it had
// before may come back. Hashes of messages stay. The errors are NotFound, Invalid, and Conflict for a handle
// that is taken.
func (s *Store) Rename(ctx context.Context, v *audience.View, ref, asked string) (out *record.Conversation, err error) {
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		c, err := s.find(tx, v, ref)
		if err != nil {
			return err
		}
		r, err := refs.RenameHandle(refs.ConversationHandle, c.Handle, c.Aliases, asked)
		if err != nil {
			return err
		}
		if !r.Same {
			if err := s.rename(tx, v, c, &r); err != nil {
				return err
			}
		}
		out, err = s.shown(tx, v, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Store) rename(tx *kv.Tx, v *audience.View, c *conversation, r *refs.HandleRename) error {
	if !r.Had {
		if err := s.claim(tx, v, c, r); err != nil {
			return err
		}
	}
	c.Handle, c.Aliases = r.Handle, r.Former
	if !c.Private {
		c.OpenHandles = c.OpenHandles.Opened(c.Handle)
	}
	c.changed(c.changeTime(s.now(tx)), true)
	return Conversations.Put(tx, c.ID, c)
}

// claim takes a handle. What the reader does not see has no handle for him: where it has this one, the conversation gets
// another one of these words.
func (s *Store) claim(tx *kv.Tx, v *audience.View, c *conversation, r *refs.HandleRename) error {
	folded := refs.FoldHandle(r.Handle)
	unseen, err := s.ownedUnseen(tx, v, folded)
	if err != nil {
		return err
	}
	if unseen {
		err := s.callNew(tx, c, strings.ReplaceAll(r.Handle, "_", " "))
		r.Handle = c.Handle
		return err
	}
	taken, err := s.handleTaken(tx, folded)
	if err != nil {
		return err
	}
	if taken {
		return (&fault.Error{
			Kind: fault.Conflict, Reason: fault.Exists, Ref: r.Handle, Field: "handle", Msg: "the handle is taken",
		}).WithHint("choose another one")
	}
	return handles.Put(tx, folded, &owner{c.ID})
}

// ownedUnseen reports whether a conversation has a handle that the reader does not see. Of what something else has nobody
// knows here whether he sees it: it counts as unseen.
func (s *Store) ownedUnseen(tx *kv.Tx, v *audience.View, folded string) (bool, error) {
	if !v.Hides() {
		return false, nil
	}
	by, err := handles.Get(tx, folded)
	if err != nil {
		return false, err
	}
	if by == nil {
		return s.handleTaken(tx, folded)
	}
	c, err := Conversations.Get(tx, by.ID)
	return c != nil && !(sees(v, c) && c.isCalled(folded)), err
}

// turn decides by which handles remote readers know a conversation that has become private, or public. It then gets
// another handle than it got while it was private, which leads local readers to it still (PRIV-12).
func (s *Store) turn(tx *kv.Tx, c *conversation) error {
	open, anew := c.OpenHandles.Turned(c.Handle, c.Aliases, c.Private)
	c.OpenHandles = open
	if c.Private {
		return nil
	}
	if anew {
		if len(c.Aliases) < refs.MaxFormerHandles {
			c.Aliases = append(slices.Clip(c.Aliases), c.Handle)
		} else if err := handles.Delete(tx, refs.FoldHandle(c.Handle)); err != nil {
			return err
		}
		title := c.Title
		c.HandleTitle, c.HandleMessage = title, 0
		if title == "" && c.Public.User > 0 {
			m, err := Messages.Get(tx, messageKey(c.ID, c.Public.User))
			if err != nil {
				return err
			}
			if m != nil {
				title, c.HandleMessage = TitleOf(m.Content), m.Index
			}
		}
		if err := s.callNew(tx, c, title); err != nil {
			return err
		}
		c.OpenHandles = append(slices.Clip(open), refs.FoldHandle(c.Handle))
	}
	if _, closed := c.OpenHandles.Part(c.Aliases); len(closed) > 0 {
		c.ClosedHashes = c.All.Messages // some of them tell a handle that is not open to who guesses it
	}
	return audience.KeepClosedTx(tx, c.Handled(), c.Aliases, c.OpenHandles)
}

// isCalled reports whether a conversation that a remote reader sees is known to him by a handle.
func (c *conversation) isCalled(handle string) bool {
	return refs.FoldHandle(handle) == refs.FoldHandle(c.Handle) || c.OpenHandles.Has(handle)
}

// handlesOf returns the folds of all handles of a conversation.
func (c *conversation) handlesOf() []string {
	list := []string{refs.FoldHandle(c.Handle)}
	for _, former := range c.Aliases {
		list = append(list, refs.FoldHandle(former))
	}
	return list
}
