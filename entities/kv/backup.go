package kv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// about is what stands at the beginning of a backup.
type about struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	Program string    `json:"program,omitempty"`
}

// BackupOptions say how to make a backup. The zero value is fine.
type BackupOptions struct {
	Program   string // name and version, for people
	Overwrite bool   // replace a file that is there
	// Progress is told how many records are written, from the goroutine that
	// called Backup.
	Progress func(done, total int64)
}

// Backup writes the present state to one file, which a Restore of this or any
// later version can read. Nobody waits for it: it holds exactly the transactions
// up to Manifest.Seq, however many come meanwhile. A store that is read-only can
// be backed up as well. The file appears under its name when it is whole and
// durable, with mode 0600; its folder must be there.
//
// Errors are of kind Conflict when the file exists already, NotFound without
// the folder, and Unavailable when it can't be written.
func (s *Store) Backup(ctx context.Context, path string, o BackupOptions) (*Manifest, error) {
	release, err := s.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.lockWriter(ctx); err != nil {
		return nil, err
	}
	err = s.beginBackup()
	s.unlockWriter()
	if err != nil {
		return nil, err
	}
	defer s.endCapture()
	return s.writeBackup(ctx, path, o)
}

// beginBackup captures the present state. Called with the writer lock held.
func (s *Store) beginBackup() error {
	if s.closed.Load() {
		return errClosed()
	}
	if p := s.barrier(); p != nil {
		_ = s.wait(p) // failed or not, what is applied is what there is
	}
	s.beginCapture()
	return nil
}

// writeBackup writes the captured state.
func (s *Store) writeBackup(ctx context.Context, path string, o BackupOptions) (*Manifest, error) {
	if err := s.placeForBackup(path, o.Overwrite); err != nil {
		return nil, err
	}
	m := &Manifest{
		Path: path, Seq: s.capture.seq, Format: s.capture.format, Created: s.now().UTC().Truncate(time.Second),
		Program: o.Program, Collections: make(map[string]int),
	}
	head, err := json.Marshal(about{m.Format, m.Created, m.Program})
	if err != nil {
		return nil, err
	}
	total, sum := int64(s.count()), sha256.New()
	id := disk.NewID(m.Seq)
	of := disk.State{
		Name: path, Temp: disk.BackupTemp(path, id),
		ID: id, Magic: disk.BackupMagic, About: head, Sum: sum, Halted: s.snapshots.stop.Err,
		Next: func(chunk []disk.Pair) ([]disk.Pair, bool, error) {
			chunk, more, err := s.nextChunk(chunk)
			for i := range chunk {
				countKey(m, chunk[i].Key)
			}
			if o.Progress != nil {
				o.Progress(int64(m.Records), max(total, int64(m.Records)))
			}
			return chunk, more, err
		},
	}
	if !o.Overwrite {
		of.Free = func() error { return s.placeForBackup(path, false) }
	}
	m.Bytes, err = s.writeNoted(ctx, &of)
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return nil, err
	case err == nil:
		m.Checksum = hex.EncodeToString(sum.Sum(nil))
		return m, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.snapshots.stop.Err() != nil:
		return nil, errClosed()
	}
	return nil, unavailable(err, "cannot write the backup").
		WithHint("check the free space and the permissions of the folder; the store is unharmed")
}

// writeNoted writes a backup. Where it does is noted meanwhile, so that a start finds what
// a process that was killed has left; without the note it is written all the same.
func (s *Store) writeNoted(ctx context.Context, of *disk.State) (size int64, err error) {
	if s.files != nil {
		if err := disk.NoteUnfinished(s.opts.FS, s.dir, of); err != nil {
			s.log.Warn("kv: the place of a backup could not be noted", "err", err)
		}
		defer s.removeUnfinished()
	}
	return of.Write(ctx, s.opts.FS)
}

