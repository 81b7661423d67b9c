package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// actionsMember is the member of a stored message that has its actions. Of a message nothing else is changed but
// whether it is private.
const actionsMember = "actions"

// proposal says where an action is: it stands under its id and the key of its message.
type proposal struct {
	Open  bool      `json:"open,omitempty"` // nobody has decided
	Until time.Time `json:"until,omitzero"`
}

// proposals are what leads to the actions of a message, by keys. One without a time until which it waits was stored by
// a program that could not confirm it, and cannot be.
func (m *message) proposals(conversationID string) map[string]proposal {
	if m.Members[actionsMember] == nil {
		return nil
	}
	found := make(map[string]proposal)
	for _, a := range slices.Backward(member[[]record.ChatAction](m, actionsMember)) { // of two with an id the first counts
		if record.IsID(a.ID) && a.ExpiresAt != nil {
			p := proposal{Open: a.Status == record.ActionProposed}
			if p.Open {
				p.Until = *a.ExpiresAt
			}
			found[a.ID+"/"+messageKey(conversationID, m.Index)] = p
		}
	}
	return found
}

// acting is an action with the message that proposes it.
type acting struct {
	c  *conversation
	m  *message
	at int // in the list of the message
	record.ChatAction
}

func noAction(id string) error {
	return fault.Missing("action", id).
		WithHint("chat.get shows the actions of each answer, when that has ended; chat.actions lists those that wait")
}

// actionCalled finds the action with an id that a reader sees. The errors are NotFound, and Conflict where an import has
// brought another one with its id. O(actions of its message).
func actionCalled(tx *kv.Tx, v *audience.View, id string) (found *acting, err error) {
	if !record.IsID(id) {
		return nil, noAction(id)
	}
	for key := range actions.All(tx, id+"/") {
		a, err := actionAt(tx, v, key)
		if err != nil {
			return nil, err
		}
		if a != nil && found != nil {
			return nil, fault.Clash(fault.Ambiguous, "the id %q is that of two actions", id).WithRef(id).
				WithHint("one of them was imported: delete its conversation")
		}
		if a != nil {
			found = a
		}
	}
	if found == nil && tx.Err() == nil {
		return nil, noAction(id)
	}
	return found, tx.Err()
}

// actionAt returns the action under a key, nil for none that a reader sees.
func actionAt(tx *kv.Tx, v *audience.View, key string) (*acting, error) {
	id, of, _ := strings.Cut(key, "/")
	c, err := Conversations.Get(tx, ConversationOf(of))
	if err != nil || !sees(v, c) {
		return nil, err
	}
	m, err := Messages.Get(tx, of)
	if err != nil || m == nil || !v.Sees(m.private()) {
		return nil, err
	}
	list := member[[]record.ChatAction](m, actionsMember)
	i := slices.IndexFunc(list, func(a record.ChatAction) bool { return a.ID == id })
	if i < 0 {
		return nil, nil
	}
	return &acting{c, m, i, list[i]}, nil
}

// put stores the action in its message. What this program does not know of it stays.
func (a *acting) put(tx *kv.Tx) error {
	var list []json.RawMessage
	if err := json.Unmarshal(a.m.Members[actionsMember], &list); err != nil {
		return err
	}
	var was, is map[string]json.RawMessage
	data, err := json.Marshal(a.ChatAction)
	if err == nil {
		err = json.Unmarshal(data, &is)
	}
	if err == nil {
		err = json.Unmarshal(list[a.at], &was)
	}
	if err != nil {
		return err
	}
	names := knownMembers[record.ChatAction]()
	for name, value := range was {
		if !names[name] {
			is[name] = value
		}
	}
	if list[a.at], err = json.Marshal(is); err != nil {
		return err
	}
	if data, err = json.Marshal(list); err != nil {
		return err
	}
	a.m.keep(actionsMember, data)
	if err := a.m.lead(tx, a.c.ID); err != nil {
		return err
	}
	c, err := Conversations.Get(tx, a.c.ID) // what was decided may have changed it
	if err != nil {
		return err
	}
	c.Decided++
	if a.m.private() {
		c.DecidedUnseen++
	}
	if err := Conversations.Put(tx, c.ID, c); err != nil {
		return err
	}
	return Messages.Put(tx, messageKey(a.c.ID, a.m.Index), a.m)
}

