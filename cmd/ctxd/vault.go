package main

import (
	"cmp"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type vaultCmd struct {
	List       vaultListCmd       `cmd:"" help:"List the vaults."`
	Status     vaultStatusCmd     `cmd:"" help:"Show the counts of a vault, and which files were skipped and why."`
	Unresolved vaultUnresolvedCmd `cmd:"" help:"List the links of a vault that lead nowhere, by target."`
	Problems   vaultProblemsCmd   `cmd:"" help:"List what is wrong in a vault, by kind, each problem with what mends it."`
	History    vaultHistoryCmd    `cmd:"" help:"List what ctxd has written into vaults, the latest first."`
	Undo       vaultUndoCmd       `cmd:"" help:"Take a write into a vault back."`
	Unwatch    vaultUnwatchCmd    `cmd:"" help:"Stop following the folder of a vault. Its notes stay."`
	Forget     vaultForgetCmd     `cmd:"" help:"Remove a vault and everything that came from it from the store. Its folder stays as it is."`
}

type vaultListCmd struct{ connect.Audience }

func (vaultListCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd vault list", "name, counts, folder, and whether it is followed"},
		{"ctxd vault list --audience remote", "counts of public notes only"},
	}
}

func (c *vaultListCmd) Run(a *app) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var list protocol.VaultList
		if err := cl.Call(a.Ctx, "vault.list", nil, &list); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(list)
		}
		inspect.DrawVaults(a.Out, list.Vaults)
		return nil
	})
}

type vaultStatusCmd struct {
	Name string `arg:"" optional:"" help:"Name of the vault. Default: the only one."`

	connect.Audience
}

func (vaultStatusCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd vault status", "the only vault"},
		{"ctxd vault status Work --json", "for a program"},
		{"ctxd vault status --audience remote", "without private notes"},
	}
}

func (c *vaultStatusCmd) Run(a *app) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		st, err := vaultStatus(a, cl, c.Name)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(st)
		}
		drawVault(a.Out, st)
		if st.Unresolved+st.UnresolvedRefs+len(st.Errors) > 0 {
			a.Out.Say()
			a.Out.Say(term.Styled(term.Faint, "ctxd vault problems "+term.ShellQuoted(st.Vault)+" lists where, and what mends it"))
		}
		return nil
	})
}

func vaultStatus(a *app, cl *client.Client, name string) (*vault.Status, error) {
	var st vault.Status
	return &st, cl.Call(a.Ctx, "vault.status", protocol.VaultMaybe{Vault: name}, &st)
}

// drawVault shows how a vault stands.
func drawVault(s *term.Screen, st *vault.Status) {
	s.Say(term.Styled(term.Accent, st.Vault), term.Text("  "+st.Path))
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("holds", "%s, %s (%s of Markdown, %s without a target), %s", term.Count(st.Notes, "note"),
		term.Count(st.Links, "link"), term.Number(st.MarkdownLinks), term.Number(st.Unresolved),
		term.Count(st.Attachments, "attachment"))
	if st.UnresolvedRefs > 0 {
		f.Addf("fields", "%s to no record", term.Count(st.UnresolvedRefs, "reference"))
	}
	state := term.Line{term.Text("no; ctxd import --watch follows it")}
	if st.Watching {
		state = term.Line{term.Styled(term.Good, "yes")}
	}
	f.Row(term.Line{term.Styled(term.Faint, "followed")}, state)
	scanned := term.Line{term.Text(term.Ago(st.LastScanAt))}
	if st.Stale {
		scanned = append(scanned, term.Styled(term.Bad, "  stale"))
	}
	f.Row(term.Line{term.Styled(term.Faint, "last read")}, scanned)
	var rest []vault.ImportSkip
	for _, e := range st.Errors {
		if e.Path == "." {
			f.Row(term.Line{term.Styled(term.Faint, "note")}, term.Line{term.Styled(term.Warn, e.Reason)})
		} else {
			rest = append(rest, e)
		}
	}
	f.Draw(s)
	page.DrawSkipped(s, "", rest, "")
}

type vaultUnresolvedCmd struct {
	Name  string         `arg:"" optional:"" help:"Name of the vault. Default: the only one."`
	Limit term.CountFlag `short:"n" from:"1" to:"10000" default:"100" placeholder:"N" help:"Maximum number of targets, the most frequent first, 1 to 10,000. Default: 100."`

	connect.Audience
}

func (vaultUnresolvedCmd) Help() string {
	return "Wikilinks and Markdown links count, to notes and to other files: pictures, PDF, canvases. Of Markdown links, " +
		"those count whose destination ends like a file of a vault, as [text](Plan.md) and ![](map.png). Addresses, and " +
		"paths that may be meant in another way, as [text](scripts/run), are not listed."
}

func (vaultUnresolvedCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd vault unresolved", "names and paths that are linked to and do not exist"},
		{"ctxd vault unresolved Work -n 10", "the ten most frequent"},
		{"ctxd vault unresolved --audience remote", "links in public notes, without names of private ones"},
	}
}

