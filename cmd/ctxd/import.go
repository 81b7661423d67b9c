package main

import (
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type importCmd struct {
	Dir    string `arg:"" help:"The folder."`
	Name   string `placeholder:"NAME" help:"Name of the vault. Default: the name of the folder."`
	Watch  bool   `help:"Follow the folder from now on, also after a restart."`
	DryRun bool   `help:"Show what would be imported, and change nothing."`
	All    bool   `help:"List every skipped file, not only the first few of each reason."`
}

func (importCmd) Help() string {
	return "Imports notes, their links, the entities that their frontmatter describes, and types from .ctxd/types. " +
		"Files that match .ctxdignore are skipped. Nothing is ever written into the folder. " +
		"When files have changed, import the folder again, or follow it with --watch: only changed files are read. " +
		"Ctrl-C stops an import between two notes; the next import continues from there."
}

func (importCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd import ~/Notes", "import a vault"},
		{"ctxd import ~/Notes --watch", "import a vault and follow changes"},
		{"ctxd import ~/Notes --dry-run", "show what would be imported and what would be skipped"},
		{"ctxd import ~/Old --name archive", "with another name"},
	}
}

func (c *importCmd) Run(a *app) error {
	dir, err := config.Folder(c.Dir)
	if err != nil {
		return err
	}
	return a.With(func(cl *client.Client) error {
		var res vault.ImportResult
		p := term.NewProgress(a.Err)
		err := cl.CallProgress(a.Ctx, "vault.import",
			protocol.VaultImport{Path: dir, Name: c.Name, DryRun: c.DryRun, Watch: c.Watch}, &res, p.Wire)
		p.Finish()
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		page.DrawImport(a.Out, "", &res)
		if res.Watching {
			a.Out.Say(term.Styled(term.Faint,
				"  followed from now on; ctxd vault unwatch "+term.ShellQuoted(res.Vault)+" ends that"))
		}
		rest := " more; --all lists them"
		if c.All {
			rest = ""
		}
		page.DrawSkipped(a.Out, "", res.Skipped, rest)
		return nil
	})
}
