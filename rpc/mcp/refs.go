package mcp

import (
	"errors"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Arguments name records as record.ParseNamed says. Most are found by one call of the daemon;
// which call is tried first is decided by the form.

// isMissing reports whether there is no such record: an id that no record can have is
// one of them.
func isMissing(err error) bool {
	kind := fault.KindOf(err)
	return err != nil && (kind == fault.NotFound || kind == fault.Invalid)
}

// findNote returns the note that an argument names.
func (c *call) findNote(s string) (*protocol.NoteFull, error) {
	r := record.ParseNamed(s)
	if r.Text == "" {
		return nil, fault.Field("note", "note is needed: a title, path or id")
	}
	n := new(protocol.NoteFull)
	if r.ID {
		return n, orNoNote(c.ask("notes.get", protocol.NoteGet{ID: r.Text}, n))
	}
	err := c.ask("notes.get", protocol.NoteGet{Title: r.Text}, n)
	if !isMissing(err) {
		return n, severalNotes(err)
	}
	id, err := c.resolved(r.Text)
	if err != nil {
		return nil, err
	}
	return n, orNoNote(c.ask("notes.get", protocol.NoteGet{ID: id}, n))
}

// resolved returns the id of the note that a link leads to, the text of the link when it
// leads nowhere and may be an id.
func (c *call) resolved(link string) (string, error) {
	var found protocol.NoteResolved
	err := c.ask("notes.resolve", protocol.NoteResolve{Link: "[[" + link + "]]"}, &found)
	switch {
	case err != nil && !isMissing(err):
		return "", err
	case found.ID != "":
		return found.ID, nil
	case len(found.Candidates) > 0:
		return "", severalNotes(fault.New(fault.Conflict, "").WithCandidates(found.Candidates))
	case record.IsID(link):
		return link, nil
	}
	if vault, rest, ok := strings.Cut(link, ":"); ok && vault != "" && rest != "" {
		return c.inVault(vault, rest)
	}
	return "", noNote()
}

// inVault returns the id of the note that a path or a title names in a vault, as answers
// write it: vault:path.
func (c *call) inVault(vault, rest string) (string, error) {
	for _, at := range []protocol.NoteGet{{Path: rest}, {Path: rest + ".md"}, {Title: rest}} {
		at.Vault = vault
		n := new(protocol.NoteFull)
		err := c.ask("notes.get", at, n)
		if !isMissing(err) {
			return n.ID, severalNotes(err)
		}
	}
	return "", noNote()
}

// noteID returns the id of the note that an argument names. One that is no title may
// be an id that no note has: who asks for it by that id is told.
func (c *call) noteID(s string) (string, error) {
	r := record.ParseNamed(s)
	switch {
	case r.Text == "":
		return "", fault.Field("note", "note is needed: a title, path or id")
	case r.ID:
		return r.Text, nil
	}
	return c.resolved(r.Text)
}

// findEntity returns the live entity that an argument names, its references resolved
// to that depth.
func (c *call) findEntity(s string, resolve int) (*protocol.EntityFull, error) {
	r := record.ParseNamed(s)
	if r.Text == "" {
		return nil, fault.Field("entity", "entity is needed: a name or id")
	}
	e := new(protocol.EntityFull)
	if !r.ID {
		err := c.ask("entities.get", protocol.EntityGet{Name: r.Text, Resolve: resolve}, e)
		switch {
		case err == nil && e.TrashedAt != nil:
			return nil, noEntity()
		case fault.KindOf(err) == fault.Conflict && err != nil:
			return nil, c.several(err)
		case !isMissing(err):
			return e, err
		case !record.IsID(r.Text):
			return nil, noEntity()
		}
	}
	err := c.ask("entities.get", protocol.EntityGet{ID: r.Text, Resolve: resolve}, e)
	if isMissing(err) || err == nil && e.TrashedAt != nil {
		return nil, noEntity()
	}
	return e, err
}

// recordID returns the id of the note or entity that an argument names.
func (c *call) recordID(field, s string) (string, error) {
	r := record.ParseNamed(s)
	switch {
	case r.Text == "":
		return "", fault.Field(field, "%s is needed: a title, name, path or id", field)
	case r.ID:
		return r.Text, nil
	case r.Note:
		id, err := c.resolved(r.Text)
		return id, inField(field, err)
	}
	e, err := c.findEntity(s, 0)
	switch {
	case err == nil:
		return e.ID, nil
	case fault.KindOf(err) != fault.NotFound:
		return "", inField(field, err)
	case r.Entity:
		return "", noRecord(field)
	}
	id, err := c.resolved(r.Text)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return "", noRecord(field)
	}
	return id, inField(field, err)
}

// inField names the argument that an error is about.
func inField(field string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	named := *f
	named.Field = field
	return &named
}

// entity returns a live entity by its id. missing is the error for one that is not there.
func (c *call) entity(id string, missing error) (*record.Entity, error) {
	e := new(protocol.EntityFull)
	err := c.ask("entities.get", protocol.EntityGet{ID: id}, e)
	if fault.KindOf(err) == fault.NotFound || err == nil && e.TrashedAt != nil {
		err = missing
	}
	return &e.Entity, err
}

// several is the error for a name that several entities have. Those of a name are all
// live or all in the trash, where a host looks for none.
func (c *call) several(err error) error {
	var found *fault.Error
	if !errors.As(err, &found) || len(found.Candidates) == 0 {
		return err
	}
	_, missing := c.entity(found.Candidates[0].ID, noEntity())
	if missing != nil {
		return missing
	}
	return fault.New(fault.Conflict, "several entities have that name").
		WithHint("give the id of one of these").WithCandidates(found.Candidates)
}
