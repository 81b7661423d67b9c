package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/socket"
)

type serveCmd struct {
	Vault     []string `placeholder:"DIR" sep:"none" help:"Folder of Markdown notes to read at the start. May be repeated."`
	Data      string   `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	LogFormat string   `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Form of the log on standard error: text or json."`
	LogLevel  string   `enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"Least level that is logged: debug, info, warn or error."`
}

func (serveCmd) Help() string {
	return "One daemon serves all programs of a user. It answers from the first moment, also while folders are being read. " +
		"The first Ctrl-C lets calls under way finish; a second one ends the process at once, and nothing acknowledged is lost."
}

func (serveCmd) Examples() []example {
	return []example{
		{"ctxd serve --vault ~/Notes", "serve the notes in a folder"},
		{"ctxd serve --vault ~/Notes --vault ~/Work", "two vaults, one daemon"},
		{"ctxd serve --log-format json 2>>ctxd.log", "log for machines; note text is never in it"},
	}
}

func (c *serveCmd) Run(a *app) error {
	at, err := socket.Resolve(a.Socket)
	if err != nil {
		return err
	}
	data, err := dataDir(c.Data)
	if err != nil {
		return err
	}
	folders := make([]string, len(c.Vault))
	for i, dir := range c.Vault {
		if folders[i], err = folder(dir); err != nil {
			return err
		}
	}
	log := c.logger(a)
	d, err := startDaemon(daemonOptions{socket: at.Path, data: data, log: log})
	if err != nil {
		return err
	}
	c.announce(a, d, log)
	return c.serve(a, d, folders, log)
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
		res, err := importVault(ctx, d.rooms, dir, p.report)
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

// announce says where the daemon listens.
func (c *serveCmd) announce(a *app, d *daemon, log *slog.Logger) {
	live, _, _ := d.rooms.Notes.Count()
	if !a.err.terminal || c.LogFormat != "text" {
		log.Info("listening", "socket", d.listener.Path(), "data", d.dir, "version", version(), "pid", os.Getpid(), "notes", live)
		return
	}
	a.err.say(styled(strong, "ctxd "+version()), styled(faint, fmt.Sprintf("  pid %d", os.Getpid())))
	t := &table{indent: 2}
	t.row(line{styled(faint, "socket")}, line{text(d.listener.Path())})
	t.row(line{styled(faint, "data")}, line{text(d.dir), styled(faint, "  "+count(live, "note"))})
	t.draw(a.err)
	a.err.say(styled(faint, "  Ctrl-C ends it; ctxd inspect status shows how it is."))
}

// logger returns the log of the daemon, which holds counts, names of methods
// and states, and nothing that a user wrote.
func (c *serveCmd) logger(a *app) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(a.err, opts))
	}
	if a.err.terminal {
		opts.ReplaceAttr = forPeople
	}
	return slog.New(slog.NewTextHandler(a.err, opts))
}

// forPeople leaves out of a log line what somebody who looks on knows.
func forPeople(groups []string, attr slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case attr.Key == slog.TimeKey:
		return slog.String(slog.TimeKey, attr.Value.Time().Format(time.TimeOnly))
	case attr.Key == slog.LevelKey && attr.Value.String() == slog.LevelInfo.String():
		return slog.Attr{}
	}
	return attr
}
