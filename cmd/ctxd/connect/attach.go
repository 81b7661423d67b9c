package connect

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/logfile"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// AttachFlags are the flags of the commands that start a daemon when none runs.
type AttachFlags struct {
	NoStart  bool   `help:"Fail if no daemon answers, instead of starting one."`
	IdleExit string `placeholder:"DURATION" help:"If this starts a daemon: stop it when no client has been connected for this long, or never. Default: idleExit of the configuration, else 10m."`
	Data     string `placeholder:"DIR" help:"If this starts a daemon: the folder of its store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
}

// Options returns what the flags say.
func (f *AttachFlags) Options() AttachOptions {
	return AttachOptions{
		noStart: f.NoStart,
		Given:   config.Given{"idleExit": term.NonEmpty(f.IdleExit), "data": term.NonEmpty(f.Data)},
	}
}

// AttachOptions say which daemon attach may start.
type AttachOptions struct {
	noStart bool
	Given   config.Given // by flags: idleExit and data
}

// startedIdle is how long a daemon that was started by a client outlives the
// last one, when nothing else is configured: nobody asked for it to stay.
const startedIdle = 10 * time.Minute

const (
	// StartLimit is how long a daemon that was started may take to answer.
	StartLimit = 30 * time.Second
	// The pauses between two attempts to reach it.
	firstAttempt = 5 * time.Millisecond
	lastAttempt  = 100 * time.Millisecond
	// restartPause is how long a start that lost against another one waits
	// before the next. The winner answers long before; what takes longer is a
	// daemon that is just ending.
	restartPause = 250 * time.Millisecond
)

// Attach returns a connection to the daemon, and starts one when none answers.
// Of many processes that do so at once each gets a connection, to the same
// daemon: a start that finds the socket taken ends, and its starter attaches to
// the one that was faster. The daemon is nobody's child in what matters: it has
// a session of its own and outlives this process.
//
// Without a daemon, and when none may be started, the error is an
// *term.Unreachable; one that can't be started is a *startError.
func (l *Link) Attach(ctx context.Context, opts AttachOptions) (net.Conn, error) {
	conf, err := l.Load(opts.Given)
	if err != nil {
		return l.attachToRunning(ctx, err)
	}
	conn, err := socket.Dial(ctx, conf.Socket)
	switch {
	case err == nil:
		return conn, nil
	case opts.noStart, !passing(err):
		return nil, unreached(ctx, conf.Socket, err)
	}
	s, err := l.newStart(conf)
	if err != nil {
		return nil, err
	}
	return s.connect(ctx)
}

// attachToRunning returns a connection to the daemon that runs. None can be started: why
// says what of the configuration can't be used.
func (l *Link) attachToRunning(ctx context.Context, why error) (net.Conn, error) {
	path, err := l.socketPath()
	if err != nil {
		return nil, why
	}
	conn, err := socket.Dial(ctx, path)
	if err != nil {
		return nil, why
	}
	return conn, nil
}

func (l *Link) newStart(conf *config.Config) (s *start, err error) {
	s = &start{path: conf.Socket, data: conf.Data, began: time.Now()}
	s.log, err = conf.LogPath()
	if err == nil {
		s.args, err = l.DaemonArgs(conf)
	}
	return s, err
}

// unreached is the error of a dial that failed for good.
func unreached(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return &term.Unreachable{Socket: path, Err: err}
}

// passing reports whether a dial that failed may succeed later.
func passing(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Retryable
}

// Absent reports whether a dial failed because no daemon listens.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// DaemonArgs is the command line of a daemon that runs on its own, with what
// this process was told.
func (l *Link) DaemonArgs(conf *config.Config) ([]string, error) {
	idle := conf.Setting("idleExit")
	if idle.Origin.Source == config.FromDefault {
		conf.IdleExit = startedIdle
	}
	args := []string{
		"serve", "--detached", "--json", "--socket", Absolute(conf.Socket), "--data", conf.Data,
		"--idle-exit", idle.Text(),
	}
	path, named, err := config.Path(l.Config)
	if err == nil && named != "" {
		args = append(args, "--config", path)
	}
	return args, err
}

// start is the start of a daemon. It is used by one goroutine.
type start struct {
	path, data string
	log        string // file, which may not be there
	args       []string
	began      time.Time

	child *child        // nil when none runs
	after time.Time     // the next start is not before that
	last  *term.Failure // of the last start that failed
}

// connect starts daemons until one answers: ours, or one that was faster.
func (s *start) connect(ctx context.Context) (net.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	defer s.forget()
	pause := backoff.ExponentialBackOff{InitialInterval: firstAttempt, Multiplier: 2, MaxInterval: lastAttempt}
	for {
		conn, err := s.attempt(waiting)
		if conn != nil || err != nil {
			return conn, err
		}
		var ended <-chan struct{}
		if s.child != nil {
			ended = s.child.ended
		}
		select {
		case <-ended:
			if err := s.lost(ctx); err != nil {
				return nil, err
			}
		case <-time.After(pause.NextBackOff()):
		case <-waiting.Done():
			return s.giveUp(ctx)
		}
	}
}

// attempt looks for a daemon once. It returns neither a connection nor an error
// when there may be one later.
func (s *start) attempt(ctx context.Context) (net.Conn, error) {
	err := s.probe(ctx)
	if err == nil {
		var conn net.Conn
		conn, err = socket.Dial(ctx, s.path)
		if err == nil {
			return conn, nil
		}
	}
	if Absent(err) && s.child == nil && time.Now().After(s.after) {
		s.child, err = startChild(s.args)
		return nil, err
	}
	if ctx.Err() == nil && !passing(err) && fault.KindOf(err) != fault.Cancelled {
		return nil, &term.Unreachable{Socket: s.path, Err: err}
	}
	return nil, nil
}

// probe finds out whether the daemon serves. One that has just been started
// answers before it knows whether it can have the data, so it is asked for what
// it can say only then.
func (s *start) probe(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c := s.child; c != nil {
		go func() {
			select {
			case <-c.ended:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	cl, err := client.Dial(ctx, s.path, client.Options{Name: "ctxd-start", Version: term.ProgramVersion()})
	if err == nil {
		defer func() { _ = cl.Close() }() // the answer is here
		err = cl.Call(ctx, "vault.list", protocol.Empty{}, nil)
	}
	var answer *client.Error
	switch {
	case errors.As(err, new(*client.VersionError)):
		return nil // it serves, if not this program: who speaks through the connection is told by itself
	case !errors.As(err, &answer):
		return err
	case answer.Code == protocol.CodeUnavailable:
		return &fault.Error{Kind: fault.Unavailable, Msg: answer.Message, Retryable: true} // it is about to end
	}
	return nil // an answer all the same
}

// lost takes note of a daemon that has ended before it answered. The error says
// why there is no use in starting another.
func (s *start) lost(ctx context.Context) error {
	c := s.child
	s.child, s.after = nil, time.Now().Add(restartPause)
	f, told := c.failure()
	c.forget()
	if !told && f.Log == nil {
		f.Log = s.logged()
	}
	s.last = &f
	switch {
	case c.code == term.ExitOwned && !s.dataElsewhere(ctx), c.code == term.ExitOK:
		return nil
	}
	return &startError{failure: f}
}

// dataElsewhere reports whether a daemon on another socket has the data.
func (s *start) dataElsewhere(ctx context.Context) bool {
	o, err := daemon.ReadSignature(s.data)
	if err != nil || o.Socket == s.path {
		return false
	}
	conn, err := socket.Dial(ctx, o.Socket)
	if err == nil {
		_ = conn.Close() // it was opened to see whether it can be
	}
	return err == nil
}

// giveUp ends the wait: a daemon that takes connections is one, however long
// it needs to load its store.
func (s *start) giveUp(ctx context.Context) (net.Conn, error) {
	if ctx.Err() != nil {
		return nil, fault.Wrap(fault.KindOf(ctx.Err()), ctx.Err(), "starting a daemon was cancelled")
	}
	if conn, err := socket.Dial(ctx, s.path); err == nil {
		return conn, nil
	}
	if s.last != nil {
		return nil, &startError{failure: *s.last}
	}
	return nil, &startError{failure: term.Failure{
		Code: term.ExitNoDaemon, Kind: fault.Unavailable.String(),
		Message: "a daemon was started, but did not answer within " + StartLimit.String(),
		Hint:    "run ctxd serve on a terminal to see why", Log: s.logged(),
	}}
}

// logged returns the last lines that daemons have logged since the start began.
func (s *start) logged() (lines []string) {
	l, err := logfile.OpenReader(s.log)
	if err != nil {
		return nil // there may be none yet
	}
	defer l.Close()
	_ = l.Newest(lastWordsShown, logfile.Filter{Level: slog.LevelDebug}, func(r *logfile.Record) error {
		if !r.Plain && !r.Time.Before(s.began) {
			lines = append(lines, r.Shown().Plain())
		}
		return nil
	})
	return lines
}

// forget leaves a daemon that runs to itself.
func (s *start) forget() {
	if s.child != nil {
		s.child.forget()
	}
}

// startError says that a daemon could not be started.
type startError struct{ failure term.Failure }

func (e *startError) Error() string { return e.failure.Message }

func (e *startError) Describe(f *term.Failure) { *f = e.failure }

// Absolute returns the path of a file as a process elsewhere finds it.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && !strings.HasPrefix(path, `\\`) {
		return abs
	}
	return path
}

// Program returns the file of this program.
func Program() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot determine the path of this program").WithHint("ctxd serve")
	}
	return exe, nil
}
