package vault

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/days"
	"github.com/ctxd/ctxd/notes/ignore"
)

// stamp is what tells a changed file from an unchanged one without reading it.
// The zero stamp is like none: the file must be read.
type stamp struct {
	size     int64
	modified int64 // Unix nanoseconds
}

func stampOf(info fs.FileInfo) stamp {
	if info == nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}

// grain is the coarsest step of the times of files: that of FAT.
const grain = 2 * time.Second

// settled returns the stamp of a file that was read at a time, unless the file
// is so young that it may change once more and keep its stamp.
func (s stamp) settled(read time.Time) stamp {
	if age := read.Sub(time.Unix(0, s.modified)); -grain < age && age < grain {
		return stamp{}
	}
	return s
}

// tree is what a scan saw of a vault: folders by path, the vault itself as ".".
// Folders are not changed when the scan is over, so trees share them.
type tree struct {
	folders map[string]*folder
	folds   bool // the file system does not tell letter case

	days     days.Settings
	daysSkip []ImportSkip // why its settings of days could not be read
}

// folder is what a scan saw in one folder.
type folder struct {
	info     fs.FileInfo // tells it from another one at its place
	notes    map[string]stamp
	types    map[string]stamp // declarations
	others   []string         // names of the other files, sorted
	attached map[string]stamp // of those of them whose text is read
	folders  []string         // names of those that were entered, sorted
	ignore   stamp            // of its .ctxdignore, zero for none
	patterns []ignore.Pattern
	skipped  []ImportSkip
	unread   []string // paths of folders that could not be looked at: what the store knows of them stays
	empty    bool     // there is nothing in it at all
}

func newTree() *tree { return &tree{folders: make(map[string]*folder)} }

// clone returns a tree that can be changed without changing t.
func (t *tree) clone() *tree {
	c := *t
	c.folders = maps.Clone(t.folders)
	return &c
}

// stamp returns the stamp of a note.
func (t *tree) stamp(p string) (s stamp, there bool) {
	if f := t.folders[path.Dir(p)]; f != nil {
		s, there = f.notes[path.Base(p)]
	}
	return s, there
}

// unsettle has notes read again at the next look.
func (t *tree) unsettle(list []string) {
	stamps := make(map[string]stamp, len(list))
	for _, p := range list {
		stamps[p] = stamp{}
	}
	t.restamp(stamps)
}

// restamp gives notes other stamps, those that are there.
func (t *tree) restamp(stamps map[string]stamp) {
	own := make(map[string]bool) // folders that no other tree shares
	for p, s := range stamps {
		dir, name := path.Dir(p), path.Base(p)
		if was, there := t.stamp(p); !there || was == s {
			continue
		}
		if !own[dir] {
			f := *t.folders[dir]
			f.notes = maps.Clone(f.notes)
			t.folders[dir], own[dir] = &f, true
		}
		t.folders[dir].notes[name] = s
	}
}

// notes returns the paths of all notes in byte order.
func (t *tree) notes() []string {
	var out []string
	for dir, f := range t.folders {
		for name := range f.notes {
			out = append(out, path.Join(dir, name))
		}
	}
	slices.Sort(out)
	return out
}

// attachments returns all files that are no notes, by path.
func (t *tree) attachments() map[string]notes.Attachment {
	out := make(map[string]notes.Attachment)
	for dir, f := range t.folders {
		for _, name := range f.others {
			if p := path.Join(dir, name); len(p) <= notes.MaxPath && utf8.ValidString(p) {
				s := f.attached[name]
				out[p] = notes.Attachment{Path: p, Size: s.size, Modified: s.modified}
			}
		}
	}
	return out
}

// size returns the number of folders and notes.
func (t *tree) size() int {
	n := len(t.folders)
	for _, f := range t.folders {
		n += len(f.notes)
	}
	return n
}

