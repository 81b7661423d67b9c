package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectCmd struct {
	Status  inspectStatusCmd  `cmd:"" help:"Health, counts, vaults and latencies of the daemon."`
	Context inspectContextCmd `cmd:"" help:"The prompt for a message: what goes in, what does not, and why."`
	Note    inspectNoteCmd    `cmd:"" help:"A note with its links and the notes that link to it."`
	Entity  inspectEntityCmd  `cmd:"" help:"An entity with its fields and what refers to it."`
	Graph   inspectGraphCmd   `cmd:"" help:"What lies around a note or entity; counts of the whole graph without one."`
	WQL     inspectWQLCmd     `cmd:"" name:"wql" help:"A query: what is wrong with it, how it is read, and with --explain how it is answered."`
	Search  inspectSearchCmd  `cmd:"" help:"A search: how the query is read, the list by words, the list by meaning, and how they become one."`
	Index   inspectIndexCmd   `cmd:"" help:"The indexes of words and of meaning: how far they are, and what they take."`
	RPC     inspectRPCCmd     `cmd:"" name:"rpc" help:"Connections, calls in flight, and how long methods take."`
	Log     inspectLogCmd     `cmd:"" help:"The log of the daemon."`
}

// findNote returns the note of an id, a path or a title.
func findNote(ctx context.Context, cl *client.Client, name string) (*protocol.NoteFull, error) {
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
			return &n, err
		}
	}
	err := cl.Call(ctx, "notes.get", protocol.NoteGet{Title: name}, &n)
	switch {
	case err == nil:
		return &n, nil
	case fault.KindOf(err) == fault.Conflict:
		return nil, hinted(err, "name one by its path or id")
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	var near protocol.NoteItems
	if err := cl.Call(ctx, "notes.complete", protocol.NoteComplete{Prefix: name, Limit: 5}, &near); err != nil {
		return nil, err
	}
	missing := notFound("note", name).WithHint("ctxd search %s", quoted(name))
	for _, it := range near.Items {
		missing.Candidates = append(missing.Candidates, fault.Candidate{ID: it.ID, Title: it.Title, Path: it.Path})
	}
	return nil, missing
}

// findEntity returns the id of the entity of an id, a name or an alias.
func findEntity(ctx context.Context, cl *client.Client, name string) (string, error) {
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
	var near protocol.EntityItems
	if err := cl.Call(ctx, "entities.complete", protocol.EntityComplete{Prefix: name, Limit: 20}, &near); err != nil {
		return "", err
	}
	var same, like []fault.Candidate
	for _, it := range near.Items {
		c := fault.Candidate{ID: it.ID, Name: it.Name, Type: it.Type}
		called, err := isCalled(ctx, cl, it, name)
		if err != nil {
			return "", err
		}
		if called {
			same = append(same, c)
		}
		like = append(like, c)
	}
	switch len(same) {
	case 1:
		return same[0].ID, nil
	case 0:
		return "", notFound("entity", name).WithHint("ctxd call entities.complete prefix=%s", quoted(name)).WithCandidates(like[:min(5, len(like))])
	}
	return "", fault.New(fault.Conflict, "%s are called %q", count(len(same), "entity"), name).
		WithHint("give the id of one of them: ctxd inspect entity %s", same[0].ID).WithCandidates(same)
}

// isCalled reports whether an entity that was suggested for a name has exactly
// that name or alias: one that has it as an alias is suggested by its name.
func isCalled(ctx context.Context, cl *client.Client, it protocol.EntityItem, name string) (bool, error) {
	key := entities.Fold(name)
	if entities.Fold(it.Name) == key {
		return true, nil
	}
	var e protocol.EntityFull
	err := cl.Call(ctx, "entities.get", protocol.EntityGet{ID: it.ID}, &e)
	if err != nil && fault.KindOf(err) != fault.NotFound { // it may have been deleted since
		return false, err
	}
	return entities.Fold(e.Name) == key || slices.ContainsFunc(e.Aliases, func(alias string) bool { return entities.Fold(alias) == key }), nil
}

// hinted returns a wire error with another hint.
func hinted(err error, hint string) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Hint = hint
	return &c
}

// quoted writes a text as a word of a shell.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, needsQuotes) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// needsQuotes reports whether a shell may read more into r than the character.
func needsQuotes(r rune) bool {
	plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./@", r)
	return !plain && r < 0x80
}

// facts is a table of names and values, empty values left out.
type facts struct{ table }

func (f *facts) add(name, value string) {
	if value != "" {
		f.row(line{styled(faint, name)}, line{text(value)})
	}
}

func (f *facts) addf(name, format string, args ...any) { f.add(name, fmt.Sprintf(format, args...)) }
