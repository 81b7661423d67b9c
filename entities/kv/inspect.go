package kv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
)

// Conditions of a file and of a store.
const (
	Whole   = "whole"   // as it was written
	Torn    = "torn"    // ends with an unfinished write, as a crash leaves it
	Damaged = "damaged" // not as it was written
	Newer   = "newer"   // of a layout that this program does not know
)

// Inspection is what Inspect found in the folder of a store.
type Inspection struct {
	Dir   string          `json:"dir"`
	Files []InspectedFile `json:"files"` // in the order of their names
	// Condition is Whole, Torn or Damaged, of all that a start reads.
	Condition string `json:"condition"`
	// Refused says why a start would refuse the store, with Hint; "" when it
	// would not. The members after them are then empty.
	Refused     string         `json:"refused,omitempty"`
	Hint        string         `json:"hint,omitempty"`
	Format      int            `json:"format"` // of the records
	Seq         uint64         `json:"seq"`
	Records     int            `json:"records"`
	Collections map[string]int `json:"collections"`
	// Start is what a start would report; Damaged in it is empty.
	Start Recovery `json:"start"`
}

// InspectedFile is one file of a store.
type InspectedFile struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // journal, snapshot, backup, set aside, unfinished, marker, lock
	Bytes int64  `json:"bytes"`
	// First and Last are the transactions that a journal segment begins and ends
	// with; Last alone is that of a snapshot.
	First uint64 `json:"first,omitempty"`
	Last  uint64 `json:"last,omitempty"`
	// Intact is how many transactions of a journal segment, or records of a
	// snapshot, are as they were written.
	Intact    uint64 `json:"intact"`
	Condition string `json:"condition,omitempty"` // of journals and snapshots
	DamagedAt int64  `json:"damagedAt,omitempty"` // offset of the first damage, in bytes
}

// Inspect looks at the store in dir as a start would, and at every file in it,
// without changing anything or taking the lock. The store of a running daemon
// can be looked at, too; its journal may then end with a write that is under
// way. It needs the memory that the store does.
//
// The error is of kind NotFound when no store is there, and Unavailable when a
// file can't be read; what is wrong with what could be read is in the result.
func Inspect(ctx context.Context, dir string, opts Options) (*Inspection, error) {
	fsys := opts.FS
	if fsys == nil {
		fsys = OS()
	}
	inv, err := takeInventory(fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(err)
	}
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, err, "there is no store in %q", dir).WithHint(hintFolder)
	}
	if !inv.store() {
		return nil, fault.New(fault.NotFound, "there is no store in %q", dir).WithHint(hintFolder)
	}
	out := &Inspection{Dir: dir, Files: []InspectedFile{}, Condition: Whole, Collections: map[string]int{}}
	slices.Sort(inv.all)
	for _, name := range inv.all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := inspectFile(fsys, dir, name)
		if err != nil {
			return nil, unreadable(err)
		}
		out.Files = append(out.Files, f)
	}
	for try := 0; ; try++ {
		err := out.start(fsys, opts)
		// A daemon at work may just have deleted what a newer snapshot replaces.
		if try == 3 || !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
}

func isAside(name string) bool { return strings.HasPrefix(name, damagedPrefix) }

// start reads the store as a start would.
func (in *Inspection) start(fsys FS, opts Options) error {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the store can't be set up")
	}
	opts.FS = fsys
	s := &Store{opts: opts, db: db, dir: in.Dir, log: logger(nil)}
	defer func() { _ = s.db.Close() }()
	found, err := s.read()
	var refused *fault.Error
	if errors.As(err, &refused) && (errors.Is(err, errDamaged) || refused.Err == nil) {
		in.Refused, in.Hint = refused.Msg, refused.Hint
		if errors.Is(err, errDamaged) {
			in.Condition = Damaged
		}
		return nil
	}
	if err != nil {
		return err
	}
	in.Format, in.Seq, in.Start = s.format, s.seq.Load(), s.report
	in.assess(found)
	m := Manifest{Collections: in.Collections}
	err = s.db.View(func(b *buntdb.Tx) error {
		return b.AscendKeys("*", func(key, _ string) bool { m.add(key); return true })
	})
	in.Records = m.Records
	return err
}

