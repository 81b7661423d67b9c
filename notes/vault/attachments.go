package vault

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// noteAttachments records the files of the vault that are no notes. Those in folders that
// could not be read stay.
func (r *run) noteAttachments(ctx context.Context) error {
	if r.sameAttachments {
		return nil
	}
	come := r.tree.attachments()
	var gone []string
	for _, p := range r.notes.Attachments(r.name) {
		if !come[p] && !r.tree.couldNotRead(p) {
			gone = append(gone, p)
		}
		delete(come, p)
	}
	fresh := make([]string, 0, len(come))
	for p := range come {
		fresh = append(fresh, p)
	}
	slices.Sort(fresh)
	slices.Sort(gone)
	change := func(list []string, one func(tx *kv.Tx, vault, p string) error) error {
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
	if err := change(fresh, notes.PutAttachment); err != nil {
		return err
	}
	return change(gone, notes.DeleteAttachment)
}
