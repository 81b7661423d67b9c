package logfile

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// options say how a daemon logs. The zero values of Level and Format are
// info and text.
type options struct {
	File    string // path; "" for the default of the data folder, config.NoLogFile for none
	Level   string // debug, info, warn or error
	Format  string // of standard error, text or json; the file is always JSON
	MaxSize int64  // bytes of a file before a new one is begun; 0: config.DefaultLogSize
	Keep    int    // old files; 0: config.DefaultLogKeep
}

// optionsOf returns how the log is kept.
func optionsOf(l config.Log) options {
	return options{File: l.File, Level: l.Level, Format: l.Format, MaxSize: l.Size, Keep: l.Keep}
}

// Log is what a daemon logs to: standard error, a file, or both. It holds
// counts, names of methods and states, and nothing that a user wrote.
type Log struct {
	*slog.Logger
	file   *file        // nil without one
	ToFile *slog.Logger // to the file alone, for what standard error has in other words
	asked  bool         // for that file
}

// New makes the log of a daemon. Nothing is written to the file before
// open.
func New(stderr *term.Screen, conf *config.Config, detached bool) (*Log, error) {
	l, opts := &Log{asked: conf.Log.File != "", ToFile: slog.New(slog.DiscardHandler)}, optionsOf(conf.Log)
	var handlers fanout
	if !detached {
		handlers = append(handlers, stderrHandler(stderr, opts))
	}
	// Also on a terminal, which forgets, and which ctxd inspect log can't read.
	if opts.File != config.NoLogFile {
		path, err := conf.LogPath()
		if err != nil {
			return nil, err
		}
		l.file = newFile(path, opts)
		h := slog.NewJSONHandler(l.file, &slog.HandlerOptions{Level: opts.level()})
		handlers, l.ToFile = append(handlers, h), slog.New(h)
	}
	l.Logger = slog.New(handlers)
	return l, nil
}

func (o *options) level() slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(o.Level)) != nil {
		return slog.LevelInfo
	}
	return level
}

// stderrHandler logs to standard error, with less for somebody who looks on.
func stderrHandler(s *term.Screen, opts options) slog.Handler {
	h := &slog.HandlerOptions{Level: opts.level()}
	if opts.Format == "json" {
		return slog.NewJSONHandler(s, h)
	}
	if s.Terminal {
		h.ReplaceAttr = forPeople
	}
	return slog.NewTextHandler(s, h)
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

// Open begins to write to the file, with what has been logged so far. The
// daemon must own its data by then: two that wrote into one file would rotate
// it under each other's hands.
//
// A file that was asked for must be there. Without the usual one, the daemon
// runs all the same, and says so where it can.
func (l *Log) Open() error {
	if l.file == nil {
		return nil
	}
	if err := l.file.start(); err != nil {
		if !l.asked {
			l.Warn("cannot write the log file", "error", err)
			return nil
		}
		return fault.Wrap(fault.Unavailable, err, "cannot write the log file").
			WithHint("choose another one with --log-file, or none with --log-file %s", config.NoLogFile)
	}
	crashed, err := l.file.keepCrash()
	if crashed {
		l.Error("the previous daemon crashed; its stack trace is beside the log file", "file", oldCrashFile)
	}
	if err != nil {
		l.Warn("the trace of a crash would not be kept", "error", err)
	}
	return nil
}

// Close closes the file, if there is one.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// fanout hands each record to several handlers.
type fanout []slog.Handler

func (f fanout) Enabled(ctx context.Context, level slog.Level) bool {
	for _, h := range f {
		if h.Enabled(ctx, level) {
			return true
		}
	}
	return false
}

func (f fanout) Handle(ctx context.Context, r slog.Record) error {
	var errs []error
	for _, h := range f {
		if h.Enabled(ctx, r.Level) {
			errs = append(errs, h.Handle(ctx, r.Clone()))
		}
	}
	return errors.Join(errs...)
}

func (f fanout) WithAttrs(attrs []slog.Attr) slog.Handler {
	return f.each(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

func (f fanout) WithGroup(name string) slog.Handler {
	return f.each(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (f fanout) each(change func(slog.Handler) slog.Handler) fanout {
	out := make(fanout, len(f))
	for i, h := range f {
		out[i] = change(h)
	}
	return out
}
