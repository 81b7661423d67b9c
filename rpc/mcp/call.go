package mcp

import (
	"context"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// call is one request of a host.
type call struct {
	*server
	ctx context.Context
}

func (s *server) begin(ctx context.Context) *call { return &call{s, ctx} }

// ask calls a method of the daemon.
func (c *call) ask(method string, params, result any) error {
	return c.daemon.call(c.ctx, method, params, result)
}

// note returns a note. missing is the error for one that is not there.
func (c *call) note(by protocol.NoteGet, missing error) (*protocol.NoteFull, error) {
	n := new(protocol.NoteFull)
	err := c.ask("notes.get", by, n)
	if fault.KindOf(err) == fault.NotFound {
		err = missing
	}
	return n, err
}

// entity returns a live entity. missing is the error for one that is not there.
func (c *call) entity(id string, missing error) (*record.Entity, error) {
	e := new(protocol.EntityFull)
	err := c.ask("entities.get", protocol.EntityGet{ID: id}, e)
	if fault.KindOf(err) == fault.NotFound || err == nil && e.TrashedAt != nil {
		err = missing
	}
	return &e.Entity, err
}

// audience says who reads what this host gets.
func (o Options) audience() string {
	if o.IncludePrivate {
		return protocol.Local
	}
	return protocol.Remote
}
