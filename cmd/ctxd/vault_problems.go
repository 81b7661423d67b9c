package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type vaultProblemsCmd struct {
	Name  string         `arg:"" optional:"" help:"Name of the vault. Default: the only one."`
	Vault string         `placeholder:"VAULT" help:"The same: name of the vault."`
	Kind  []string       `placeholder:"KIND,…" help:"Only problems of these kinds, such as link.unresolved."`
	Limit term.CountFlag `short:"n" from:"1" placeholder:"N" help:"Maximum number of problems of each kind. Default: 20; all with --kind or --json."`

	HTML  string `name:"html" placeholder:"FILE" help:"Write the problems to this file as a page for a browser. It needs no network, and only you can read it."`
	Force bool   `help:"Replace the file if it exists."`

	connect.Audience
}

func (vaultProblemsCmd) Help() string {
	var kinds []string
	for _, k := range record.ProblemKinds {
		kinds = append(kinds, string(k.Kind))
	}
	return "Each problem stands behind its file and line, which terminals and editors open, and above what mends it. Nothing is " +
		"changed. ctxd vault status counts what is listed here. The exit status is 0 whatever is found; --json has the counts. " +
		"The kinds are " + strings.Join(kinds, ", ") + "."
}

func (vaultProblemsCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd vault problems", "what is wrong, by kind, each with what mends it"},
		{"ctxd vault problems Work --kind link.unresolved,link.heading", "all broken links of a vault"},
		{"ctxd vault problems --html problems.html -n 500", "a page for a browser"},
		{"ctxd vault problems --json", "for a program: all of them, and how many there are of each kind"},
		{"ctxd vault problems --audience remote", "those of public notes"},
	}
}

// problemsShown is how many problems of a kind are shown where nothing else is asked for.
const problemsShown = 20

func (c *vaultProblemsCmd) Run(a *app) error {
	if c.Force && c.HTML == "" {
		return term.Misuse("--force replaces the file of --html", "ctxd vault problems --html FILE --force")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		ask := protocol.VaultProblems{Vault: cmp.Or(c.Name, c.Vault)}
		for _, kind := range c.Kind {
			ask.Kinds = append(ask.Kinds, record.ProblemKind(kind))
		}
		limit := int(c.Limit)
		if limit == 0 && len(c.Kind) == 0 && !a.JSON {
			limit = problemsShown
		}
		ask.Limit = 1
		var res protocol.VaultProblemPage
		if err := cl.Call(a.Ctx, "vault.problems", ask, &res); err != nil {
			return err
		}
		found, err := c.read(a, cl, ask, res.Counts, limit)
		if err != nil {
			return err
		}
		if c.HTML != "" {
			if err := c.writePage(a, &res, found); err != nil || !a.JSON {
				return err
			}
		}
		if a.JSON {
			res.Problems, res.NextCursor = found, ""
			return a.Out.JSON(res)
		}
		drawProblems(a.Out, &res, found)
		return nil
	})
}

// writePage writes the page of --html and says so.
func (c *vaultProblemsCmd) writePage(a *app, res *protocol.VaultProblemPage, found []record.VaultProblem) error {
	doc, err := page.RenderProblems(&page.ProblemsDocument{Page: res, Found: found, Remote: c.Remote(), Made: time.Now()})
	if err != nil {
		return err
	}
	if err := term.WriteDocument(c.HTML, c.Force, doc); err != nil {
		return err
	}
	if !a.JSON { // which prints one document
		a.Out.Say(term.Styled(term.Good, "written"), term.Text("  "), term.Styled(term.Strong, c.HTML),
			term.Styled(term.Faint, "  "+term.Count(len(found), "problem")))
	}
	return nil
}

// maxPage is the most problems that one call gives.
const maxPage = 1000

// read returns the problems of the kinds that are there, of each at most limit; 0: all.
func (c *vaultProblemsCmd) read(a *app, cl *client.Client, ask protocol.VaultProblems, counts map[record.ProblemKind]int,
	limit int,
) (found []record.VaultProblem, err error) {
	found = []record.VaultProblem{}
	of := ask.Kinds
	for _, k := range record.ProblemKinds {
		if counts[k.Kind] == 0 || len(of) > 0 && !slices.Contains(of, k.Kind) {
			continue
		}
		ask.Kinds, ask.Cursor = []record.ProblemKind{k.Kind}, ""
		for left := cmp.Or(limit, counts[k.Kind]); left > 0; {
			ask.Limit = min(left, maxPage)
			var page protocol.VaultProblemPage
			if err := cl.Call(a.Ctx, "vault.problems", ask, &page); err != nil {
				return nil, err
			}
			found, left, ask.Cursor = append(found, page.Problems...), left-len(page.Problems), page.NextCursor
			if ask.Cursor == "" {
				break
			}
		}
	}
	return found, nil
}

// drawProblems shows problems by kind.
func drawProblems(s *term.Screen, res *protocol.VaultProblemPage, found []record.VaultProblem) {
	s.Say(term.Styled(term.Accent, res.Vault), term.Text("  "+term.Count(res.Total, "problem")))
	here, _ := os.Getwd() // "": paths are absolute
	for _, k := range record.ProblemKinds {
		shown := 0
		for i := range found {
			if found[i].Kind != k.Kind {
				continue
			}
			if shown == 0 {
				s.Say()
				s.Say(term.Styled(term.Strong, k.Title), term.Styled(term.Faint, "  "+string(k.Kind)+"  "+term.Number(res.Counts[k.Kind])))
			}
			drawProblem(s, res.Folder, here, &found[i])
			shown++
		}
		if n := res.Counts[k.Kind] - shown; shown > 0 && n > 0 {
			s.Say(term.Styled(term.Faint, "  "+term.Number(n)+" more: ctxd vault problems "+term.ShellQuoted(res.Vault)+" --kind "+string(k.Kind)))
		}
	}
}

func drawProblem(s *term.Screen, folder, here string, p *record.VaultProblem) {
	file := filepath.Join(folder, filepath.FromSlash(p.Path))
	if short, err := filepath.Rel(here, file); here != "" && err == nil && filepath.IsLocal(short) && short != "." {
		file = short
	}
	if p.Line > 0 {
		file += ":" + strconv.Itoa(p.Line)
	}
	s.SayWhole(term.Text("  "), term.Styled(term.Accent, file))
	s.Say(term.Text("    "), term.Styled(term.Warn, p.What))
	s.Say(term.Text("    "), term.Styled(term.Faint, p.Fix))
	if p.Diff == "" {
		return
	}
	for _, line := range strings.Split(strings.TrimSuffix(p.Diff, "\n"), "\n")[2:] { // without the names of the files
		s.Say(term.Text("      "), term.Styled(term.Faint, line))
	}
}
