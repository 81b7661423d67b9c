//go:build !windows

package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/ctxd/ctxd/entities/fault"
)

// lockSuffix is what the lock file of a socket is called beside it.
const lockSuffix = ".lock"

// umaskMu keeps two Listen calls from restoring each other's umask.
var umaskMu sync.Mutex

const (
	probeTimeout = 2 * time.Second
	// A process that just took the lock writes who it is within microseconds;
	// on a loaded machine it may be scheduled away in between.
	ownerWait = 5 * time.Second
	ownerStep = 10 * time.Millisecond
)

// Options says who listens.
type Options struct {
	Version string           // of the program, told to a second listener
	Now     func() time.Time // nil = time.Now
}

// Listener is the endpoint, owned by this process until Close. Accept hands
// out connections of the same user only.
type Listener struct {
	*net.UnixListener
	path string
	lock *flock.Flock
	info os.FileInfo // of the socket that we bound
	once sync.Once
	err  error
}

// Files are the paths that an endpoint takes.
func (l *Listener) Files() []string { return []string{l.path, l.path + lockSuffix} }

// Listen makes this process the owner of the endpoint at path: its directory
// is made 0700, the socket 0600. When another process serves it the error is an
// *OwnedError around a fault.Conflict; a directory or path that can't be used
// is a fault too. A socket left over by a crash is replaced; anything else that
// lies at path is left alone and refused.
func Listen(path string, opts Options) (*Listener, error) {
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	if err := checkLength(path); err != nil {
		return nil, err
	}
	if err := secureDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := takeLock(path+lockSuffix, now)
	if err != nil {
		return nil, err
	}
	l, err := bind(path)
	if err == nil {
		l.lock = lock
		err = writeOwner(lock.Path(), Owner{PID: os.Getpid(), Version: opts.Version, Started: now().UTC()})
		if err == nil {
			return l, nil
		}
		err = errors.Join(failed(err, "cannot write the lock file of the socket"), l.Close())
		return nil, err
	}
	var owned *OwnedError
	if errors.As(err, &owned) {
		err = newOwnedError(path, readOwner(lock.Path()), now())
	}
	_ = lock.Unlock()
	return nil, err
}

func takeLock(lockPath string, now func() time.Time) (*flock.Flock, error) {
	lock := flock.New(lockPath, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	for deadline := time.Now().Add(ownerWait); ; {
		ok, err := lock.TryLock()
		if err != nil {
			return nil, failed(err, "the lock file of the socket can't be opened")
		}
		if ok {
			// Whoever reads the file from now on must not be told of the last owner.
			if err := os.Truncate(lockPath, 0); err != nil {
				_ = lock.Unlock()
				return nil, failed(err, "cannot write the lock file of the socket")
			}
			return lock, nil
		}
		owner := readOwner(lockPath)
		if owner.lives() || time.Now().After(deadline) {
			_ = lock.Close()
			return nil, newOwnedError(strings.TrimSuffix(lockPath, lockSuffix), owner, now())
		}
		time.Sleep(ownerStep) //nolint:forbidigo // the owner is another process: its file can only be read again
	}
}

// lives reports whether the owner's process exists. The name of one that was
// killed stays in the lock file until the next owner writes its own.
func (o Owner) lives() bool {
	return o.PID > 0 && !errors.Is(syscall.Kill(o.PID, 0), syscall.ESRCH)
}

// bind probes the path, removes a socket that nobody answers on, and binds.
// The caller holds the lock.
func bind(path string) (*Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, failed(err, "the socket's place can't be read")
	case info.Mode()&os.ModeSocket == 0:
		return nil, fault.New(fault.Unavailable, "the path of the socket is a file that is not a socket").
			WithHint("remove that file, or choose another path with --socket or $%s", EnvPath)
	default:
		if answers(path) {
			return nil, newOwnedError(path, Owner{}, time.Time{})
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, failed(err, "cannot remove a socket left over by a crash")
		}
	}
	umaskMu.Lock()
	old := syscall.Umask(0o077)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	syscall.Umask(old)
	umaskMu.Unlock()
	if err != nil {
		return nil, failed(err, "cannot listen on the socket")
	}
	// Close must not remove a socket that another process put in our place.
	ln.SetUnlinkOnClose(false)
	l := &Listener{UnixListener: ln, path: path}
	l.info, err = os.Lstat(path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		_ = ln.Close()
		return nil, failed(err, "cannot make the socket private")
	}
	return l, nil
}

// answers reports whether a process accepts connections at path. Only a
// refusal proves that none does.
func answers(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist)
	}
	_ = conn.Close()
	return true
}

// Path returns the path of the socket.
func (l *Listener) Path() string { return l.path }

// Accept returns the next connection of this user. Connections of other users
// are closed unanswered.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if checkPeer(conn) == nil {
			return conn, nil
		}
		_ = conn.Close()
	}
}

// Close ends listening, removes the socket if it is still ours, and gives the
// lock back. Connections that were accepted stay open.
func (l *Listener) Close() error {
	l.once.Do(func() {
		// The socket goes first, so that no client finds a path where nobody will answer.
		if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.info) {
			l.err = os.Remove(l.path)
		}
		l.err = errors.Join(l.err, l.UnixListener.Close())
		if l.lock != nil {
			_ = os.Truncate(l.lock.Path(), 0)
			l.err = errors.Join(l.err, l.lock.Unlock())
		}
	})
	return l.err
}

// Dial connects to the daemon at path. When none listens the error is a
// retryable fault.Unavailable; so is a listener that runs as another user, but
// not retryable.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	if err := checkLength(path); err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, dialError(ctx, err)
	}
	if err := checkPeer(conn.(*net.UnixConn)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func dialError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.Wrap(fault.KindOf(ctx.Err()), err, "the daemon did not answer in time")
	}
	e := fault.Wrap(fault.Unavailable, err, "cannot connect to the socket")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		e.Msg, e.Hint, e.Retryable = "no daemon listens on the socket", "start one with: ctxd serve", true
	case errors.Is(err, syscall.EAGAIN):
		e.Msg, e.Hint, e.Retryable = "the daemon has too many connections waiting", "try again in a moment", true
	case errors.Is(err, fs.ErrPermission):
		e.Msg, e.Hint = "the socket belongs to another user", "choose your own with --socket or $"+EnvPath
	}
	return e
}

// checkPeer refuses a peer that runs as another user. Where the operating
// system does not tell, the modes of directory and socket have to do.
func checkPeer(conn *net.UnixConn) error {
	uid, known, err := peerUID(conn)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot determine the user at the other end of the socket")
	}
	return sameUser(uid, known)
}

func sameUser(uid int, known bool) error {
	if !known || uid == os.Getuid() {
		return nil
	}
	return fault.New(fault.Unavailable, "the process at the other end of the socket runs as user %d, not as you", uid).
		WithHint("choose a socket of your own with --socket or $%s", EnvPath)
}
