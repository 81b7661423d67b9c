package vault

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/days"
)

// This file says where a vault makes a new note, and how it begins, by the settings of the program that keeps the vault
// (notes/days).

// DayNote is the note of a day, as the vault calls it.
type DayNote struct {
	Vault string
	Path  string
	Text  string // what a new one begins with; "" where the note is there
	Note  *notes.Note
}

// making calls use once with the settings of a vault, of the only one for "", and a reader of its files.
func (im *Importer) making(ctx context.Context, name string, use func(vault string, s days.Settings, known bool, read days.Reader)) error {
	var v *vault
	err := im.db.View(ctx, func(tx *kv.Tx) (err error) {
		v, err = im.find(tx, name)
		return err
	})
	if err != nil {
		return err
	}
	root, err := openFolder(v.Path)
	if err != nil {
		return away(v.Name, err)
	}
	defer root.Close() // it was only looked into
	read := settingsOf(root)
	s, _, known := days.Read(read)
	use(v.Name, s, known, read)
	return nil
}

// Making is where a vault makes new notes, by its own settings. The zero value is one that says nothing.
type Making struct {
	days.Settings
	Days bool // it says where it makes those of days
}

// MakingOf returns where the vault in a folder makes new notes.
func MakingOf(folder string) Making {
	root, err := openFolder(folder)
	if err != nil {
		return Making{} // it is away: it says nothing
	}
	defer root.Close()
	s, _, known := days.Read(settingsOf(root))
	return Making{s, known}
}

// home returns the path of the note that a link by a name alone waits for, "" where the settings do not say.
func (m Making) home(name string) string {
	if m.Days {
		if day, ok := m.DayOf(name); ok {
			return m.Path(day)
		}
	}
	if m.NewNotes == "" {
		return ""
	}
	return path.Join(m.NewNotes, name+".md")
}

// NewNotes returns the folder of a vault for a new note that nobody gave a place; "" is its root.
func (im *Importer) NewNotes(ctx context.Context, name string) (folder string, err error) {
	err = im.making(ctx, name, func(_ string, s days.Settings, _ bool, _ days.Reader) { folder = s.NewNotes })
	return folder, err
}

// DayNote returns the note of a day. at is that day, at the time of now, in the zone of the person. sees tells which notes there
// are for who asks. A vault that says nothing has its notes of days where most of those are that are seen. A remote writer gets
// no template: it may name what is private.
func (im *Importer) DayNote(ctx context.Context, name string, at time.Time, by Writer, sees func(*notes.Note) bool) (*DayNote, error) {
	out := &DayNote{}
	err := im.making(ctx, name, func(vault string, s days.Settings, known bool, read days.Reader) {
		if !known {
			im.mostDays(vault, sees).Apply(&s)
		}
		out.Vault, out.Path = vault, s.Path(at)
		if out.Note = im.noteSeenAt(vault, out.Path, sees); out.Note != nil {
			return
		}
		if by.Remote {
			s.Template = ""
		}
		out.Text, _ = s.Content(read, at)
	})
	return out, err
}

// DayNotes returns the ids of the notes of a day, in the order of the names of their vaults; see DayNote.
func (im *Importer) DayNotes(ctx context.Context, day time.Time, sees func(*notes.Note) bool) (ids []string) {
	all, err := im.known(ctx)
	if err != nil {
		return nil
	}
	slices.SortFunc(all, func(a, b *vault) int { return strings.Compare(a.Name, b.Name) })
	for _, v := range all {
		// A folder that is away says nothing of its notes; then they are where most are.
		s, known := days.Settings{File: days.ISO}, false
		_ = im.making(ctx, v.Name, func(_ string, read days.Settings, isKnown bool, _ days.Reader) { s, known = read, isKnown })
		if !known {
			im.mostDays(v.Name, sees).Apply(&s)
		}
		if n := im.noteSeenAt(v.Name, s.Path(day), sees); n != nil {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// mostDays counts the notes of days of a vault by their folders.
func (im *Importer) mostDays(vault string, sees func(*notes.Note) bool) *days.Counter {
	count := &days.Counter{}
	for n := range im.notes.All() {
		if n.Vault == vault && sees(n) {
			count.Add(n.Path)
		}
	}
	return count
}

// noteSeenAt returns the note of a path in a vault, nil for none that is seen.
func (im *Importer) noteSeenAt(vault, p string, sees func(*notes.Note) bool) *notes.Note {
	n, err := im.notes.ByPath(p, func(n *notes.Note) bool { return n.Vault != vault || !sees(n) })
	if err != nil {
		return nil
	}
	return n
}
