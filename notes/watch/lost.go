package watch

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// lost is what is kept of a note whose file is gone, so that it is the same note
// when the file comes back: a checkout removes files and makes them anew, a program
// that syncs moves them in two steps, a disk is put in again file by file. The text
// is not kept.
type lost struct {
	NoteID     string     `json:"noteId"`
	EntityID   string     `json:"entityId,omitempty"`
	Hash       string     `json:"hash"` // of the text that it had
	Version    int        `json:"version"`
	CreatedAt  time.Time  `json:"createdAt"`
	Private    bool       `json:"private,omitempty"`    // said by a client
	ArchivedAt *time.Time `json:"archivedAt,omitempty"` // by a client
	GoneAt     time.Time  `json:"goneAt"`
	// Hidden: the entity is private because the note was, and was not said to be.
	Hidden bool `json:"hidden,omitempty"`
}

var (
	losts     = kv.NewCollection[lost]("vault-lost")        // by vault name, /, path
	lostTexts = kv.NewCollection[string]("vault-lost-text") // the path by vault name, /, hash
)

// How long, and of how many notes of a vault, it is kept. More than maxLost may be
// there until clearEvery notes have been removed.
const (
	keepLost   = 30 * 24 * time.Hour
	maxLost    = 10000
	clearEvery = 1000
)

// lose keeps what a note needs to come back.
func (r *run) lose(tx *kv.Tx, g gone, n *notes.Note) error {
	if err := dropLost(tx, r.name+"/", g.path); err != nil {
		return err
	}
	given := n.Given.Get()
	l := &lost{
		NoteID: n.ID, EntityID: n.EntityID, Hash: g.hash, Version: n.Version + 1, CreatedAt: n.CreatedAt,
		Private: given.Private, ArchivedAt: given.Archived, GoneAt: r.opts.Now().UTC(),
	}
	if n.Private && n.EntityID != "" {
		e, err := entities.EntityRecords.Get(tx, n.EntityID)
		if err != nil {
			return err
		}
		l.Hidden = e != nil && !e.Private
	}
	if err := losts.Put(tx, r.name+"/"+g.path, l); err != nil || g.hash == "" {
		return err
	}
	return lostTexts.Put(tx, r.name+"/"+g.hash, &g.path)
}

// found returns the note that a new file makes come back, and the path that it had;
// nil when it is a new note. The text counts more than the place, as with files
// that move (moves), unless there is none.
func (r *run) found(tx *kv.Tx, d *document) (was *notes.Note, at string, err error) {
	at = d.path
	l, err := losts.Get(tx, r.name+"/"+at)
	if err != nil {
		return nil, "", err
	}
	if (l == nil || l.Hash != d.hash) && !blank(d.draft.Body) {
		other, err := lostTexts.Get(tx, r.name+"/"+d.hash)
		if err != nil {
			return nil, "", err
		}
		if other != nil {
			moved, err := losts.Get(tx, r.name+"/"+*other)
			if err != nil {
				return nil, "", err
			}
			if moved != nil && moved.Hash == d.hash {
				l, at = moved, *other
			}
		}
	}
	if l == nil {
		return nil, "", nil
	}
	if there, err := notes.Records.Has(tx, l.NoteID); err != nil || there {
		return nil, "", err
	}
	given := notes.Given{Private: l.Private, Archived: l.ArchivedAt}
	return &notes.Note{
		ID: l.NoteID, EntityID: l.EntityID, Version: l.Version, CreatedAt: l.CreatedAt, Vault: r.name, VaultBacked: true,
		ArchivedAt: l.ArchivedAt, Given: &given,
	}, at, nil
}

// regain forgets that a note was lost: it has come back.
func (r *run) regain(tx *kv.Tx, at string, n *notes.Note) error {
	if n.EntityID != "" {
		if err := remains.Delete(tx, r.name+"/"+n.EntityID); err != nil {
			return err
		}
		l, err := losts.Get(tx, r.name+"/"+at)
		if err != nil {
			return err
		}
		if l != nil && l.Hidden {
			if err := r.ents.PublishTx(tx, n.EntityID); err != nil {
				return err
			}
		}
	}
	return dropLost(tx, r.name+"/", at)
}

// dropLost forgets what is kept of the note that was at a path.
func dropLost(tx *kv.Tx, prefix, at string) error {
	l, err := losts.Get(tx, prefix+at)
	if err != nil || l == nil {
		return err
	}
	p, err := lostTexts.Get(tx, prefix+l.Hash)
	if err != nil {
		return err
	}
	if p != nil && *p == at {
		if err := lostTexts.Delete(tx, prefix+l.Hash); err != nil {
			return err
		}
	}
	return losts.Delete(tx, prefix+at)
}

// clearLost forgets notes that are gone for long, and the oldest where there are
// too many.
func (r *run) clearLost(ctx context.Context) error {
	type old struct {
		path string
		at   time.Time
	}
	var all []old
	prefix := r.name + "/"
	err := r.db.View(ctx, func(tx *kv.Tx) error {
		for key, l := range losts.All(tx, prefix) {
			all = append(all, old{strings.TrimPrefix(key, prefix), l.GoneAt})
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b old) int { return b.at.Compare(a.at) })
	horizon := r.opts.Now().Add(-keepLost)
	n := 0
	for n < len(all) && n < maxLost && all[n].at.After(horizon) {
		n++
	}
	for part := range slices.Chunk(all[n:], batch) {
		err := r.db.Update(ctx, func(tx *kv.Tx) error {
			for _, o := range part {
				if err := dropLost(tx, prefix, o.path); err != nil {
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

// blank reports whether a text says nothing, so that it does not tell a note from
// another.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
