package kv

// This file reads the backups of a store: files (entities/kv/disk) that hold a whole state and
// say in JSON, at their beginning, what they are of. ReadBackup checks one to its last byte and
// counts its records; OpenBackup is for whoever then takes the records, piece by piece in the
// order of their keys. checkBackupPath checks where one is to be written. Nothing here writes or
// knows an open store; one piece is in memory at a time. Both take the time of reading the file,
// ReadBackup twice.
//
// Errors are of kind NotFound without the file, Invalid when it is no backup or is damaged
// anywhere, and Unavailable when it is too new or can't be read.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/record"
)

// backupAbout is what stands at the beginning of a backup, as JSON.
type backupAbout struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	Program string    `json:"program,omitempty"`
}

// countRecord counts a record by its key, and nothing for a key of the store itself.
func countRecord(m *record.StoreManifest, key string) {
	if strings.HasPrefix(key, "!") {
		return
	}
	if name, _, ok := strings.Cut(key, "/"); ok {
		m.Records++
		m.Collections[name]++
	}
}

// checkBackupPath checks that a file can be made at path.
func checkBackupPath(fsys disk.FS, path string, overwrite bool) error {
	if _, err := fsys.ReadDir(filepath.Dir(path)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.NotFound, err, "the folder %q for the backup does not exist", filepath.Dir(path)).
				WithHint("make it first")
		}
		return disk.Unavailable(err, "the folder for the backup can't be read").WithHint("choose another one")
	}
	if !disk.Openable(fsys, path) {
		return fault.New(fault.Invalid, "%q is no regular file", path).WithHint("choose another name")
	}
	if overwrite {
		return nil
	}
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = f.Close()
	}
	return fault.Wrap(fault.Conflict, err, "%q already exists", path).WithReason(fault.Exists).
		WithHint("choose another name, or ask for it to be replaced")
}

// ReadOptions say how to read a backup. The zero value is fine.
type ReadOptions struct {
	FS       disk.FS                 // nil: that of the operating system
	Format   int                     // the newest format of records that is read; 0: any
	Progress func(done, total int64) // in bytes
}

// ReadBackup reads a backup to its end, checks every byte of it and says what it
// holds. With Options.Format set, one with newer records is refused.
//
// Errors are of kind NotFound without the file, Invalid when it is no backup or
// is damaged anywhere, and Unavailable when it is too new or can't be read.
func ReadBackup(ctx context.Context, path string, o ReadOptions) (*record.StoreManifest, error) {
	b, err := OpenBackup(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err = b.r.Next(b.count)
		if err != nil {
			return nil, refuse(err)
		}
		if o.Progress != nil {
			o.Progress(b.r.Offset, b.r.Window.Size)
		}
	}
	return b.Manifest, nil
}

// BackupReader is one that is being read, by one goroutine.
type BackupReader struct {
	Manifest *record.StoreManifest // what it says of itself, with its checksum; no records are counted yet

	f disk.File
	r *disk.StateReader
}

// Next calls fn with the records of the next piece, and reports whether there are more pieces. Errors are
// those of Read, and what fn returns.
func (b *BackupReader) Next(fn func(key, raw []byte) error) (more bool, err error) {
	more, err = b.r.Next(fn)
	if err != nil {
		err = refuse(err)
	}
	return more, err
}

// count counts a record, and refuses a format that is not the one in the head:
// a store that holds another could not be opened.
func (b *BackupReader) count(key, raw []byte) error {
	if string(key) == disk.FormatKey && string(raw) != strconv.Itoa(b.Manifest.Format) {
		return disk.ErrDamaged
	}
	countRecord(b.Manifest, string(key))
	if len(b.Manifest.Collections) > maxCollections {
		return disk.ErrDamaged
	}
	return nil
}

// maxCollections is more than any program has.
const maxCollections = 1000

// Close closes the file.
func (b *BackupReader) Close() { _ = b.f.Close() }

// OpenBackup reads the beginning of a backup and its checksum. Errors are those of Read.
func OpenBackup(ctx context.Context, path string, o ReadOptions) (*BackupReader, error) {
	fsys := o.FS
	if fsys == nil {
		fsys = disk.OS()
	}
	if !disk.Openable(fsys, path) {
		return nil, notBackup(nil, path)
	}
	f, w, id, ok, err := disk.Open(fsys, path, disk.BackupMagic)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Wrap(fault.NotFound, err, "there is no file %q", path).WithHint("check the path of the backup")
	case err != nil:
		return nil, unreadableBackup(err)
	}
	b := &BackupReader{f: f, r: &disk.StateReader{Window: w, ID: id}}
	if !ok {
		b.Close()
		return nil, notBackup(nil, path)
	}
	b.Manifest, err = b.manifest(ctx, path, o.Format)
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *BackupReader) manifest(ctx context.Context, path string, format int) (*record.StoreManifest, error) {
	payload, err := b.r.About()
	if err != nil {
		return nil, refuse(err)
	}
	var head backupAbout
	if err := json.Unmarshal(payload, &head); err != nil {
		return nil, refuse(disk.ErrDamaged)
	}
	if format > 0 && head.Format > format {
		return nil, fault.New(fault.Unavailable,
			"the backup has records of format %d, this program knows formats up to %d", head.Format, format).
			WithHint("install the newer version of ctxd that wrote it")
	}
	sum, buf := sha256.New(), make([]byte, disk.WindowSize)
	for off := int64(0); off < b.r.Window.Size; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := b.f.ReadAt(buf[:min(disk.WindowSize, b.r.Window.Size-off)], off)
		if n == 0 {
			return nil, unreadableBackup(err)
		}
		sum.Write(buf[:n])
		off += int64(n)
	}
	return &record.StoreManifest{
		Path: path, Format: head.Format, Seq: b.r.ID.Seq, Created: head.Created, Program: head.Program,
		Collections: make(map[string]int), Bytes: b.r.Window.Size, Checksum: hex.EncodeToString(sum.Sum(nil)),
	}, nil
}

// refuse makes an error of what reading a backup failed with.
func refuse(err error) error {
	if errors.Is(err, disk.ErrDamaged) {
		return fault.Wrap(fault.Invalid, err, "the backup is damaged").WithHint("use another one; nothing was changed")
	}
	return unreadableBackup(err)
}

func notBackup(err error, path string) error {
	return fault.Wrap(fault.Invalid, err, "%q is no backup, or one whose beginning is damaged", path).
		WithHint("give a file that ctxd backup wrote")
}

func unreadableBackup(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	return disk.Unavailable(err, "the backup can't be read").WithHint("see that its disk works and that you may read it")
}

// Chunk appends the records of the next piece, and says whether more follow.
func (b *BackupReader) Chunk(chunk []disk.Pair) (_ []disk.Pair, more bool, err error) {
	more, err = b.Next(func(key, raw []byte) error {
		chunk = append(chunk, disk.Pair{Key: string(key), Value: string(raw)})
		return nil
	})
	return chunk, more, err
}

// Without returns a Chunk that leaves out one key.
func (b *BackupReader) Without(key string) func([]disk.Pair) ([]disk.Pair, bool, error) {
	return func(chunk []disk.Pair) ([]disk.Pair, bool, error) {
		chunk, more, err := b.Chunk(chunk)
		return slices.DeleteFunc(chunk, func(p disk.Pair) bool { return p.Key == key }), more, err
	}
}
