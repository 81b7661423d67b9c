package rpc

// This file and host_*.go are about the daemon and its machine: the free space of a disk, the memory that the process
// has in use, the files that a restore keeps in the data folder and how they are removed, and where calls may have
// files written. The daemon asks, and so do the commands that work without one. All functions may be called
// concurrently.

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
)

// What a restore keeps of the state that it replaces lies in the data folder. The
// command line, which restores without a daemon when none runs, keeps it alike.
const (
	replacedPrefix = "replaced-"
	replacedSuffix = ".ctxdbackup"
)

// ReplacedStoreFile returns the file in a data folder where a restore keeps the state
// that it replaces.
func ReplacedStoreFile(dataDir string, now time.Time) string {
	return filepath.Join(dataDir, replacedPrefix+now.UTC().Format(replacedTime)+replacedSuffix)
}

const replacedTime = "20060102T150405.000Z"

// isReplaced reports whether a name is one that ReplacedStoreFile gives.
func isReplaced(name string) bool {
	at, begins := strings.CutPrefix(name, replacedPrefix)
	at, ends := strings.CutSuffix(at, replacedSuffix)
	_, err := time.Parse(replacedTime, at)
	return begins && ends && err == nil
}

// RemoveReplacedStores removes from a data folder what restores have kept, but for one
// file.
func RemoveReplacedStores(dataDir, except string) {
	list, err := os.ReadDir(dataDir)
	if err != nil {
		return // they do no harm
	}
	for _, f := range list {
		if name := f.Name(); name != filepath.Base(except) && isReplaced(name) {
			_ = os.Remove(filepath.Join(dataDir, name))
		}
	}
}

// folderBytes is how many bytes the files in a folder and below it have.
func folderBytes(dir string) (size int64) {
	if dir == "" {
		return 0
	}
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be looked at, or is gone meanwhile, does not count
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// compactStore leaves nothing of what was deleted in the files of a store and in what restores have kept in its data
// folder. It returns by how many bytes the folder became smaller. progress is told how far it has come.
func compactStore(ctx context.Context, db *kv.Store, dataDir string, progress func(done, total int64)) (freed int64, err error) {
	before := folderBytes(dataDir)
	if err := db.Compact(ctx, progress); err != nil {
		return 0, err
	}
	if dataDir != "" {
		RemoveReplacedStores(dataDir, "")
	}
	return max(0, before-folderBytes(dataDir)), nil
}

// requireAbsolute refuses the path of a call that is not absolute.
func requireAbsolute(path string) error {
	if filepath.IsAbs(path) {
		return nil
	}
	return fault.Field("path", "path is not absolute").
		WithHint("give an absolute path; the working directory of the daemon is another one")
}

// checkOutputPath refuses a file that a call has written in a folder which is not for it: the data folder, or that of a
// vault.
func checkOutputPath(ctx context.Context, db *kv.Store, dataDir, path string) error {
	if err := requireAbsolute(path); err != nil {
		return err
	}
	if dataDir != "" && vault.LiesWithin(path, dataDir) {
		return fault.Field("path", "path lies in the daemon's data folder").
			WithHint("choose another folder, preferably on another disk, so that one accident does not destroy both")
	}
	return withPathParam(vault.CheckOutsideVaults(ctx, db, path))
}

// withPathParam has a complaint about a file name the parameter that names it.
func withPathParam(err error) error {
	var e *fault.Error
	if errors.As(err, &e) && e.Kind == fault.Invalid && e.Field == "" {
		return fault.Under("path", err)
	}
	return err
}
