package tempfile

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const suffix = ".tmp"

// dead is how long nobody has written to a file that nobody writes any more.
const dead = 10 * time.Second

func prefix(path string) string { return "." + filepath.Base(path) + "." }

// Create makes the file that a document is written to, of mode 0600 and in the same folder, and removes what killed
// processes left of the same document.
func Create(path string) (*os.File, error) {
	remove(path, time.Now())
	return os.CreateTemp(filepath.Dir(path), prefix(path)+"*"+suffix)
}

// remove removes what is left of a document. What can't be removed does no harm.
func remove(path string, now time.Time) {
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // whoever writes there is told
	}
	for _, f := range list {
		middle, ours := strings.CutPrefix(f.Name(), prefix(path))
		middle, ends := strings.CutSuffix(middle, suffix)
		if !ours || !ends || middle == "" || strings.Trim(middle, "0123456789") != "" || !f.Type().IsRegular() {
			continue
		}
		if info, err := f.Info(); err == nil && now.Sub(info.ModTime()) > dead {
			_ = os.Remove(filepath.Join(filepath.Dir(path), f.Name()))
		}
	}
}