// assess tells what an Open would do about the end of the journal.
func (in *Inspection) assess(f *finding) {
	at := f.journal.stopped
	if at != nil && at.torn {
		in.Start.TornBytes = at.size - at.off
	}
	switch {
	case in.Start.Lost > 0 || len(f.damaged) > 0 || f.rebuilt || at != nil && (!at.torn || at.segment != len(f.segments)-1):
		in.Condition = Damaged
		if at != nil {
			in.Start.Aside = at.beyond
		}
	case at != nil:
		in.Condition = Torn
	}
}

// inspectFile reads one file to its end.
func inspectFile(fsys FS, dir, name string) (f InspectedFile, err error) {
	f = InspectedFile{Name: name}
	base := name
	if rest, ok := strings.CutPrefix(name, damagedPrefix); ok {
		base = rest
	}
	if id, ok := parseName(journalPrefix, base); ok {
		f.Kind = "journal"
		err = f.scan(fsys, dir, id, journalMagic)
	} else if id, ok := parseName(snapshotPrefix, base); ok {
		f.Kind = "snapshot"
		err = f.scan(fsys, dir, id, snapshotMagic)
	} else {
		switch {
		case strings.HasSuffix(name, tempSuffix):
			f.Kind = "unfinished"
		case strings.HasSuffix(name, backupSuffix):
			f.Kind = "backup"
		case name == cleanName, name == lossName:
			f.Kind = "marker"
		default:
			f.Kind = "lock"
		}
		f.Bytes, err = sizeOf(fsys, filepath.Join(dir, name))
	}
	if base != name {
		f.Kind = "set aside"
	}
	return f, err
}

func sizeOf(fsys FS, name string) (int64, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // a daemon deletes what it no longer needs
	}
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	return size, errors.Join(err, f.Close())
}

// scan reads the records of a journal segment or a snapshot.
func (f *InspectedFile) scan(fsys FS, dir string, id fileID, magic string) error {
	file, w, have, ok, err := openWindow(fsys, filepath.Join(dir, f.Name), magic)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var newer *fault.Error
	if errors.As(err, &newer) {
		f.Condition = Newer // a start refuses it and says so
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	f.Bytes, f.Condition = w.size, Whole
	if !ok || have != id {
		f.fail(Damaged, 0)
		if w.size < fileHeaderSize {
			f.Condition = Torn
		}
	}
	if magic == snapshotMagic {
		f.Last = id.seq
	} else {
		f.First = id.seq
	}
	if w.size < fileHeaderSize {
		return nil
	}
	seed, ended := id.seed(), magic == journalMagic
	for off := int64(fileHeaderSize); ; {
		h, payload, next, v, err := w.record(off, seed)
		switch {
		case err != nil:
			return err
		case v == end:
			if !ended {
				f.fail(Damaged, off)
			}
			return nil
		case v == torn:
			if magic == snapshotMagic {
				f.fail(Damaged, off) // it got its name when it was whole
			}
			f.fail(Torn, off)
			return nil
		case v == bad:
			f.fail(Damaged, off)
			if next, _, err = w.resync(off+1, seed); err != nil {
				return err
			}
		case h.kind == kindTx:
			f.Last = h.seq
			f.Intact++
		case h.kind == kindEnd:
			ended = true
		default:
			_ = eachOp(payload, func(_, _ []byte, _ bool) error { f.Intact++; return nil })
		}
		off = next
	}
}

// fail notes damage; the first place is kept.
func (f *InspectedFile) fail(condition string, off int64) {
	if f.Condition == Whole {
		f.Condition, f.DamagedAt = condition, off
	}
}
