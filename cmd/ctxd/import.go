package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type importCmd struct {
	Dir    string `arg:"" help:"The folder."`
	Name   string `placeholder:"NAME" help:"Name of the vault. Default: that of the folder."`
	Watch  bool   `help:"Have the daemon follow the folder from then on, after a restart too."`
	DryRun bool   `help:"Count and report, change nothing."`
	All    bool   `help:"List every skipped file, not only the first of each kind of reason."`
}

func (importCmd) Help() string {
	return "Notes, wikilinks, and entities from frontmatter with a type are taken in; types from .ctxd/types. " +
		"Files that .ctxdignore names are left out. Nothing is ever written into the folder. " +
		"Import it again when files have changed, or have the daemon follow it with --watch: only what changed is read anew. " +
		"Ctrl-C ends an import between two notes; the next one goes on from there."
}

func (importCmd) Examples() []example {
	return []example{
		{"ctxd import ~/Notes", "read a vault"},
		{"ctxd import ~/Notes --watch", "and have changes on the disk appear from now on"},
		{"ctxd import ~/Notes --dry-run", "see what would be taken in and what would not"},
		{"ctxd import ~/Old --name archive", "under a name of its own"},
	}
}

func (c *importCmd) Run(a *app) error {
	dir, err := folder(c.Dir)
	if err != nil {
		return err
	}
	return a.with(func(cl *client.Client) error {
		var res watch.Result
		p := newProgress(a.err)
		err := cl.CallProgress(a.ctx, "vault.import", protocol.VaultImport{Path: dir, Name: c.Name, DryRun: c.DryRun, Watch: c.Watch}, &res, p.wire)
		p.finish()
		if err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(res)
		}
		drawImport(a.out, "", &res)
		if res.Watching {
			a.out.say(styled(faint, "  followed from now on; ctxd vault unwatch "+quoted(res.Vault)+" ends that"))
		}
		rest := " more; --all lists them"
		if c.All {
			rest = ""
		}
		drawSkipped(a.out, "", res.Skipped, rest)
		return nil
	})
}

// drawImport shows the counts of an import.
func drawImport(s *screen, indent string, r *watch.Result) {
	head := line{text(indent), styled(strong, r.Vault), styled(faint, "  in "+millis(float64(r.Ms)))}
	if r.DryRun {
		head = append(head, styled(warn, "  dry run: nothing was changed"))
	}
	s.say(head...)
	t := &table{indent: len(indent) + 2, right: []int{0}}
	add := func(n int, what, more string) {
		t.row(line{styled(strong, number(n))}, line{text(what), styled(faint, more)})
	}
	add(r.Notes, "notes", "  "+number(r.Written)+" new or changed, "+number(r.Removed)+" removed")
	more := ""
	if len(r.Inferred) > 0 {
		more = "  types made from frontmatter: " + strings.Join(r.Inferred, ", ")
	}
	add(r.Entities, "entities", more)
	add(r.Links, "links", "  "+number(r.Unresolved)+" without a target")
	t.draw(s)
}

// skippedShown is how many of the files that share a kind of reason are listed.
const skippedShown = 3

// drawSkipped shows what an import left out by kind of reason, the most
// frequent first: the reasons begin with their kind and a colon. rest says what
// follows the number of those that are not listed; without it all are.
func drawSkipped(s *screen, indent string, skipped []watch.Skip, rest string) {
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
	s.say()
	s.say(text(indent), styled(strong, "Not taken in, or not whole"))
	for _, kind := range order {
		list := groups[kind]
		s.say(text(indent+"  "), styled(warn, kind), styled(faint, "  "+number(len(list))))
		shown := list
		if rest != "" {
			shown = list[:min(skippedShown, len(list))]
		}
		t := &table{indent: len(indent) + 4}
		for _, sk := range shown {
			t.row(line{text(sk.Path)}, line{styled(faint, sk.Reason)})
		}
		t.draw(s)
		if n := len(list) - len(shown); n > 0 {
			s.say(styled(faint, indent+"    "+number(n)+rest))
		}
	}
}
