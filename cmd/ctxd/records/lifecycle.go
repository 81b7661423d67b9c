package records

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// This file has what notes and entities have in common: to be archived, restored and deleted. Records that come from the
// files of a vault change with these alone, which the daemon says.

// kindOf is a kind of record that has these commands.
type kindOf struct {
	name, space string // as people and as methods call it
	find        func(a *Options, cl *client.Client, ref string) (named, error)
}

// named is a record that a command is about.
type named struct {
	id, name string
	file     string // of a note from a vault, else ""
}

var (
	noteKind = kindOf{"note", "notes", func(a *Options, cl *client.Client, ref string) (named, error) {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, ref)
		if err != nil {
			return named{}, err
		}
		out := named{id: n.ID, name: n.Title}
		if n.VaultBacked {
			out.file = connect.Place(n.Vault, n.Path)
		}
		return out, nil
	}}
	entityKind = kindOf{"entity", "entities", func(a *Options, cl *client.Client, ref string) (named, error) {
		id, err := connect.FindEntity(a.Ctx, cl, ref)
		return named{id: id, name: ref}, err
	}}
)

// move calls a method of the kind that takes an id alone, and says what was done.
func (k *kindOf) move(a *Options, ref, verb, did string, yes bool) error {
	return a.With(func(cl *client.Client) error {
		to, err := k.find(a, cl, ref)
		if err != nil {
			return err
		}
		if !yes {
			question := "Delete this " + k.name + " for good?"
			if to.file != "" {
				question = "Move the file " + to.file + " to the trash folder of its vault?"
			}
			err := a.Confirm(a.Ctx, question, "ctxd "+k.space+" delete "+term.ShellQuoted(ref)+" --yes",
				func(s *term.Screen) { s.Say(term.Styled(term.Strong, to.name), term.Styled(term.Faint, "  "+to.id)) })
			if err != nil {
				return err
			}
		}
		var res protocol.NoteDeleted // of which most have less
		if err := cl.Call(a.Ctx, k.space+"."+verb, protocol.ByID{ID: to.id}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if res.Trash != "" {
			did = "moved to the trash"
		}
		line := term.Line{term.Styled(term.Good, did), term.Text("  "), term.Styled(term.Strong, to.name), term.Styled(term.Faint, "  "+to.id)}
		if res.Trash != "" {
			line = append(line, term.Text("  its file is "+res.Trash+" now; ctxd vault undo takes it back"))
		}
		a.Out.Say(line...)
		return nil
	})
}

type aNote struct {
	Note string `arg:"" help:"Id, path or title of the note."`
}

type archiveNote struct{ aNote }

func (archiveNote) Examples() []term.Example {
	return []term.Example{{"ctxd notes archive Kickoff", "menus, lists and prompts leave it out"}}
}

func (c *archiveNote) Run(a *Options) error {
	return noteKind.move(a, c.Note, "archive", "archived", true)
}

type restoreNote struct{ aNote }

func (restoreNote) Examples() []term.Example {
	return []term.Example{{"ctxd notes restore Kickoff", "it is there again, with its entity"}}
}

func (c *restoreNote) Run(a *Options) error {
	return noteKind.move(a, c.Note, "restore", "restored", true)
}

type deleteNote struct {
	aNote
	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

func (deleteNote) Help() string {
	return "A note of the store is gone for good. The file of a note of a vault is moved to the trash folder of the vault (.trash), where " +
		"the setting vault.write names its folder; ctxd vault undo takes it back."
}

func (deleteNote) Examples() []term.Example {
	return []term.Example{
		{"ctxd notes delete Kickoff", "show which it is, ask, and delete it"},
		{"ctxd notes delete Kickoff --yes", "in a script"},
	}
}

func (c *deleteNote) Run(a *Options) error {
	return noteKind.move(a, c.Note, "delete", "deleted", c.Yes)
}

type anEntity struct {
	Entity string `arg:"" help:"Id or name of the entity."`
}

type archiveEntity struct{ anEntity }

func (archiveEntity) Examples() []term.Example {
	return []term.Example{{"ctxd entities archive @Zoë", "references to it show as deleted"}}
}

func (c *archiveEntity) Run(a *Options) error {
	return entityKind.move(a, c.Entity, "archive", "archived", true)
}

type restoreEntity struct{ anEntity }

func (restoreEntity) Examples() []term.Example {
	return []term.Example{{"ctxd entities restore @Zoë", "it is there again"}}
}

func (c *restoreEntity) Run(a *Options) error {
	return entityKind.move(a, c.Entity, "restore", "restored", true)
}

type deleteEntity struct {
	anEntity
	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

func (deleteEntity) Examples() []term.Example {
	return []term.Example{
		{"ctxd entities delete @Zoë", "show which it is, ask, and delete it"},
		{"ctxd entities delete @Zoë --yes", "in a script"},
	}
}

func (c *deleteEntity) Run(a *Options) error {
	return entityKind.move(a, c.Entity, "delete", "deleted", c.Yes)
}

type deleteType struct {
	Type  string `arg:"" help:"Name of the type."`
	Vault string `placeholder:"VAULT" help:"The vault whose type it is."`
	Yes   bool   `short:"y" help:"Archive the entities of the type without asking."`
}

func (deleteType) Examples() []term.Example {
	return []term.Example{{"ctxd types delete Hive", "it asks when there are entities, which are archived then"}}
}

func (c *deleteType) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		list, err := a.types(cl)
		if err != nil {
			return err
		}
		count := 0
		for _, t := range list {
			if text.Fold(t.Name) == text.Fold(c.Type) && (c.Vault == "" || t.Vault == c.Vault) {
				count += t.Count
			}
		}
		if count > 0 && !c.Yes {
			err := a.Confirm(a.Ctx, "Remove this type, and archive its entities?", "ctxd types delete "+term.ShellQuoted(c.Type)+" --yes",
				func(s *term.Screen) {
					s.Say(term.Styled(term.Strong, c.Type), term.Styled(term.Faint, "  "+term.Count(count, "entity")))
				})
			if err != nil {
				return err
			}
		}
		var gone protocol.TypeName
		if err := cl.Call(a.Ctx, "types.delete", protocol.TypeDelete{Name: c.Type, Vault: c.Vault, Force: count > 0}, &gone); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(gone)
		}
		a.Out.Say(term.Styled(term.Good, "deleted"), term.Text("  "), term.Styled(term.Strong, gone.Name))
		return nil
	})
}

// types returns all types, with their numbers of entities.
func (a *Options) types(cl *client.Client) ([]protocol.TypeCount, error) {
	var res protocol.TypeList
	err := cl.Call(a.Ctx, "types.list", nil, &res)
	return res.Types, err
}
