package demo

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Options are what the command runs with.
type Options struct {
	*term.Streams
	*connect.Link
}

// Command is ctxd demo.
type Command struct {
	Keep   bool `help:"Keep the daemon running afterwards, until Ctrl-C." xor:"keep"`
	Shared bool `help:"Show two daemons that share a store over a NATS server. The server is the one in $$PATH, or Go fetches it." xor:"keep"`
}

// Help is what --help says of the command.
func (Command) Help() string {
	return "Starts a daemon with its own store and socket in a temporary folder, copies the sample vault there, and " +
		"makes the calls of a note app over the socket: " +
		"import, remember, complete, query, search, recall, refer, assemble. " +
		"Prints the prompt that a model would get, and the report that explains it. " +
		"Everything is removed at the end."
}

// Examples are what --help shows of the command.
func (Command) Examples() []term.Example {
	return []term.Example{
		{"ctxd demo", "the main job"},
		{"ctxd demo --json | jq .context.report.dropped", "for scripts"},
		{"ctxd demo --keep", "then look around with the other commands"},
		{"ctxd demo --shared", "a memory of one machine in the prompt of another, also after one was cut off"},
	}
}

// The job of the demo.
const (
	notePrefix   = "Pro"
	entityPrefix = "Al"
	mentioned    = "Alice"
	team         = "Engineering"
	listField    = "reports"   // of the entity, computed: a list
	valueField   = "headcount" // of the team, computed: a number
	searched     = "rooftop drift"
	question     = "@Alice what did we decide in [[Project Alpha Kickoff]]?"
	foundNotes   = 2 // notes to add by search
)

// demonstration is what the demo did: the document of --json.
type demonstration struct {
	Daemon   protocol.ServerInfo    `json:"daemon"`
	Steps    []step                 `json:"steps"`
	Import   vault.ImportResult     `json:"import"`
	Memories []protocol.MemoryAdded `json:"memories"`
	Notes    protocol.NoteItems     `json:"notes"`
	Entities protocol.EntityItems   `json:"entities"`
	Computed []computed             `json:"computed"`
	Search   protocol.SearchResult  `json:"search"`
	Recalled []recalled             `json:"recalled"`
	Referred referred               `json:"referred"`
	Read     read                   `json:"read"`
	Context  prompt.Result          `json:"context"`
	TotalMS  float64                `json:"totalMs"`
}

// step is one call over the socket and how long the client waited for it.
type step struct {
	Method string  `json:"method"`
	MS     float64 `json:"ms"`
}

// recalled is what the memories answer to a question.
type recalled struct {
	Question string               `json:"question"`
	Found    protocol.MemoryFound `json:"found"`
}

// computed is the value of a computed field.
type computed struct {
	Entity string             `json:"entity"`
	Field  string             `json:"field"`
	Query  string             `json:"query"`
	Result protocol.WQLResult `json:"result"`
}