func (c *vaultUnresolvedCmd) Run(a *app) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var res protocol.Unresolved
		if err := cl.Call(a.Ctx, "vault.unresolved", protocol.VaultUnresolved{Vault: c.Name, Limit: int(c.Limit)},
			&res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		a.Out.Say(term.Styled(term.Accent, res.Vault),
			term.Text("  "+term.Count(res.Links, "link")+" without a target, "+term.Count(res.Targets, "target")))
		if len(res.Unresolved) == 0 {
			return nil
		}
		t := &term.Table{Indent: 2, Head: []string{"target", "links", "from"}, Right: []int{1}}
		for _, u := range res.Unresolved {
			t.Row(term.Line{term.Text(u.Target)}, term.Line{term.Text(term.Number(u.Count))}, fromNotes(u))
		}
		t.Draw(a.Out)
		if n := res.Targets - len(res.Unresolved); n > 0 {
			a.Out.Say(term.Styled(term.Faint, "  "+term.Number(n)+" more; --limit shows them"))
		}
		return nil
	})
}

// placesShown is how many of the notes are named that a target stands in.
const placesShown = 2

func fromNotes(u notes.Unresolved) term.Line {
	var places []string
	for _, b := range u.From[:min(placesShown, len(u.From))] {
		places = append(places, cmp.Or(b.Path, b.Title)+":"+term.Number(b.Line))
	}
	l := term.Line{term.Text(strings.Join(places, ", "))}
	if len(u.From) > placesShown {
		l = append(l, term.Styled(term.Faint, ", …"))
	}
	if len(u.Candidates) > 0 {
		l = append(l, term.Styled(term.Warn, "  could mean "+term.Count(len(u.Candidates), "note")))
	}
	return l
}

type vaultUnwatchCmd struct {
	Name string `arg:"" help:"Name of the vault."`
}

func (vaultUnwatchCmd) Examples() []term.Example {
	return []term.Example{{"ctxd vault unwatch Work", "ctxd import ~/Work --watch follows it again"}}
}

func (c *vaultUnwatchCmd) Run(a *app) error {
	return a.With(func(cl *client.Client) error {
		var st vault.Status
		if err := cl.Call(a.Ctx, "vault.unwatch", protocol.VaultName{Vault: c.Name}, &st); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(st)
		}
		a.Out.Say(term.Styled(term.Accent, st.Vault),
			term.Text("  is no longer followed; its "+term.Count(st.Notes, "note")+" stay"))
		return nil
	})
}

type vaultForgetCmd struct {
	Name   string `arg:"" help:"Name of the vault."`
	DryRun bool   `help:"Show what would be removed, and change nothing."`
	Yes    bool   `short:"y" help:"Do not ask for confirmation."`
}

func (vaultForgetCmd) Help() string {
	return "The notes and entities of the vault are removed from the store, from its snapshots and from copies in its " +
		"folder; " +
		"backups in other folders stay. One of those copies may be the one that undoes the last restore: " +
		"each is named before it is deleted. Links from other notes stay, and lead nowhere."
}

func (vaultForgetCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd vault forget Work", "show what would be removed, ask, and remove it"},
		{"ctxd vault forget Work --dry-run", "only show what would be removed"},
		{"ctxd vault forget Work --yes", "in a script"},
	}
}

func (c *vaultForgetCmd) Run(a *app) error {
	return a.With(func(cl *client.Client) error {
		st, err := vaultStatus(a, cl, c.Name)
		if err != nil {
			return err
		}
		var plan protocol.VaultForgotten
		err = cl.Call(a.Ctx, "vault.forget", protocol.VaultForget{Vault: c.Name, DryRun: true}, &plan)
		switch {
		case err != nil:
			return err
		case c.DryRun && a.JSON:
			return a.Out.JSON(plan)
		case c.DryRun:
			drawForget(a.Out, st, &plan)
			return nil
		case !c.Yes:
			err := a.Confirm(a.Ctx, "Remove this vault from the daemon?",
				"ctxd vault forget "+term.ShellQuoted(c.Name)+" --yes",
				func(s *term.Screen) { drawForget(s, st, &plan) })
			if err != nil {
				return err
			}
		}
		var res protocol.VaultForgotten
		p := term.NewProgress(a.Err)
		err = cl.CallProgress(a.Ctx, "vault.forget", protocol.VaultForget{Vault: c.Name}, &res, p.Wire)
		p.Finish()
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		a.Out.Say(term.Styled(term.Good, "forgotten"), term.Text("  "), term.Styled(term.Accent, res.Vault),
			term.Text("  "+term.Count(res.Notes, "note")+"; the folder "), term.Text(st.Path),
			term.Text(" is as it was"))
		drawCopies(a.Out, "deleted", res.Copies)
		return nil
	})
}

// drawForget shows what goes with a vault.
func drawForget(s *term.Screen, st *vault.Status, plan *protocol.VaultForgotten) {
	drawVault(s, st)
	drawCopies(s, "also deleted", plan.Copies)
}

// drawCopies shows the files with former states of the store that go with a vault.
func drawCopies(s *term.Screen, label string, copies []string) {
	for _, file := range copies {
		s.SayWhole(term.Labelled(label), term.Text(file))
	}
}
