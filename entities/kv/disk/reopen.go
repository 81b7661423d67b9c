package disk

// OpenJournal opens the last of the segments for appending when the last transaction stands at
// its end, and begins a new one otherwise.
func OpenJournal(fsys FS, dir string, segments []ID, r *Replay, last uint64) (s *Segment, begun bool, err error) {
	if !r.reusable(segments) {
		s, err = NewSegment(fsys, dir, last+1)
		return s, true, err
	}
	s, err = OpenSegment(fsys, dir, segments[len(segments)-1])
	if err != nil {
		return nil, false, err
	}
	// A process that was killed may have left transactions that the disk does
	// not have yet. They are about to be seen, so they have to be durable.
	if len(r.Unproven) > 0 {
		err = s.Rewrite(r.Unproven[0].Off)
	}
	if err == nil {
		err = s.Sync()
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	return s, false, err
}

// reusable says whether the last segment left is in order and ends with the last
// transaction, or is empty and begins behind it.
func (r *Replay) reusable(segments []ID) bool {
	n := len(segments)
	if n == 0 || r.Stopped != nil && (!r.Stopped.Cut || r.Stopped.Off == 0) {
		return false
	}
	return r.Tail == r.Last || segments[n-1].Seq == r.Last+1
}
