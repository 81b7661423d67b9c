package mcp

import (
	"errors"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Arguments name records as the refs of the protocol do (API-1): the daemon finds a record by one call.

// findNote returns the note that an argument names.
func (c *call) findNote(s string) (*protocol.NoteFull, error) {
	if strings.TrimSpace(s) == "" {
		return nil, fault.Field("note", "note is needed: a title, path or id")
	}
	n := new(protocol.NoteFull)
	return n, orNoNote(c.ask("notes.get", protocol.NoteGet{Ref: c.ids.whole(s)}, n))
}

// noteID returns the id of the note that an argument names.
func (c *call) noteID(s string) (string, error) {
	n, err := c.findNote(s)
	return n.ID, err
}

// findEntity returns the live entity that an argument names, its references resolved
// to that depth.
func (c *call) findEntity(s string, resolve int) (*protocol.EntityFull, error) {
	if strings.TrimSpace(s) == "" {
		return nil, fault.Field("entity", "entity is needed: a name or id")
	}
	e := new(protocol.EntityFull)
	err := c.ask("entities.get", protocol.EntityGet{Ref: c.ids.whole(s), Resolve: resolve}, e)
	switch {
	case fault.IsMissing(err), err == nil && e.ArchivedAt != nil:
		return nil, noEntity()
	case err != nil && fault.KindOf(err) == fault.Conflict:
		return nil, c.several(err)
	}
	return e, err
}

// entity returns a live entity by its id. missing is the error for one that is not there.
func (c *call) entity(id string, missing error) (*record.Entity, error) {
	e := new(protocol.EntityFull)
	err := c.ask("entities.get", protocol.EntityGet{Ref: id}, e)
	if fault.KindOf(err) == fault.NotFound || err == nil && e.ArchivedAt != nil {
		err = missing
	}
	return &e.Entity, err
}

// several is the error for a name that several entities have. Those of a name are all
// live or all archived, where a host looks for none.
func (c *call) several(err error) error {
	var found *fault.Error
	if !errors.As(err, &found) || len(found.Candidates) == 0 {
		return err
	}
	_, missing := c.entity(found.Candidates[0].ID, noEntity())
	if missing != nil {
		return missing
	}
	return fault.Clash(fault.Ambiguous, "several entities have that name").
		WithHint("give the id of one of these").WithCandidates(found.Candidates)
}
