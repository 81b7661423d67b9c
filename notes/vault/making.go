package vault

import (
	"context"
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
			var count days.Counter
			for n := range im.notes.All() {
				if n.Vault == vault && n.Path != "" && sees(n) {
					count.Add(n.Path)
				}
			}
			count.Apply(&s)
		}
		out.Vault, out.Path = vault, s.Path(at)
		unseen := func(n *notes.Note) bool { return n.Vault != vault || !sees(n) }
		if n, err := im.notes.ByPath(out.Path, unseen); err == nil {
			out.Note = n
			return
		}
		if by.Remote {
			s.Template = ""
		}
		out.Text, _ = s.Content(read, at)
	})
	return out, err
}
