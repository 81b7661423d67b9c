package vault

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// moves finds the files that are at another path than the last time, by their
// content, and lets them keep their ids: what a note is to others, and whether
// a client made it private, goes with its text and not with its place.
func (r *run) moves() {
	now := make(map[string]*document, len(r.docs)) // by path, of what was read
	for i := range r.docs {
		now[r.docs[i].path] = &r.docs[i]
	}
	had := make(map[string]bool, len(r.known))
	for _, f := range r.known {
		had[f.Hash] = true
	}
	claimed := make(map[string]bool)  // old paths whose ids went elsewhere
	left := make(map[string][]string) // hash to the paths that had it and have it no more
	for _, p := range slices.Sorted(maps.Keys(r.known)) {
		d, f := now[p], r.known[p]
		n := r.notes.Get(f.NoteID)
		switch {
		case r.hasMoved(p, f):
			claimed[p] = true
		case n == nil || n.Path != p: // a run that was cut short had moved it already
		case d == nil && r.tree.gone(p):
			left[f.Hash] = append(left[f.Hash], p)
		case d == nil || d.hash == f.Hash || blank(n.Body):
		case had[d.hash] || !isEditOf(n.Body, d.draft.Body):
			left[f.Hash] = append(left[f.Hash], p) // else it was edited, and who has its text has a copy
		}
	}
	before := maps.Clone(r.known)
	for _, d := range r.docs {
		known := before[d.path]
		from := left[d.hash]
		if known != nil && known.Hash == d.hash || len(from) == 0 {
			continue
		}
		left[d.hash] = from[1:]
		claimed[from[0]] = true
		r.known[d.path] = &file{NoteID: before[from[0]].NoteID} // no hash: its record has the old path
	}
	r.matchEdited(before, claimed)
	r.moved = make(map[string]bool, len(claimed))
	for p := range claimed {
		r.moved[before[p].NoteID] = true
		if r.known[p] == before[p] {
			delete(r.known, p) // another text at the old path is another note
			r.vacated = append(r.vacated, p)
		}
	}
	// A note whose place another took, and that has none itself now, is gone.
	kept := maps.Clone(r.also)
	for _, f := range r.known {
		kept[f.NoteID] = true
	}
	for p, f := range before {
		if !kept[f.NoteID] {
			r.leaving = append(r.leaving, gone{p, f.NoteID, f.Hash})
			kept[f.NoteID] = true
		}
	}
}

// gone is a note that no file has any more.
type gone struct{ path, noteID, hash string }

// remove deletes the notes whose files are gone, but not those in folders that
// could not be looked at.
func (r *run) remove(ctx context.Context) error {
	for p, f := range r.known {
		if r.tree.gone(p) {
			r.leaving = append(r.leaving, gone{p, f.NoteID, f.Hash})
		}
	}
	slices.SortFunc(r.leaving, func(a, b gone) int { return strings.Compare(a.path, b.path) })
	slices.Sort(r.vacated)
	for part := range slices.Chunk(r.vacated, batch) {
		err := r.db.Update(ctx, func(tx *kv.Tx) error {
			for _, p := range part {
				if !r.tree.gone(p) {
					continue
				}
				if err := files.Delete(tx, r.name+"/"+p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for part := range slices.Chunk(r.leaving, batch) {
		before := r.removed
		err := r.db.Update(ctx, func(tx *kv.Tx) error {
			r.removed = before
			for _, g := range part {
				if err := r.removeNote(tx, g); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.progressed("remove", min(r.removed, len(r.leaving)), len(r.leaving))
	}
	return nil
}

// expiryDue reports whether what is kept of removed notes has to be looked through:
// at each run that looks at the whole vault, and when many have been removed.
func (r *run) expiryDue(whole bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removedSinceExpiry += r.removed
	if !whole && r.removedSinceExpiry < expireEvery {
		return false
	}
	r.removedSinceExpiry = 0
	return true
}

func (r *run) removeNote(tx *kv.Tx, g gone) error {
	n, err := notes.Records.Get(tx, g.noteID)
	if err != nil {
		return err
	}
	elsewhere, err := r.elsewhere(tx, n, g.path)
	if err != nil {
		return err
	}
	if n != nil && !elsewhere {
		if n.EntityID != "" {
			if err := remains.Put(tx, r.name+"/"+n.EntityID, &remain{n.EntityID}); err != nil {
				return err
			}
		}
		if err := r.putTombstone(tx, g, n); err != nil {
			return err
		}
		if r.tree.excluded(g.path) { // what a person leaves out, nobody else is to see
			if err := r.notes.HideTx(tx, n); err != nil {
				return err
			}
		}
		if err := r.notes.DeleteTx(tx, g.noteID); err != nil {
			return err
		}
		r.removed++
	}
	if !r.tree.gone(g.path) {
		return nil // another note has the place
	}
	return files.Delete(tx, r.name+"/"+g.path)
}

// elsewhere reports whether a note has another place than a path: a run that was
// cut short may have moved it, and not come to forget the old place.
func (r *run) elsewhere(tx *kv.Tx, n *notes.Note, p string) (bool, error) {
	if n == nil || n.Path == p || r.tree.gone(n.Path) {
		return false, nil
	}
	f, err := files.Get(tx, r.name+"/"+n.Path)
	return f != nil && f.NoteID == n.ID, err
}
