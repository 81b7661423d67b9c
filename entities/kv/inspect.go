package kv

import (
	"context"
	"errors"
	"io/fs"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Conditions of a file and of a store.
const (
	Whole   = disk.Whole
	Torn    = disk.TornEnd
	Damaged = disk.Damaged
	Newer   = disk.Newer
)

// Inspection is what Inspect found in the folder of a store, see disk.Inspection.
type Inspection = disk.Inspection

// Inspect looks at the store in dir as a start would, and at every file in it,
// without changing anything or taking the lock. The store of a running daemon
// can be looked at, too; its journal may then end with a write that is under
// way. It needs the memory that the store does.
//
// The error is of kind NotFound when no store is there, and Unavailable when a
// file can't be read; what is wrong with what could be read is in the result.
func Inspect(ctx context.Context, dir string, opts Options) (*Inspection, error) {
	fsys := orOS(opts.FS)
	out, err := disk.InspectFolder(ctx, fsys, dir)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		err := inspectStart(out, fsys, opts)
		// A daemon at work may just have deleted what a newer snapshot replaces.
		if try == 3 || !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
}

// inspectStart reads the store as a start would.
func inspectStart(in *Inspection, fsys FS, opts Options) error {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the store can't be set up")
	}
	opts.FS = fsys
	s := &Store{opts: opts, db: db, dir: in.Dir, log: logger(nil)}
	defer func() { _ = s.db.Close() }()
	found, err := s.read()
	var refused *fault.Error
	if errors.As(err, &refused) && (errors.Is(err, disk.ErrDamaged) || refused.Err == nil) {
		in.Refused, in.Hint = refused.Msg, refused.Hint
		if errors.Is(err, disk.ErrDamaged) {
			in.Condition = Damaged
		}
		return nil
	}
	if err != nil {
		return err
	}
	in.Format, in.Seq, in.Start = s.format, s.seq.Load(), s.report
	assess(in, found)
	m := Manifest{Collections: in.Collections}
	err = s.db.View(func(b *buntdb.Tx) error {
		return b.AscendKeys("*", func(key, _ string) bool { countRecord(&m, key); return true })
	})
	in.Records = m.Records
	return err
}

// assess tells what an Open would do about the end of the journal.
func assess(in *Inspection, f *finding) {
	at := f.journal.Stopped
	if at != nil && at.Torn {
		in.Start.TornBytes = at.Size - at.Off
	}
	switch {
	case in.Start.Lost > 0 || len(f.damaged) > 0 || f.rebuilt ||
		at != nil && (!at.Torn || at.Segment != len(f.Segments)-1):
		in.Condition = Damaged
		if at != nil {
			in.Start.Aside = at.Beyond
		}
	case at != nil:
		in.Condition = Torn
	}
}
