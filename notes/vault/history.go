package vault

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault/write"
)

// What a write did to a file.
const (
	ActionCreate  = "create"
	ActionChange  = "change"
	ActionTrash   = "trash"
	ActionRestore = "restore" // from the trash folder, when a move there is undone
)

// change is a write into a vault: what the history knows of it.
type change struct {
	ID      string    `json:"id"`
	Vault   string    `json:"vault"`
	Path    string    `json:"path"`
	To      string    `json:"to,omitempty"` // where it was moved
	NoteID  string    `json:"noteId,omitempty"`
	Action  string    `json:"action"`
	Client  string    `json:"client,omitempty"`
	Remote  bool      `json:"remote,omitempty"`
	Private bool      `json:"private,omitempty"` // the note, then
	At      time.Time `json:"at"`
	Before  string    `json:"before,omitempty"`
	Hash    string    `json:"hash,omitempty"`  // of what it holds since then
	Diff    string    `json:"diff,omitempty"`  // "" for one over maxDiff
	Added   int       `json:"added,omitempty"` // lines
	Removed int       `json:"removed,omitempty"`
	Undoes  string    `json:"undoes,omitempty"`
	Undone  string    `json:"undone,omitempty"` // the write that has undone it

	After string `json:"after,omitempty"` // only while it is under way
}

var (
	changes  = kv.NewCollection[change]("vault-write").Local()   // by id, which sorts by time
	underway = kv.NewCollection[change]("vault-writing").Local() // by vault name, /, id
)

// How much is kept of the history: the oldest goes first.
const (
	maxHistory      = 10_000   // writes
	maxHistoryBytes = 32 << 20 // of their texts
	trimEvery       = 100      // writes
	maxDiff         = 64 << 10 // bytes of what a write changed
)

// apply carries a change out: it is noted, done, and taken in. Changed is returned as it is.
func (w *writing) apply(ctx context.Context, c *change) (*FileWritten, error) {
	c.Vault, c.Client, c.Remote, c.Hash = w.vault.Name, w.by.Client, w.by.Remote, notes.HashOf(c.After)
	if c.To != "" {
		c.Hash = notes.HashOf(c.Before)
	}
	out := &FileWritten{Vault: c.Vault, Path: cmp.Or(c.To, c.Path), Hash: c.Hash, Note: w.notes.Get(c.NoteID)}
	out.Diff = c.count()
	if w.dryRun || c.Action == ActionChange && c.Before == c.After {
		return out, nil
	}
	if err := w.begin(ctx, c); err != nil {
		return nil, err
	}
	if err := w.do(c); err != nil {
		return nil, errors.Join(err, w.db.Update(ctx, func(tx *kv.Tx) error { return underway.Delete(tx, c.Vault+"/"+c.ID) }))
	}
	ctx = context.WithoutCancel(ctx) // it is written: the store is to know
	if err := w.finishChange(ctx, c); err != nil {
		return nil, err
	}
	out.ID, out.Note = c.ID, w.notes.Get(c.NoteID)
	return out, nil
}

// count counts the lines that a change adds and removes, and returns its diff.
func (c *change) count() (diff string) {
	if c.To == "" {
		diff = text.UnifiedDiff(c.Path, c.Before, c.After)
	}
	header := 2
	for line := range strings.Lines(diff) {
		switch {
		case header > 0:
			header--
		case line[0] == '+':
			c.Added++
		case line[0] == '-':
			c.Removed++
		}
	}
	if len(diff) <= maxDiff {
		c.Diff = diff
	}
	return diff
}

// begin notes a change that is to be done, with an id that none has.
func (w *writing) begin(ctx context.Context, c *change) error {
	return w.db.Update(ctx, func(tx *kv.Tx) error {
		c.At = tx.Now(w.opts.Now).UTC().Truncate(time.Millisecond)
		for n := c.At.UnixMilli(); ; n++ {
			c.ID = strconv.FormatInt(n, 36)
			done, err := changes.Has(tx, c.ID)
			if err != nil {
				return err
			}
			busy, err := underway.Has(tx, c.Vault+"/"+c.ID)
			if err != nil {
				return err
			}
			if !done && !busy {
				return underway.Put(tx, c.Vault+"/"+c.ID, c)
			}
		}
	})
}

