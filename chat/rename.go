package chat

import (
	"context"

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
			if err := s.rename(tx, c, &r); err != nil {
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

func (s *Store) rename(tx *kv.Tx, c *conversation, r *refs.HandleRename) error {
	if !r.Had {
		taken, err := s.handleTaken(tx, r.Handle)
		if err != nil {
			return err
		}
		if taken {
			return (&fault.Error{
				Kind: fault.Conflict, Reason: fault.Exists, Ref: r.Handle, Field: "handle", Msg: "the handle is taken",
			}).WithHint("choose another one")
		}
		if err := handles.Put(tx, refs.FoldHandle(r.Handle), &owner{c.ID}); err != nil {
			return err
		}
	}
	c.Handle, c.Aliases = r.Handle, r.Former
	c.changed(c.changeTime(s.now(tx)), true)
	return Conversations.Put(tx, c.ID, c)
}

// handlesOf returns the folds of all handles of a conversation.
func (c *conversation) handlesOf() []string {
	list := []string{refs.FoldHandle(c.Handle)}
	for _, former := range c.Aliases {
		list = append(list, refs.FoldHandle(former))
	}
	return list
}