// types returns the paths of all declarations in byte order.
func (t *tree) types() []string {
	var out []string
	for dir, f := range t.folders {
		for name := range f.types {
			out = append(out, path.Join(dir, name))
		}
	}
	slices.Sort(out)
	return out
}

// skipped returns what the scan left out.
func (t *tree) skipped() []ImportSkip {
	out := slices.Clone(t.daysSkip)
	for _, f := range t.folders {
		out = append(out, f.skipped...)
	}
	return out
}

// couldNotRead reports whether a path lies in what could not be looked at.
func (t *tree) couldNotRead(p string) bool {
	for at := p; at != "."; at = path.Dir(at) {
		if f := t.folders[path.Dir(at)]; f != nil && slices.Contains(f.unread, at) {
			return true
		}
	}
	return false
}

// excluded reports whether a file, or a folder that it lies in, is left out by a person.
func (t *tree) excluded(p string) bool {
	for at := p; at != "."; at = path.Dir(at) {
		f := t.folders[path.Dir(at)]
		if f != nil && slices.ContainsFunc(f.skipped,
			func(s ImportSkip) bool { return s.Path == at && strings.HasPrefix(s.Reason, excludedBy) }) {
			return true
		}
	}
	return false
}

// gone reports whether a file is not there any more, as far as can be told.
func (t *tree) gone(p string) bool {
	_, there := t.stamp(p)
	return !there && !t.couldNotRead(p)
}

// isWithin reports whether a path is that of a folder or of something in it.
func isWithin(p, dir string) bool {
	return p == dir || dir == "." || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

// difference is what is another way in a later tree.
type difference struct {
	notes []string // new or changed, in byte order
	gone  []string // in byte order
	// others says that files which are no notes have come or gone, or that one whose text is read has changed; lost, that one
	// has gone.
	others, lost bool
	// whole says that everything has to be looked at: a declaration is another one, or
	// what days are called, or what could not be looked at before can be now.
	whole bool
}

func (d *difference) none() bool { return len(d.notes)+len(d.gone) == 0 && !d.others && !d.whole }

// since returns what has changed in t since old.
func (t *tree) since(old *tree) *difference {
	d := &difference{whole: t.days != old.days}
	for dir, f := range t.folders {
		was := old.folders[dir]
		if was == f {
			continue
		}
		if was == nil {
			was = &folder{}
		}
		for name, s := range f.notes {
			if s == (stamp{}) || was.notes[name] != s {
				d.notes = append(d.notes, path.Join(dir, name))
			}
		}
		d.others = d.others || !slices.Equal(f.others, was.others) || !maps.Equal(f.attached, was.attached)
		d.lost = d.lost || lost(was.others, f.others)
		d.whole = d.whole || !maps.Equal(f.types, was.types) || !slices.Equal(f.unread, was.unread)
	}
	for dir, was := range old.folders {
		f := t.folders[dir]
		if f == was {
			continue
		}
		for name := range was.notes {
			if p := path.Join(dir, name); t.gone(p) {
				d.gone = append(d.gone, p)
			}
		}
		d.others = d.others || f == nil && len(was.others) > 0
		d.lost = d.lost || f == nil && len(was.others) > 0
		d.whole = d.whole || f == nil && len(was.types)+len(was.unread) > 0
	}
	slices.Sort(d.notes)
	slices.Sort(d.gone)
	return d
}

// misses reports whether files are gone since old.
func (t *tree) misses(old *tree) bool {
	d := t.since(old)
	return len(d.gone) > 0 || d.lost
}

// lost reports whether a name of a sorted list is not in another one.
func lost(was, is []string) bool {
	for _, name := range was {
		if _, there := slices.BinarySearch(is, name); !there {
			return true
		}
	}
	return false
}

// sameFolder reports whether two scans saw one folder, and not another that has
// taken its place.
func sameFolder(a, b *folder) bool {
	return a != nil && b != nil && os.SameFile(a.info, b.info)
}
