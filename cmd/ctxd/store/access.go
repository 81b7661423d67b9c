package store

import (
	"errors"
	"io/fs"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/client"
)

// Flag says which store a command is about.
type Flag struct {
	Data string `placeholder:"DIR" help:"Folder of the store. Default: the store of the running daemon, else $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
}

// Access is the way to a store: through the daemon that has it, or to its
// folder when none does.
type Access struct {
	client *client.Client // nil: no daemon has it
	Dir    string         // when no daemon has it
	Conf   *config.Config
}

// reach finds the way to the store. The daemon on the socket is asked first,
// unless a folder is named. Who named a socket means its daemon and no folder.
func (f Flag) reach(l *connect.Link) (*Access, error) {
	conf, err := l.Load(config.Given{"data": term.NonEmpty(f.Data)})
	if err != nil && f.Data == "" {
		if cl, e := l.Dial(); e == nil { // the daemon needs no configuration of this command
			return &Access{client: cl, Conf: config.Default()}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if f.Data == "" {
		cl, err := l.Dial()
		if err == nil {
			return &Access{client: cl, Conf: conf}, nil
		}
		if l.Socket != "" || !connect.Absent(err) {
			return nil, err
		}
	}
	if o, err := daemon.ReadSignature(conf.Data); err == nil && daemon.Running(o.PID) {
		if cl, err := l.DialTo(o.Socket, client.Options{}); err == nil {
			return &Access{client: cl, Conf: conf}, nil
		}
		// The process may have taken over the number of one that was killed.
		// If it has the data, the lock says so.
	}
	return &Access{Dir: conf.Data, Conf: conf}, nil
}

// name says which store it is, for people.
func (s *Access) name() string {
	if s.client != nil {
		return "the running daemon"
	}
	return s.Dir
}

func (s *Access) close() {
	if s.client != nil {
		_ = s.client.Close() // the answers are here
	}
}

// Open opens the store in the folder. It is brought into order as by a daemon
// that starts, but keeps the format of its records.
func (s *Access) Open(salvage bool) (*kv.Store, error) {
	opts := daemon.StoreOptions(s.Conf.Store)
	opts.Salvage = salvage
	db, err := kv.Open(s.Dir, opts)
	if err != nil {
		return nil, WithReason(daemon.OwnerOf(s.Dir, err))
	}
	return db, nil
}

// WithReason adds to an error of the store what the system said of which file.
// On the wire that is nobody's business, here the user asks for it.
func WithReason(err error) error {
	var known *fault.Error
	var at *fs.PathError
	if !errors.As(err, &known) || !errors.As(err, &at) || fault.KindOf(err) != fault.Unavailable {
		return err
	}
	e := *known
	e.Msg += ": " + at.Path + ": " + at.Err.Error()
	if e.Hint == "" {
		e.Hint = "check who owns the file, and its disk"
	}
	return &e
}

// noStore is the error for a folder without a store.
func noStore(dir string) *fault.Error {
	return fault.New(fault.NotFound, "there is no store in %q, and no daemon runs", dir).WithRef(dir).
		WithHint("give its folder with --data, or create one: ctxd serve --vault ~/Notes")
}
