package write

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openFlags open a file that may be replaced: it must be possible to write it.
const openFlags = os.O_RDWR

// names returns how many names a file has.
func names(f *os.File, _ fs.FileInfo) int {
	var info windows.ByHandleFileInformation
	if f == nil || windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return 1
	}
	return int(info.NumberOfLinks)
}

// keepOwner: a new file has the rights of its folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isBusy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

func isRefusedName(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_NAME) || errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) ||
		errors.Is(err, windows.ERROR_DIRECTORY)
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// flushFolder: the system keeps names itself.
func flushFolder(*os.Root) error { return nil }
