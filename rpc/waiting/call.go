package waiting

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
)

// Call is a call that may wait. A nil Call waits for nothing.
type Call struct {
	Audience audience.Reader `json:"audience"`         // for whom it reads and writes
	Client   string          `json:"client,omitempty"` // the program that has made it
	At       time.Time       `json:"at"`               // when
	IDs      []string        `json:"ids,omitempty"`    // of what it makes, in the order in which they were asked for
	Held     []string        `json:"held,omitempty"`   // what it has found, in the order in which it looked
	Params   json.RawMessage `json:"params"`

	params    any
	refuse    func() error // why it cannot wait; nil: it can
	again     bool
	ids, held int // how many of IDs and Held were asked for, where the call is made again
}

// Again reports whether the call has waited and is made again.
func (c *Call) Again() bool { return c != nil && c.again }

// ID returns the id of something that the call makes: the one that was given or, where there is none, one that is the
// same whenever the call is made. Without a Call it is the one that was given.
func (c *Call) ID(given string) string {
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

// Hold returns what find finds, and the same when the call is made again. Without a Call it is the name itself; so it is
// where nothing is found, since the call says what is wrong with that.
func (c *Call) Hold(name string, find func(name string) (id string, err error)) string {
	switch {
	case c == nil || name == "":
		return name
	case c.again && c.held < len(c.Held):
		c.held++
		return c.Held[c.held-1]
	}
	if id, err := find(name); err == nil {
		name = id
	}
	c.Held = append(c.Held, name)
	return name
}

// Time returns when something was said or made that the call makes again: the time that was given, else that of the call.
// It is the time that was given when the call has not waited.
func (c *Call) Time(given time.Time) time.Time {
	if !c.Again() || !given.IsZero() {
		return given
	}
	return c.At
}

// New returns the version that the call may change: 0, none, when it is made again, since only what is new may wait.
func (c *Call) New(ifVersion *int) *int {
	if c.Again() {
		return new(int)
	}
	return ifVersion
}

// Only has the call wait only where there is no record of an id yet.
func (c *Call) Only(what, id string, there func() bool) {
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
func (c *Call) body() ([]byte, error) {
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

type callKey struct{}

// parse reads what is kept of a call, to be made again.
func parse(body []byte) (*Call, error) {
	c := &Call{again: true}
	if err := json.Unmarshal(body, c); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "a call that waits can't be read")
	}
	c.Held = slices.Clip(c.Held)
	return c, nil
}

// of returns the call that is being made again, nil where there is none.
func of(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
