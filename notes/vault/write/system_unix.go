//go:build unix

package write

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/ctxd/ctxd/entities/fault"
)

// openFlags open a file that may be replaced: it must be possible to write it. Without O_NONBLOCK, a pipe put in its place at
// the last moment would be waited for.
const openFlags = os.O_RDWR | syscall.O_NONBLOCK

// names returns how many names a file has.
func names(_ *os.File, info fs.FileInfo) int {
	if info == nil {
		return 1
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// keepOwner gives a new file the owner and the mode of the one that it replaces.
func keepOwner(t *os.File, info fs.FileInfo) error {
	old, ok := info.Sys().(*syscall.Stat_t)
	now, err := t.Stat()
	if err != nil {
		return err
	}
	own, known := now.Sys().(*syscall.Stat_t)
	if ok && known && (old.Uid != own.Uid || old.Gid != own.Gid) {
		if err := t.Chown(int(old.Uid), int(old.Gid)); err != nil {
			return fault.Wrap(fault.Unavailable, err, "the file belongs to another user or group, which a new text would change").
				WithHint("change it with an editor that writes into the file")
		}
	}
	return t.Chmod(info.Mode().Perm())
}

func isFull(err error) bool {
	return errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isBusy(err error) bool { return errors.Is(err, syscall.ETXTBSY) || errors.Is(err, syscall.EBUSY) }

func isRefusedName(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EILSEQ) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, syscall.ENOTDIR)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// flushFolder has the names in a folder reach the disk.
func flushFolder(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) { // some network disks have nothing to flush
		return nil
	}
	return err
}

// withFolders calls rename with the descriptors of the folders of two paths, and the names in them.
func withFolders(root *os.Root, from, to string, rename func(a int, from string, b int, to string) error) error {
	a, err := root.Open(path.Dir(from))
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := root.Open(path.Dir(to))
	if err != nil {
		return err
	}
	defer b.Close()
	return rename(int(a.Fd()), path.Base(from), int(b.Fd()), path.Base(to))
}

// unsupported reports whether a file system does not know a way of renaming.
func unsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOTSUP)
}
