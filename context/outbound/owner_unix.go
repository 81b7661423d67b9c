//go:build !windows

package outbound

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Tamperable returns why a file may say what somebody else wants, "" when only
// its owner could write it, and that is the user or root.
func Tamperable(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Getuid() {
		return fmt.Sprintf("the file belongs to user %d, not to you", st.Uid)
	}
	if open := info.Mode().Perm() & 0o022; open != 0 {
		return fmt.Sprintf("others can write the file (mode %04o)", info.Mode().Perm())
	}
	return ""
}
