package connect

import (
	"context"
	"errors"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
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

// inVault returns the note that a path, with or without .md, or a title behind the name of a
// vault and a colon names.
func inVault(ctx context.Context, cl *client.Client, name string) (*protocol.NoteFull, error) {
	var n protocol.NoteFull
	vault, rest, _ := strings.Cut(name, ":")
	err := error(term.NotFound("note", name))
	if vault == "" || rest == "" {
		return nil, err
	}
	for _, at := range []protocol.NoteGet{{Path: rest}, {Path: rest + ".md"}, {Title: rest}} {
		at.Vault = vault
		err = cl.Call(ctx, "notes.get", at, &n)
		if err == nil || fault.KindOf(err) != fault.NotFound {
			break
		}
	}
	return &n, err
}

// oneOf says how to name one of several notes.
func oneOf(err error) error {
	var several *fault.Error
	if !errors.As(err, &several) || several.Kind != fault.Conflict {
		return err
	}
	for _, c := range several.Candidates {
		if c.Vault != "" && c.Path != "" {
			return term.WithHint(err, "give its id, or its vault and path, such as "+
				term.ShellQuoted(Place(c.Vault, c.Path)))
		}
	}
	return term.WithHint(err, "give its path or id")
}

// FindNote returns the note of an id, a path or a title, the latter two also behind the name
// of a vault and a colon.
func FindNote(ctx context.Context, cl *client.Client, name string) (*protocol.NoteFull, error) {
	var n protocol.NoteFull
	if entities.CheckID("id", name) == nil {
		err := cl.Call(ctx, "notes.get", protocol.NoteGet{ID: name}, &n)
		if fault.KindOf(err) != fault.NotFound || err == nil {
			return &n, err
		}
	}
	if strings.ContainsRune(name, '/') || strings.HasSuffix(strings.ToLower(name), ".md") {
		err := cl.Call(ctx, "notes.get", protocol.NoteGet{Path: name}, &n)
		if fault.KindOf(err) != fault.NotFound || err == nil {
			return &n, oneOf(err)
		}
	}
	err := cl.Call(ctx, "notes.get", protocol.NoteGet{Title: name}, &n)
	switch {
	case err == nil:
		return &n, nil
	case fault.KindOf(err) == fault.Conflict:
		return nil, oneOf(err)
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	if n, err := inVault(ctx, cl, name); err == nil || fault.KindOf(err) != fault.NotFound {
		return n, oneOf(err)
	}
	var near protocol.NoteItems
	if err := cl.Call(ctx, "notes.complete", protocol.NoteComplete{Prefix: name, Limit: 5}, &near); err != nil {
		return nil, err
	}
	missing := term.NotFound("note", name).WithHint("ctxd search %s", term.ShellQuoted(name))
	if len(near.Items) == 0 && Empty(ctx, cl) {
		return nil, missing.WithHint("there are no notes yet; %s", HowToFill)
	}
	for _, it := range near.Items {
		missing.Candidates = append(missing.Candidates, fault.Candidate{
			ID: it.ID, Title: it.Title, Vault: it.Vault, Path: it.Path,
		})
	}
	return nil, missing
}

// FindEntity returns the id of the entity of an id, a name or an alias.
func FindEntity(ctx context.Context, cl *client.Client, name string) (string, error) {
	name = strings.TrimPrefix(name, "@")
	if entities.CheckID("id", name) == nil {
		err := cl.Call(ctx, "entities.get", protocol.EntityGet{ID: name}, nil)
		if err == nil {
			return name, nil
		}
		if fault.KindOf(err) != fault.NotFound {
			return "", err
		}
	}
	var e protocol.EntityFull
	err := cl.Call(ctx, "entities.get", protocol.EntityGet{Name: name}, &e)
	if err == nil {
		return e.ID, nil
	}
	var several *fault.Error
	switch {
	case errors.As(err, &several) && several.Kind == fault.Conflict && len(several.Candidates) > 0:
		list := several.Candidates
		return "", fault.New(fault.Conflict, "%s are called %q", term.Count(len(list), "entity"), name).
			WithHint("give the id of one of them: ctxd inspect entity %s", list[0].ID).WithCandidates(list)
	case fault.KindOf(err) != fault.NotFound:
		return "", err
	}
	var near protocol.EntityItems
	err = cl.Call(ctx, "entities.complete", protocol.EntityComplete{Prefix: name, Limit: 5}, &near)
	if err != nil {
		return "", err
	}
	missing := term.NotFound("entity", name).WithHint("ctxd call entities.complete prefix=%s", term.ShellQuoted(name))
	if len(near.Items) == 0 && Empty(ctx, cl) {
		return "", missing.WithHint("there are no entities yet; %s, and makes entities of those with a type", HowToFill)
	}
	for _, it := range near.Items {
		missing.Candidates = append(missing.Candidates, fault.Candidate{
			ID: it.ID, Name: it.Name, Type: it.Type, Vault: it.Vault, Path: it.Path,
		})
	}
	return "", missing
}
