//go:build unix

package watch_test

import (
	"syscall"
	"testing"
)

func makeFIFO(t *testing.T, p string) {
	t.Helper()
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Fatal(err)
	}
}
