package vault

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxd/ctxd/notes/days"
)

// eventWatcher reports changes in the folders of a vault.
type eventWatcher struct {
	*osWatcher
	folders map[string]bool // those that are watched; guarded by follower.mu
}

// seam lets tests stand between the system and a follower.
type seam struct {
	noEvents bool                      // as where the system reports no changes
	add      func(dir string) error    // nil: every folder can be watched
	drop     func(fsnotify.Event) bool // nil: no event is lost
	// forgot is called with the number of removed notes after each group of a Forget; an
	// error ends it there, as the end of the program would. nil: it is not called.
	forgot func(removed int) error
}

// startWatcher starts reading events, unless it is running.
func (f *follower) startWatcher() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher != nil {
		return
	}
	if !eventsSupported || f.im.seam.noEvents {
		f.watcherProblem = "watching files is too expensive on this system, so the folder is scanned at intervals"
		return
	}
	w, err := newOSWatcher(f.path)
	if err != nil {
		f.watcherFailed(err)
		return
	}
	f.watcher = &eventWatcher{w, make(map[string]bool)}
	go f.readEvents(f.watcher)
}

// stopWatcher ends what startWatcher has begun.
func (f *follower) stopWatcher() {
	f.mu.Lock()
	w := f.watcher
	f.watcher, f.watcherProblem = nil, ""
	f.mu.Unlock()
	if w != nil {
		_ = w.Close() // nothing is kept there
	}
}

// watcherFailed records why events are missing. mu is held.
func (f *follower) watcherFailed(err error) {
	if f.watcherProblem != "" {
		return
	}
	f.watcherProblem = "not all changes are reported (" + reasonOf(err) + "), so the folder is scanned at intervals"
	f.host.Changed()
}

// clearWatcherProblem forgets the problem when all folders of a tree are watched: the
// system may have watches to give that it had not.
func (f *follower) clearWatcherProblem(t *tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher == nil || f.watcherProblem == "" {
		return
	}
	for dir := range t.folders {
		if !f.watcher.folders[dir] {
			return
		}
	}
	f.watcherProblem = ""
	f.host.Changed()
}

// reasonOf returns why a folder can't be watched, without its path.
func reasonOf(err error) string {
	if outOfWatches(err) {
		return "the system's limit of watched folders is reached; on Linux raise fs.inotify.max_user_watches"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// watchFolder watches a folder from now on.
func (f *follower) watchFolder(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchLocked(dir)
}

// watchLocked is watchFolder with mu held.
func (f *follower) watchLocked(dir string) {
	if f.watcher == nil || f.watcher.folders[dir] {
		return
	}
	err := error(nil)
	if f.im.seam.add != nil {
		err = f.im.seam.add(dir)
	}
	if err == nil {
		err = f.watcher.Add(f.place(dir))
	}
	switch {
	case err == nil:
		f.watcher.folders[dir] = true
	case isFolder(f.place(dir)): // else it was removed meanwhile, and its parent has an event of that
		f.watcherFailed(err)
	}
}

func (f *follower) place(dir string) string { return filepath.Join(f.path, filepath.FromSlash(dir)) }

// syncWatches watches the folders of a tree, and no others. The system watches folders
// and not paths: without this, events of a folder that moved would name its old path.
func (f *follower) syncWatches(next *tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher == nil {
		return
	}
	lost := false
	for dir := range f.watcher.folders {
		if next.folders[dir] == nil {
			f.unwatchLocked(dir)
			lost = true
		}
	}
	if f.tree == nil {
		return
	}
	for dir, now := range next.folders {
		was := f.tree.folders[dir]
		if was == nil && !lost || was == now || was != nil && sameFolder(was, now) {
			continue
		}
		f.unwatchLocked(dir)
		f.watchLocked(dir)
		f.dirty[dir] = true // there were no events meanwhile
		f.wakeUp()
	}
}

// unwatchLocked stops watching a folder. mu is held.
func (f *follower) unwatchLocked(dir string) {
	_ = f.watcher.Remove(f.place(dir)) // a folder that is gone is not watched in any case
	delete(f.watcher.folders, dir)
}

// readEvents handles events until the watcher is closed.
func (f *follower) readEvents(w *eventWatcher) {
	for {
		select {
		case ev, ok := <-w.Events:
			if !ok {
				return
			}
			if f.im.seam.drop == nil || !f.im.seam.drop(ev) {
				f.handleEvent(w, ev)
			}
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			f.markAllDirty() // events were lost
		}
	}
}

// handleEvent marks what has to be scanned after an event.
func (f *follower) handleEvent(w *eventWatcher, ev fsnotify.Event) {
	rel, err := filepath.Rel(f.path, ev.Name)
	if err != nil || ev.Name == "" {
		return
	}
	rel = filepath.ToSlash(rel)
	dir, name := path.Dir(rel), path.Base(rel)
	moved, made := ev.Has(fsnotify.Remove|fsnotify.Rename), ev.Has(fsnotify.Create)
	own := isWithin(rel, ownFolder)
	switch {
	case rel == ".":
		if moved {
			f.stopWatcher() // the path leads to another folder by now
			f.markAllDirty()
		} else if ev.Has(fsnotify.Chmod) {
			f.markDirty([]string{rel}, nil)
		}
	case name == ignoreFile:
		f.markAllDirty()
	case strings.HasPrefix(name, ".") && !own:
	case moved && f.unwatchMoved(w, rel), made || moved:
		f.markDirty([]string{dir}, touchedBy(ev, rel))
	case isNote(name) || own || rel == days.LogseqConfig || f.im.reads(name):
		f.markDirty([]string{dir}, touchedBy(ev, rel))
	case ev.Has(fsnotify.Chmod) && isFolder(ev.Name): // one that could not be read is not watched
		f.markDirty([]string{dir, rel}, nil)
	}
}

// touchedBy returns the note that was written according to an event.
func touchedBy(ev fsnotify.Event, rel string) []string {
	if isNote(rel) && ev.Has(fsnotify.Create|fsnotify.Write) {
		return []string{rel}
	}
	return nil
}

// unwatchMoved stops watching a folder that was moved or removed, and those in it. It
// reports whether it was watched by w.
func (f *follower) unwatchMoved(w *eventWatcher, dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher != w || !w.folders[dir] {
		return false
	}
	for p := range w.folders {
		if isWithin(p, dir) {
			f.unwatchLocked(p)
			f.dirty[p] = true // another folder may be at that path by now
		}
	}
	return true
}
