package connect

import (
	"context"
	"errors"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Place writes where a note lies: its path, behind its vault and a colon where there are
// several, as FindNote reads it.
func Place(vault, path string) string {
	if vault == "" {
		return path
	}
	return vault + ":" + path
}

// oneOf says how to name one of several notes.
func oneOf(err error) error {
	var several *fault.Error
	if !errors.As(err, &several) || several.Kind != fault.Conflict {
		return err
	}
	named := *several
	named.Field = "" // no parameter of a command
	err = &named
	for _, c := range several.Candidates {
		if c.Vault != "" && c.Path != "" {
			return term.WithHint(err, "give its id, or its vault and path, such as "+
				term.ShellQuoted(Place(c.Vault, c.Path)))
		}
	}
	return term.WithHint(err, "give its path or id")
}

// FindNote returns the note that a ref means, as notes.get takes it. Where it is one of several it says which others there are.
func FindNote(ctx context.Context, cl *client.Client, say *term.Screen, ref string) (*protocol.NoteFull, error) {
	var n protocol.NoteFull
	err := cl.Call(ctx, "notes.get", protocol.NoteGet{Ref: ref}, &n)
	if err == nil {
		sayOthers(say, &n)
		return &n, nil
	}
	if fault.KindOf(err) != fault.NotFound {
		return nil, oneOf(err)
	}
	var near protocol.NoteItems
	if err := cl.Call(ctx, "notes.complete", protocol.NoteComplete{Prefix: ref, Limit: 5}, &near); err != nil {
		return nil, err
	}
	missing := term.NotFound("note", ref).WithHint("ctxd search %s", term.ShellQuoted(ref))
	if len(near.Items) == 0 && Empty(ctx, cl) {
		return nil, missing.WithHint("there are no notes yet; %s", HowToFill)
	}
	for _, it := range near.Items {
		missing.Candidates = append(missing.Candidates, fault.Candidate{ID: it.ID, Title: it.Title, Vault: it.Vault, Path: it.Path})
	}
	return nil, missing
}

// sayOthers names the notes that a link could have meant as well.
func sayOthers(say *term.Screen, n *protocol.NoteFull) {
	if len(n.Others) == 0 {
		return
	}
	names := make([]string, len(n.Others))
	for i, c := range n.Others {
		names[i] = Place(c.Vault, c.Path)
		if c.Path == "" {
			names[i] = c.Title
		}
	}
	say.SayWhole(term.Styled(term.Faint, "This is "+Place(n.Vault, n.Path)+"; there is also "+strings.Join(names, ", ")+"."))
}

// FindEntity returns the id of the entity that a ref means, as entities.get takes it.
func FindEntity(ctx context.Context, cl *client.Client, ref string) (string, error) {
	var e protocol.EntityFull
	err := cl.Call(ctx, "entities.get", protocol.EntityGet{Ref: ref}, &e)
	ref = strings.TrimPrefix(ref, "@")
	if err == nil {
		return e.ID, nil
	}
	list := fault.CandidatesOf(err)
	switch {
	case fault.KindOf(err) == fault.Conflict && len(list) > 0:
		return "", fault.Clash(fault.Ambiguous, "%s are called %q", term.Count(len(list), "entity"), ref).
			WithHint("give the id of one of them: ctxd inspect entity %s", list[0].ID).WithCandidates(list)
	case fault.KindOf(err) != fault.NotFound:
		return "", err
	}
	var near protocol.EntityItems
	if err := cl.Call(ctx, "entities.complete", protocol.EntityComplete{Prefix: ref, Limit: 5}, &near); err != nil {
		return "", err
	}
	missing := term.NotFound("entity", ref).WithHint("ctxd call entities.complete prefix=%s", term.ShellQuoted(ref))
	if len(near.Items) == 0 && Empty(ctx, cl) {
		return "", missing.WithHint("there are no entities yet; %s, and makes entities of those with a type", HowToFill)
	}
	for _, it := range near.Items {
		missing.Candidates = append(missing.Candidates, fault.Candidate{ID: it.ID, Name: it.Name, Type: it.Type, Vault: it.Vault, Path: it.Path})
	}
	return "", missing
}