// do changes the file.
func (w *writing) do(c *change) error {
	temp := write.TempName(c.ID)
	switch c.Action {
	case ActionCreate:
		return write.Create(w.root, c.Path, temp, []byte(c.After))
	case ActionChange:
		return write.Replace(w.root, c.Path, temp, []byte(c.Before), []byte(c.After))
	}
	return write.Move(w.root, c.Path, c.To, []byte(c.Before))
}

// finishChange takes a change in that was done, and puts it into the history.
func (w *writing) finishChange(ctx context.Context, c *change) error {
	paths := []string{c.Path}
	if c.Action == ActionRestore {
		paths = []string{c.To}
	}
	for _, p := range paths {
		if err := w.takeIn(ctx, p); err != nil {
			return err
		}
	}
	if c.Action == ActionCreate || c.Action == ActionRestore {
		n, err := w.noteAt(ctx, w.vault.Name, paths[0])
		if err != nil {
			return err
		}
		if n != nil {
			c.NoteID = n.ID
		}
	}
	err := w.db.Update(ctx, func(tx *kv.Tx) error {
		kept := *c
		kept.After = ""
		if err := underway.Delete(tx, c.Vault+"/"+c.ID); err != nil {
			return err
		}
		if c.Undoes != "" {
			old, err := changes.Get(tx, c.Undoes)
			if err != nil {
				return err
			}
			if old != nil {
				marked := *old
				marked.Undone = c.ID
				if err := changes.Put(tx, old.ID, &marked); err != nil {
					return err
				}
			}
		}
		return changes.Put(tx, c.ID, &kept)
	})
	if err != nil {
		return err
	}
	return w.trimHistory(ctx)
}

