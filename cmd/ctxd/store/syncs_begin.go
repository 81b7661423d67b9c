package store

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// storeFlags are those of init and join: where the shared store lies, and what this machine is in it.
type storeFlags struct {
	URL        string `arg:"" optional:"" help:"Address of the NATS servers, several separated by commas. Default: the setting store.sync.url."`
	Data       string `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	Name       string `help:"What this machine is called, in the list of machines and as the source of memories. Default: its host name."`
	Synced     bool   `help:"Say that all servers have sync_interval: always, which they do not tell by themselves."`
	AcceptLoss bool   `help:"Take servers that say that they acknowledge a write before it is on their disks: a power cut of all of them loses it."`
}

// load returns the settings, with the address that was given.
func (f *storeFlags) load(a *SyncOptions) (*config.Config, nats.Servers, error) {
	conf, err := a.Load(config.Given{"data": term.NonEmpty(f.Data), "store.sync.url": term.NonEmpty(f.URL)})
	if err != nil {
		return nil, nats.Servers{}, err
	}
	if conf.Store.Sync.URL == "" {
		return nil, nats.Servers{}, fault.New(fault.Invalid, "no servers are named").
			WithHint("give their address, or set store.sync.url")
	}
	servers, err := conf.Store.Sync.Servers()
	if f.Name == "" {
		host, _ := os.Hostname() // "" where it has none
		f.Name = cmp.Or(host, "machine")
	}
	return conf, servers, err
}

type beginSync struct {
	storeFlags
	Single bool `help:"Accept a single server. What it loses is on the machines alone."`
	Again  bool `help:"Begin another store in the place of the one that this machine takes part in, with the records that are here. The daemon must not run."`
}

// Help is what --help says of the command.
func (beginSync) Help() string {
	return "Makes a shared store on the servers. It begins with what is in the store of this machine when its daemon is started next. " +
		"Prints 24 recovery words: whoever has them and can reach the servers can read everything, and without them or a machine that takes part nothing can be read. Write them down; they are not shown again."
}

// Examples are those of --help.
func (beginSync) Examples() []term.Example {
	return []term.Example{
		{"ctxd sync init nats://nas:4222 --single", "one server at home"},
		{"ctxd sync init nats://a:4222,nats://b:4222,nats://c:4222 --synced", "three servers that write before they acknowledge"},
		{"ctxd sync init --again --single", "after the server has lost what it kept; the other machines join again"},
	}
}

// syncBegun is the result of ctxd sync init.
type syncBegun struct {
	Machine uint32        `json:"machine"`
	Words   string        `json:"words"`
	Cluster *nats.Cluster `json:"cluster"`
}

// Run runs the command.
func (c *beginSync) Run(a *SyncOptions) error {
	conf, servers, err := c.load(a)
	if err != nil {
		return err
	}
	id, cluster, err := shared.Begin(a.Ctx, shared.BeginOptions{
		Servers: servers, Dir: conf.Data, Name: c.Name, Synced: c.Synced, Single: c.Single, AcceptLoss: c.AcceptLoss,
		Again: c.Again, Store: daemon.JoinOptions(conf.Store),
	})
	if err != nil {
		return withOwner(conf.Data, err)
	}
	if a.JSON {
		return a.Out.JSON(syncBegun{id.Machine(), id.Words(), cluster})
	}
	a.Out.Say(term.Styled(term.Good, "begun"), term.Text("  this is machine 1"))
	drawCluster(a.Out, cluster)
	drawWords(a.Out, id.Words())
	err = c.drawNext(a)
	if err != nil {
		return err
	}
	a.Out.SayWhole(term.Styled(term.Faint, "When it runs, each other machine joins with these words: ctxd sync join "+servers.URL))
	return nil
}

// withOwner is err, with the process that has the store open where that is why a command failed.
func withOwner(dir string, err error) error {
	var opening *shared.OpenError
	if errors.As(err, &opening) {
		return daemon.OwnerOf(dir, err)
	}
	return err
}

// drawWords shows recovery words, six a line.
func drawWords(s *term.Screen, words string) {
	s.Say()
	s.Say(term.Text("Recovery words. Write them down; they are not shown again:"))
	list := strings.Fields(words)
	const row = 6
	for len(list) > 0 {
		n := min(row, len(list))
		s.Say(term.Styled(term.Accent, "  "+strings.Join(list[:n], " ")))
		list = list[n:]
	}
}

// drawNext says what is left to do.
func (f *storeFlags) drawNext(a *SyncOptions) error {
	conf, err := a.Load(config.Given{"data": term.NonEmpty(f.Data)})
	if err != nil {
		return err
	}
	next := "Start the daemon now: ctxd serve."
	if f.URL != "" && f.URL != conf.Store.Sync.URL {
		next = "Set store.sync.url to " + f.URL + " in the configuration. Then start the daemon: ctxd serve."
	}
	next += " If one runs, stop it first: ctxd stop."
	a.Out.Say()
	a.Out.SayWhole(term.Styled(term.Faint, next))
	return nil
}

// drawCluster shows what the servers are worth.
func drawCluster(s *term.Screen, c *nats.Cluster) {
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("servers", "version %s, %s", c.Version, term.Count(c.Replicas, "copy"))
	f.Addf("durability", "%s", durabilityInWords(string(c.Durability)))
	f.Draw(s)
	for _, w := range c.Warnings {
		s.SayWhole(term.Styled(term.Warn, "  "+w))
	}
}

// durabilityInWords says what a durability is worth.
func durabilityInWords(durability string) string {
	switch durability {
	case string(nats.DurabilityQuorumSynced):
		return durability + ": a write is on the disks of most servers before it is acknowledged"
	case string(nats.DurabilityQuorum):
		return durability + ": a write is on most servers before it is acknowledged, and on their disks soon after"
	case string(nats.DurabilitySingle):
		return durability + ": a write is on one server before it is acknowledged; what that loses is on the machines alone"
	}
	return "not known yet"
}

type joinSync struct {
	storeFlags
	Words string `default:"-" placeholder:"FILE" help:"File of the recovery words; - for standard input."`
	Again bool   `help:"Replace what the store of this machine has. A backup of it is kept."`
}

// Help is what --help says of the command.
func (joinSync) Help() string {
	return "Takes part in the shared store whose recovery words you give, and takes its newest state. " +
		"The daemon of the folder must not run, and its store must be empty unless --again is given. " +
		"A join that was interrupted goes on where it was."
}

// Examples are those of --help.
func (joinSync) Examples() []term.Example {
	return []term.Example{
		{"ctxd sync join nats://nas:4222", "type or paste the words, and end with Ctrl-D"},
		{"ctxd sync join nats://nas:4222 --words words.txt", "from a file that only you can read"},
		{"ctxd sync join --again --words words.txt", "after this machine was removed, or away for too long"},
	}
}

// syncJoined is the result of ctxd sync join.
type syncJoined struct {
	Machine uint32        `json:"machine"`
	Name    string        `json:"name"`
	Bytes   int64         `json:"bytes"`
	Kept    string        `json:"kept,omitempty"` // backup of what was there before
	Cluster *nats.Cluster `json:"cluster"`
}

// Run runs the command.
func (c *joinSync) Run(a *SyncOptions) error {
	conf, servers, err := c.load(a)
	if err != nil {
		return err
	}
	text, err := a.Input(a.Streams, c.Words, "recovery words")
	if err != nil {
		return err
	}
	secret, err := nats.ParseSecret(string(text))
	if err != nil {
		return err
	}
	p := term.NewProgress(a.Err)
	got, err := shared.Join(a.Ctx, shared.JoinOptions{
		Servers: servers, Dir: conf.Data, Secret: secret, Name: c.Name, Synced: c.Synced, AcceptLoss: c.AcceptLoss, Again: c.Again,
		Store: daemon.JoinOptions(conf.Store), Logger: slog.New(slog.DiscardHandler),
		Progress: p.Share("taking the state"),
	})
	p.Finish()
	if err != nil {
		return withOwner(conf.Data, err)
	}
	if a.JSON {
		return a.Out.JSON(syncJoined{got.Machine, got.Name, got.Bytes, got.Kept, got.Cluster})
	}
	what := fmt.Sprintf("  this is machine %d, %s, %s taken", got.Machine, got.Name, term.Size(got.Bytes))
	a.Out.Say(term.Styled(term.Good, "joined"), term.Text(what))
	if got.Kept != "" {
		a.Out.SayWhole(term.Text("  what was here before: " + got.Kept))
	}
	drawCluster(a.Out, got.Cluster)
	return c.drawNext(a)
}
