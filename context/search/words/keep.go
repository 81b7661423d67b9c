package words

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// pace says when the file is written while the store is open. What a crash costs is
// to read the notes again that changed since, so there is no hurry, and a file of
// many megabytes is not written for every note.
type pace struct {
	many  int           // changed documents are worth it
	quiet time.Duration // after the last change, when there are so many: no import goes on
	rest  time.Duration // after the last change, when there are fewer
	most  time.Duration // after the first change, even if they go on
	again time.Duration // after a commit was in the way
	share int           // of the time may be spent on it, one part in so many
}

var usualPace = pace{
	many: 1000, quiet: 10 * time.Second, rest: 5 * time.Minute, most: 30 * time.Minute,
	again: 30 * time.Second, share: 100,
}

// keeping is what tells when the file is to be written. It is guarded by the lock of
// the Index.
type keeping struct {
	wake    chan struct{} // pokes the keeper
	pace    pace
	first   time.Time     // change that the file lacks; zero: none
	last    time.Time     // change
	tried   time.Time     // to write it, in vain; zero: not since it was written
	written time.Time     // zero: not yet
	cost    time.Duration // of the last writing
	removed bool          // there is no file, or one of another state that must not stay
}

// changed notes that the file lacks one more document.
func (s *snapshots) changed() {
	s.last = time.Now()
	if s.first.IsZero() {
		s.first = s.last
	}
	if n := len(s.fresh); n == 1 || n == s.pace.many {
		poke(s.wake)
	}
}

// saved notes that the file was written.
func (s *snapshots) saved(cost time.Duration) {
	s.written, s.cost = time.Now(), cost
	s.first, s.tried, s.removed = time.Time{}, time.Time{}, false
	if len(s.fresh) > 0 {
		s.first = s.last
	}
}

// due is when the file is to be written next; ok tells whether it lacks anything.
func (s *snapshots) due() (at time.Time, ok bool) {
	if len(s.fresh) == 0 && !s.removed {
		return at, false
	}
	wait := s.pace.rest
	if len(s.fresh) >= s.pace.many {
		wait = s.pace.quiet
	}
	at = s.last.Add(wait)
	if most := s.first.Add(s.pace.most); at.After(most) {
		at = most
	}
	if not := s.written.Add(s.cost * time.Duration(s.pace.share)); at.Before(not) {
		at = not
	}
	if not := s.tried.Add(s.pace.again); !s.tried.IsZero() && at.Before(not) {
		at = not
	}
	return at, true
}

// keep writes the file now and then, and has nothing to do while nothing changes.
func (x *Index) keep() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-x.ctx.Done():
			return
		case <-x.file.wake:
		case <-timer.C:
		}
		timer.Stop()
		at, ok := x.keepIfDue()
		if ok {
			timer.Reset(max(0, time.Until(at)))
		}
	}
}

// keepIfDue writes the file if it is time to, and returns when it will be next.
func (x *Index) keepIfDue() (at time.Time, ok bool) {
	x.mu.RLock()
	at, ok = x.file.due()
	x.mu.RUnlock()
	if !ok || at.After(time.Now()) {
		return at, ok
	}
	err := x.save()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		x.file.tried = time.Now()
		if !errors.Is(err, errWriterBusy) { // it was said: not every half a minute
			x.file.tried = x.file.tried.Add(x.file.pace.rest)
		}
	}
	return x.file.due()
}

// close ends the work in the background and keeps the index for the next start.
func (x *Index) close(replaced bool) {
	x.cancel()
	x.building.Wait()
	x.keeper.Wait()
	if replaced || x.opts.Dir == "" {
		return
	}
	x.rlock()
	_, lacks := x.file.due()
	x.mu.RUnlock()
	if lacks {
		_ = x.save() // said already
	} else {
		x.stamp()
	}
}

// stamp brings the number of the last transaction in the file up to date, when those
// since have changed no note. It is one write within a block of the disk; a file of
// which it would be torn is made anew.
func (x *Index) stamp() {
	x.file.saving.Lock()
	defer x.file.saving.Unlock()
	x.rlock()
	defer x.mu.RUnlock()
	if len(x.file.fresh) > 0 || x.broken != nil { // a commit came meanwhile
		return
	}
	name := filepath.Join(x.opts.Dir, FileName)
	if head, err := readRawHeader(name); err != nil || head != x.file.head || x.file.docs == 0 {
		return
	}
	x.file.head.Stamp(x.seq, x.at)
	f, err := os.OpenFile(name, os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteAt(x.file.head[:], 0)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		x.log.Warn("search: the index of words can't be marked as of this state; the next start compares all texts",
			"error", err)
	}
}

// forget leaves nothing on disk of what is not in the store any more.
func (x *Index) forget() error {
	if x.opts.Dir == "" {
		return nil
	}
	err := x.save()
	if err == nil {
		return nil
	}
	x.mu.Lock()
	x.file.removed = true // so that it is written later
	x.file.docs = 0
	poke(x.file.wake)
	x.mu.Unlock()
	if gone := os.Remove(filepath.Join(x.opts.Dir, FileName)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		return gone
	}
	if errors.Is(err, errWriterBusy) {
		return nil
	}
	return err
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
