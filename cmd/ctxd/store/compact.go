package store

import (
	"strconv"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Compact is ctxd compact.
type Compact struct {
	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

// Help is what --help says of the command.
func (Compact) Help() string {
	return "What is deleted stays in older files of the store for a while. Afterwards nothing of it is left there: " +
		"the present state is written anew, and older states, journals and what restores have kept are removed. " +
		"A restore cannot be undone any more then. Backups elsewhere stay as they are. " +
		"Where the store is shared with other machines, it leaves the servers, too, and each of the others does the same when it reads of it. " +
		"A machine that is off and has not read everything until then has to join anew."
}

// Examples are those of --help.
func (Compact) Examples() []term.Example {
	return []term.Example{
		{"ctxd compact", "ask, and leave nothing of what was deleted"},
		{"ctxd compact --yes", "in a script"},
	}
}

// Run runs the command.
func (c *Compact) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		if !c.Yes {
			err := a.Confirm(a.Ctx, "Remove older states of the store for good?", "ctxd compact --yes", func(s *term.Screen) {
				s.Say(term.Text("What was deleted cannot be brought back then, and a restore cannot be undone."))
			})
			if err != nil {
				return err
			}
		}
		var out protocol.Compacted
		p := term.NewProgress(a.Err)
		err := cl.CallProgress(a.Ctx, "admin.compact", protocol.Empty{}, &out, p.Wire)
		p.Finish()
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.Out.JSON(out)
		}
		a.Out.Say(term.Styled(term.Good, "compacted"), term.Styled(term.Faint, "  "+term.Size(out.Freed)+" freed"))
		drawServers(a.Out, out.Shared)
		return nil
	})
}

// drawServers says what became of it beyond this machine.
func drawServers(s *term.Screen, c *protocol.SyncCompacted) {
	if c == nil {
		return
	}
	f := &term.Facts{Table: term.Table{Indent: 2}}
	if c.Done {
		f.Addf("servers", "the present state, and messages from %s on", term.Number(c.First))
	} else {
		f.Addf("servers", "not yet: %s. It is done when they can be used", c.Trouble)
	}
	for _, m := range c.Machines {
		state := "not yet; it compacts its files when it is on"
		if m.Compacted {
			state = "done"
		}
		if m.Copies {
			state += "; a copy of what it had before it joined anew goes with ctxd compact there"
		}
		f.Addf("machine "+strconv.Itoa(m.Machine), "%s: %s", m.Name, state)
	}
	f.Draw(s)
}
