package store

// This file and syncs_*.go are ctxd sync: one store on several machines. init begins a shared store on NATS servers,
// and join takes part in one; both talk to the servers themselves, with the settings store.sync.*, and need the daemon
// of the data folder to be stopped (join) or started again afterwards (init). status, machines, remove, leave,
// conflicts and resolve ask the daemon.
//
// Recovery words are read from a file or from standard input, never from the command line, where other programs could
// see them; init and remove print them once. Errors are those of the daemon and of entities/kv/shared.

import (
	"strconv"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// SyncOptions are what ctxd sync runs with.
type SyncOptions struct {
	*term.Streams
	*connect.Link
}

// SyncCommand is ctxd sync.
type SyncCommand struct {
	Init     beginSync     `cmd:"" help:"Begin a store that several machines share."`
	Join     joinSync      `cmd:"" help:"Take part in a shared store."`
	Status   syncStatus    `cmd:"" help:"Show how the shared store stands."`
	Machines listMachines  `cmd:"" help:"List the machines that take part."`
	Remove   removeMachine `cmd:"" help:"Take a machine out, which gets nothing new from then on."`
	Leave    leaveSync     `cmd:"" help:"Take this machine out. It keeps the records."`

	Conflicts listConflicts   `cmd:"" help:"List what was written without the other machines and could not be given to them."`
	Settle    resolveConflict `cmd:"" help:"End a conflict: leave what is there, or try once more."`
}

// Help is what --help says of the command.
func (SyncCommand) Help() string {
	return "Several machines have one store. Every daemon has all of it, and its writes are ordered by NATS servers that you run: " +
		"version 2.11 or later with JetStream, one, or three for a store that survives the loss of one. " +
		"What leaves a machine is encrypted; the servers see sizes and times."
}

// Examples are those of --help.
func (SyncCommand) Examples() []term.Example {
	return []term.Example{
		{"ctxd sync init nats://nas:4222 --single", "on the first machine"},
		{"ctxd sync join nats://nas:4222", "on the second, with the words that init has printed"},
		{"ctxd sync status", "what is here, what is there, who takes part"},
	}
}

// callSync calls a method of the daemon, whose result is an R.
func callSync[R any](a *SyncOptions, method string, params any) (out R, err error) {
	err = a.With(func(cl *client.Client) error { return cl.Call(a.Ctx, method, params, &out) })
	return out, err
}

type syncStatus struct{}

// Examples are those of --help.
func (syncStatus) Examples() []term.Example {
	return []term.Example{
		{"ctxd sync status", "what is here, what is there"},
		{"ctxd sync status --json | jq .behind", "for scripts"},
	}
}

// Run runs the command.
func (syncStatus) Run(a *SyncOptions) error {
	st, err := callSync[protocol.SyncStatus](a, "sync.status", protocol.Empty{})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(st)
	case !st.Shared:
		return drawAlone(a)
	}
	f := &term.Facts{Table: term.Table{Indent: 2}}
	where := "not connected"
	if st.Connected {
		where = "connected to " + st.Server
	}
	f.Addf("machine", "%d, %s", st.Machine, where)
	f.Addf("durability", "%s", durabilityInWords(st.Durability))
	behind := "everything is here"
	if st.Behind > 0 {
		behind = term.Count(st.Behind, "message") + " behind"
	}
	if st.Trouble != "" {
		behind = "what is on the servers is not known"
	}
	f.Addf("applied", "message %s; %s", term.Number(st.Applied), behind)
	machines := "not known"
	if len(st.Machines) > 0 {
		machines = term.Count(len(st.Machines), "machine")
	}
	f.Addf("machines", "%s; since the start %s of others applied, %s of writes run again", machines,
		term.Count(st.Foreign, "transaction"), term.Count(st.Reruns, "group"))
	s := st.Snapshot
	if s != nil {
		f.Addf("state", "%s on the servers for machines that join, of message %s, by machine %d, %s",
			term.Size(s.Bytes), term.Number(s.At), s.Machine, s.Made.Local().Format(time.DateTime))
	}
	drawQueue(f, st.Queue)
	f.Draw(a.Out)
	for _, w := range st.Warnings {
		a.Out.SayWhole(term.Styled(term.Warn, "  "+w))
	}
	if st.Compacting {
		a.Out.Say(term.Styled(term.Warn, "  what was deleted is still on the servers; it goes when they can be used"))
	}
	if st.Trouble != "" {
		a.Out.SayWhole(term.Styled(term.Bad, "  "+st.Trouble))
	}
	if st.Hint != "" {
		a.Out.SayWhole(term.Styled(term.Faint, "  Try: "+st.Hint))
	}
	return nil
}

