package kv

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
)

// Recovery is what Open found on disk. A zero Recovery but for Clean and
// Replayed means that all was well.
type Recovery struct {
	// Clean says that the store was closed properly and all of it is here.
	// A new store is clean.
	Clean bool `json:"clean"`
	// Replayed is how many transactions came from the journal.
	Replayed uint64 `json:"replayed"`
	// TornBytes is the size of an unfinished write that was cut off the end
	// of the journal. Nobody had been told that it was stored, as far as the
	// files can tell.
	TornBytes int64 `json:"tornBytes,omitempty"`
	// Lost is how many acknowledged transactions the files prove to be
	// missing. The store holds everything before them, and after them what
	// Salvaged says.
	Lost uint64 `json:"lost,omitempty"`
	// Salvaged is how many transactions were found intact behind damage, and
	// are in the store. Each is there as a whole, but what it was based on may
	// be among the lost.
	Salvaged uint64 `json:"salvaged,omitempty"`
	// Aside is how many intact transactions were not taken, because they lie
	// behind one that may never have been finished. They are in the files of
	// Damaged. Nobody is known to have been told that they were stored.
	Aside uint64 `json:"aside,omitempty"`
	// LostPieces is how many pieces of the oldest snapshot, of up to a hundred
	// records each, could not be read when a store was put together with
	// Options.Salvage. Records in them that were changed since, or are in a newer
	// snapshot, are there nevertheless.
	LostPieces uint64 `json:"lostPieces,omitempty"`
	// Damaged names the files, in the store's directory, that were found
	// damaged and are kept for inspection.
	Damaged []string `json:"damaged,omitempty"`
}

// cleanName is the file that Close leaves: the sequence number it stopped at.
// It is not removed at the next start. An old one promises less than the
// journal holds, so it does no harm, and a journal that holds less than the
// marker promises has lost something.
const (
	cleanName  = "clean"
	cleanMagic = "ctxdstop"
)

func (s *Store) writeCleanMarker() error {
	b := binary.LittleEndian.AppendUint64([]byte(cleanMagic), s.seq.Load())
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crcTable))
	return replaceFile(s.opts.FS, s.dir, cleanName, b)
}

func readCleanMarker(fsys FS, dir string) (seq uint64, ok bool, err error) {
	b, err := readAll(fsys, filepath.Join(dir, cleanName), 1024)
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if len(b) != 20 || string(b[:8]) != cleanMagic || crc32.Checksum(b[:16], crcTable) != binary.LittleEndian.Uint32(b[16:]) {
		return 0, false, nil
	}
	return binary.LittleEndian.Uint64(b[8:]), true, nil
}

// inventory is what lies in a store's directory.
type inventory struct {
	snapshots []fileID // oldest first
	segments  []fileID // oldest first
	temps     []string
	all       []string
}

func takeInventory(fsys FS, dir string) (inv inventory, err error) {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return inv, err
	}
	for _, name := range names {
		own := true
		if id, ok := parseName(snapshotPrefix, name); ok {
			inv.snapshots = append(inv.snapshots, id)
		} else if id, ok := parseName(journalPrefix, name); ok {
			inv.segments = append(inv.segments, id)
		} else if ownTemp(name) {
			inv.temps = append(inv.temps, name)
		} else {
			own = name == lockName || name == ownerName || name == cleanName || name == lossName ||
				strings.HasPrefix(name, damagedPrefix) || strings.HasSuffix(name, backupSuffix)
		}
		if own {
			inv.all = append(inv.all, name)
		}
	}
	order := func(a, b fileID) int { return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.salt, b.salt)) }
	slices.SortFunc(inv.snapshots, order)
	slices.SortFunc(inv.segments, order)
	return inv, nil
}

// Exists reports whether a store, or what is left of one, lies in a folder, which
// need not be there itself. fsys may be nil.
func Exists(fsys FS, dir string) (bool, error) {
	if fsys == nil {
		fsys = OS()
	}
	inv, err := takeInventory(fsys, dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, unreadable(err)
	}
	return inv.store(), nil
}

