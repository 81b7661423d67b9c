package vault

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// Library is the room above that reads the text of attachments.
type Library interface {
	// Reads reports whether the text of a file can be read, by its name.
	Reads(name string) bool
	// Unread returns what of a vault can't be read, with the reasons.
	Unread(vault string) []ImportSkip
	// ForgetVault removes all that was read of a vault whose attachments are forgotten.
	ForgetVault(ctx context.Context, vault string) error
}

// reads reports whether the text of an attachment is read, by its name.
func (im *Importer) reads(name string) bool {
	return im.opts.Library != nil && im.opts.Library.Reads(name)
}

// noteAttachments records the files of the vault that are no notes. Those in folders that
// could not be read stay.
func (r *run) noteAttachments(ctx context.Context) error {
	if r.sameAttachments {
		return nil
	}
	var known map[string]notes.Attachment
	err := r.db.View(ctx, func(tx *kv.Tx) (err error) {
		known, err = notes.AttachmentsTx(tx, r.name)
		return err
	})
	if err != nil {
		return err
	}
	come := r.tree.attachments()
	var gone []string
	for p, was := range known {
		is, there := come[p]
		if !there && !r.tree.couldNotRead(p) {
			gone = append(gone, p)
		}
		if is == was {
			delete(come, p)
		}
	}
	fresh := slices.Sorted(maps.Keys(come))
	slices.Sort(gone)
	put := func(tx *kv.Tx, vault, p string) error { return notes.PutAttachment(tx, vault, come[p]) }
	if err := r.changeAttachments(ctx, fresh, put); err != nil {
		return err
	}
	if err := r.changeAttachments(ctx, gone, notes.DeleteAttachment); err != nil {
		return err
	}
	if len(fresh)+len(gone) > 0 {
		r.tellAttached()
	}
	return nil
}

// changeAttachments changes the records of files, some in each transaction.
func (r *run) changeAttachments(ctx context.Context, list []string, one func(tx *kv.Tx, vault, p string) error) error {
	for part := range slices.Chunk(list, bulkBatch) {
		err := r.db.Update(ctx, func(tx *kv.Tx) error {
			for _, p := range part {
				if err := one(tx, r.name, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tellAttached tells who reads attachments that there may be something to read.
func (im *Importer) tellAttached() {
	im.mu.Lock()
	host := im.host
	im.mu.Unlock()
	if host != nil && host.Attached != nil {
		host.Attached()
	}
}

// Followed returns the names of the vaults that are followed, in byte order.
func (im *Importer) Followed(ctx context.Context) (names []string, err error) {
	list, err := im.records(ctx)
	for _, v := range list {
		if v.Watch && !v.Forgetting {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names, err
}

// ReadableFiles returns the attachments of a vault whose text can be read and that are not empty, by path. It waits until no
// scan is taken in, so that they are those of one scan.
func (im *Importer) ReadableFiles(ctx context.Context, vault string) (list map[string]notes.Attachment, err error) {
	release, err := im.claim(ctx, vault, false)
	if err != nil {
		return nil, err
	}
	defer release()
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		list, err = notes.AttachmentsTx(tx, vault)
		return err
	})
	maps.DeleteFunc(list, func(p string, a notes.Attachment) bool { return a.Size == 0 || !im.reads(p) })
	return list, err
}

// OpenFile opens a file of a vault to be read. It follows no link out of the folder, and waits for no pipe. The errors are
// Unavailable while the folder is not there, NotFound for a file that is not, and Invalid for one that can't be opened.
func (im *Importer) OpenFile(ctx context.Context, vault, p string) (*os.File, error) {
	_, folder, err := im.Find(ctx, vault)
	if err != nil {
		return nil, err
	}
	root, err := openFolder(folder)
	if err != nil {
		return nil, unreadable(err)
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(p))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist // as a file
	}
	var f *os.File
	if err == nil {
		f, err = root.OpenFile(filepath.FromSlash(p), openFlags, 0)
	}
	switch {
	case err == nil:
		return f, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fault.Wrap(fault.Invalid, err, "the file can't be read").WithHint("look at its rights; the daemon reads it as its own user")
	case !isFolder(folder):
		return nil, unreadable(err)
	}
	return nil, cmp.Or(ctx.Err(), error(fault.Missing("file", "")))
}
