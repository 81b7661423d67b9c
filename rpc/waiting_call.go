package rpc

// This file and waiting_*.go have calls wait that only add, while the other machines of a shared store cannot be
// reached: the half of the setting store.sync.offline that stands above the records. entities/kv keeps what waits,
// shows it to this machine and hands it over again; here is what a call is that can be made again.
//
// A [DeferrableCall] is made by CallQueue.Begin for each call of a method that may wait, and is nil where none may:
// then everything is as without it. It gives ids to what the call makes, and takes down what the call has found by a
// name that may lead elsewhere later. When the call is made again, by the same handler and for the same reader, it
// gives the same ids and finds the same. So a call writes once, whatever happens in between, and never more than its
// caller could.
//
// What follows the write of a call on its own (the outcome that an answer waits for, its title, the facts in a
// message) is left out while the call waits, and done when it is made again: README.md says what of each call.
//
// A CallQueue may be used concurrently, a DeferrableCall by one goroutine. Errors are *fault.Error. CallQueue.Pending
// costs nothing while nothing waits, and O(what waits) otherwise.

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
)

// DeferrableCall is a call that may wait. A nil Call waits for nothing.
type DeferrableCall struct {
	Audience audience.Reader `json:"audience"`         // for whom it reads and writes
	Client   string          `json:"client,omitempty"` // the program that has made it
	At       time.Time       `json:"at"`               // when
	IDs      []string        `json:"ids,omitempty"`    // of what it makes, in the order of its calls of ID
	Resolved []string        `json:"held,omitempty"`   // what it has found by name, in the order of its calls of Resolve
	Params   json.RawMessage `json:"params"`

	params   any
	refuse   func() error // why it cannot wait; nil: it can
	again    bool
	ids      int // how many of IDs were asked for, where the call is made again
	resolved int // and how many of Resolved
}

// Again reports whether the call has waited and is made again.
func (c *DeferrableCall) Again() bool { return c != nil && c.again }

// ID returns the id of something that the call makes: the one that was given or, where there is none, one that is the
// same whenever the call is made. Without a Call it is the one that was given.
func (c *DeferrableCall) ID(given string) string {
	switch {
	case c == nil:
		return given
	case c.again && c.ids < len(c.IDs):
		c.ids++
		return c.IDs[c.ids-1]
	case given == "":
		given = uuid.NewString()
	}
	c.IDs = append(c.IDs, given)
	return given
}

// Resolve returns the id that find finds for a name, and the same id when the call is made again. Without a Call it is
// the name itself. So it is where nothing is found: the handler then says what is wrong with the name.
func (c *DeferrableCall) Resolve(name string, find func(name string) (id string, err error)) string {
	switch {
	case c == nil || name == "":
		return name
	case c.again && c.resolved < len(c.Resolved):
		c.resolved++
		return c.Resolved[c.resolved-1]
	}
	if id, err := find(name); err == nil {
		name = id
	}
	c.Resolved = append(c.Resolved, name)
	return name
}

// Time returns when something was said or made that the call makes again: the time that was given, else that of the call.
// It is the time that was given when the call has not waited.
func (c *DeferrableCall) Time(given time.Time) time.Time {
	if !c.Again() || !given.IsZero() {
		return given
	}
	return c.At
}

// IfVersion returns the version that the call may change. It is the given one, and 0 when the call is made again: only
// what is new may wait, so there must be no record then.
func (c *DeferrableCall) IfVersion(ifVersion *int) *int {
	if c.Again() {
		return new(int)
	}
	return ifVersion
}

// OnlyNew has the call wait only where there is no record of an id yet.
func (c *DeferrableCall) OnlyNew(what, id string, there func() bool) {
	if c == nil || id == "" {
		return
	}
	c.refuse = func() error {
		if !there() {
			return nil
		}
		e := fault.New(fault.Unavailable, "the other machines cannot be reached, and %s %q is there already", what, id).
			WithRef(id).WithHint("only what is new waits for them; change it when they can be reached again")
		e.Retryable = true
		return e
	}
}

// body is what is kept of the call. The error is why it can't wait.
func (c *DeferrableCall) body() ([]byte, error) {
	if c.refuse != nil {
		if err := c.refuse(); err != nil {
			return nil, err
		}
	}
	var err error
	if c.Params, err = json.Marshal(c.params); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

type deferrableCallKey struct{}

// parseDeferrableCall reads what is kept of a call, to be made again.
func parseDeferrableCall(body []byte) (*DeferrableCall, error) {
	c := &DeferrableCall{again: true}
	if err := json.Unmarshal(body, c); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "a call that waits can't be read")
	}
	c.Resolved = slices.Clip(c.Resolved)
	return c, nil
}

// deferrableCallOf returns the call of a context that is being made again, nil where there is none.
func deferrableCallOf(ctx context.Context) *DeferrableCall {
	c, _ := ctx.Value(deferrableCallKey{}).(*DeferrableCall)
	return c
}
