package inspect

import (
	"log/slog"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/logfile"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

type logCmd struct {
	Lines   term.CountFlag `short:"n" from:"0" default:"50" placeholder:"N" help:"How many of the newest lines to show; 0 for all. Default: 50."`
	Follow  bool           `short:"f" help:"Also show what is logged from now on, until Ctrl-C."`
	Level   string         `enum:"debug,info,warn,error" default:"debug" placeholder:"LEVEL" help:"Lowest level to show: debug, info, warn or error. What is logged at all is decided by the setting log.level of the daemon."`
	Conn    uint64         `placeholder:"N" help:"Only lines about the connection with this number."`
	Data    string         `placeholder:"DIR" help:"Folder of the store that the log belongs to. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	LogFile string         `placeholder:"PATH" help:"The log file, if it is elsewhere."`
}

func (logCmd) Help() string {
	return "Reads the current log file and the older ones, and needs no daemon. " +
		"A daemon writes log files unless log.file is none."
}

func (logCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect log", "the last 50 lines"},
		{"ctxd inspect log --follow --level warn", "warnings and errors as they happen"},
		{"ctxd inspect log -n 0 --conn 12", "everything about one client"},
		{"ctxd inspect log -n 0 --json | jq -r .msg", "for scripts: one JSON object a line"},
	}
}

func (c *logCmd) Run(a *Options) error {
	path, err := c.path(a)
	if err != nil {
		return err
	}
	l, err := logfile.OpenReader(path)
	if err != nil {
		return err
	}
	defer l.Close()
	if c.Follow {
		if err := l.Watch(); err != nil {
			return err
		}
	}
	show := logfile.NewPrinter(a.Out, a.JSON)
	if err := l.Newest(int(c.Lines), c.filter(), show.Print); err != nil {
		return err
	}
	if !c.Follow {
		return nil
	}
	return l.Follow(a.Ctx, c.filter(), show.Print, a.Out.Flush)
}

// path returns the file of the log: the one that is named, else the one that is
// configured for daemons, which may be none.
func (c *logCmd) path(a *Options) (string, error) {
	conf, err := a.Load(config.Given{"data": term.NonEmpty(c.Data), "log.file": term.NonEmpty(c.LogFile)})
	switch {
	case err != nil:
		return "", err
	case conf.Log.File == config.NoLogFile:
		return "", fault.New(fault.NotFound, "the configuration sets no log file").
			WithHint("see ctxd config log.file, or give another log with --log-file")
	}
	return conf.LogPath()
}

func (c *logCmd) filter() logfile.Filter {
	f := logfile.Filter{Conn: c.Conn, Level: slog.LevelDebug}
	_ = f.Level.UnmarshalText([]byte(c.Level)) // the parser lets only levels pass
	return f
}
