package vault

import (
	"context"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault/write"
)

// Seam is what tests can put between the system and the followers.
type Seam struct {
	NoEvents bool
	Add      func(dir string) error
	Drop     func(fsnotify.Event) bool

	Forgot func(removed int) error
}

// SetSeam must be called before Start.
func (im *Importer) SetSeam(s Seam) {
	im.seam = seam{noEvents: s.NoEvents, add: s.Add, drop: s.Drop, forgot: s.Forgot}
}

// What tests have to know.
const (
	Quiet = quiet
	Grain = grain

	Batch = batch // notes of a transaction
)

// Overflow has a follower do what it does when the system has lost events.
func (im *Importer) Overflow(vault string) { im.follower(vault).markAllDirty() }

// Watched returns the folders of a vault that are watched.
func (im *Importer) Watched(vault string) []string {
	f := im.follower(vault)
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	if f.watcher != nil {
		for dir := range f.watcher.folders {
			out = append(out, dir)
		}
	}
	return out
}

// SetBeforeOpen has fn called before each file is opened.
func SetBeforeOpen(fn func(p string)) (restore func()) {
	beforeOpen = fn
	return func() { beforeOpen = func(string) {} }
}

// Walk looks through a vault as a sweep does.
func (im *Importer) Walk(ctx context.Context, vault string) error {
	f := im.follower(vault)
	root, err := openFolder(f.path)
	if err != nil {
		return err
	}
	defer root.Close()
	next, err := im.newWalker(root, vault).all(ctx)
	if err != nil {
		return err
	}
	next.since(f.tree)
	return nil
}

// Lost counts the records of notes whose files are gone.
func Lost(ctx context.Context, db *kv.Store) (n int, err error) {
	err = db.View(ctx, func(tx *kv.Tx) error {
		for range tombstones.All(tx, "") {
			n++
		}
		for range tombstonesByHash.All(tx, "") {
			n++
		}
		for range remains.All(tx, "") {
			n++
		}
		return tx.Err()
	})
	return n, err
}

// SetWriteStep has fn called before each step of a write into a file.
func SetWriteStep(fn func(string) error) (restore func()) {
	write.Step = fn
	return func() { write.Step = func(string) error { return nil } }
}
