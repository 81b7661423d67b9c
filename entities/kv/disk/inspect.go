package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Conditions of a file.
const (
	Whole   = "whole"   // as it was written
	TornEnd = "torn"    // ends with an unfinished write, as a crash leaves it
	Damaged = "damaged" // not as it was written
	Newer   = "newer"   // of a layout that this program does not know
)

// Inspect reads one file to its end and changes nothing. A file that is not there is an
// empty one. The error is that of the file system; what is wrong with the file is in the
// result.
func Inspect(fsys FS, dir, name string) (f record.StoreInspectedFile, err error) {
	f = record.StoreInspectedFile{Name: name}
	base := name
	if rest, ok := strings.CutPrefix(name, DamagedPrefix); ok {
		base = rest
	}
	if id, ok := ParseName(JournalPrefix, base); ok {
		f.Kind = "journal"
		err = scanFile(&f, fsys, dir, id, JournalMagic)
	} else if id, ok := ParseName(SnapshotPrefix, base); ok {
		f.Kind = "snapshot"
		err = scanFile(&f, fsys, dir, id, SnapshotMagic)
	} else {
		switch {
		case strings.HasSuffix(name, TempSuffix):
			f.Kind = "unfinished"
		case strings.HasSuffix(name, BackupSuffix):
			f.Kind = "backup"
		case isNote(name):
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

// scanFile reads the records of a journal segment or a snapshot.
func scanFile(f *record.StoreInspectedFile, fsys FS, dir string, id ID, magic string) error {
	file, w, have, ok, err := Open(fsys, filepath.Join(dir, f.Name), magic)
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
	f.Bytes, f.Condition = w.Size, Whole
	if !ok || have != id {
		failFile(f, Damaged, 0)
		if w.Size < FileHeaderSize {
			f.Condition = TornEnd
		}
	}
	if magic == SnapshotMagic {
		f.Last = id.Seq
	} else {
		f.First = id.Seq
	}
	if w.Size < FileHeaderSize {
		return nil
	}
	seed, ended := id.Seed(), magic == JournalMagic
	for off := int64(FileHeaderSize); ; {
		h, payload, next, v, err := w.Record(off, seed)
		switch {
		case err != nil:
			return err
		case v == End:
			if !ended {
				failFile(f, Damaged, off)
			}
			return nil
		case v == Torn:
			if magic == SnapshotMagic {
				failFile(f, Damaged, off) // it got its name when it was whole
			}
			failFile(f, TornEnd, off)
			return nil
		case v == Bad:
			failFile(f, Damaged, off)
			next, _, err = w.Resync(off+1, seed)
			if err != nil {
				return err
			}
		case h.Kind == KindTransaction:
			f.Last = h.Seq
			f.Intact++
		case h.Kind == KindEnd:
			ended = true
		default:
			_ = EachOp(payload, func(_, _ []byte, _ bool) error { f.Intact++; return nil })
		}
		off = next
	}
}

// failFile notes damage; the first place is kept.
func failFile(f *record.StoreInspectedFile, condition string, off int64) {
	if f.Condition == Whole {
		f.Condition, f.DamagedAt = condition, off
	}
}
