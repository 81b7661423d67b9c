//go:build linux || darwin

package write

import (
	"errors"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/entities/fault"
)

// keepAttributes gives a new file the extended attributes of the one that it replaces: those of people and programs (tags,
// ratings, the colour of the Finder), and access control lists. Those that the system sets by itself it sets anew.
func keepAttributes(t, old *os.File) error {
	names, err := attributes(int(old.Fd()))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !isKept(name) {
			continue
		}
		value, err := attribute(int(old.Fd()), name)
		if errors.Is(err, noAttribute) { // it went meanwhile
			continue
		}
		if err == nil {
			err = unix.Fsetxattr(int(t.Fd()), name, value, 0)
		}
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "the file has the attribute %s, which a new text would lose", name).
				WithHint("change it with an editor that writes into the file")
		}
	}
	return nil
}

func isKept(name string) bool {
	if runtime.GOOS == "linux" {
		return strings.HasPrefix(name, "user.") || name == "system.posix_acl_access"
	}
	return !strings.HasPrefix(name, "com.apple.system.") && name != "com.apple.provenance" && name != "com.apple.quarantine"
}

// attributes returns the names of the attributes of a file; none where the file system has none.
func attributes(fd int) ([]string, error) {
	list, err := sized(func(into []byte) (int, error) { return unix.Flistxattr(fd, into) })
	if unsupported(err) || errors.Is(err, unix.EPERM) {
		return nil, nil
	}
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }), err
}

func attribute(fd int, name string) ([]byte, error) {
	return sized(func(into []byte) (int, error) { return unix.Fgetxattr(fd, name, into) })
}

// sized calls read with room for all that it has.
func sized(read func(into []byte) (int, error)) ([]byte, error) {
	for {
		n, err := read(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		into := make([]byte, n)
		n, err = read(into)
		if errors.Is(err, unix.ERANGE) { // it has grown
			continue
		}
		if err != nil {
			return nil, err
		}
		return into[:n], nil
	}
}
