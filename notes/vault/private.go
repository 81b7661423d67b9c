package vault

import (
	"context"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// IsPrivateFile reports whether a file is private, and so what is made from it: it lies in a private folder of a vault, it is
// that of a private note, or its head says so, as that of a note would. file is an absolute path, or empty for a text that
// came without one; head is its text or the beginning of that, empty for a file that is none.
func (im *Importer) IsPrivateFile(ctx context.Context, file, head string) (bool, error) {
	if notes.SaysPrivate(head) {
		return true, nil
	}
	if file == "" {
		return false, nil
	}
	all, err := im.known(ctx)
	if err != nil {
		return false, err
	}
	for _, v := range all {
		for _, at := range placesIn(v.Path, file) {
			if im.notes.InPrivateFolder(v.Name, at, "") {
				return true, nil
			}
			n, err := im.noteAt(ctx, v.Name, at)
			if err != nil || n != nil && n.Private {
				return n != nil, err
			}
		}
	}
	return false, nil
}

// NoteOfFile returns the id of the note that a file of a vault is of, by its absolute path; "" for none.
func (im *Importer) NoteOfFile(ctx context.Context, file string) (id string, err error) {
	all, err := im.known(ctx)
	if err != nil {
		return "", err
	}
	for _, v := range all {
		for _, at := range placesIn(v.Path, file) {
			n, err := im.noteAt(ctx, v.Name, at)
			switch {
			case err != nil:
				return "", err
			case n != nil:
				return n.ID, nil
			}
		}
	}
	return "", nil
}

// placesIn returns the paths of a file in a vault: as it is called, and, where that is a link, as what it leads to is.
func placesIn(vault, file string) (list []string) {
	top, err := os.Stat(vault)
	if err != nil {
		return nil
	}
	for _, resolve := range []func() (string, error){
		func() (string, error) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(file))
			return filepath.Join(dir, filepath.Base(file)), err
		},
		func() (string, error) { return filepath.EvalSymlinks(file) },
	} {
		at, err := resolve()
		if err != nil {
			continue
		}
		if inner, lies := below(at, top); lies && inner != "" {
			list = append(list, inner)
		}
	}
	return list
}

// noteAt returns the note of a file, nil for none.
func (im *Importer) noteAt(ctx context.Context, vault, at string) (n *notes.Note, err error) {
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		f, err := files.Get(tx, vault+"/"+at)
		if err != nil || f == nil {
			return err
		}
		n, err = notes.Records.Get(tx, f.NoteID)
		return err
	})
	return n, err
}
