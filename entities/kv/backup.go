package kv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// BackupOptions say how to make a backup. The zero value is fine.
type BackupOptions struct {
	Program   string // name and version, for people
	Overwrite bool   // replace a file that is there
	// Shared leaves out what is this machine's alone, the records of Local collections and what
	// waits in the outbox: for another machine that joins the log.
	Shared bool
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
	if err := checkBackupPath(s.opts.FS, path, o.Overwrite); err != nil {
		return nil, err
	}
	m := &Manifest{
		Path: path, Seq: s.capture.Seq, Format: s.capture.Format, Created: s.now().UTC().Truncate(time.Second),
		Program: o.Program, Collections: make(map[string]int),
	}
	head, err := json.Marshal(backupAbout{Format: m.Format, Created: m.Created, Program: m.Program})
	if err != nil {
		return nil, err
	}
	total, sum, state := int64(s.count()), sha256.New(), outbox.LogState{}
	id := disk.NewID(m.Seq)
	of := disk.State{
		Name: path, Temp: disk.BackupTemp(path, id),
		ID: id, Magic: disk.BackupMagic, About: head, Sum: sum, Halted: s.snapshots.stop.Err,
		Next: func(chunk []disk.Pair) ([]disk.Pair, bool, error) {
			chunk, more, err := s.nextChunk(chunk)
			if o.Shared {
				chunk = slices.DeleteFunc(state.Chunk(chunk, more), isLocal)
			}
			for i := range chunk {
				countRecord(m, chunk[i].Key)
			}
			if o.Progress != nil {
				o.Progress(int64(m.Records), max(total, int64(m.Records)))
			}
			return chunk, more, err
		},
	}
	if !o.Overwrite {
		of.Free = func() error { return checkBackupPath(s.opts.FS, path, false) }
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
