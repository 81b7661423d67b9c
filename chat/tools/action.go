package tools

// An action is what a conversation can propose to do: each kind has its args, their checks, and what confirming one
// does. README.md has the table of the kinds and how to add one.
//
// The tools of a model, and what reads orders out of a message, call [ProposeAction]. A Decider calls [PrepareAction]
// and then Do of what it gives, in the transaction that says so in the conversation. Nobody else calls Do, so that
// nothing is done that no person has confirmed.
//
// PrepareAction sees records through the View of the person who confirms, and nothing else: a record that he does not
// see is answered like one that does not exist.
//
// All functions are safe for concurrent use. PrepareAction reads the stores outside of a transaction. Do pins what was
// read: it is a Conflict when a record has changed since.

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// ActionKind is a kind of actions.
type ActionKind struct {
	Type   string          // what actions of it say that they are
	About  string          // what confirming one does, for people
	Schema json.RawMessage // JSON schema of the args

	prepare func(*call, json.RawMessage) (*PreparedAction, error)
}

// kinds are all kinds, in the order of the table in README.md.
var kinds = []ActionKind{createTask, assignEntity, remember, forget, pin, searchAction, book}

// ActionKinds returns all kinds.
func ActionKinds() []ActionKind { return slices.Clone(kinds) }

// declare makes a Kind whose args are a T. prepare checks them, may change them to the form in which they are kept,
// and says what confirming does.
func declare[T any](typ, about string, prepare func(*call, *T) (*PreparedAction, error)) ActionKind {
	members := membersOf(reflect.TypeFor[T]())
	return ActionKind{Type: typ, About: about, Schema: schemaOf(members), prepare: func(c *call, raw json.RawMessage) (*PreparedAction, error) {
		args, err := parse[T](typ, members, raw)
		if err != nil {
			return nil, err
		}
		p, err := prepare(c, args)
		if err != nil {
			return nil, err
		}
		p.Args, err = json.Marshal(args)
		return p, err
	}}
}

// ActionDeps are the rooms that actions change. Who only proposes needs none; with Memory, what is to be forgotten is looked up.
type ActionDeps struct {
	Entities      *entities.Store
	Memory        memories
	Conversations conversations
	Tasks         *TaskList // nil: the client keeps tasks
}

// memories are where things are remembered: memory.Store, but for what of it reads without a View (PRIV-2).
type memories interface {
	Get(v *audience.View, ref string) (*record.Memory, error)
	Adding(v *audience.View, d memory.Draft) (*memory.Adding, error)
	ArchiveTx(tx *kv.Tx, v *audience.View, id string, ifVersion *int) error
}

// conversations are where things are pinned: chat.Store, which this package may not import.
type conversations interface {
	PinTx(tx *kv.Tx, v *audience.View, conversationID, noteID, memoryID string) error
}

// ActionEnv is what an action is prepared in.
type ActionEnv struct {
	View *audience.View // of who proposes or confirms it
	ActionDeps
	From ActionPlace // where it was proposed; zero while it is
}

// ActionPlace is where an action was proposed.
type ActionPlace struct {
	Handle  string // of the conversation
	Private bool   // for remote readers it does not exist
	At      time.Time
}

// ActionRequest is an action that is to be prepared.
type ActionRequest struct {
	Type string
	Args json.RawMessage
	// Version is that of the record which the action changes when it was proposed; 0: not known.
	Version int
	// Seen tells that whoever gives the args knows the records as they are now. Otherwise nothing is overwritten that
	// may be newer than the proposal.
	Seen bool
}

// PreparedAction is an action that was checked, and can be done.
type PreparedAction struct {
	Args     json.RawMessage // as they are kept
	Warnings []string        // what was left out, each a sentence for people
	Version  int             // of the record that the action changes; 0: none
	Edit     *record.ToolEdit

	// Already says that everything is so already; "" where it is not.
	Already string
	// Do does it inside the transaction that confirms the action. An error leaves the records as they were: Conflict
	// when one has changed since it was prepared, NotFound when it is gone. nil: the client does it, or it is so already.
	Do func(tx *kv.Tx) error
	// Ended is called when the transaction of Do has ended, in whatever way; nil for nothing.
	Ended func(ctx context.Context)
}

// ForClient reports whether the client has to do it.
func (p *PreparedAction) ForClient() bool { return p.Do == nil && p.Already == "" }

// call is one call of Prepare.
type call struct {
	ctx context.Context
	ActionEnv
	version int
	seen    bool
}

// PrepareAction checks the args of an action for the reader of a View. The errors name the arg: Invalid and Limit for what
// they may not be, NotFound for a record that is not there for the reader, and Conflict for one that cannot be changed
// now, or has changed since the action was proposed.
func PrepareAction(ctx context.Context, env ActionEnv, r ActionRequest) (*PreparedAction, error) {
	i := slices.IndexFunc(kinds, func(k ActionKind) bool { return k.Type == r.Type })
	if i < 0 {
		names := make([]string, len(kinds))
		for i := range kinds {
			names[i] = kinds[i].Type
		}
		return nil, fault.Field("type", "there is no kind of actions %q", clip(r.Type)).
			WithHint("the kinds are %s", strings.Join(names, ", "))
	}
	return kinds[i].prepare(&call{ctx: ctx, ActionEnv: env, version: r.Version, seen: r.Seen}, r.Args)
}

// ProposeAction makes a proposal of args, with the warnings of what was left out of them. The errors are those of Prepare,
// and Conflict when everything is so already.
func ProposeAction(ctx context.Context, env ActionEnv, typ string, args any, reason string) (*record.ToolProposal, []string, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, nil, err
	}
	p, err := PrepareAction(ctx, env, ActionRequest{Type: typ, Args: raw, Seen: true})
	if err != nil {
		return nil, nil, err
	}
	if p.Already != "" {
		return nil, nil, fault.Clash(fault.State, "%s", p.Already).WithHint("nothing is to be done")
	}
	return &record.ToolProposal{Type: typ, Args: p.Args, Reason: oneLine(reason), Edit: p.Edit, Version: p.Version}, p.Warnings, nil
}
