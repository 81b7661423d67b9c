package watch

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// ears hear of changes in the folders of a vault.
type ears struct {
	*fsnotify.Watcher
	folders map[string]bool // those that are listened to; guarded by follower.mu
}

// seam lets tests stand between the system and a follower.
type seam struct {
	deaf bool                      // as where changes are not told of
	add  func(dir string) error    // nil: every folder can be listened to
	drop func(fsnotify.Event) bool // nil: no event is lost
	// forgot hears how many notes of a vault are gone after each group of them; an
	// error is the end of the program there. nil: nobody does.
	forgot func(removed int) error
}

// listen begins to hear of changes, where it has not.
func (f *follower) listen() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ears != nil {
		return
	}
	if !eventful || f.im.seam.deaf {
		f.deaf = "the system tells of changes only at a high price, so the folder is looked through from time to time"
		return
	}
	w, err := fsnotify.NewBufferedWatcher(4096)
	if err != nil {
		f.unheard(err)
		return
	}
	f.ears = &ears{w, make(map[string]bool)}
	go f.hearken(f.ears)
}

// stopListening ends what listen has begun.
func (f *follower) stopListening() {
	f.mu.Lock()
	e := f.ears
	f.ears, f.deaf = nil, ""
	f.mu.Unlock()
	if e != nil {
		_ = e.Close() // nothing is kept there
	}
}

// unheard notes why not all changes are heard of. mu is held.
func (f *follower) unheard(err error) {
	if f.deaf != "" {
		return
	}
	f.deaf = "not all changes are told of (" + reasonOf(err) + "), so the folder is looked through from time to time"
	f.host.Changed()
}

// heardAll notes that all changes in the folders of a tree are heard of again: the
// system may have watches to give that it had not.
func (f *follower) heardAll(t *tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ears == nil || f.deaf == "" {
		return
	}
	for dir := range t.folders {
		if !f.ears.folders[dir] {
			return
		}
	}
	f.deaf = ""
	f.host.Changed()
}

// reasonOf says why a folder can't be listened to, without its path.
func reasonOf(err error) string {
	if exhausted(err) {
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

// hear listens to a folder from now on.
func (f *follower) hear(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(dir)
}

// add is hear. mu is held.
func (f *follower) add(dir string) {
	if f.ears == nil || f.ears.folders[dir] {
		return
	}
	err := error(nil)
	if f.im.seam.add != nil {
		err = f.im.seam.add(dir)
	}
	if err == nil {
		err = f.ears.Add(f.place(dir))
	}
	switch {
	case err == nil:
		f.ears.folders[dir] = true
	case isFolder(f.place(dir)): // else it went meanwhile, of which its own folder tells
		f.unheard(err)
	}
}

func (f *follower) place(dir string) string { return filepath.Join(f.path, filepath.FromSlash(dir)) }

// hearAgain listens to the folders of a tree, and to no others. The system knows
// folders and not paths: one that moved would still be heard under the path that
// it had.
func (f *follower) hearAgain(next *tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ears == nil {
		return
	}
	lost := false
	for dir := range f.ears.folders {
		if next.folders[dir] == nil {
			f.forget(dir)
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
		f.forget(dir)
		f.add(dir)
		f.dirty[dir] = true // what changed meanwhile was not heard of
		f.poke()
	}
}

// forget listens to a folder no longer. mu is held.
func (f *follower) forget(dir string) {
	_ = f.ears.Remove(f.place(dir)) // a folder that is gone is not listened to in any case
	delete(f.ears.folders, dir)
}

// hearken hears of changes until the ears are closed.
func (f *follower) hearken(e *ears) {
	for {
		select {
		case ev, ok := <-e.Events:
			if !ok {
				return
			}
			if f.im.seam.drop == nil || !f.im.seam.drop(ev) {
				f.heard(e, ev)
			}
		case _, ok := <-e.Errors:
			if !ok {
				return
			}
			f.suspectAll() // events were lost
		}
	}
}

// heard notes what has to be looked at after an event.
func (f *follower) heard(e *ears, ev fsnotify.Event) {
	rel, err := filepath.Rel(f.path, ev.Name)
	if err != nil || ev.Name == "" {
		return
	}
	rel = filepath.ToSlash(rel)
	dir, name := path.Dir(rel), path.Base(rel)
	moved, made := ev.Has(fsnotify.Remove|fsnotify.Rename), ev.Has(fsnotify.Create)
	own := within(rel, ownFolder)
	switch {
	case rel == ".":
		if moved {
			f.stopListening() // at a folder that is another one by now
			f.suspectAll()
		} else if ev.Has(fsnotify.Chmod) {
			f.suspect([]string{rel}, nil)
		}
	case name == ignoreFile:
		f.suspectAll()
	case strings.HasPrefix(name, ".") && !own:
	case moved && f.leave(e, rel), made || moved:
		f.suspect([]string{dir}, touchedBy(ev, rel))
	case isMarkdown(name) || own:
		f.suspect([]string{dir}, touchedBy(ev, rel))
	case ev.Has(fsnotify.Chmod) && isFolder(ev.Name): // one that could not be read is not listened to
		f.suspect([]string{dir, rel}, nil)
	}
}

// touchedBy returns the note that an event says has been written.
func touchedBy(ev fsnotify.Event, rel string) []string {
	if isMarkdown(rel) && ev.Has(fsnotify.Create|fsnotify.Write) {
		return []string{rel}
	}
	return nil
}

// leave listens no longer to a folder that has another place, nor to those in it.
func (f *follower) leave(e *ears, dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ears != e || !e.folders[dir] {
		return false
	}
	for p := range e.folders {
		if within(p, dir) {
			f.forget(p)
			f.dirty[p] = true // another folder may be at that path by now
		}
	}
	return true
}
