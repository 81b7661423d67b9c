package tools

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// near is how many records are offered in the place of one that does not exist.
const near = 3

// note returns the note that an argument names.
func (c *toolRun) note(field, s string) (*notes.Note, error) {
	n, err := c.view.FindNote(s, "")
	if fault.IsMissing(err) {
		return nil, c.noNote(field, record.ParseNamed(s).Text)
	}
	return n, several(field, err)
}

// several is the error for a title or path that more than one note has, in words for a model.
func several(field string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict {
		return err
	}
	out := fault.Clash(fault.Ambiguous, "several notes have that title or path").
		WithHint("give the id of one of these").WithCandidates(f.Candidates)
	out.Field = field
	return out
}

// noNote is the error for a note that does not exist, with those whose titles are near. It does not repeat what was asked
// for: the model knows that, and nobody has to tell whether a name in an answer came from the store.
func (c *toolRun) noNote(field, text string) error {
	hits := c.view.CompleteNotes(clipArgument(text), near)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return none(field, "no such note", "search_notes finds notes by what they say", c.view.Candidates(ids))
}

// none is the error for a record that does not exist, with those that may be meant.
func none(field, msg, hint string, meant []fault.Candidate) error {
	err := fault.New(fault.NotFound, "%s", msg).WithHint("%s", hint).WithCandidates(meant)
	if len(meant) > 0 {
		err.Hint = "did you mean one of these?"
	}
	err.Field = field
	return err
}

// entity returns the live entity that an argument names.
func (c *toolRun) entity(field, s string) (*entities.Entity, error) {
	e, err := c.view.FindEntity(s, "")
	switch {
	case e.Live():
		return e, nil
	case err != nil && fault.KindOf(err) == fault.Conflict:
		return nil, c.severalEntities(field, err)
	}
	return nil, c.noEntity(field, record.ParseNamed(s).Text)
}

// severalEntities is the error for a name that several entities have. All of them are live, or none of them.
func (c *toolRun) severalEntities(field string, err error) error {
	list := fault.CandidatesOf(err)
	if len(list) > 0 && !c.view.Entity(list[0].ID).Live() {
		return c.noEntity(field, list[0].Name)
	}
	out := fault.Clash(fault.Ambiguous, "several entities have that name").
		WithHint("give the id of one of these").WithCandidates(list)
	out.Field = field
	return out
}

// noEntity is noNote for an entity.
func (c *toolRun) noEntity(field, text string) error {
	var meant []fault.Candidate
	for _, h := range c.view.CompleteEntities(clipArgument(text), nil, near) {
		if e := c.view.Entity(h.ID); e != nil {
			candidate := fault.Candidate{ID: e.ID, Name: c.view.NameOf(e), Type: e.Type}
			candidate.Vault, candidate.Path = c.view.PlaceOf(e.ID)
			meant = append(meant, candidate)
		}
	}
	return none(field, "no such entity", "query lists the entities of a type: SELECT x FROM Person x", meant)
}

// record returns the id of the note or entity that an argument names.
func (c *toolRun) record(field, s string) (string, error) {
	r := record.ParseNamed(s)
	if r.Note {
		n, err := c.note(field, s)
		if err != nil {
			return "", err
		}
		return n.ID, nil
	}
	e, err := c.entity(field, s)
	switch {
	case err == nil:
		return e.ID, nil
	case fault.KindOf(err) != fault.NotFound || r.Entity:
		return "", err
	}
	n, other := c.note(field, s)
	switch {
	case other == nil:
		return n.ID, nil
	case fault.KindOf(other) != fault.NotFound:
		return "", other
	}
	return "", noRecord(field, slices.Concat(fault.CandidatesOf(err), fault.CandidatesOf(other)))
}

// noRecord is the error for a name that no note and no entity has, with those that may be meant.
func noRecord(field string, meant []fault.Candidate) error {
	return none(field, fmt.Sprintf("no note or entity has the name or id in %q", field), "search_notes and query find them", meant)
}
