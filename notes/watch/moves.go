package watch

import (
	"context"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// moves finds the files that are at another path than the last time, by their
// content, and lets them keep their ids: what a note is to others, and whether
// a client made it private, goes with its text and not with its place.
func (r *run) moves() {
	now := make(map[string]string, len(r.docs)) // hash by path
	for _, d := range r.docs {
		now[d.path] = d.hash
	}
	unread := make(map[string]bool) // there, but not to be taken in now
	for _, p := range r.found.notes {
		if _, ok := now[p]; !ok {
			unread[p] = true
		}
	}
	left := make(map[string][]string) // hash to the paths that had it and have it no more
	for _, p := range slices.Sorted(maps.Keys(r.known)) {
		if f := r.known[p]; now[p] != f.Hash && !unread[p] && !r.found.couldNotRead(p) {
			left[f.Hash] = append(left[f.Hash], p)
		}
	}
	before := maps.Clone(r.known)
	claimed := make(map[string]bool) // old paths whose ids went elsewhere
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
	for p := range claimed {
		if r.known[p] == before[p] {
			delete(r.known, p) // another text at the old path is another note
			r.vacated = append(r.vacated, p)
		}
	}
	// A note whose place another took, and that has none itself now, is gone.
	kept := make(map[string]bool)
	for _, f := range r.known {
		kept[f.NoteID] = true
	}
	for p, f := range before {
		if !kept[f.NoteID] {
			r.gone = append(r.gone, gone{p, f.NoteID})
			kept[f.NoteID] = true
		}
	}
}

// gone is a note that no file has any more.
type gone struct{ path, noteID string }

// remove deletes the notes whose files are gone, but not those in folders that
// could not be looked at.
func (r *run) remove(ctx context.Context, paths []string) error {
	there := make(map[string]bool, len(paths))
	for _, p := range paths {
		there[p] = true
	}
	for p, f := range r.known {
		if !there[p] && !r.found.couldNotRead(p) {
			r.gone = append(r.gone, gone{p, f.NoteID})
		}
	}
	if len(r.gone)+len(r.vacated) == 0 {
		return nil
	}
	return r.db.Update(ctx, func(tx *kv.Tx) error {
		for _, p := range r.vacated {
			if !there[p] {
				if err := files.Delete(tx, r.name+"/"+p); err != nil {
					return err
				}
			}
		}
		removed := 0
		for _, g := range r.gone {
			if err := r.removeNote(tx, g, there[g.path]); err != nil {
				return err
			}
			removed++
		}
		r.result.Removed = removed
		return nil
	})
}

func (r *run) removeNote(tx *kv.Tx, g gone, placeTaken bool) error {
	n, err := notes.Records.Get(tx, g.noteID)
	if err != nil {
		return err
	}
	if n != nil && n.EntityID != "" {
		if err := remains.Put(tx, r.name+"/"+n.EntityID, &remain{n.EntityID}); err != nil {
			return err
		}
	}
	if err := r.notes.DeleteTx(tx, g.noteID); err != nil || placeTaken {
		return err
	}
	return files.Delete(tx, r.name+"/"+g.path)
}
