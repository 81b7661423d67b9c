package notes

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Patch says what is to change of a note; nil members stay as they are.
type Patch struct {
	ID      string
	Title   *string // "": from the text again
	Body    *string
	Append  *string // lines that are added at the end of the text
	IfHash  string  // as in Draft
	Path    *string
	Folder  *string
	Tags    *[]string // those stated apart from the text
	Aliases *[]string
	Private *bool
}

// Patch changes the given members of a note.
func (s *Store) Patch(ctx context.Context, p Patch, ifVersion *int) (*Note, error) {
	change := func(tx *kv.Tx, old *Note, text *reading) error {
		given := old.Given.Get()
		d := Draft{
			ID: old.ID, Title: given.Title, Body: old.Body, Path: old.Path, Folder: old.Folder,
			Tags: given.Tags, Aliases: given.Aliases, Private: given.Private,
		}
		if old.VaultBacked {
			if p.Title != nil || p.Body != nil || p.Append != nil || p.Path != nil || p.Folder != nil || p.Tags != nil ||
				p.Aliases != nil {
				return checkWritable(old, old.ID, nil, false)
			}
			d.Vault, d.ModifiedAt = old.Vault, old.UpdatedAt
		}
		p.applyTo(&d)
		d.text = text
		if p.Append != nil {
			d.Body, d.text = WithLines(d.Body, *p.Append), nil
		}
		_, err := s.PutTx(tx, d, nil, nil)
		return err
	}
	if p.Body == nil && p.Append == nil {
		return s.after(p.ID, s.editText(ctx, p.ID, ifVersion, change))
	}
	var text *reading
	if p.Body != nil && len(*p.Body) <= s.opts.MaxBody { // else it is refused, unread
		text = read(*p.Body)
	}
	err := s.edit(ctx, p.ID, ifVersion, func(tx *kv.Tx, old *Note) error { return change(tx, old, text) })
	return s.after(p.ID, err)
}

func (p Patch) applyTo(d *Draft) {
	set(&d.Title, p.Title)
	set(&d.Body, p.Body)
	set(&d.Path, p.Path)
	set(&d.Folder, p.Folder)
	set(&d.Tags, p.Tags)
	set(&d.Aliases, p.Aliases)
	set(&d.Private, p.Private)
	d.IfHash = p.IfHash
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// AppendTx appends a line to the text of a note that comes from no file, inside a transaction of the caller. The errors are
// NotFound, and Conflict for a note of a vault.
func (s *Store) AppendTx(tx *kv.Tx, id, line string) error {
	old, err := Records.Get(tx, id)
	if err != nil {
		return err
	}
	if old == nil {
		return fault.Missing("note", id)
	}
	if err := checkWritable(old, id, nil, false); err != nil {
		return err
	}
	given := old.Given.Get()
	body := old.Body
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	_, err = s.PutTx(tx, Draft{
		ID: old.ID, Title: given.Title, Body: body + line + "\n", Path: old.Path, Folder: old.Folder,
		Tags: given.Tags, Aliases: given.Aliases, Private: given.Private,
	}, nil, nil)
	return err
}

// edit runs a change of one existing note in a transaction.
func (s *Store) edit(ctx context.Context, id string, ifVersion *int, change func(*kv.Tx, *Note) error) error {
	if err := entities.CheckID("id", id); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		old, err := Records.Get(tx, id)
		if err != nil {
			return err
		}
		if old == nil {
			return fault.Missing("note", id)
		}
		if ifVersion != nil && old.Version != *ifVersion {
			return fault.Stale("note", id, old.Version, *ifVersion)
		}
		return change(tx, old)
	})
}

// Archive takes a note out of menus, lists and prompts and archives its
// entity; Restore brings both back.
func (s *Store) Archive(ctx context.Context, id string, ifVersion *int) (*Note, error) {
	return s.setArchived(ctx, id, ifVersion, true)
}

// Restore brings an archived note and its entity back.
func (s *Store) Restore(ctx context.Context, id string, ifVersion *int) (*Note, error) {
	return s.setArchived(ctx, id, ifVersion, false)
}

func (s *Store) setArchived(ctx context.Context, id string, ifVersion *int, archived bool) (*Note, error) {
	err := s.editText(ctx, id, ifVersion, func(tx *kv.Tx, old *Note, text *reading) error {
		if archived == (old.ArchivedAt != nil) {
			return nil
		}
		given := old.Given.Get()
		if !archived && given.Archived == nil {
			return fault.Clash(fault.VaultBacked, "note %q is archived in its frontmatter", id).WithRef(id).
				WithHint("remove archived: true from its text")
		}
		n := *old
		n.Version++
		n.ArchivedAt, given.Archived = nil, nil
		if archived {
			now := s.now(tx)
			given.Archived = &now
		}
		n.Given, n.Worked = given.orNil(), text.many
		_, types, err := typeOf(tx, n.Vault, text.Document)
		if err != nil {
			return err
		}
		n.describe(text, types, s.maxName())
		n.Private = s.why(&n, text.why, old.Private).Rule != RuleNone
		if !archived && n.ArchivedAt != nil {
			return fault.Clash(fault.VaultBacked, "note %q is also archived in its frontmatter", id).WithRef(id).
				WithHint("remove archived: true from its text")
		}
		if n.EntityID != "" {
			move := s.ents.RestoreTx
			if archived {
				move = s.ents.ArchiveTx
			}
			if err := move(tx, n.EntityID); err != nil {
				return err
			}
		}
		if err := Records.Put(tx, id, &n); err != nil {
			return err
		}
		return s.keepNames(tx, old, &n)
	})
	return s.after(id, err)
}

// Delete removes a note for good, archives its entity, and returns
// the version that the removal counts as. A note that comes from a vault goes
// with its file.
func (s *Store) Delete(ctx context.Context, id string, ifVersion *int) (version int, err error) {
	err = s.edit(ctx, id, ifVersion, func(tx *kv.Tx, old *Note) error {
		if err := checkWritable(old, id, nil, false); err != nil {
			return err
		}
		version = old.Version + 1
		return s.DeleteTx(tx, id)
	})
	return version, err
}

// EraseTx is DeleteTx for a note that nothing is to be kept of in clear, not even that it
// was private.
func (s *Store) EraseTx(tx *kv.Tx, id string) error {
	if err := s.DeleteTx(tx, id); err != nil {
		return err
	}
	return privateGone.Delete(tx, id)
}

// DeleteTx is Delete inside a transaction of the caller, whatever the note
// comes from; an unknown id is no error.
func (s *Store) DeleteTx(tx *kv.Tx, id string) error {
	old, err := Records.Get(tx, id)
	if err != nil || old == nil {
		return err
	}
	if old.Private {
		if err := s.ents.KeepPrivateTx(tx, id, old.EntityID); err != nil {
			return err
		}
		if err := privateGone.Put(tx, id, &struct{}{}); err != nil {
			return err
		}
	}
	if old.EntityID != "" {
		if err := s.ents.ArchiveTx(tx, old.EntityID); err != nil {
			return err
		}
	}
	if err := s.movePath(tx, old, nil); err != nil {
		return err
	}
	if err := Records.Delete(tx, id); err != nil {
		return err
	}
	if err := deleteFormerTx(tx, id); err != nil {
		return err
	}
	if err := DropSummariesTx(tx, id); err != nil {
		return err
	}
	return s.keepNames(tx, old, nil)
}
