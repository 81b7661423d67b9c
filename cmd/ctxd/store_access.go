package main

import (
	"errors"
	"io/fs"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/client"
)

// storeFlag says which store a command is about.
type storeFlag struct {
	Data string `placeholder:"DIR" help:"Folder of the store. Default: that of the daemon on the socket; when none runs $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
}

// storeAccess is the way to a store: through the daemon that has it, or to its
// folder when none does.
type storeAccess struct {
	client *client.Client // nil: no daemon has it
	dir    string         // when no daemon has it
	conf   *config
}

// reach finds the way to the store. The daemon on the socket is asked first,
// unless a folder is named. Who named a socket means its daemon and no folder.
func (f storeFlag) reach(a *app) (*storeAccess, error) {
	conf, err := a.config(given{"data": nonEmpty(f.Data)})
	if err != nil {
		return nil, err
	}
	if f.Data == "" {
		cl, err := a.dial()
		if err == nil {
			return &storeAccess{client: cl, conf: conf}, nil
		}
		if a.Socket != "" || !absent(err) {
			return nil, err
		}
	}
	if o, err := readSignature(conf.data); err == nil && running(o.PID) {
		if cl, err := a.dialTo(o.Socket, client.Options{}); err == nil {
			return &storeAccess{client: cl, conf: conf}, nil
		}
		// The process may have taken over the number of one that was killed.
		// If it has the data, the lock says so.
	}
	return &storeAccess{dir: conf.data, conf: conf}, nil
}

// name says which store it is, for people.
func (s *storeAccess) name() string {
	if s.client != nil {
		return "the running daemon"
	}
	return s.dir
}

func (s *storeAccess) close() {
	if s.client != nil {
		_ = s.client.Close() // the answers are here
	}
}

// open opens the store in the folder. It is brought into order as by a daemon
// that starts, but keeps the format of its records.
func (s *storeAccess) open(salvage bool) (*kv.Store, error) {
	opts := s.conf.store.options()
	opts.Salvage = salvage
	db, err := kv.Open(s.dir, opts)
	if err != nil {
		return nil, withReason(ownerOf(s.dir, err))
	}
	return db, nil
}

// withReason adds to an error of the store what the system said of which file.
// On the wire that is nobody's business, here the user asks for it.
func withReason(err error) error {
	var known *fault.Error
	var at *fs.PathError
	if !errors.As(err, &known) || !errors.As(err, &at) || fault.KindOf(err) != fault.Unavailable {
		return err
	}
	e := *known
	e.Msg += ": " + at.Path + ": " + at.Err.Error()
	if e.Hint == "" {
		e.Hint = "see who owns the file, and that its disk works"
	}
	return &e
}

// noStore is the error for a folder without a store.
func noStore(dir string) *fault.Error {
	return fault.New(fault.NotFound, "there is no store in %q, and no daemon runs", dir).WithRef(dir).
		WithHint("name its folder with --data, or begin one: ctxd serve --vault ~/Notes")
}