// store reports whether there is anything that records can be read from.
func (inv *inventory) store() bool {
	return len(inv.snapshots) > 0 || len(inv.segments) > 0 || slices.ContainsFunc(inv.all, isAside)
}

// ownTemp reports whether a file is one that a store was writing.
func ownTemp(name string) bool {
	base, ok := strings.CutSuffix(name, tempSuffix)
	if !ok {
		return false
	}
	_, snapshot := parseName(snapshotPrefix, base)
	return snapshot || base == cleanName || base == lossName || strings.HasSuffix(base, backupSuffix)
}

// ours reports whether the folder was a store's before. Backups alone do not make
// it one: people keep them anywhere.
func (inv *inventory) ours() bool {
	return inv.store() || slices.Contains(inv.all, cleanName) || slices.Contains(inv.all, ownerName)
}

// hintFolder is for a folder that no store can be in.
const hintFolder = "choose another folder"

// checkFolder refuses a folder that is in use for something else: a store would
// take it away from whoever shares it.
func checkFolder(fsys FS, dir string, beside []string) error {
	inv, err := takeInventory(fsys, dir)
	if err != nil {
		return unreadable(err)
	}
	if inv.ours() {
		return nil
	}
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return unreadable(err)
	}
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasPrefix(name, ".") && !slices.Contains(beside, name) && !slices.Contains(inv.all, name) {
			return fault.New(fault.Invalid, "the folder %q holds files of something else, such as %q", dir, name).
				WithHint("choose an empty folder, or one that does not exist yet")
		}
	}
	return nil
}

// openDir loads the store from its directory. It first only reads; what it
// changes, it changes once everything is known to be readable.
func (s *Store) openDir(dir string) error {
	fsys := s.opts.FS
	s.dir = dir
	if err := fsys.MkdirAll(dir, dirMode); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the folder of the store, %q, can't be made", dir).WithHint(hintFolder)
	}
	if err := checkFolder(fsys, dir, s.opts.Beside); err != nil {
		return err
	}
	if err := fsys.Chmod(dir, dirMode); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the folder of the store, %q, can't be made private", dir).WithHint(hintFolder)
	}
	var err error
	if s.lock, err = lockDir(fsys, dir); err != nil {
		return err
	}
	found, err := s.read()
	if err != nil {
		return err
	}
	if err := s.repair(found); err != nil {
		return unavailable(err, "the store can't be written").WithHint(hintRetry)
	}
	return nil
}

// finding is what reading a store's directory has come to.
type finding struct {
	inventory
	journal *replay
	damaged []fileID // snapshots
	rebuilt bool     // from what is intact in damaged snapshots
	spoilt  []fileID // segments that are not to be read again
	untold  *lossNote
}

// read loads the store and reports what it found. It changes nothing on disk.
func (s *Store) read() (*finding, error) {
	fsys, dir := s.opts.FS, s.dir
	inv, err := takeInventory(fsys, dir)
	if err != nil {
		return nil, unreadable(err)
	}
	stopped, clean, err := readCleanMarker(fsys, dir)
	if err != nil {
		return nil, unreadable(err)
	}
	untold, err := untoldLoss(fsys, dir)
	if err != nil {
		return nil, unreadable(err)
	}
	isNew := len(inv.segments) == 0 && len(inv.snapshots) == 0
	damaged, err := s.loadNewest(&inv)
	if err != nil {
		return nil, unreadable(err)
	}
	f := &finding{inventory: inv, damaged: damaged, untold: untold}
	r := &replay{fs: fsys, dir: dir, in: batch{db: s.db}, start: s.seq.Load(), last: s.seq.Load(), promised: stopped}
	f.journal = r
	for _, id := range damaged {
		r.promise(id.seq)
	}
	if len(inv.segments) > 0 {
		r.promise(inv.segments[0].seq - 1)
	}
	if r.last == 0 && r.promised > 0 && (len(inv.segments) == 0 || inv.segments[0].seq > 1) {
		if err := s.rebuild(f); err != nil {
			return nil, err
		}
	} else if len(damaged) > 0 && r.last == 0 && s.leftover(inv.segments) {
		if err := s.rebuild(f); err != nil {
			return nil, err
		}
	} else if err := r.journal(inv.segments); err != nil {
		return nil, unreadable(err)
	}
	s.seq.Store(r.last)
	s.written = r.last
	if !f.rebuilt {
		s.at.Store(r.at)
	}
	if err := s.checkFormat(); err != nil {
		return nil, err
	}
	s.report.Replayed, s.report.Lost, s.report.Salvaged = r.n, r.holes, r.saved
	if r.promised > r.last {
		s.report.Lost += r.promised - r.last
	}
	s.report.Clean = r.stopped == nil && len(damaged) == 0 && r.promised <= r.last && (clean && stopped == r.last || isNew)
	return f, nil
}