// removeUnfinished removes what is left of a backup that was not finished, and the note of
// it. When that fails, the next start tries again. Nothing in the log names the place: it is
// a person's.
func (s *Store) removeUnfinished() {
	removed, err := disk.RemoveUnfinished(s.opts.FS, s.dir)
	if removed {
		s.log.Info("kv: what an unfinished backup had left was removed")
	}
	if err != nil {
		s.log.Warn("kv: what an unfinished backup had left could not be removed", "err", err)
	}
}

// countKey counts a record by its key.
func countKey(m *Manifest, key string) {
	if name, _, ok := strings.Cut(key, "/"); ok {
		m.Records++
		m.Collections[name]++
	}
}

// placeForBackup checks that a file can be made at path.
func (s *Store) placeForBackup(path string, overwrite bool) error {
	if _, err := s.opts.FS.ReadDir(filepath.Dir(path)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.NotFound, err, "the folder %q for the backup does not exist", filepath.Dir(path)).
				WithHint("make it first")
		}
		return unavailable(err, "the folder for the backup can't be read").WithHint("choose another one")
	}
	if !disk.Openable(s.opts.FS, path) {
		return fault.New(fault.Invalid, "%q is no regular file", path).WithHint("choose another name")
	}
	if overwrite {
		return nil
	}
	f, err := s.opts.FS.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = f.Close()
	}
	return fault.Wrap(fault.Conflict, err, "%q already exists", path).
		WithHint("choose another name, or ask for it to be replaced")
}

// ReadOptions say how to read a backup. The zero value is fine.
type ReadOptions struct {
	FS       FS // nil: that of the operating system
	Format   int
	Progress func(done, total int64) // in bytes
}

// ReadBackup reads a backup to its end, checks every byte of it and says what it
// holds. With ReadOptions.Format set, one with newer records is refused.
//
// Errors are of kind NotFound without the file, Invalid when it is no backup or
// is damaged anywhere, and Unavailable when it is too new or can't be read.
func ReadBackup(ctx context.Context, path string, o ReadOptions) (*Manifest, error) {
	b, err := openBackup(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer b.close()
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err = b.r.Next(b.count)
		if err != nil {
			return nil, b.refuse(err)
		}
		if o.Progress != nil {
			o.Progress(b.r.Offset, b.r.Window.Size)
		}
	}
	return b.m, nil
}

// backup is one that is being read.
type backup struct {
	f File
	r *disk.StateReader
	m *Manifest
}

// count counts a record, and refuses a format that is not the one in the head:
// a store that holds another could not be opened.
func (b *backup) count(key, raw []byte) error {
	if string(key) == formatKey && string(raw) != strconv.Itoa(b.m.Format) {
		return disk.ErrDamaged
	}
	countKey(b.m, string(key))
	if len(b.m.Collections) > maxCollections {
		return disk.ErrDamaged
	}
	return nil
}

// maxCollections is more than any program has.
const maxCollections = 1000

func (b *backup) close() { _ = b.f.Close() }

// openBackup reads the beginning of a backup and its checksum.
func openBackup(ctx context.Context, path string, o ReadOptions) (*backup, error) {
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
	b := &backup{f: f, r: &disk.StateReader{Window: w, ID: id}}
	if !ok {
		b.close()
		return nil, notBackup(nil, path)
	}
	b.m, err = b.manifest(ctx, path, o.Format)
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *backup) manifest(ctx context.Context, path string, format int) (*Manifest, error) {
	payload, err := b.r.About()
	if err != nil {
		return nil, b.refuse(err)
	}
	var head about
	if err := json.Unmarshal(payload, &head); err != nil {
		return nil, b.refuse(disk.ErrDamaged)
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
	return &Manifest{
		Path: path, Format: head.Format, Seq: b.r.ID.Seq, Created: head.Created, Program: head.Program,
		Collections: make(map[string]int), Bytes: b.r.Window.Size, Checksum: hex.EncodeToString(sum.Sum(nil)),
	}, nil
}

// refuse makes an error of what reading a backup failed with.
func (b *backup) refuse(err error) error {
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
	return unavailable(err, "the backup can't be read").WithHint("see that its disk works and that you may read it")
}
