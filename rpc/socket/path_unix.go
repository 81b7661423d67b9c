//go:build !windows

package socket

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/ctxd/ctxd/entities/fault"
)

// defaultLocation returns the endpoint of a user who named none. On macOS
// TMPDIR is the temporary directory of the user.
func defaultLocation() Location {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return Location{Path: filepath.Join(dir, "ctxd", "ctxd.sock"), Source: FromRuntime}
	}
	own := "ctxd-" + strconv.Itoa(os.Getuid())
	return Location{Path: filepath.Join(os.TempDir(), own, "ctxd.sock"), Source: FromTemp}
}

// secureDir makes the directory of the socket when it is missing, and refuses
// one that somebody else could put a socket of their own in.
func secureDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed(err, "the directory of the socket can't be made").
			WithHint("%s can't be used; choose another place with --socket or $%s", dir, EnvPath)
	}
	// Looked at twice, because a link of a stranger's could point anywhere later.
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		info, err := look(dir)
		if err != nil {
			return failed(err, "the directory of the socket can't be read")
		}
		if err := checkDir(dir, info); err != nil {
			return err
		}
	}
	return nil
}

// failed is the error of something that the system has refused, and why it has.
func failed(err error, what string) *fault.Error {
	var why syscall.Errno
	if errors.As(err, &why) {
		what += ": " + why.Error()
	}
	return fault.Wrap(fault.Unavailable, err, "%s", what).
		WithHint("choose another place with --socket or $%s", EnvPath)
}

func checkDir(dir string, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != os.Getuid() {
		return fault.New(fault.Unavailable, "the directory of the socket belongs to user %d, not to you", st.Uid).
			WithHint("%s can't be used; choose a directory of your own with --socket or $%s", dir, EnvPath)
	}
	link := info.Mode()&os.ModeSymlink != 0
	if !link && !info.IsDir() {
		return fault.New(fault.Unavailable, "the path of the socket's directory is not a directory").
			WithHint("move %s away, or choose another place with --socket or $%s", dir, EnvPath)
	}
	if wide := info.Mode().Perm() &^ 0o700; !link && wide != 0 {
		return fault.New(fault.Unavailable, "the directory of the socket is open to others (mode %04o, at most 0700 is accepted)", info.Mode().Perm()).
			WithHint("chmod 700 %s, or choose a directory of your own with --socket or $%s", dir, EnvPath)
	}
	return nil
}
