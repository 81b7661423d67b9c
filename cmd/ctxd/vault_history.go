package main

import (
	"path"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type vaultHistoryCmd struct {
	Name  string         `arg:"" optional:"" help:"Name of the vault. Default: all vaults."`
	File  string         `placeholder:"PATH" help:"Only writes of this file, by its path within the vault."`
	Diff  bool           `help:"Show what each write changed."`
	Limit term.CountFlag `short:"n" from:"1" to:"1000" default:"20" placeholder:"N" help:"Maximum number of writes, the latest first, 1 to 1,000. Default: 20."`

	connect.Audience
}

func (vaultHistoryCmd) Help() string {
	return "ctxd writes only into folders that the setting vault.write names. Each write stands with its id, when it was, the program " +
		"that asked for it, and how many lines it added and removed. The history lies in the store of this machine."
}

func (vaultHistoryCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd vault history", "what was written, the latest first"},
		{"ctxd vault history Work --file Inbox.md --diff", "every change of one file"},
		{"ctxd vault history --audience remote", "writes of public notes, without what their texts were"},
	}
}

func (c *vaultHistoryCmd) Run(a *app) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var res protocol.VaultWrites
		err := cl.Call(a.Ctx, "vault.history", protocol.VaultHistory{Vault: c.Name, Path: c.File, Page: protocol.Page{Limit: int(c.Limit)}}, &res)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if len(res.Writes) == 0 {
			a.Out.Say(term.Styled(term.Faint, "nothing was written; the setting vault.write names folders that ctxd may write to"))
			return nil
		}
		if c.Diff {
			for i := range res.Writes {
				drawWrite(a.Out, &res.Writes[i])
			}
		} else {
			t := &term.Table{Head: []string{"id", "file", "what", "lines", "when", "by"}}
			for i := range res.Writes {
				t.Row(writeCells(&res.Writes[i])...)
			}
			t.Draw(a.Out)
		}
		if n := res.Total - len(res.Writes); n > 0 {
			a.Out.Say(term.Styled(term.Faint, "  "+term.Number(n)+" more; --limit shows them"))
		}
		return nil
	})
}

// writeCells are the cells of a write in the list.
func writeCells(w *record.VaultWrite) []term.Line {
	what := term.Line{term.Text(w.Action)}
	switch {
	case w.Undone != "":
		what = append(what, term.Styled(term.Faint, "  undone by "+w.Undone))
	case w.Undoes != "":
		what = append(what, term.Styled(term.Faint, "  undoes "+w.Undoes))
	}
	if w.Private {
		what = append(what, term.Styled(term.Warn, "  private"))
	}
	lines := ""
	if w.Added+w.Removed > 0 {
		lines = "+" + term.Number(w.Added) + " -" + term.Number(w.Removed)
	}
	by := w.Client
	if w.Remote {
		by += " (remote)"
	}
	return []term.Line{
		{term.Styled(term.Accent, w.ID)},
		{term.Text(path.Join(w.Vault, w.Path))},
		what,
		{term.Text(lines)},
		{term.Styled(term.Faint, term.Ago(w.At))},
		{term.Styled(term.Faint, by)},
	}
}

func drawWrite(s *term.Screen, w *record.VaultWrite) {
	var l term.Line
	for i, cell := range writeCells(w) {
		if i > 0 {
			l = append(l, term.Text("  "))
		}
		l = append(l, cell...)
	}
	s.Say(l...)
	drawDiff(s, w.Diff)
}

// drawDiff shows a unified diff, without the names of the files.
func drawDiff(s *term.Screen, diff string) {
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for _, line := range lines[min(2, len(lines)):] {
		s.Say(term.Text("  "), term.Styled(diffStyle(line), line))
	}
}

func diffStyle(line string) term.Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return term.Good
	case strings.HasPrefix(line, "-"):
		return term.Bad
	}
	return term.Faint
}

type vaultUndoCmd struct {
	ID     string `arg:"" help:"Id of the write, as ctxd vault history shows it."`
	DryRun bool   `help:"Show what would change, and change nothing."`
}

func (vaultUndoCmd) Help() string {
	return "The file gets the text that it had before the write. One that was made goes to the folder .trash of the vault, and one " +
		"that went there comes back. It is refused when the file has changed since. The undoing is a write itself, which can be undone."
}

func (vaultUndoCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd vault undo mkxw0k8c --dry-run", "show what would change"},
		{"ctxd vault undo mkxw0k8c", "take the write back"},
	}
}

func (c *vaultUndoCmd) Run(a *app) error {
	return a.With(func(cl *client.Client) error {
		var res protocol.VaultUndone
		if err := cl.Call(a.Ctx, "vault.undo", protocol.VaultUndo{ID: c.ID, DryRun: c.DryRun}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		did := term.Styled(term.Good, "undone")
		if c.DryRun {
			did = term.Styled(term.Faint, "would be undone")
		}
		a.Out.Say(did, term.Text("  "+path.Join(res.Vault, res.Path)), term.Styled(term.Faint, "  "+res.ID))
		drawDiff(a.Out, res.Diff)
		return nil
	})
}
