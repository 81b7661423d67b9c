package mcp

import (
	"context"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// call is one request of a host. It remembers what it has learned of records,
// so that each is looked up once.
type call struct {
	*server
	ctx      context.Context
	notes    map[string]*protocol.NoteFull // those that may be shown; nil: may not
	entities map[string]*entities.Entity   // likewise
	targets  map[string]bool               // of links in the text at hand: whether a private note is meant
}

func (s *server) begin(ctx context.Context) *call {
	return &call{
		server: s, ctx: ctx, targets: make(map[string]bool),
		notes: make(map[string]*protocol.NoteFull), entities: make(map[string]*entities.Entity),
	}
}

// ask calls a method of the daemon.
func (c *call) ask(method string, params, result any) error {
	return c.daemon.call(c.ctx, method, params, result)
}

// audience says who reads what is made for this host.
func (c *call) audience() string {
	if c.opts.IncludePrivate {
		return gather.Local
	}
	return gather.Remote
}

// hides reports whether a record must not be shown.
func (c *call) hides(private bool) bool { return private && !c.opts.IncludePrivate }

// note returns a note that may be shown, nil when there is none.
func (c *call) note(id string) (*protocol.NoteFull, error) {
	if n, known := c.notes[id]; known {
		return n, nil
	}
	n := new(protocol.NoteFull)
	err := c.ask("notes.get", protocol.NoteGet{ID: id}, n)
	switch {
	case absent(err), err == nil && c.hides(n.Private):
		c.notes[id] = nil
		return nil, nil
	case err != nil:
		return nil, err
	}
	return n, c.keep(n)
}

// keep remembers a note that may be shown, and takes links to private ones out
// of its names. It is remembered first: two titles may name each other.
func (c *call) keep(n *protocol.NoteFull) error {
	c.notes[n.ID] = n
	return c.clean(&n.Title, n.Aliases)
}

// entity returns a live entity that may be shown, nil when there is none.
func (c *call) entity(id string) (*entities.Entity, error) {
	if e, known := c.entities[id]; known {
		return e, nil
	}
	full := new(protocol.EntityFull)
	err := c.ask("entities.get", protocol.EntityGet{ID: id}, full)
	e := &full.Entity
	switch {
	case absent(err), err == nil && (c.hides(e.Private) || e.TrashedAt != nil):
		c.entities[id] = nil
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.entities[id] = e
	return e, c.clean(&e.Name, e.Aliases)
}

// clean takes links to private notes out of the names of a record.
func (c *call) clean(name *string, aliases []string) (err error) {
	if *name, err = c.quoted(*name); err != nil {
		return err
	}
	for i := range aliases {
		if aliases[i], err = c.quoted(aliases[i]); err != nil {
			return err
		}
	}
	return nil
}

// absent reports whether a record is not there, or can't be: the daemon
// refuses an id that none can have.
func absent(err error) bool {
	kind := fault.KindOf(err)
	return err != nil && (kind == fault.NotFound || kind == fault.Invalid)
}

// visible returns those of the notes that may be shown.
func (c *call) visible(all []fault.Candidate) ([]fault.Candidate, error) {
	var out []fault.Candidate
	for _, cand := range all {
		n, err := c.note(cand.ID)
		if err != nil {
			return nil, err
		}
		if n != nil {
			cand.Title = n.Title
			out = append(out, cand)
		}
	}
	return out, nil
}