// Action returns an action with the status that it has now. The errors are NotFound and Conflict.
func (s *Store) Action(ctx context.Context, v *audience.View, id string) (out *record.ChatAction, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		a, err := actionCalled(tx, v, id)
		if err != nil {
			return err
		}
		out = &a.ChatAction
		if s.lapses.Over(out, s.now(tx)) {
			out.Status = record.ActionExpired
		}
		return nil
	})
	return out, err
}

// ActionPlace returns where an action was proposed. The errors are those of Action.
func (s *Store) ActionPlace(ctx context.Context, v *audience.View, id string) (at tools.ActionPlace, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		a, err := actionCalled(tx, v, id)
		if err != nil {
			return err
		}
		at = tools.ActionPlace{Private: a.c.Private || a.m.private(), At: s.now(tx)}
		if shown, err := showsHandle(tx, v, a.c); err != nil || !shown {
			return err
		}
		at.Handle = a.c.Handle
		return nil
	})
	return at, err
}

// Decide has decide change an action, in the transaction that stores it with whatever else decide writes there. An
// error leaves everything as it was, but for an action that is found expired, which is stored as that. The action that
// is returned is what a reader may see of it. The errors are those of Action and of decide.
func (s *Store) Decide(ctx context.Context, v *audience.View, id string,
	decide func(tx *kv.Tx, a *record.ChatAction, now time.Time) error,
) (*record.ChatAction, error) {
	var shown []record.ChatAction
	var refused error // of an action that has expired
	err := s.db.Update(ctx, func(tx *kv.Tx) error {
		refused = nil
		a, err := actionCalled(tx, v, id)
		if err != nil {
			return err
		}
		was, now := a.Status, s.now(tx)
		lapsed := s.lapses.Over(&a.ChatAction, now)
		if now.Before(a.m.AddedAt) { // the clock was set back
			now = a.m.AddedAt
		}
		if lapsed {
			a.Status = record.ActionExpired
		}
		if err := decide(tx, &a.ChatAction, now); err != nil {
			if !lapsed {
				return err
			}
			refused = err
		}
		shown = []record.ChatAction{a.ChatAction}
		if a.Status == was {
			return nil
		}
		return a.put(tx)
	})
	if err := cmp.Or(err, refused); err != nil {
		return nil, err
	}
	tools.RenderActions(v, shown, &s.lapses, s.opts.Now)
	return &shown[0], nil
}

// Waiting is an action that waits for the user.
type Waiting struct {
	Conversation *record.Conversation
	Action       record.ChatAction
}

// Waiting returns up to limit actions that wait for the user, the oldest first, of a conversation or for "" of all,
// and how many there are. The error is NotFound. O(actions of the store).
func (s *Store) Waiting(ctx context.Context, v *audience.View, ref string, limit int) (list []Waiting, total int, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		list, total = []Waiting{}, 0
		only := ""
		if ref != "" {
			c, err := s.find(tx, v, ref)
			if err != nil {
				return fault.Under("conversationId", err)
			}
			only = c.ID
		}
		found, err := s.waiting(tx, v, only)
		if err != nil {
			return err
		}
		total = len(found)
		for _, a := range found[:min(limit, total)] {
			c, err := s.shown(tx, v, a.c)
			if err != nil {
				return err
			}
			list = append(list, Waiting{c, a.ChatAction})
		}
		return nil
	})
	for i := range list {
		shown := []record.ChatAction{list[i].Action}
		tools.RenderActions(v, shown, &s.lapses, s.opts.Now)
		list[i].Action = shown[0]
	}
	return list, total, err
}

func (s *Store) waiting(tx *kv.Tx, v *audience.View, only string) (found []*acting, err error) {
	now := s.now(tx)
	for key, p := range actions.All(tx, "") {
		if !p.Open || !p.Until.After(now) {
			continue
		}
		if _, of, _ := strings.Cut(key, "/"); only != "" && ConversationOf(of) != only {
			continue
		}
		a, err := actionAt(tx, v, key)
		if err != nil {
			return nil, err
		}
		if a != nil && a.Status == record.ActionProposed && !s.lapses.Over(&a.ChatAction, now) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b *acting) int {
		return cmp.Or(a.ExpiresAt.Compare(*b.ExpiresAt), cmp.Compare(a.c.ID, b.c.ID), a.m.Index-b.m.Index, a.at-b.at)
	})
	return found, tx.Err()
}
