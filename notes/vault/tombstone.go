package vault

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// tombstone is what the store keeps of a note whose file is gone, so that the note keeps
// its ids when the file comes back: a checkout removes files and makes them anew, a
// program that syncs moves them in two steps. The text is not kept.
type tombstone struct {
	NoteID     string     `json:"noteId"`
	EntityID   string     `json:"entityId,omitempty"`
	Hash       string     `json:"hash"` // of the text that it had
	Version    int        `json:"version"`
	CreatedAt  time.Time  `json:"createdAt"`
	Private    bool       `json:"private,omitempty"`    // said by a client
	ArchivedAt *time.Time `json:"archivedAt,omitempty"` // by a client
	GoneAt     time.Time  `json:"goneAt"`
	// WasPrivate: the note was private. It stays so until its file is complete.
	WasPrivate bool `json:"wasPrivate,omitempty"`
	// Hidden: a program before this one has made the entity private by its own record,
	// because the note was.
	Hidden bool `json:"hidden,omitempty"`
}

var (
	tombstones       = kv.NewCollection[tombstone]("vault-lost").Local()   // by vault name, /, path
	tombstonesByHash = kv.NewCollection[string]("vault-lost-text").Local() // the path by vault name, /, hash
)

// How long tombstones are kept, and how many of a vault. There may be more until
// expireEvery notes have been removed.
const (
	keepTombstone = 30 * 24 * time.Hour
	maxTombstones = 10000
	expireEvery   = 1000
)

// putTombstone keeps what a note needs to come back.
func (r *run) putTombstone(tx *kv.Tx, g gone, n *notes.Note) error {
	if err := deleteTombstone(tx, r.name+"/", g.path); err != nil {
		return err
	}
	given := n.Given.Get()
	l := &tombstone{
		NoteID: n.ID, EntityID: n.EntityID, Hash: g.hash, Version: n.Version + 1, CreatedAt: n.CreatedAt,
		Private: given.Private, ArchivedAt: given.Archived, GoneAt: r.opts.Now().UTC(), WasPrivate: n.Private,
	}
	if err := tombstones.Put(tx, r.name+"/"+g.path, l); err != nil || g.hash == "" {
		return err
	}
	return tombstonesByHash.Put(tx, r.name+"/"+g.hash, &g.path)
}

// findTombstone returns the note that a new file brings back, without its text, and the
// path that it had; nil when the file is a new note. A file with the same text is
// preferred to one at the same path, as with files that move, unless the text is blank.
func (r *run) findTombstone(tx *kv.Tx, d *document) (was *notes.Note, at string, err error) {
	at = d.path
	l, err := tombstones.Get(tx, r.name+"/"+at)
	if err != nil {
		return nil, "", err
	}
	if (l == nil || l.Hash != d.hash) && !blank(d.draft.Body) {
		other, err := tombstonesByHash.Get(tx, r.name+"/"+d.hash)
		if err != nil {
			return nil, "", err
		}
		if other != nil {
			moved, err := tombstones.Get(tx, r.name+"/"+*other)
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
	return &notes.Note{Note: record.Note{
		ID: l.NoteID, EntityID: l.EntityID, Version: l.Version, CreatedAt: l.CreatedAt, VaultBacked: true, ArchivedAt: l.ArchivedAt,
		Private: l.WasPrivate,
	}, Vault: r.name, Given: &given}, at, nil
}

// restored removes the tombstone of a note that has come back.
func (r *run) restored(tx *kv.Tx, at string, n *notes.Note) error {
	if n.EntityID != "" {
		if err := remains.Delete(tx, r.name+"/"+n.EntityID); err != nil {
			return err
		}
		l, err := tombstones.Get(tx, r.name+"/"+at)
		if err != nil {
			return err
		}
		if l != nil && l.Hidden {
			if err := r.ents.UnhideTx(tx, n.EntityID); err != nil {
				return err
			}
		}
	}
	return deleteTombstone(tx, r.name+"/", at)
}

// deleteTombstone removes the tombstone of the note that was at a path.
func deleteTombstone(tx *kv.Tx, prefix, at string) error {
	l, err := tombstones.Get(tx, prefix+at)
	if err != nil || l == nil {
		return err
	}
	p, err := tombstonesByHash.Get(tx, prefix+l.Hash)
	if err != nil {
		return err
	}
	if p != nil && *p == at {
		if err := tombstonesByHash.Delete(tx, prefix+l.Hash); err != nil {
			return err
		}
	}
	return tombstones.Delete(tx, prefix+at)
}

// expireTombstones removes the tombstones that are too old, and the oldest where there
// are too many.
func (r *run) expireTombstones(ctx context.Context) error {
	type old struct {
		path string
		at   time.Time
	}
	var all []old
	prefix := r.name + "/"
	err := r.db.View(ctx, func(tx *kv.Tx) error {
		for key, l := range tombstones.All(tx, prefix) {
			all = append(all, old{strings.TrimPrefix(key, prefix), l.GoneAt})
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b old) int { return b.at.Compare(a.at) })
	horizon := r.opts.Now().Add(-keepTombstone)
	n := 0
	for n < len(all) && n < maxTombstones && all[n].at.After(horizon) {
		n++
	}
	for part := range slices.Chunk(all[n:], batch) {
		err := r.db.Update(ctx, func(tx *kv.Tx) error {
			for _, o := range part {
				if err := deleteTombstone(tx, prefix, o.path); err != nil {
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
