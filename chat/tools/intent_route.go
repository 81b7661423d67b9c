package tools

import (
	"context"
	"errors"
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// RouterOptions are what a Router works with. All but NoMemory and NoBooks must be set.
type RouterOptions struct {
	Memory *memory.Store
	Recall *recall.Ranker
	Refs   *gather.Resolver
	// Remote is the View of a remote reader: what it does not see makes a proposal private.
	Remote *audience.View
	// NoMemory is why nothing of memories can be proposed; nil: it can.
	NoMemory error
	// NoBooks is why no file can be read as a book; nil: it can.
	NoBooks error
}

// Router makes proposals of orders. New makes one.
type Router struct{ opts RouterOptions }

// NewRouter returns a Router.
func NewRouter(o RouterOptions) *Router { return &Router{o} }

// OrderPlace says where something was ordered; both may be empty.
type OrderPlace struct{ ConversationID, MessageID string }

// RoutedMessage is what a message orders, with what is proposed for it.
type RoutedMessage struct {
	OrderReading
	Proposed []OrderProposal // one for each of Orders
}

// OrderProposal is what is proposed for an order.
type OrderProposal struct {
	Proposal *record.ToolProposal // nil: nothing can be
	Problem  *fault.Error         // why not, or nil
	Warnings []string             // what was left out, each a sentence for people
	Private  bool                 // a remote reader does not see what it names
}

// Route reads a message and makes a proposal of each of its orders, for who has said it. Nothing is changed. The error
// is that of ctx.
func (r *Router) Route(ctx context.Context, v *audience.View, message string, at OrderPlace) (*RoutedMessage, error) {
	return r.Propose(ctx, v, ReadOrders(message), message, at)
}

// Propose makes the proposals of orders that were read in a message.
func (r *Router) Propose(ctx context.Context, v *audience.View, read OrderReading, message string, at OrderPlace) (*RoutedMessage, error) {
	out := &RoutedMessage{OrderReading: read}
	for i := range read.Orders {
		o := &read.Orders[i]
		p, err := r.propose(ctx, v, o, message[o.Start:o.End], at)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if !errors.As(err, &p.Problem) || p.Problem.Kind == fault.Internal {
				return nil, err
			}
			p.Proposal = nil
			if p.Private, err = r.tells(ctx, v, o, message[o.Start:o.End], at, p.Problem); err != nil {
				return nil, err
			}
		}
		out.Proposed = append(out.Proposed, p)
	}
	return out, nil
}

// tells reports whether a problem is none that a remote reader would have: it tells of something private. The error is that of
// ctx.
func (r *Router) tells(ctx context.Context, v *audience.View, o *Order, typed string, at OrderPlace, problem *fault.Error) (bool, error) {
	if v.Hides() {
		return false, nil
	}
	_, err := r.propose(ctx, r.opts.Remote, o, typed, at)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var other *fault.Error
	return !errors.As(err, &other) || other.Msg != problem.Msg || other.Hint != problem.Hint, nil
}

// saysNothing are the commands that say nothing, with what they want.
func saysNothing(k turn.Intent) error {
	for _, c := range turn.Commands() {
		if c.Intent == k {
			return fault.Field("text", "%s says nothing", c.Name).WithHint("%s %s", c.Name, c.Arg)
		}
	}
	return fault.Field("text", "the order says nothing").WithHint("say what is to be done")
}

// propose makes the proposal of one order.
func (r *Router) propose(ctx context.Context, v *audience.View, o *Order, typed string, at OrderPlace) (p OrderProposal, err error) {
	if o.Text == "" {
		return p, saysNothing(o.Kind)
	}
	if r.opts.NoMemory != nil && o.Kind != turn.Search && o.Kind != turn.Pin && o.Kind != turn.Book {
		return p, r.opts.NoMemory
	}
	var typ string
	var args any
	switch o.Kind {
	case turn.Remember, turn.Goal, turn.Value:
		kind := record.MemoryFact
		if o.Kind != turn.Remember {
			kind = string(o.Kind)
		}
		typ, args = record.ProposeRemember, RememberArgs{
			Statement: o.Text, Kind: kind, ConversationID: at.ConversationID, MessageID: at.MessageID,
		}
	case turn.Forget:
		id, err := r.meant(ctx, v, o.Text)
		if err != nil {
			return p, err
		}
		p.Private = !r.seen(id)
		typ, args = record.ProposeForget, ForgetArgs{MemoryID: id}
	case turn.Pin:
		if typ, args, p.Private, err = r.pin(ctx, v, o.Text, at); err != nil {
			return p, err
		}
	case turn.Search:
		typ, args = record.ProposeSearch, SearchArgs{Query: o.Text}
	case turn.Book:
		if r.opts.NoBooks != nil {
			return p, r.opts.NoBooks
		}
		typ, args = record.ProposeBook, BookArgs{Path: bare(o.Text), ConversationID: at.ConversationID}
	default:
		return p, fault.Field("text", "there is no order %q", string(o.Kind))
	}
	env := ActionEnv{View: v, ActionDeps: ActionDeps{Memory: r.opts.Memory}}
	p.Proposal, p.Warnings, err = ProposeAction(ctx, env, typ, args, typed)
	return p, err
}

// bare is a path without the quotes that a person puts around one with spaces.
func bare(path string) string {
	if n := len(path); n > 2 && (path[0] == '"' || path[0] == '\'') && path[n-1] == path[0] {
		return path[1 : n-1]
	}
	return path
}

// seen reports whether a remote reader sees a memory.
func (r *Router) seen(id string) bool { return r.opts.Memory.ByID(r.opts.Remote, id) != "" }

// meant returns the id of the memory that a text means: by a reference, or by what it says.
func (r *Router) meant(ctx context.Context, v *audience.View, text string) (string, error) {
	m, err := r.opts.Memory.Get(v, text)
	if err == nil {
		return m.ID, nil
	}
	if isReference(text) {
		return "", err
	}
	return r.opts.Recall.Match(ctx, v, text)
}

// isReference reports whether a text is written as a reference, and so nothing that a memory says.
func isReference(text string) bool {
	_, number := refs.ParseMemoryNumber(text)
	return number || !strings.ContainsAny(text, " \t\n") && strings.ContainsAny(text[:1], "@#")
}

// pin says what is pinned by a reference.
func (r *Router) pin(ctx context.Context, v *audience.View, text string, at OrderPlace) (typ string, args any, private bool, err error) {
	if at.ConversationID == "" {
		return "", nil, false, fault.Field("conversationId", "it is not known in which conversation it is pinned").WithHint("name the conversation")
	}
	to, err := r.opts.Refs.Resolve(ctx, v, text, 1)
	if err != nil {
		return "", nil, false, err
	}
	a := PinArgs{ConversationID: at.ConversationID}
	switch to.Type {
	case record.ResolvedNote:
		a.NoteID = to.SourceID
		private = r.opts.Remote.Note(a.NoteID) == nil
	case record.ResolvedMemory:
		a.MemoryID = to.SourceID
		private = !r.seen(a.MemoryID)
	default:
		return "", nil, false, fault.Field("text", "what it refers to is no note and no memory").WithHint("name a note by its title, or a memory by its number")
	}
	return record.ProposePin, a, private, nil
}