// leftover reports whether the journal begins with the first transaction only
// because a segment was left that should have been deleted: the next one goes on
// somewhere else.
func (s *Store) leftover(segments []fileID) bool {
	r := &replay{fs: s.opts.FS, dir: s.dir}
	return r.segments(segments) == nil && r.stopped != nil && r.stopped.gap
}

// unreadable keeps errors that already say what to do.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	return unavailable(err, "the store can't be read").WithHint(hintRead)
}

// loadNewest loads the newest whole snapshot, if there is one, and returns
// the damaged ones newer than that.
func (s *Store) loadNewest(inv *inventory) (damaged []fileID, err error) {
	for n := len(inv.snapshots); n > 0; n = len(inv.snapshots) {
		id := inv.snapshots[n-1]
		size, err := loadSnapshot(s.opts.FS, s.dir, id, s.db)
		if err == nil {
			s.seq.Store(id.seq)
			s.snapshots.seq, s.snapshots.bytes = id.seq, size
			return damaged, nil
		}
		if !errors.Is(err, errDamaged) {
			return nil, err
		}
		damaged = append(damaged, id)
		inv.snapshots = inv.snapshots[:n-1]
		// What was loaded before the damage came to light has to go.
		_ = s.db.Close()
		if s.db, err = buntdb.Open(":memory:"); err != nil {
			return nil, err
		}
	}
	return damaged, nil
}

