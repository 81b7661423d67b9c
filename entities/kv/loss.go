package kv

import (
	"slices"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// lossNote is what the file holds.
type lossNote struct {
	Report Recovery `json:"report"`
	Aside  []string `json:"aside"` // files that are to be set aside
}

// anyLoss reports whether there is more to tell than the files will tell again.
func anyLoss(r *Recovery) bool {
	return r.Lost > 0 || r.LostPieces > 0 || r.Salvaged > 0 || r.Aside > 0
}

// noteLoss keeps the report before anything is changed on disk, with that of an
// earlier start that did not come to its end.
func (s *Store) noteLoss(f *finding) error {
	note := lossNote{Report: s.report}
	for _, id := range f.spoilt {
		note.Aside = append(note.Aside, id.Name(disk.JournalPrefix))
	}
	for _, id := range f.damaged {
		note.Aside = append(note.Aside, id.Name(disk.SnapshotPrefix))
	}
	if f.untold != nil {
		note.recall(f.untold)
	}
	if f.untold == nil && !anyLoss(&note.Report) {
		return nil
	}
	if note.Report.Lost > 0 || note.Report.LostPieces > 0 {
		if err := s.noteUnmended(); err != nil {
			return err
		}
	}
	return disk.WriteNote(s.opts.FS, s.dir, disk.LossName, note)
}

// untoldLoss returns what an earlier start noted, nil when there is nothing. A
// note that can't be read is none: it says nothing about the records.
func untoldLoss(fsys FS, dir string) (*lossNote, error) {
	var note lossNote
	ok, err := disk.ReadNote(fsys, dir, disk.LossName, &note)
	if err != nil || !ok {
		return nil, err
	}
	return &note, nil
}

// recall adds what an earlier start had found. Nothing was written in between, so
// what both found is the same.
func (n *lossNote) recall(earlier *lossNote) {
	r, e := &n.Report, &earlier.Report
	r.Lost, r.Salvaged = max(r.Lost, e.Lost), max(r.Salvaged, e.Salvaged)
	r.Aside, r.LostPieces = max(r.Aside, e.Aside), max(r.LostPieces, e.LostPieces)
	r.Clean = false
	for _, name := range earlier.Aside {
		if !slices.Contains(n.Aside, name) {
			n.Aside = append(n.Aside, name)
		}
	}
}

// finishEarlier does what an earlier start had begun, and reports it.
func (s *Store) finishEarlier(f *finding) error {
	note := lossNote{Report: s.report}
	note.recall(f.untold)
	s.report = note.Report
	for _, name := range f.untold.Aside {
		at := slices.IndexFunc(s.files.segments, func(id disk.ID) bool { return id.Name(disk.JournalPrefix) == name })
		if at >= 0 && s.snapshots.seq >= s.seq.Load() { // what could be read of it has its snapshot
			s.files.segments = slices.Delete(s.files.segments, at, at+1)
			if err := s.setAside(name); err != nil {
				return err
			}
		} else if to := disk.DamagedPrefix + name; slices.Contains(f.All, to) &&
			!slices.Contains(s.report.Damaged, to) {
			s.report.Damaged = append(s.report.Damaged, to)
		}
	}
	return nil
}

// forgetLoss is called when the loss is about to be told.
func (s *Store) forgetLoss() error { return disk.RemoveNote(s.opts.FS, s.dir, disk.LossName) }
