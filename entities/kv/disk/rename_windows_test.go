package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// TestREL2_RenameOverAnOpenFile has somebody read the file that is to be replaced.
func TestREL2_RenameOverAnOpenFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "clean")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(disk.Replace(disk.OS(), dir, "clean", []byte("old")))
	reader, err := os.Open(name)
	must(err)
	if err := os.Rename(name, name+"2"); !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		t.Fatalf("the system lets it be renamed, so the test shows nothing: %v", err)
	}

	err = disk.Replace(disk.OS(), dir, "clean", []byte("new"))
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		t.Errorf("while it is open: %v", err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left over: %v", list)
	}

	time.AfterFunc(30*time.Millisecond, func() { _ = reader.Close() })
	must(disk.Replace(disk.OS(), dir, "clean", []byte("new")))
	if text, err := os.ReadFile(name); err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
}
