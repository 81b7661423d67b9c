package write_test

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/notes/vault/write"
)

// TestSRCH60_ExtendedAttributesStay: tags and ratings that a file manager keeps beside the text.
func TestSRCH60_ExtendedAttributesStay(t *testing.T) {
	dir, root := folder(t, map[string]string{"a.md": "one", "b.md": "one"})
	file := filepath.Join(dir, "a.md")
	want := map[string]string{"user.xdg.tags": "work,später", "user.empty": "", "user.long": string(make([]byte, 1000))}
	for name, value := range want {
		err := unix.Setxattr(file, name, []byte(value), 0)
		if errors.Is(err, unix.ENOTSUP) {
			t.Skip("this file system has no extended attributes")
		}
		must(t, err)
	}
	for _, name := range []string{"a.md", "b.md"} {
		must(t, write.Replace(root, name, temp, []byte("one"), []byte("two")))
	}
	holds(t, dir, map[string]string{"a.md": "two", "b.md": "two"})
	for name, value := range want {
		got := make([]byte, 2000)
		n, err := unix.Getxattr(file, name, got)
		if err != nil || string(got[:n]) != value {
			t.Errorf("%s is %q, %v", name, got[:max(n, 0)], err)
		}
	}
	if n, err := unix.Listxattr(filepath.Join(dir, "b.md"), make([]byte, 1000)); err == nil && n > 0 {
		t.Errorf("a file without any has %d bytes of them", n)
	}
}
