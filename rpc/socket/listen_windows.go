package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"github.com/ctxd/ctxd/entities/fault"
)

// Options says who listens.
type Options struct {
	Version string           // of the program, told to a second listener
	Now     func() time.Time // nil = time.Now
}

// Listener is the named pipe, owned by this process until Close. Its security
// descriptor lets this user in and nobody else, which is what the check of peer
// credentials does elsewhere.
type Listener struct {
	net.Listener
	path  string
	first windows.Handle // what takes up the first instance under Wine; 0 elsewhere
}

func defaultLocation() Location {
	name := "user"
	if u, err := user.Current(); err == nil {
		// DOMAIN\name: a pipe's name holds no further backslash.
		name = u.Username[strings.LastIndex(u.Username, `\`)+1:]
	}
	return Location{Path: `\\.\pipe\ctxd-` + name, Source: FromUser}
}

// Files are the paths that an endpoint takes: none of a named pipe.
func (l *Listener) Files() []string { return nil }

// Listen makes this process the owner of the pipe at path. The first instance
// of a pipe is exclusive and ends with its process, so there is no lock file
// and nothing to clean up after a crash; who the owner is has to be asked of
// the owner (admin.health). When there is one the error is an *OwnedError.
func Listen(path string, _ Options) (*Listener, error) {
	if err := checkLength(path); err != nil {
		return nil, err
	}
	who, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot determine the user of this process")
	}
	l, err := listenPipe(path, &winio.PipeConfig{
		SecurityDescriptor: "D:P(A;;GA;;;" + who.User.Sid.String() + ")",
		InputBufferSize:    64 << 10,
		OutputBufferSize:   64 << 10,
	})
	switch {
	case errors.Is(err, windows.ERROR_ACCESS_DENIED), errors.Is(err, windows.ERROR_PIPE_BUSY):
		return nil, newOwnedError(path, Owner{}, time.Time{})
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "cannot create the pipe").
			WithHint("choose another name with --socket or $%s", EnvPath)
	}
	return l, nil
}

// listenPipe makes the pipe. Its first instance is never accepted from: it only keeps the name. Windows keeps clients off
// it, as it was made without the right to read and to write. Wine does not, so that the first client would talk to
// nobody; there, this process takes that instance itself. If a client was faster, the pipe is made anew, which ends its
// connection.
func listenPipe(path string, config *winio.PipeConfig) (*Listener, error) {
	for {
		ln, err := winio.ListenPipe(path, config)
		if err != nil {
			return nil, err
		}
		l := &Listener{Listener: ln, path: path}
		wine := windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
		if !wine {
			return l, nil
		}
		l.first, err = connectOnce(path)
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return l, nil // at worst as it is without
		}
		_ = l.Close()
	}
}

// connectOnce connects to the pipe as a client that does not wait.
func connectOnce(path string) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return 0, err
	}
	return h, nil
}

// Close ends the pipe. Connections that were accepted stay.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	if l.first != 0 {
		_ = windows.CloseHandle(l.first) // there is nothing to do about a handle that can't be closed
		l.first = 0
	}
	return err
}

// Path returns the name of the pipe.
func (l *Listener) Path() string { return l.path }

// Dial connects to the daemon at path. When none listens the error is a
// retryable fault.Unavailable.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	if err := checkLength(path); err != nil {
		return nil, err
	}
	conn, err := winio.DialPipeContext(ctx, path)
	if err == nil {
		return conn, nil
	}
	if ctx.Err() != nil {
		return nil, fault.Wrap(fault.KindOf(ctx.Err()), err, "the daemon did not answer in time")
	}
	e := fault.Wrap(fault.Unavailable, err, "cannot connect to the pipe")
	switch {
	case errors.Is(err, fs.ErrNotExist), os.IsNotExist(err):
		e.Msg, e.Hint, e.Retryable = "no daemon listens on the pipe", "start one with: ctxd serve", true
	case errors.Is(err, fs.ErrPermission):
		e.Msg, e.Hint = "the pipe belongs to another user", "choose your own with --socket or $"+EnvPath
	}
	return nil, e
}
