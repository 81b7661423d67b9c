package main

import (
	"log/slog"

	"github.com/ctxd/ctxd/entities/fault"
)

type inspectLogCmd struct {
	Lines   countFlag `short:"n" from:"0" default:"50" placeholder:"N" help:"How many lines to show, the newest; 0 for all. Default: 50."`
	Follow  bool      `short:"f" help:"Go on with what is logged from now on, until Ctrl-C."`
	Level   string    `enum:"debug,info,warn,error" default:"debug" placeholder:"LEVEL" help:"Least level to show: debug, info, warn or error. Which ones are logged at all is decided when the daemon starts."`
	Conn    uint64    `placeholder:"N" help:"Only lines about the connection of that number."`
	Data    string    `placeholder:"DIR" help:"Folder of the store that the log is of. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	LogFile string    `placeholder:"PATH" help:"The log itself, when it lies elsewhere."`
}

func (inspectLogCmd) Help() string {
	return "Reads the file of the log, and those that came before it, and so works without a daemon. " +
		"Every daemon has that file, unless it was told --log-file none."
}

func (inspectLogCmd) Examples() []example {
	return []example{
		{"ctxd inspect log", "the last 50 lines"},
		{"ctxd inspect log --follow --level warn", "what goes wrong, as it does"},
		{"ctxd inspect log -n 0 --conn 12", "everything about one client"},
		{"ctxd inspect log -n 0 --json | jq -r .msg", "for scripts: one JSON object a line"},
	}
}

func (c *inspectLogCmd) Run(a *app) error {
	path, err := c.path(a)
	if err != nil {
		return err
	}
	l, err := openLog(path)
	if err != nil {
		return err
	}
	defer l.close()
	if c.Follow {
		if err := l.watch(); err != nil {
			return err
		}
	}
	show := newLogPrinter(a)
	if err := l.newest(int(c.Lines), c.filter(), show.print); err != nil {
		return err
	}
	if !c.Follow {
		return nil
	}
	return l.follow(a.ctx, c.filter(), show.print, a.out.flush)
}

// path returns the file of the log: the one that is named, else the one that is
// configured for daemons, which may be none.
func (c *inspectLogCmd) path(a *app) (string, error) {
	conf, err := a.config(given{"data": nonEmpty(c.Data), "log.file": nonEmpty(c.LogFile)})
	switch {
	case err != nil:
		return "", err
	case conf.log.file == noLogFile:
		return "", fault.New(fault.NotFound, "daemons are configured to log to no file").WithHint("ctxd config log.file says where; --log-file names another log")
	}
	return conf.logPath()
}

func (c *inspectLogCmd) filter() logFilter {
	f := logFilter{conn: c.Conn, level: slog.LevelDebug}
	_ = f.level.UnmarshalText([]byte(c.Level)) // the parser lets only levels pass
	return f
}
