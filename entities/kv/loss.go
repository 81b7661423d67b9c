package kv

import (
	"slices"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// noteLoss keeps the report before anything is changed on disk, with that of an
// earlier start that did not come to its end.
func (s *Store) noteLoss(f *finding) error {
	note := disk.LossNote{Report: s.report}
	for _, id := range f.spoilt {
		note.Aside = append(note.Aside, id.Name(disk.JournalPrefix))
	}
	for _, id := range f.damaged {
		note.Aside = append(note.Aside, id.Name(disk.SnapshotPrefix))
	}
	if f.untold != nil {
		note.Recall(f.untold)
	}
	if f.untold == nil && !disk.AnyLoss(&note.Report) {
		return nil
	}
	if note.Report.Lost > 0 || note.Report.LostPieces > 0 {
		if err := s.noteUnmended(); err != nil {
			return err
		}
	}
	return disk.WriteNote(s.opts.FS, s.dir, disk.LossName, note)
}

// finishEarlier does what an earlier start had begun, and reports it.
func (s *Store) finishEarlier(f *finding) error {
	note := disk.LossNote{Report: s.report}
	note.Recall(f.untold)
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
