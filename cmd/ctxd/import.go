package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/notes/watch"
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

func (importCmd) Examples() []command.Example {
	return []command.Example{
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
		var res watch.Result
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
		drawImport(a.Out, "", &res)
		if res.Watching {
			a.Out.Say(term.Styled(term.Faint,
				"  followed from now on; ctxd vault unwatch "+command.Quoted(res.Vault)+" ends that"))
		}
		rest := " more; --all lists them"
		if c.All {
			rest = ""
		}
		drawSkipped(a.Out, "", res.Skipped, rest)
		return nil
	})
}

// drawImport shows the counts of an import.
func drawImport(s *term.Screen, indent string, r *watch.Result) {
	head := term.Line{
		term.Text(indent), term.Styled(term.Strong, r.Vault),
		term.Styled(term.Faint, "  in "+term.Millis(float64(r.Ms))),
	}
	if r.DryRun {
		head = append(head, term.Styled(term.Warn, "  dry run: nothing was changed"))
	}
	s.Say(head...)
	t := &term.Table{Indent: len(indent) + 2, Right: []int{0}}
	add := func(n int, what, more string) {
		t.Row(term.Line{term.Styled(term.Strong, term.Number(n))},
			term.Line{term.Text(what), term.Styled(term.Faint, more)})
	}
	add(r.Notes, "notes", "  "+term.Number(r.Written)+" new or changed, "+term.Number(r.Removed)+" removed")
	more := ""
	if len(r.Inferred) > 0 {
		more = "  types made from frontmatter: " + strings.Join(r.Inferred, ", ")
	}
	add(r.Entities, "entities", more)
	add(r.Links, "links", "  "+term.Number(r.Unresolved)+" without a target")
	t.Draw(s)
}

// skippedShown is how many of the files that share a kind of reason are listed.
const skippedShown = 3

// drawSkipped shows what an import left out by kind of reason, the most
// frequent first: the reasons begin with their kind and a colon. rest says what
// follows the number of those that are not listed; without it all are.
func drawSkipped(s *term.Screen, indent string, skipped []watch.Skip, rest string) {
	if len(skipped) == 0 {
		return
	}
	groups := make(map[string][]watch.Skip)
	var order []string
	for _, sk := range skipped {
		kind, detail, _ := strings.Cut(sk.Reason, ": ")
		if groups[kind] == nil {
			order = append(order, kind)
		}
		groups[kind] = append(groups[kind], watch.Skip{Path: sk.Path, Reason: detail})
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	s.Say()
	s.Say(term.Text(indent), term.Styled(term.Strong, "Skipped, or read in part"))
	for _, kind := range order {
		list := groups[kind]
		s.Say(term.Text(indent+"  "), term.Styled(term.Warn, kind),
			term.Styled(term.Faint, "  "+term.Number(len(list))))
		shown := list
		if rest != "" {
			shown = list[:min(skippedShown, len(list))]
		}
		t := &term.Table{Indent: len(indent) + 4}
		for _, sk := range shown {
			t.Row(term.Line{term.Text(sk.Path)}, term.Line{term.Styled(term.Faint, sk.Reason)})
		}
		t.Draw(s)
		if n := len(list) - len(shown); n > 0 {
			s.Say(term.Styled(term.Faint, indent+"    "+term.Number(n)+rest))
		}
	}
}
