package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/watch"
)

type serveCmd struct {
	Vault     []string `placeholder:"DIR" sep:"none" help:"Folder of Markdown notes to read at the start, and to follow. May be repeated."`
	Data      string   `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	LogFile   string   `placeholder:"PATH" help:"File to log to as well, or none. Default: log/ctxd.log in the data folder."`
	LogFormat *string  `enum:"text,json" placeholder:"FORMAT" help:"Form of the log on standard error: text or json. Default: text."`
	LogLevel  *string  `enum:"debug,info,warn,error" placeholder:"LEVEL" help:"Least level that is logged: debug, info, warn or error. Default: info."`
	LogSize   string   `placeholder:"SIZE" help:"Size of a log file, after which the next one is begun. Default: 10MiB."`
	LogKeep   string   `placeholder:"N" help:"How many full log files are kept. Default: 5."`
	IdleExit  string   `placeholder:"DURATION" help:"End when no client has been connected for that long, such as 10m. Default: never."`
	Set       []string `placeholder:"KEY=VALUE" sep:"none" help:"Set anything that the configuration file can, such as limits.connections=100. May be repeated."`
	Detached  bool     `hidden:"" help:"Nobody reads standard error: log to the file alone."`
}

func (serveCmd) Help() string {
	return "One daemon serves all programs of a user. It answers from the first moment, also while folders are being read. " +
		"A folder that it follows is followed again by the next daemon, until ctxd vault unwatch. " +
		"The first Ctrl-C lets calls under way finish; a second one ends the process at once, and nothing acknowledged is lost."
}

func (serveCmd) Examples() []example {
	return []example{
		{"ctxd serve --vault ~/Notes", "serve the notes in a folder, as they are on the disk at any time"},
		{"ctxd serve --vault ~/Notes --vault ~/Work", "two vaults, one daemon"},
		{"ctxd serve --log-level debug --log-file ~/ctxd.log", "log every call; note text is never in it"},
		{"ctxd serve --set limits.connections=100", "with a setting that has no flag of its own; ctxd config lists them"},
		{"ctxd serve --idle-exit 10m", "end ten minutes after the last client"},
	}
}

func (c *serveCmd) Run(a *app) error {
	conf, err := c.config(a)
	if err != nil {
		return err
	}
	log, err := newDaemonLog(a, conf, c.Detached)
	if err != nil {
		return err
	}
	d, err := startDaemon(conf.daemon(log.Logger))
	if err == nil {
		err = c.load(a, d, log.Logger)
	}
	switch {
	case fault.KindOf(err) == fault.Cancelled:
		log.Info("stopped before the store was open")
		return nil
	case err != nil:
		return c.cantStart(err, conf.data, log)
	}
	if err := log.open(); err != nil {
		return errors.Join(err, d.close())
	}
	if c.Detached {
		leaveFolder()
	}
	c.announce(a, d, log, conf)
	return errors.Join(c.serve(a, d, conf.vaults, log.Logger), log.close())
}

// load opens the store. Of a large one that takes seconds.
func (c *serveCmd) load(a *app, d *daemon, log *slog.Logger) error {
	p := newProgress(a.err)
	p.report("opening the store", 0, 0)
	defer p.finish()
	defer context.AfterFunc(a.ctx, func() { log.Info("stopping: interrupted; again to stop at once") })()
	return d.load(a.ctx)
}

// cantStart logs why the daemon can't start, unless another one has the data,
// whose log it would be.
func (c *serveCmd) cantStart(err error, data string, log *daemonLog) error {
	o, unsigned := readSignature(data)
	taken := fault.KindOf(err) == fault.Conflict || unsigned == nil && running(o.PID)
	if taken || log.open() != nil {
		return err
	}
	log.Error("the daemon can't start", "error", fault.Message(err))
	return errors.Join(err, log.close())
}

// config returns how the daemon is set up. A folder that a flag names must
// exist; one that the configuration names may be there another day.
func (c *serveCmd) config(a *app) (*config, error) {
	flags, err := assignments(c.Set)
	if err != nil {
		return nil, err
	}
	for key, words := range (given{
		"vaults": c.Vault, "data": nonEmpty(c.Data), "idleExit": nonEmpty(c.IdleExit),
		"log.file": nonEmpty(c.LogFile), "log.size": nonEmpty(c.LogSize), "log.keep": nonEmpty(c.LogKeep),
		"log.format": pointed(c.LogFormat), "log.level": pointed(c.LogLevel),
	}) {
		if len(words) > 0 {
			flags[key] = words
		}
	}
	conf, err := a.config(flags)
	if err != nil {
		return nil, err
	}
	for _, dir := range c.Vault {
		if _, err := folder(dir); err != nil {
			return nil, err
		}
	}
	return conf, nil
}

func pointed(s *string) []string {
	if s == nil {
		return nil
	}
	return []string{*s}
}

// serve reads the folders and waits for the end.
func (c *serveCmd) serve(a *app, d *daemon, folders []string, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(a.ctx)
	imported := make(chan struct{})
	go func() {
		defer close(imported)
		c.importAll(ctx, a, d, folders, log)
	}()
	var failed error
	select {
	case <-a.ctx.Done():
		log.Info("stopping: interrupted; again to stop at once")
	case <-d.stopped:
		log.Info("stopping: admin.stop was called")
	case <-d.idle:
		log.Info("stopping: no client for as long as --idle-exit allows")
	case failed = <-d.failed:
		log.Error("stopping: the socket can't be listened on any more", "error", failed)
	}
	cancel()
	<-imported
	if err := d.close(); err != nil {
		return err
	}
	log.Info("stopped")
	if failed != nil {
		return fault.Wrap(fault.Unavailable, failed, "the socket broke").WithHint("ctxd serve")
	}
	return nil
}

// importAll reads the folders one after the other. One that can't be read is
// logged and leaves the daemon running.
func (c *serveCmd) importAll(ctx context.Context, a *app, d *daemon, folders []string, log *slog.Logger) {
	for i, dir := range folders {
		p := newProgress(a.err)
		started := time.Now()
		res, err := d.server.Import(ctx, watch.Request{Path: dir, Watch: true, Await: true, Progress: p.report})
		p.finish()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Error("a vault can't be read", "vault", i+1, "error", fault.Message(err))
		default:
			log.Info("vault read", "vault", i+1, "notes", res.Notes, "entities", res.Entities, "links", res.Links,
				"unresolved", res.Unresolved, "skipped", len(res.Skipped), "took", time.Since(started).Round(time.Millisecond).String())
		}
	}
}

// announce says where the daemon listens: on a terminal in a form of its own.
func (c *serveCmd) announce(a *app, d *daemon, log *daemonLog, conf *config) {
	live := d.server.Health().Index.Notes
	drawn := !c.Detached && a.err.terminal && conf.log.format == "text"
	to := log.Logger
	if drawn {
		to = log.toFile
	}
	to.Info("listening", "socket", d.listener.Path(), "data", d.dir, "version", version(), "pid", os.Getpid(), "notes", live)
	if !drawn {
		return
	}
	a.err.say(styled(strong, "ctxd "+version()), styled(faint, fmt.Sprintf("  pid %d", os.Getpid())))
	t := &table{indent: 2}
	t.row(line{styled(faint, "socket")}, line{text(d.listener.Path())})
	t.row(line{styled(faint, "data")}, line{text(d.dir), styled(faint, "  "+count(live, "note"))})
	t.draw(a.err)
	a.err.say(styled(faint, "  Ctrl-C ends it; ctxd inspect status shows how it is."))
}