// Run runs the command.
func (c *Command) Run(a *Options) (err error) {
	// Whoever reads only the beginning, as head does, must not end the process
	// before everything is removed.
	signal.Ignore(syscall.SIGPIPE)
	started := time.Now()
	dir, err := os.MkdirTemp("", "ctxd-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if c.Shared {
		return c.runShared(a, dir)
	}
	vault := filepath.Join(dir, "vault")
	if err := fixtures.CopyVault(vault); err != nil {
		return err
	}
	d, err := daemon.Start(daemon.Options{
		Socket: socket(dir), Data: filepath.Join(dir, "data"),
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if err := d.Load(a.Ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	cl, err := client.Dial(a.Ctx, d.Listener.Path(), client.Options{Name: "ctxd-demo", Version: term.ProgramVersion()})
	if err != nil {
		return err
	}
	defer func() { _ = cl.Close() }() // the daemon ends with it

	j := &job{ctx: a.Ctx, client: cl, vault: vault, started: started}
	if !a.JSON {
		j.show = &drawing{screen: a.Out, progress: a.Err}
	}
	if err := j.run(); err != nil {
		return err
	}
	if a.JSON {
		err = a.Out.JSON(j.did)
	}
	if c.Keep && err == nil {
		return c.keep(a, d)
	}
	return err
}

// keep leaves the daemon to the user until it is interrupted or stopped.
func (c *Command) keep(a *Options, d *daemon.Daemon) error {
	a.Err.Say()
	a.Err.Say(term.Text("The daemon keeps running. In another terminal:"))
	a.Err.Say(term.Text("  export CTXD_SOCKET=" + term.ShellQuoted(d.Listener.Path())))
	a.Err.Say(term.Text("  ctxd inspect status"))
	a.Err.Say(term.Styled(term.Faint, "Ctrl-C stops it and removes everything."))
	if err := a.Out.Flush(); err != nil {
		return err
	}
	select {
	case <-a.Ctx.Done():
	case <-d.Stopped:
	}
	return nil
}

// socket returns a socket that only this demo has.
func socket(dir string) string {
	if runtime.GOOS == "windows" {
		return `\\.\pipe\` + filepath.Base(dir)
	}
	return filepath.Join(dir, "ctxd.sock")
}

// job makes the calls of a note app, one after the other, and remembers
// what came of them.
type job struct {
	ctx     context.Context
	client  *client.Client
	vault   string
	started time.Time
	did     demonstration
	show    *drawing // nil: nothing is drawn
}

func (j *job) run() error {
	j.did.Daemon = j.client.Server().ServerInfo
	j.show.begin(j.client.Server(), time.Since(j.started))
	for _, does := range []func() error{
		j.imports, j.remembers, j.completesNotes, j.completesEntities, j.computes, j.searches, j.recalls, j.completesHandles,
		j.refers, j.reads, j.asks, j.assembles,
	} {
		if err := does(); err != nil {
			return err
		}
	}
	j.did.TotalMS = float64(time.Since(j.started).Microseconds()) / 1000
	j.show.end(&j.did)
	return nil
}

// call makes one call and notes how long it took.
func (j *job) call(method string, params, result any, progress func(protocol.Progress)) error {
	sent := time.Now()
	if err := j.client.CallProgress(j.ctx, method, params, result, progress); err != nil {
		return err
	}
	j.did.Steps = append(j.did.Steps, step{method, float64(time.Since(sent).Microseconds()) / 1000})
	return nil
}

func (j *job) imports() error {
	p := j.show.progressBar()
	err := j.call("vault.import", protocol.VaultImport{Path: j.vault}, &j.did.Import, p.Wire)
	p.Finish()
	if err == nil {
		j.show.imported(j.last(), &j.did.Import)
	}
	return err
}

func (j *job) completesNotes() error {
	err := j.call("notes.complete", protocol.NoteComplete{Prefix: notePrefix}, &j.did.Notes, nil)
	if err == nil {
		j.show.notes(j.last(), j.did.Notes.Items)
	}
	return err
}

func (j *job) completesEntities() error {
	err := j.call("entities.complete", protocol.EntityComplete{Prefix: entityPrefix}, &j.did.Entities, nil)
	if err == nil {
		j.show.entities(j.last(), j.did.Entities.Items)
	}
	return err
}

// computes asks for a computed list and a computed number, by the queries that
// the types declare.
func (j *job) computes() error {
	for _, want := range []struct{ entity, field string }{{mentioned, listField}, {team, valueField}} {
		id, err := connect.FindEntity(j.ctx, j.client, want.entity)
		if err != nil {
			return err
		}
		var e protocol.EntityFull
		if err := j.client.Call(j.ctx, "entities.get", protocol.EntityGet{Ref: id}, &e); err != nil {
			return err
		}
		var t entities.Type
		own := protocol.TypeGet{Ref: e.Type, Vault: e.TypeVault}
		if err := j.client.Call(j.ctx, "types.get", own, &t); err != nil {
			return err
		}
		field, ok := t.Field(want.field)
		if !ok {
			return fault.New(fault.NotFound, "the type %s has no field %s", t.Name, want.field)
		}
		did := computed{Entity: e.Name, Field: field.Name, Query: field.Query}
		if err := j.call("wql.query", protocol.WQLQuery{Query: field.Query, This: id}, &did.Result, nil); err != nil {
			return err
		}
		j.did.Computed = append(j.did.Computed, did)
		j.show.computed(j.last(), &did)
	}
	return nil
}

// The demo looks every vectorsPace whether all notes have their vectors, and goes
// on without them after vectorsWait.
const (
	vectorsPace = 2 * time.Millisecond
	vectorsWait = 10 * time.Second
)

// awaitsVectors waits until a search goes by meaning over all notes: a note app
// has long been there when somebody searches.
func (j *job) awaitsVectors() error {
	p := j.show.progressBar()
	defer p.Finish()
	tick, enough := time.NewTicker(vectorsPace), time.After(vectorsWait)
	defer tick.Stop()
	for {
		v, err := inspect.ReadIndex(j.ctx, j.client)
		if err != nil || v.Settled() {
			return err
		}
		m := &v.Index.Meanings
		p.Report("vectors", m.Notes, m.Notes+m.Waiting)
		select {
		case <-tick.C:
		case <-enough:
			return nil
		case <-j.ctx.Done():
			return j.ctx.Err()
		}
	}
}

func (j *job) searches() error {
	if err := j.awaitsVectors(); err != nil {
		return err
	}
	err := j.call("notes.search", protocol.NoteSearch{Query: searched, Limit: 3}, &j.did.Search, nil)
	if err == nil {
		j.show.found(j.last(), &j.did.Search)
	}
	return err
}

func (j *job) assembles() error {
	err := j.call("context.assemble", gather.Params{Text: question, SearchNotes: foundNotes, Explain: true, DeadlineMS: prompt.AnswerDeadlineMS},
		&j.did.Context, nil)
	if err == nil {
		j.show.assembled(j.last(), &j.did.Context)
	}
	return err
}

// last returns the last step.
func (j *job) last() step { return j.did.Steps[len(j.did.Steps)-1] }
