package embed_test

import (
	"errors"

	"golang.org/x/sys/windows"
)

// alive says whether there is a process.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h) //nolint:errcheck // it was only looked at
	event, err := windows.WaitForSingleObject(h, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}

func fakeParent() error { return errors.New("only for Unix") }
