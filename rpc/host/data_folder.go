package host

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What a restore keeps of the state that it replaces lies in the data folder. The
// command line, which restores without a daemon when none runs, keeps it alike.
const (
	replacedPrefix = "replaced-"
	replacedSuffix = ".ctxdbackup"
)

// ReplacedFile returns the file in a data folder where a restore keeps the state
// that it replaces.
func ReplacedFile(dataDir string, now time.Time) string {
	return filepath.Join(dataDir, replacedPrefix+now.UTC().Format("20060102T150405.000Z")+replacedSuffix)
}

// RemoveReplaced removes from a data folder what restores have kept, but for one
// file.
func RemoveReplaced(dataDir, except string) {
	list, err := os.ReadDir(dataDir)
	if err != nil {
		return // they do no harm
	}
	for _, f := range list {
		if name := f.Name(); name != filepath.Base(except) && strings.HasPrefix(name, replacedPrefix) &&
			strings.HasSuffix(name, replacedSuffix) {
			_ = os.Remove(filepath.Join(dataDir, name))
		}
	}
}
