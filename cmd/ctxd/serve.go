package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/logfile"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/vault"
)

type serveCmd struct {
	Vault     []string `placeholder:"DIR" sep:"none" help:"Folder of Markdown notes to import and follow. May be repeated."`
	Data      string   `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	LogFile   string   `placeholder:"PATH" help:"Log file, or none. Default: log/ctxd.log in the data folder."`
	LogFormat *string  `enum:"text,json" placeholder:"FORMAT" help:"Format of the log on standard error: text or json. Default: text."`
	LogLevel  *string  `enum:"debug,info,warn,error" placeholder:"LEVEL" help:"Lowest level that is logged: debug, info, warn or error. Default: info."`
	LogSize   string   `placeholder:"SIZE" help:"Size at which a new log file is started. Default: 10MiB."`
	LogKeep   string   `placeholder:"N" help:"How many old log files to keep. Default: 5."`
	IdleExit  string   `placeholder:"DURATION" help:"Stop when no client has been connected for this long, such as 10m. Default: never."`
	Set       []string `placeholder:"KEY=VALUE" sep:"none" help:"Set any setting of the configuration file, such as limits.connections=100. May be repeated."`
	Detached  bool     `hidden:"" help:"Nobody reads standard error: log to the file alone."`
}

func (serveCmd) Help() string {
	return "One daemon serves all programs of a user. It answers at once, also while folders are being imported. " +
		"A folder that it follows is followed again after a restart, until ctxd vault unwatch. " +
		"Ctrl-C or SIGTERM stops it within five seconds: " +
		"calls in progress finish, and imports and other jobs stop between two transactions. " +
		"A second Ctrl-C ends the process at once; nothing that was acknowledged is lost."
}

func (serveCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd serve --vault ~/Notes", "import a folder of notes and follow its changes"},
		{"ctxd serve --vault ~/Notes --vault ~/Work", "two vaults, one daemon"},
		{"ctxd serve --log-level debug --log-file ~/ctxd.log", "log every call; text of notes is never logged"},
		{"ctxd serve --set limits.connections=100", "a setting that has no flag; ctxd config lists all settings"},
		{"ctxd serve --idle-exit 10m", "stop ten minutes after the last client has left"},
	}
}

func (c *serveCmd) Run(a *app) error {
	conf, err := c.config(a)
	if err != nil {
		return err
	}
	log, err := logfile.New(a.Err, conf, c.Detached)
	if err != nil {
		return err
	}
	d, err := daemon.Start(daemon.OptionsOf(conf, log.Logger))
	if err == nil {
		err = c.load(a, d, log.Logger)
	}
	switch {
	case fault.KindOf(err) == fault.Cancelled:
		log.Info("stopped before the store was open")
		return nil
	case err != nil:
		return c.cantStart(err, conf.Data, log)
	}
	err = c.checkLogFile(a, d, conf)
	if err == nil {
		err = log.Open()
	}
	if err != nil {
		return errors.Join(err, d.Close())
	}
	if c.Detached {
		connect.LeaveFolder()
	}
	c.announce(a, d, log, conf)
	return errors.Join(c.serve(a, d, conf.Vaults, log.Logger), log.Close())
}

// load opens the store. Of a large one that takes seconds.
func (c *serveCmd) load(a *app, d *daemon.Daemon, log *slog.Logger) error {
	p := term.NewProgress(a.Err)
	p.Report("opening the store", 0, 0)
	defer p.Finish()
	defer context.AfterFunc(a.Ctx, func() { log.Info("stopping: interrupted; press Ctrl-C again to stop at once") })()
	return d.Load(a.Ctx)
}

// cantStart logs why the daemon can't start, unless another one has the data,
// whose log it would be.
func (c *serveCmd) cantStart(err error, data string, log *logfile.Log) error {
	o, unsigned := daemon.ReadSignature(data)
	taken := fault.KindOf(err) == fault.Conflict || unsigned == nil && daemon.Running(o.PID)
	if taken || log.Open() != nil {
		return err
	}
	log.Error("the daemon cannot start", "error", fault.Message(err))
	return errors.Join(err, log.Close())
}

// config returns how the daemon is set up. A folder that a flag names must
// exist; one that the configuration names may be there another day.
func (c *serveCmd) config(a *app) (*config.Config, error) {
	flags, err := config.Assignments(c.Set)
	if err != nil {
		return nil, err
	}
	for key, words := range (config.Given{
		"vaults": c.Vault, "data": term.NonEmpty(c.Data), "idleExit": term.NonEmpty(c.IdleExit),
		"log.file": term.NonEmpty(c.LogFile), "log.size": term.NonEmpty(c.LogSize),
		"log.keep":   term.NonEmpty(c.LogKeep),
		"log.format": pointed(c.LogFormat), "log.level": pointed(c.LogLevel),
	}) {
		if len(words) > 0 {
			flags[key] = words
		}
	}
	conf, err := a.Load(flags)
	if err != nil {
		return nil, err
	}
	for _, dir := range c.Vault {
		if _, err := config.Folder(dir); err != nil {
			return nil, err
		}
	}
	return conf, keptApart(conf)
}

// keptApart returns an error when files of the daemon would lie in a vault that is to be
// read, or that vault among them. Nothing has been written yet.
func keptApart(conf *config.Config) error {
	logFile, err := conf.LogPath()
	if err != nil {
		return err
	}
	for _, dir := range conf.Vaults {
		switch {
		case vault.LiesWithin(conf.Data, dir) || vault.LiesWithin(dir, conf.Data):
			return fault.New(fault.Invalid, "the data folder %q and the vault %q lie in one another, and %s", conf.Data,
				dir, vault.NeverWritten).
				WithHint("choose another folder with --data, or give only the folders that hold notes")
		case logFile != "" && vault.LiesWithin(logFile, dir):
			return fault.New(fault.Invalid, "the log %q lies in the vault %q, and %s", logFile, dir,
				vault.NeverWritten).
				WithHint("choose another file with --log-file")
		}
	}
	return nil
}

// checkLogFile returns an error when the log lies in a vault that the store knows of.
func (c *serveCmd) checkLogFile(a *app, d *daemon.Daemon, conf *config.Config) error {
	logFile, err := conf.LogPath()
	if err != nil || logFile == "" {
		return err
	}
	return term.WithHint(d.Server.CheckOutside(a.Ctx, logFile), "choose another file with --log-file")
}

func pointed(s *string) []string {
	if s == nil {
		return nil
	}
	return []string{*s}
}

// serve reads the folders and waits for the end.
func (c *serveCmd) serve(a *app, d *daemon.Daemon, folders []string, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(a.Ctx)
	d.Go(func() { c.importAll(ctx, a, d, folders, log) })
	d.Go(func() { dropFormerNames(ctx, d.Server.DropFormerNames, log) })
	d.Go(func() { keepMemories(ctx, d, log) })
	d.Go(func() { keepBooks(ctx, d, log) })
	var failed error
	select {
	case <-a.Ctx.Done():
		log.Info("stopping: interrupted; press Ctrl-C again to stop at once")
	case <-d.Stopped:
		log.Info("stopping: admin.stop was called")
	case <-d.Idle:
		log.Info("stopping: no client for as long as --idle-exit allows")
	case failed = <-d.Failed:
		log.Error("stopping: the socket no longer accepts connections", "error", failed)
	}
	cancel()
	if err := d.Close(); err != nil {
		log.Error("stopped with an error", "error", fault.Message(err))
		return err
	}
	log.Info("stopped")
	if failed != nil {
		return fault.Wrap(fault.Unavailable, failed, "the socket failed").WithHint("ctxd serve")
	}
	return nil
}

// dropFormerNames drops what notes were called long ago, at the start and every hour: a name
// is kept for a month, so an hour more makes no difference.
func dropFormerNames(ctx context.Context, drop func(context.Context) error, log *slog.Logger) {
	for {
		err := drop(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("cannot drop the former names of notes", "error", fault.Message(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Hour):
		}
	}
}

// keepBooks reads the books that a stop has left, at the start and every ten minutes.
func keepBooks(ctx context.Context, d *daemon.Daemon, log *slog.Logger) {
	for {
		err := d.Server.KeepBooks(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("cannot read the books that wait", "error", fault.Message(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Minute):
		}
	}
}

// keepMemories archives memories whose time is over and promotes others, at the start and every minute: promotion is due
// each half hour, and sooner where much is said.
func keepMemories(ctx context.Context, d *daemon.Daemon, log *slog.Logger) {
	for {
		err := d.Server.KeepMemories(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("cannot archive memories whose time is over", "error", fault.Message(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Minute):
		}
	}
}

// importAll reads the folders one after the other. One that can't be read is
// logged and leaves the daemon running.
func (c *serveCmd) importAll(ctx context.Context, a *app, d *daemon.Daemon, folders []string, log *slog.Logger) {
	for i, dir := range folders {
		p := term.NewProgress(a.Err)
		started := time.Now()
		res, err := d.Server.Import(ctx, vault.ImportRequest{Path: dir, Watch: true, Await: true, Progress: p.Report})
		p.Finish()
		switch {
		case ctx.Err() != nil:
			log.Info("the import of a vault was interrupted; what was imported stays", "vault", i+1)
			return
		case err != nil:
			log.Error("cannot read a vault", "vault", i+1, "error", fault.Message(err))
		default:
			log.Info("vault read", "vault", i+1, "notes", res.Notes, "entities", res.Entities, "links", res.Links,
				"unresolved", res.Unresolved, "skipped", len(res.Skipped), "took",
				time.Since(started).Round(time.Millisecond).String())
		}
	}
}

// announce says where the daemon listens: on a terminal in a form of its own.
func (c *serveCmd) announce(a *app, d *daemon.Daemon, log *logfile.Log, conf *config.Config) {
	live := d.Server.Health().Index.Notes
	drawn := !c.Detached && a.Err.Terminal && conf.Log.Format == "text"
	to := log.Logger
	if drawn {
		to = log.ToFile
	}
	to.Info("listening", "socket", d.Listener.Path(), "data", d.Dir, "version", term.ProgramVersion(), "pid", os.Getpid(),
		"notes", live)
	if !drawn {
		return
	}
	a.Err.Say(term.Styled(term.Strong, "ctxd "+term.ProgramVersion()),
		term.Styled(term.Faint, fmt.Sprintf("  pid %d", os.Getpid())))
	t := &term.Table{Indent: 2}
	t.Row(term.Line{term.Styled(term.Faint, "socket")}, term.Line{term.Text(d.Listener.Path())})
	t.Row(term.Line{term.Styled(term.Faint, "data")},
		term.Line{term.Text(d.Dir), term.Styled(term.Faint, "  "+term.Count(live, "note"))})
	t.Draw(a.Err)
	a.Err.Say(term.Styled(term.Faint, "  Ctrl-C stops it; ctxd inspect status shows its state."))
}