// trimHistory removes what is too old, from time to time.
func (w *writing) trimHistory(ctx context.Context) error {
	w.mu.Lock()
	w.writesSinceTrim++
	due := w.writesSinceTrim%trimEvery == 0
	w.mu.Unlock()
	if !due {
		return nil
	}
	return w.db.Update(ctx, func(tx *kv.Tx) error {
		var all []*change
		for _, c := range changes.All(tx, "") {
			all = append(all, c)
		}
		if err := tx.Err(); err != nil {
			return err
		}
		bytes := 0
		for i, c := range slices.Backward(all) {
			bytes += len(c.Before) + len(c.Diff)
			if kept := len(all) - i; kept <= trimEvery || kept <= maxHistory && bytes <= maxHistoryBytes {
				continue
			}
			if err := changes.Delete(tx, c.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle ends the writes to the vault that were under way when the process was killed: those that were done are in the
// history then, of the others nothing is left.
func (w *writing) settle(ctx context.Context) error {
	var left []*change
	err := w.db.View(ctx, func(tx *kv.Tx) error {
		for _, c := range underway.All(tx, w.vault.Name+"/") {
			left = append(left, c)
		}
		return tx.Err()
	})
	for _, c := range left {
		if err == nil {
			err = w.settleOne(ctx, c)
		}
	}
	return err
}

func (w *writing) settleOne(ctx context.Context, c *change) error {
	if _, err := write.Discard(w.root, c.Path, write.TempName(c.ID), []byte(c.Before), []byte(c.After)); err != nil &&
		fault.KindOf(err) != fault.NotFound { // the folder is gone
		return err
	}
	data, err := write.Read(w.root, cmp.Or(c.To, c.Path), int64(w.notes.MaxBody()))
	if err == nil && notes.HashOf(data) == c.Hash {
		return w.finishChange(ctx, c)
	}
	return w.db.Update(ctx, func(tx *kv.Tx) error { return underway.Delete(tx, c.Vault+"/"+c.ID) })
}

// settleAll is settle for each vault, when the importer starts.
func (im *Importer) settleAll(ctx context.Context) error {
	due := make(map[string]bool)
	err := im.db.View(ctx, func(tx *kv.Tx) error {
		for _, c := range underway.All(tx, "") {
			due[c.Vault] = true
		}
		return tx.Err()
	})
	for name := range due {
		if err != nil {
			return err
		}
		var end func()
		_, end, err = im.beginWriting(ctx, name, "", Writer{}, false)
		if err == nil {
			end()
		} else if fault.KindOf(err) == fault.Unavailable {
			err = nil // its disk is out; the next write settles it
		}
	}
	return err
}

// HistoryFilter says which writes are asked for.
type HistoryFilter struct {
	Vault string // "": all
	Path  string // "": all
	// Sees tells which notes the reader sees; nil: all. Of a note that is not there any more, such a reader is told nothing.
	Sees func(*notes.Note) bool
}

// History returns the writes into vaults, the latest first.
func (im *Importer) History(ctx context.Context, f HistoryFilter) ([]record.VaultWrite, error) {
	list := []record.VaultWrite{}
	err := im.db.View(ctx, func(tx *kv.Tx) error {
		for _, c := range changes.All(tx, "") {
			if f.Vault != "" && c.Vault != f.Vault || f.Path != "" && c.Path != f.Path && c.To != f.Path {
				continue
			}
			if f.Sees != nil && !im.seesChange(c, f.Sees) {
				continue
			}
			list = append(list, c.shown(f.Sees != nil))
		}
		return tx.Err()
	})
	slices.Reverse(list)
	return list, err
}

// seesChange reports whether a reader who sees some notes is told of a write.
func (im *Importer) seesChange(c *change, sees func(*notes.Note) bool) bool {
	n := im.notes.Get(c.NoteID)
	return !c.Private && n != nil && sees(n)
}

// shown returns a write as a reader is told of it. What stood there may name what one who does not see all must not know.
func (c *change) shown(hides bool) record.VaultWrite {
	out := record.VaultWrite{
		ID: c.ID, Vault: c.Vault, Path: c.Path, To: c.To, NoteID: c.NoteID, Action: c.Action, Client: c.Client, Remote: c.Remote,
		Private: c.Private, At: c.At, Undoes: c.Undoes, Undone: c.Undone, Diff: c.Diff,
		Added: c.Added, Removed: c.Removed,
	}
	if hides {
		out.Diff = ""
	}
	return out
}

// Undo takes a write back, which is a write itself: Conflict with Changed when the file has changed since.
func (im *Importer) Undo(ctx context.Context, id string, dryRun bool, by Writer, sees func(*notes.Note) bool) (*FileWritten, error) {
	c, err := im.changeOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if c == nil || sees != nil && !im.seesChange(c, sees) {
		return nil, fault.Missing("write", id).WithHint("ctxd vault history lists the writes")
	}
	place := c.Path
	if c.Action == ActionRestore {
		place = c.To
	}
	if !im.MayWrite(c.Vault, place, by.Remote) {
		return nil, fault.Clash(fault.State, "nothing may be written to that folder of vault %q any more", c.Vault).WithRef(id).
			WithHint("add it to the setting vault.write, or undo it with an editor")
	}
	w, end, err := im.beginWriting(ctx, c.Vault, place, by, dryRun)
	if err != nil {
		return nil, err
	}
	defer end()
	c, err = im.changeOf(ctx, id) // as it is now that nobody else writes
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, fault.Missing("write", id)
	case c.Undone != "":
		return nil, fault.Clash(fault.State, "the write %s was undone already, by %s", id, c.Undone).WithRef(id).
			WithHint("ctxd vault undo %s does it again", c.Undone)
	}
	return w.undo(ctx, c)
}

func (im *Importer) changeOf(ctx context.Context, id string) (c *change, err error) {
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		c, err = changes.Get(tx, id)
		return err
	})
	return c, err
}

func (w *writing) undo(ctx context.Context, c *change) (*FileWritten, error) {
	back := &change{Path: w.path, NoteID: c.NoteID, Private: c.Private, Undoes: c.ID}
	if c.Action == ActionTrash {
		back.Action, back.Path, back.To = ActionRestore, c.To, c.Path
	}
	data, err := write.Read(w.root, back.Path, int64(w.notes.MaxBody()))
	if fault.KindOf(err) == fault.NotFound {
		data, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if notes.HashOf(data) != c.Hash {
		return nil, w.changed(ctx, c.NoteID, string(data), c.Before)
	}
	back.Before = string(data)
	switch c.Action {
	case ActionCreate, ActionRestore:
		back.Action = ActionTrash
		return w.trash(ctx, back)
	case ActionTrash:
		if _, err := w.root.Lstat(back.To); !errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Clash(fault.Exists, "there is a file %s already", back.To).WithRef(back.To).
				WithHint("move it away first")
		}
		return w.applied(ctx, back)
	}
	back.Action, back.After = ActionChange, c.Before
	if err := w.checkText(back.After); err != nil {
		return nil, err
	}
	return w.applied(ctx, back)
}
