package vault

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// Forget removes a vault with all its notes and entities, and makes new
// snapshots, so that no copy of them stays in the store's folder, kept backups
// of former states included. Its types go with it, but for those that entities of others have
// (see entities.ForgetTypes). It returns the number of notes removed.
//
// Notes are removed in groups, each in a transaction of its own, so that other writers do
// not wait long. When the program ends in between, Start, the next Forget or the next
// Import of the folder goes on with it. progress is called after each group with the
// number of notes that are removed; it may be nil.
func (im *Importer) Forget(ctx context.Context, name string, progress func(done, total int)) (removed int, err error) {
	name, err = im.resolve(ctx, name)
	if err != nil {
		return 0, err
	}
	if err := im.Unwatch(ctx, name); err != nil {
		return 0, err
	}
	release, err := im.claim(ctx, name, true)
	if err != nil {
		return 0, err
	}
	defer release()
	return im.forget(ctx, name, progress)
}

// Forgets says what Forget would remove: the number of notes, and the paths of the files
// with former states of the store. One of them may be what undoes the last restore.
func (im *Importer) Forgets(ctx context.Context, name string) (total int, copies []string, err error) {
	name, err = im.resolve(ctx, name)
	if err != nil {
		return 0, nil, err
	}
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		for range files.All(tx, name+"/") {
			total++
		}
		return tx.Err()
	})
	if err != nil {
		return 0, nil, err
	}
	copies, err = im.db.Copies(ctx)
	return total, copies, err
}

// resolve returns the name of the vault that is meant; "" means the only one.
func (im *Importer) resolve(ctx context.Context, name string) (string, error) {
	err := im.db.View(ctx, func(tx *kv.Tx) error {
		v, err := im.find(tx, name)
		if err == nil {
			name = v.Name
		}
		return err
	})
	return name, err
}

// forget removes a vault that the caller has claimed.
func (im *Importer) forget(ctx context.Context, name string, progress func(done, total int)) (removed int, err error) {
	total, known, err := im.beginForgetting(ctx, name)
	if err != nil || !known { // nothing was ever read of a folder that is waited for
		return 0, err
	}
	for more := true; more; {
		var n int
		n, more, err = im.forgetSome(ctx, name)
		if err != nil {
			return removed, err
		}
		removed += n
		if progress != nil {
			progress(removed, total)
		}
		if im.seam.forgot != nil {
			if err := im.seam.forgot(removed); err != nil {
				return removed, err
			}
		}
	}
	if im.opts.Library != nil {
		if err := im.opts.Library.ForgetVault(ctx, name); err != nil {
			return removed, err
		}
	}
	err = im.db.Update(ctx, func(tx *kv.Tx) error { return notes.ForgetTypes(tx, name) })
	if err != nil {
		return removed, err
	}
	// The store keeps two generations of snapshots and what lies between them, so it takes two to get rid of the older
	// ones: all that was in files of the vault is to be gone before the first one. The record of the vault goes last: a
	// Forget that was interrupted can be said again.
	if err := im.db.Snapshot(ctx); err != nil {
		return removed, err
	}
	err = im.db.Update(ctx, func(tx *kv.Tx) error {
		if err := im.notes.ForgetFoldsCaseTx(tx, name); err != nil {
			return err
		}
		return vaults.Delete(tx, name)
	})
	if err != nil {
		return removed, err
	}
	if err := im.db.Snapshot(ctx); err != nil {
		return removed, err
	}
	return removed, im.db.DeleteCopies(ctx)
}

// beginForgetting notes that a vault is to go, and counts its notes.
func (im *Importer) beginForgetting(ctx context.Context, name string) (total int, known bool, err error) {
	err = im.db.Update(ctx, func(tx *kv.Tx) error {
		v, err := vaults.Get(tx, name)
		known, total = v != nil, 0
		if err != nil || !known {
			return err
		}
		for range files.All(tx, name+"/") {
			total++
		}
		if v.Forgetting {
			return tx.Err()
		}
		return vaults.Put(tx, name, &vault{Name: v.Name, Path: v.Path, LastScanAt: v.LastScanAt, Forgetting: true})
	})
	return total, known, err
}

// forgetSome removes a group of what came from a vault, and reports whether there may
// be more.
func (im *Importer) forgetSome(ctx context.Context, name string) (removed int, more bool, err error) {
	err = im.db.Update(ctx, func(tx *kv.Tx) error {
		removed = 0
		left := batch
		for key, f := range files.All(tx, name+"/") {
			if left == 0 {
				break
			}
			if err := im.erase(tx, key, f); err != nil {
				return err
			}
			removed++
			left--
		}
		for key, rest := range remains.All(tx, name+"/") {
			if left == 0 {
				break
			}
			if err := im.ents.DeleteTx(tx, rest.EntityID); err != nil {
				return err
			}
			if err := remains.Delete(tx, key); err != nil {
				return err
			}
			left--
		}
		for key := range tombstones.All(tx, name+"/") {
			if left == 0 {
				break
			}
			if err := deleteTombstone(tx, name+"/", strings.TrimPrefix(key, name+"/")); err != nil {
				return err
			}
			left--
		}
		for key, c := range changes.All(tx, "") {
			if left == 0 {
				break
			}
			if c.Vault != name {
				continue
			}
			if err := changes.Delete(tx, key); err != nil {
				return err
			}
			left--
		}
		for key := range underway.All(tx, name+"/") {
			if err := underway.Delete(tx, key); err != nil {
				return err
			}
		}
		forgotten, err := notes.ForgetSomeAttachments(tx, name, left)
		if err != nil {
			return err
		}
		left -= forgotten
		more = left == 0
		return tx.Err()
	})
	return removed, more, err
}

// erase removes a note of a vault for good, its entity and its file record.
func (im *Importer) erase(tx *kv.Tx, key string, f *file) error {
	n, err := notes.Records.Get(tx, f.NoteID)
	if err != nil {
		return err
	}
	if err := im.notes.EraseTx(tx, f.NoteID); err != nil {
		return err
	}
	if n != nil && n.EntityID != "" {
		if err := im.ents.DeleteTx(tx, n.EntityID); err != nil {
			return err
		}
	}
	return files.Delete(tx, key)
}

// goOnForgetting ends a Forget that an end of the program has interrupted.
func (im *Importer) goOnForgetting(ctx context.Context, host *Host, name string) {
	for ctx.Err() == nil {
		err := host.Enter(ctx, func(ctx context.Context) error { return im.forgetIfBegun(ctx, name) })
		if err == nil {
			return
		}
		sleep(ctx, retry)
	}
}

// forgetIfBegun removes what is left of a vault that is being forgotten.
func (im *Importer) forgetIfBegun(ctx context.Context, name string) error {
	release, err := im.claim(ctx, name, false)
	if err != nil {
		return err
	}
	defer release()
	return im.finishForgetting(ctx, name)
}

// finishForgetting is forgetIfBegun of a vault that the caller has claimed.
func (im *Importer) finishForgetting(ctx context.Context, name string) error {
	var v *vault
	err := im.db.View(ctx, func(tx *kv.Tx) (err error) {
		v, err = vaults.Get(tx, name)
		return err
	})
	if err != nil || v == nil || !v.Forgetting {
		return err
	}
	_, err = im.forget(ctx, name, nil)
	return err
}
