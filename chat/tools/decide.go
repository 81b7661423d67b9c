package tools

// A [Decider] does what answers propose, when a person has confirmed it, and keeps what was rejected from being done.
// README.md has what becomes of an action.
//
// Handlers of rpc call it for chat.confirm and chat.reject, which a person calls by a client. No tool of a
// model does, nothing that ctxd runs by itself, and no setting: an action that nobody confirms is never done.
//
// It is safe for concurrent use. An action is done in the transaction that stores its status, so it is done once,
// whoever confirms it at the same time and whenever the daemon ends.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// actionConversations keep actions with the answers that propose them: chat.Store, which this package may not import.
type actionConversations interface {
	Action(ctx context.Context, v *audience.View, id string) (*record.ChatAction, error)
	ActionPlace(ctx context.Context, v *audience.View, id string) (ActionPlace, error)
	Decide(ctx context.Context, v *audience.View, id string, decide func(tx *kv.Tx, a *record.ChatAction, now time.Time) error,
	) (*record.ChatAction, error)
}

// Decider confirms and rejects actions. New makes one.
type Decider struct {
	chat  actionConversations
	rooms ActionDeps
}

// NewDecider returns a Decider.
func NewDecider(chat actionConversations, rooms ActionDeps) *Decider { return &Decider{chat, rooms} }

// Decision is what has become of an action.
type Decision struct {
	Action   *record.ChatAction
	Repeat   bool     // it was so before
	Warnings []string // what of its args was left out, each a sentence for people
}

// tries is how often an action is prepared when the record that it changes is changed by somebody else meanwhile.
const tries = 5

// Confirm does an action. args stand in the place of proposed ones. nil says that there are none; an empty map too, and
// that the person has seen the records as they are now. An action that was confirmed is not done again. One that can't be
// done since a record of it is gone becomes failed, unless args were given or the reader does not see everything: then
// nothing changes.
//
// The errors are NotFound for an action that the reader does not see, Conflict for one that cannot become confirmed or
// whose record was changed, and those of PrepareAction, under "args".
func (d *Decider) Confirm(ctx context.Context, v *audience.View, id string, args map[string]any) (out *Decision, err error) {
	for range tries {
		var again bool
		if out, again, err = d.confirm(ctx, v, id, args); !again {
			return out, err
		}
	}
	return nil, err
}

// confirm tries it once. again tells that a record was changed while it did.
func (d *Decider) confirm(ctx context.Context, v *audience.View, id string, args map[string]any) (out *Decision, again bool, err error) {
	a, err := d.chat.Action(ctx, v, id)
	if err != nil {
		return nil, false, err
	}
	var p *PreparedAction
	failure := "" // why it can't be done
	if a.Status == record.ActionProposed {
		if p, err = d.prepare(ctx, v, a, args); err != nil {
			if args != nil || !fails(v, err) {
				return nil, false, err
			}
			failure = fault.Message(err)
		}
	}
	out = &Decision{}
	changed := false // a record of the action
	out.Action, err = d.chat.Decide(ctx, v, id, func(tx *kv.Tx, a *record.ChatAction, now time.Time) error {
		if out.Repeat = a.Status == record.ActionConfirmed; out.Repeat {
			return nil
		}
		if a.Status != record.ActionProposed {
			return transition(a, record.ActionConfirmed)
		}
		a.DecidedAt = &now
		if failure != "" {
			a.Status, a.Failure = record.ActionFailed, failure
			return nil
		}
		if p == nil { // it did not wait when it was read: another one was imported in its place
			changed = true
			return transition(a, record.ActionConfirmed)
		}
		if p.Do != nil {
			if err := p.Do(tx); err != nil {
				changed = fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.NotFound
				return err
			}
		}
		a.Status, a.Edit, a.ForClient = record.ActionConfirmed, p.Edit, p.ForClient()
		a.Args = nil
		return json.Unmarshal(p.Args, &a.Args)
	})
	if p != nil && p.Ended != nil {
		p.Ended(context.WithoutCancel(ctx))
	}
	if err != nil {
		return nil, changed, err
	}
	if p != nil && !out.Repeat {
		out.Warnings = p.Warnings
	}
	return out, false, nil
}

// prepare checks an action for who confirms it.
func (d *Decider) prepare(ctx context.Context, v *audience.View, a *record.ChatAction, args map[string]any) (*PreparedAction, error) {
	given := args != nil
	all := make(map[string]any, len(a.Args)+len(args))
	maps.Copy(all, a.Args)
	maps.Copy(all, args)
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the args of the action can't be written")
	}
	from, err := d.chat.ActionPlace(ctx, v, a.ID)
	if err != nil {
		return nil, err
	}
	p, err := PrepareAction(ctx, ActionEnv{View: v, ActionDeps: d.rooms, From: from}, ActionRequest{
		Type: a.Type, Args: raw, Version: a.Version, Seen: given,
	})
	if given && err != nil {
		err = fault.Under("args", err)
	}
	return p, err
}

// fails reports whether an action fails by an error: it would at any later time. For a reader who does not see all
// records nothing fails: what is hidden from him may be there.
func fails(v *audience.View, err error) bool {
	kind := fault.KindOf(err)
	return !v.Hides() && (kind == fault.NotFound || kind == fault.Invalid || kind == fault.Limit)
}

// Reject has an action never be done. One that was rejected stays so. The errors are NotFound, and Conflict for one
// that cannot become rejected.
func (d *Decider) Reject(ctx context.Context, v *audience.View, id string) (*Decision, error) {
	out := &Decision{}
	var err error
	out.Action, err = d.chat.Decide(ctx, v, id, func(_ *kv.Tx, a *record.ChatAction, now time.Time) error {
		if out.Repeat = a.Status == record.ActionRejected; out.Repeat {
			return nil
		}
		if a.Status != record.ActionProposed {
			return transition(a, record.ActionRejected)
		}
		a.Status, a.DecidedAt = record.ActionRejected, &now
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// transition is the error for a status that an action cannot take.
func transition(a *record.ChatAction, to string) error {
	hint := "have the model propose it again"
	if a.Status == record.ActionConfirmed {
		hint = "it was done when it was confirmed; change the record itself"
		if a.ForClient {
			hint = "the client was told to do it when it was confirmed"
		}
	}
	return fault.Clash(fault.State, "%s", fmt.Sprintf("an action that is %s cannot become %s", a.Status, to)).
		WithRef(a.ID).WithHint("%s", hint)
}