// repair brings the directory into a state from which writing can go on, in
// steps after each of which a crash leaves a store that opens the same.
func (s *Store) repair(f *finding) error {
	fsys, r := s.opts.FS, f.journal
	for _, name := range f.all {
		if err := fsys.Chmod(filepath.Join(s.dir, name), fileMode); err != nil {
			return err
		}
	}
	for _, name := range f.temps {
		if err := fsys.Remove(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	s.plan(f)
	if err := s.noteLoss(f); err != nil {
		return err
	}
	s.files = &files{snapshots: f.snapshots, segments: f.segments}
	s.journal = &journal{fs: fsys, dir: s.dir}
	if err := s.repairJournal(f); err != nil {
		return err
	}
	for _, id := range f.damaged {
		if err := s.setAside(id.name(snapshotPrefix)); err != nil {
			return err
		}
	}
	if f.untold != nil {
		if err := s.finishEarlier(f); err != nil {
			return err
		}
	}
	if err := s.openJournal(r); err != nil {
		return err
	}
	s.synced.Store(s.seq.Load())
	if s.report.Lost > 0 {
		// Said once; from here on the store is what it is.
		if err := s.writeCleanMarker(); err != nil {
			return err
		}
	}
	if f.untold != nil || s.report.anyLoss() {
		return s.forgetLoss()
	}
	return nil
}

// plan decides what of the journal is not to be read again: an unfinished write
// is to be cut off, anything else to be kept aside.
func (s *Store) plan(f *finding) {
	r := f.journal
	at := r.stopped
	lost := s.report.Lost > 0 || f.untold != nil || f.rebuilt
	if at == nil && s.report.Lost == 0 && !f.rebuilt {
		return
	}
	if at == nil {
		// Every file is in order and yet something is missing. Segments that
		// begin behind it hold nothing, but would tell of the loss for ever.
		at = &stop{segment: len(f.segments)}
		for at.segment > 0 && f.segments[at.segment-1].seq > r.last+1 {
			at.segment--
		}
	}
	if at.torn {
		s.report.TornBytes = at.size - at.off
	}
	if !lost && at.torn && at.segment == len(f.segments)-1 {
		at.cut = true
		return
	}
	s.report.Aside = at.beyond
	f.spoilt = f.segments[at.segment:]
}

// repairJournal does what plan has decided.
func (s *Store) repairJournal(f *finding) error {
	if at := f.journal.stopped; at != nil && at.cut {
		return s.cut(at)
	}
	// What could be read gets a snapshot of its own before the files that hold
	// it are moved away.
	if last := f.journal.last; f.rebuilt || len(f.spoilt) > 0 && last > s.snapshots.seq {
		s.capture = new(capture)
		id, size, err := s.writeSnapshot(context.Background(), last)
		s.capture = nil
		if err != nil {
			return err
		}
		s.tookSnapshot(id, size)
	}
	keep := len(s.files.segments) - len(f.spoilt)
	for len(s.files.segments) > keep {
		last := len(s.files.segments) - 1
		if err := s.setAside(s.files.segments[last].name(journalPrefix)); err != nil {
			return err
		}
		s.files.segments = s.files.segments[:last]
	}
	return nil
}

// cut removes an unfinished write from the end of the journal.
func (s *Store) cut(at *stop) error {
	name := filepath.Join(s.dir, s.files.segments[at.segment].name(journalPrefix))
	if at.off == 0 {
		// The segment was just being created.
		s.files.segments = s.files.segments[:at.segment]
		return errors.Join(s.opts.FS.Remove(name), s.opts.FS.SyncDir(s.dir))
	}
	f, err := s.opts.FS.OpenFile(name, os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	err = f.Truncate(at.off)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (s *Store) setAside(name string) error {
	to := damagedPrefix + name
	if err := s.opts.FS.Rename(filepath.Join(s.dir, name), filepath.Join(s.dir, to)); err != nil {
		return err
	}
	s.report.Damaged = append(s.report.Damaged, to)
	return s.opts.FS.SyncDir(s.dir)
}

// openJournal opens the last segment for appending when the last transaction
// stands at its end, and begins a new one otherwise.
func (s *Store) openJournal(r *replay) error {
	j, last := s.journal, s.seq.Load()
	j.bytes.Store(r.bytes)
	if !s.reusable(r) {
		f, id, err := newSegment(s.opts.FS, s.dir, last+1)
		if err != nil {
			return err
		}
		j.f, j.id, j.seed, j.size = f, id, id.seed(), fileHeaderSize
		s.files.segments = append(s.files.segments, id)
		return nil
	}
	j.id = s.files.segments[len(s.files.segments)-1]
	j.seed = j.id.seed()
	var err error
	if j.f, err = s.opts.FS.OpenFile(filepath.Join(s.dir, j.id.name(journalPrefix)), os.O_RDWR, fileMode); err != nil {
		return err
	}
	if j.size, err = j.f.Size(); err != nil {
		return err
	}
	// A process that was killed may have left transactions that the disk does
	// not have yet. They are about to be seen, so they have to be durable.
	if len(r.unproven) > 0 {
		if err := j.rewrite(r.unproven[0].off); err != nil {
			return err
		}
	}
	if err := j.f.Sync(); err != nil {
		return err
	}
	return s.opts.FS.SyncDir(s.dir)
}

// reusable says whether the last segment left is in order and ends with the last
// transaction, or is empty and begins behind it.
func (s *Store) reusable(r *replay) bool {
	n := len(s.files.segments)
	if n == 0 || r.stopped != nil && (!r.stopped.cut || r.stopped.off == 0) {
		return false
	}
	return r.tail == r.last || s.files.segments[n-1].seq == r.last+1
}

// rewrite writes the end of the segment once more, as it is. Where the last
// process met a failed flush, the system may hold pages that it takes for
// written, and which no flush would write.
func (j *journal) rewrite(off int64) error {
	w := window{f: j.f, size: j.size}
	for off < j.size {
		b, err := w.bytes(off, windowSize)
		if err != nil {
			return err
		}
		if _, err := j.f.WriteAt(b, off); err != nil {
			return err
		}
		off += int64(len(b))
	}
	return nil
}
