package main

import (
	"strings"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type vaultCmd struct {
	List       vaultListCmd       `cmd:"" help:"The vaults that the daemon knows."`
	Status     vaultStatusCmd     `cmd:"" help:"How a vault stands, and everything of it that was not taken in."`
	Unresolved vaultUnresolvedCmd `cmd:"" help:"The wikilinks of a vault that lead nowhere, by target."`
	Unwatch    vaultUnwatchCmd    `cmd:"" help:"No longer follow the folder of a vault; its notes stay."`
	Forget     vaultForgetCmd     `cmd:"" help:"Remove a vault from the daemon with everything that came from it; its folder stays as it is."`
}

type vaultListCmd struct{}

func (vaultListCmd) Examples() []example {
	return []example{{"ctxd vault list", "name, counts, folder, and whether it is followed"}}
}

func (vaultListCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		var list protocol.VaultList
		if err := cl.Call(a.ctx, "vault.list", nil, &list); err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(list)
		}
		drawVaults(a.out, list.Vaults)
		return nil
	})
}

type vaultStatusCmd struct {
	Name string `arg:"" optional:"" help:"Name of the vault. Default: the only one."`
}

func (vaultStatusCmd) Examples() []example {
	return []example{{"ctxd vault status", "of the only vault"}, {"ctxd vault status Work --json", "for a program"}}
}

func (c *vaultStatusCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		st, err := vaultStatus(a, cl, c.Name)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(st)
		}
		drawVault(a.out, st)
		return nil
	})
}

func vaultStatus(a *app, cl *client.Client, name string) (*watch.Status, error) {
	var st watch.Status
	return &st, cl.Call(a.ctx, "vault.status", protocol.VaultMaybe{Vault: name}, &st)
}

// drawVault shows how a vault stands.
func drawVault(s *screen, st *watch.Status) {
	s.say(styled(accent, st.Vault), text("  "+st.Path))
	f := &facts{table{indent: 2}}
	f.addf("holds", "%s, %s (%s without a target), %s", count(st.Notes, "note"), count(st.Links, "wikilink"), number(st.Unresolved), count(st.MarkdownLinks, "Markdown link"))
	state := line{text("no; ctxd import --watch does")}
	if st.Watching {
		state = line{styled(good, "yes")}
	}
	f.row(line{styled(faint, "followed")}, state)
	agreed := line{text(ago(st.LastScanAt))}
	if st.Stale {
		agreed = append(agreed, styled(bad, "  stale"))
	}
	f.row(line{styled(faint, "agreed")}, agreed)
	var rest []watch.Skip
	for _, e := range st.Errors {
		if e.Path == "." {
			f.row(line{styled(faint, "note")}, line{styled(warn, e.Reason)})
		} else {
			rest = append(rest, e)
		}
	}
	f.draw(s)
	drawSkipped(s, "", rest, "")
}

type vaultUnresolvedCmd struct {
	Name  string    `arg:"" optional:"" help:"Name of the vault. Default: the only one."`
	Limit countFlag `short:"n" from:"1" to:"10000" default:"100" placeholder:"N" help:"Targets at most, the most frequent ones, 1 to 10000. Default: 100."`
}

func (vaultUnresolvedCmd) Examples() []example {
	return []example{
		{"ctxd vault unresolved", "which names are linked to, but are no note"},
		{"ctxd vault unresolved Work -n 10", "the ten most frequent"},
	}
}

func (c *vaultUnresolvedCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		var res protocol.Unresolved
		if err := cl.Call(a.ctx, "vault.unresolved", protocol.VaultUnresolved{Vault: c.Name, Limit: int(c.Limit)}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(res)
		}
		a.out.say(styled(accent, res.Vault), text("  "+count(res.Links, "link")+" without a target, "+count(res.Targets, "target")))
		if len(res.Unresolved) == 0 {
			return nil
		}
		t := &table{indent: 2, head: []string{"target", "links", "from"}, right: []int{1}}
		for _, u := range res.Unresolved {
			t.row(line{text(u.Target)}, line{text(number(u.Count))}, fromNotes(u))
		}
		t.draw(a.out)
		if n := res.Targets - len(res.Unresolved); n > 0 {
			a.out.say(styled(faint, "  "+number(n)+" more; --limit shows them"))
		}
		return nil
	})
}

// placesShown is how many of the notes are named that a target stands in.
const placesShown = 2

func fromNotes(u notes.Unresolved) line {
	var places []string
	for _, b := range u.From[:min(placesShown, len(u.From))] {
		places = append(places, firstOf(b.Path, b.Title)+":"+number(b.Line))
	}
	l := line{text(strings.Join(places, ", "))}
	if len(u.From) > placesShown {
		l = append(l, styled(faint, ", …"))
	}
	if len(u.Candidates) > 0 {
		l = append(l, styled(warn, "  could mean "+count(len(u.Candidates), "note")))
	}
	return l
}

type vaultUnwatchCmd struct {
	Name string `arg:"" help:"Name of the vault."`
}

func (vaultUnwatchCmd) Examples() []example {
	return []example{{"ctxd vault unwatch Work", "ctxd import ~/Work --watch follows it again"}}
}

func (c *vaultUnwatchCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		var st watch.Status
		if err := cl.Call(a.ctx, "vault.unwatch", protocol.VaultName{Vault: c.Name}, &st); err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(st)
		}
		a.out.say(styled(accent, st.Vault), text("  is no longer followed; its "+count(st.Notes, "note")+" stay"))
		return nil
	})
}

type vaultForgetCmd struct {
	Name string `arg:"" help:"Name of the vault."`
	Yes  bool   `short:"y" help:"Do it without asking."`
}

func (vaultForgetCmd) Help() string {
	return "Notes and entities of the vault go, from snapshots and kept states too; backups in other folders stay. " +
		"What others say of them, such as links, stays and leads nowhere."
}

func (vaultForgetCmd) Examples() []example {
	return []example{{"ctxd vault forget Work", "shows what would go, asks, and removes it"}, {"ctxd vault forget Work --yes", "in a script"}}
}

func (c *vaultForgetCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		st, err := vaultStatus(a, cl, c.Name)
		if err != nil {
			return err
		}
		if !c.Yes {
			err := a.confirm("Remove this vault from the daemon?", "ctxd vault forget "+quoted(c.Name)+" --yes", func(s *screen) { drawVault(s, st) })
			if err != nil {
				return err
			}
		}
		var res protocol.VaultForgotten
		p := newProgress(a.err)
		err = cl.CallProgress(a.ctx, "vault.forget", protocol.VaultName{Vault: c.Name}, &res, p.wire)
		p.finish()
		if err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(res)
		}
		a.out.say(styled(good, "forgotten"), text("  "), styled(accent, res.Vault), text("  "+count(res.Notes, "note")+"; the folder "), text(st.Path), text(" is as it was"))
		return nil
	})
}