// drawAlone is what there is to say of a daemon whose store is not shared.
func drawAlone(a *SyncOptions) error {
	conf, err := a.Load(config.Given{})
	if err != nil {
		return err
	}
	if shared.TakesPart(conf.Data) {
		a.Out.SayWhole(term.Text("The store takes part in a shared one when the daemon is started again."), term.Styled(term.Faint, "  ctxd stop; ctxd serve"))
		return nil
	}
	a.Out.SayWhole(term.Text("The store is this machine's alone."), term.Styled(term.Faint, "  ctxd sync init begins a shared one"))
	return nil
}

type listMachines struct{}

// Examples are those of --help.
func (listMachines) Examples() []term.Example {
	return []term.Example{
		{"ctxd sync machines", "an arrow marks this one"},
		{"ctxd sync machines --json | jq -r '.machines[].name'", "for scripts"},
	}
}

// Run runs the command.
func (listMachines) Run(a *SyncOptions) error {
	st, err := callSync[protocol.SyncStatus](a, "sync.status", protocol.Empty{})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(struct {
			Machines []protocol.SyncMachine `json:"machines"`
		}{append([]protocol.SyncMachine{}, st.Machines...)})
	}
	if !st.Shared {
		return drawAlone(a)
	}
	table := &term.Table{}
	for _, m := range st.Machines {
		mark := "  "
		if m.Self {
			mark = "→ "
		}
		table.Row(
			term.Line{term.Styled(term.Good, mark), term.Styled(term.Accent, strconv.Itoa(m.Machine))}, term.Line{term.Text(term.Clean(m.Name))},
			term.Line{term.Styled(term.Faint, "message "+term.Number(m.Applied)+", "+m.Seen.Local().Format(time.DateTime))},
		)
	}
	table.Draw(a.Out)
	if st.Trouble != "" {
		a.Out.SayWhole(term.Styled(term.Bad, st.Trouble))
	}
	if st.Hint != "" {
		a.Out.SayWhole(term.Styled(term.Faint, "Try: "+st.Hint))
	}
	return nil
}

type removeMachine struct {
	Machine int  `arg:"" help:"Number of the machine, as ctxd sync machines lists it."`
	Yes     bool `short:"y" help:"Do not ask for confirmation."`
}

// Help is what --help says of the command.
func (removeMachine) Help() string {
	return "Another key begins, which the machine does not get. It keeps what it has and gets nothing new. " +
		"The recovery words change: the new ones are printed, and the old ones are worth nothing. " +
		"Take the credentials of the machine away on the servers, too."
}

// Examples are those of --help.
func (removeMachine) Examples() []term.Example {
	return []term.Example{{"ctxd sync remove 3", "a laptop that was lost"}}
}

// Run runs the command.
func (c *removeMachine) Run(a *SyncOptions) error {
	if !c.Yes {
		err := a.Confirm(a.Ctx, "Remove machine "+strconv.Itoa(c.Machine)+"?", "ctxd sync remove "+strconv.Itoa(c.Machine)+" --yes", func(s *term.Screen) {
			s.Say(term.Text("The recovery words change; new ones are printed."))
		})
		if err != nil {
			return err
		}
	}
	got, err := callSync[protocol.SyncRemoved](a, "sync.remove", protocol.SyncRemove{Machine: c.Machine})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	}
	a.Out.Say(term.Styled(term.Good, "removed"), term.Text("  machine "+strconv.Itoa(c.Machine)))
	drawWords(a.Out, got.Words)
	return nil
}

type leaveSync struct {
	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

// Help is what --help says of the command.
func (leaveSync) Help() string {
	return "The machine keeps the records, and its store is its own when the daemon is started next, whatever store.sync.url says. " +
		"It leaves even if the servers can't be reached; the other machines then list it until one of them removes it. " +
		"What it knows of the keys is deleted; to make sure of that, have another machine remove it."
}

// Examples are those of --help.
func (leaveSync) Examples() []term.Example {
	return []term.Example{{"ctxd sync leave && ctxd stop", "the next start opens a store of this machine alone"}}
}

// Run runs the command.
func (c *leaveSync) Run(a *SyncOptions) error {
	if !c.Yes {
		err := a.Confirm(a.Ctx, "Leave the shared store?", "ctxd sync leave --yes", func(s *term.Screen) {
			s.Say(term.Text("This machine keeps its records and gets nothing new."))
		})
		if err != nil {
			return err
		}
	}
	got, err := callSync[protocol.SyncLeft](a, "sync.leave", protocol.Empty{})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	}
	a.Out.SayWhole(term.Styled(term.Good, "left"), term.Text("  the store is this machine's alone when the daemon is started again"), term.Styled(term.Faint, "  ctxd stop; ctxd serve"))
	if got.Untold != "" {
		a.Out.SayWhole(term.Styled(term.Warn, "  the others list it still: "+got.Untold))
		a.Out.SayWhole(term.Styled(term.Faint, "  Try: on another machine, ctxd sync remove "+strconv.Itoa(got.Machine)))
	}
	return nil
}
