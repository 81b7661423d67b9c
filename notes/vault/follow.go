package vault

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Host is what followers need from the server that owns the store.
type Host struct {
	// Enter runs work while the store may be used, and returns the error of work. The
	// context that work gets may end earlier than the one given.
	Enter func(ctx context.Context, work func(context.Context) error) error
	// Progress is called while a vault is read; nil: it is not reported.
	Progress func(vault, stage string, done, total int)
	// Changed is called when Warnings may return something else; nil: never.
	Changed func()
	// Attached is called when there may be attachments to read, or some to forget; nil: nobody reads any.
	Attached func()
}

// Start follows every vault whose record says so, and goes on with each Forget that was
// interrupted. It returns at once. Followers end when the store is closed.
func (im *Importer) Start(ctx context.Context, host Host) error {
	if host.Progress == nil {
		host.Progress = func(string, string, int, int) {}
	}
	if host.Changed == nil {
		host.Changed = func() {}
	}
	im.mu.Lock()
	im.host = &host
	im.mu.Unlock()
	im.background(func(ctx context.Context) { _ = host.Enter(ctx, im.settleAll) }) // else the next write does it
	list, err := im.records(ctx)
	for _, v := range list {
		switch {
		case v.Forgetting:
			// The rest is removed as soon as the store may be used.
			im.background(func(ctx context.Context) { im.goOnForgetting(ctx, &host, v.Name) })
		case v.Watch:
			im.follow(v.Name, v.Path, true)
		}
	}
	return err
}

// background runs work until the store is closed, which waits for it.
func (im *Importer) background(work func(context.Context)) {
	im.mu.Lock()
	defer im.mu.Unlock()
	if !im.stopped {
		im.work.Go(func() { work(im.ctx) })
	}
}

func (im *Importer) canFollow() bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.host != nil && !im.stopped
}

func (im *Importer) follower(name string) *follower {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.followers[name]
}

// follow starts a follower for a vault that has none, if begin is set. One that is
// there scans the whole vault. It reports whether the vault is followed.
func (im *Importer) follow(name, place string, begin bool) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	f := im.followers[name]
	if f != nil {
		f.markAllDirty()
		return true
	}
	if !begin || im.host == nil || im.stopped {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	f = &follower{
		im: im, host: im.host, name: name, path: place, cancel: cancel, done: make(chan struct{}),
		wake:  make(chan struct{}, 1),
		dirty: make(map[string]bool), touched: make(map[string]bool),
	}
	im.followers[name] = f
	go f.run(ctx)
	return true
}

// Unwatch stops following a vault. It is no error when the vault was not followed.
func (im *Importer) Unwatch(ctx context.Context, name string) error {
	name, err := im.resolve(ctx, name)
	if err != nil {
		return err
	}
	im.mu.Lock()
	f := im.followers[name]
	delete(im.followers, name)
	im.mu.Unlock()
	if f != nil {
		f.cancel()
		<-f.done
		f.host.Changed()
	}
	return im.db.Update(ctx, func(tx *kv.Tx) error {
		v, err := vaults.Get(tx, name)
		if err != nil || v == nil || !v.Watch {
			return err
		}
		v.Watch = false
		return vaults.Put(tx, name, v)
	})
}

// stop ends all followers, before the store is closed.
func (im *Importer) stop() {
	im.mu.Lock()
	im.stopped = true
	list := slices.Collect(maps.Values(im.followers))
	im.mu.Unlock()
	im.cancel()
	for _, f := range list {
		f.cancel()
	}
	for _, f := range list {
		<-f.done
	}
	im.work.Wait()
}

// Warnings returns what people should know about the vaults that are followed.
func (im *Importer) Warnings() []string {
	im.mu.Lock()
	list := slices.Collect(maps.Values(im.followers))
	im.mu.Unlock()
	stale, partly := 0, 0
	for _, f := range list {
		f.mu.Lock()
		if f.problem != "" {
			stale++
		} else if f.watcherProblem != "" && eventsSupported {
			partly++
		}
		f.mu.Unlock()
	}
	var out []string
	if stale > 0 {
		out = append(out, plural(stale, "vault", "vaults")+" can't be followed now; vault.status says why")
	}
	if partly > 0 {
		out = append(out, plural(partly, "vault is", "vaults are")+
			" scanned at intervals, since the system reports no more changes; vault.status says why")
	}
	return out
}

// The times of a follower.
const (
	// quiet is how long no event may come before changes are read: an editor writes a
	// file in several steps. latest bounds the wait when events keep coming.
	quiet  = 40 * time.Millisecond
	latest = 150 * time.Millisecond
	// grace is the time between the scan that misses a file and a second scan that
	// confirms it: a file that moves leaves one folder before it shows in the other.
	grace = 20 * time.Millisecond
	// retry is the time before another try when the folder can't be read.
	retry = time.Second
	// retryConflict is that time where another vault has the notes: checking whether it
	// still has takes a scan.
	retryConflict = 30 * time.Second

	sweepEvery = 30 * time.Second // between full scans where events come
	pollEvery  = time.Second      // where some or all are missing
	// sweepShare is how many times longer than a full scan the time to the next one is:
	// scans take less than a hundredth of a processor. Of the time that a scan took, no
	// more than sweepFile counts for each file: the rest is waiting for a slow disk or a
	// busy machine.
	sweepShare = 100
	sweepFile  = 20 * time.Microsecond
)

// follower keeps the store in agreement with the folder of one vault. Its goroutine,
// run, scans the folders that events name, and the whole vault from time to time.
type follower struct {
	im     *Importer
	host   *Host
	name   string
	path   string
	cancel func()
	done   chan struct{} // closed when run has returned
	wake   chan struct{} // something is to be scanned

	// Used by run alone.
	tree      *tree // what the folder held when the store last agreed with it; nil before
	faults    faults
	lastSweep time.Time
	sweepTook time.Duration
	swept     int // folders and notes that the last full scan saw

	mu             sync.Mutex    // guards what follows
	watcher        *eventWatcher // nil: there are no events
	dirty          map[string]bool
	touched        map[string]bool // notes to be read whatever their stamps say
	all            bool
	lastScan       time.Time
	problem        string // why the store does not agree with the folder; "" when it does
	watcherProblem string // why events are missing, all or some; "" when they are not
}

func (f *follower) run(ctx context.Context) {
	defer close(f.done)
	defer f.stopWatcher()
	for ctx.Err() == nil {
		err := f.host.Enter(ctx, f.update)
		if ctx.Err() != nil {
			return
		}
		f.recordOutcome(err)
		if err != nil {
			f.markAllDirty()
			sleep(ctx, retryAfter(err))
			continue
		}
		if !f.waitForWork(ctx) {
			return
		}
	}
}

// recordOutcome records how an update ended.
func (f *follower) recordOutcome(err error) {
	problem := ""
	if err != nil {
		problem = fault.Message(err)
	}
	f.mu.Lock()
	changed := problem != f.problem
	f.problem = problem
	if err == nil {
		f.lastScan = f.im.opts.Now().UTC()
	}
	f.mu.Unlock()
	if changed {
		f.host.Changed()
		f.im.tellAttached() // the folder may be back
	}
}

// waitForWork waits until something is to be scanned, and then until no more events
// come. It reports false when ctx has ended.
func (f *follower) waitForWork(ctx context.Context) bool {
	sweep := time.NewTimer(time.Until(f.lastSweep.Add(f.sweepInterval())))
	defer sweep.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-sweep.C:
		f.markAllDirty()
		<-f.wake
		return true
	case <-f.wake:
	}
	last := time.NewTimer(latest)
	defer last.Stop()
	for {
		quietTimer := time.NewTimer(quiet)
		select {
		case <-f.wake:
			quietTimer.Stop()
		case <-quietTimer.C:
			return true
		case <-last.C:
			quietTimer.Stop()
			return true
		case <-ctx.Done():
			quietTimer.Stop()
			return false
		}
	}
}

// sweepInterval returns the time from one full scan to the next.
func (f *follower) sweepInterval() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	least := f.im.opts.SweepEvery
	switch {
	case least > 0:
	case f.watcherProblem != "":
		least = pollEvery
	default:
		least = sweepEvery
	}
	return max(least, sweepShare*min(f.sweepTook, time.Duration(f.swept)*sweepFile))
}

func retryAfter(err error) time.Duration {
	if fault.KindOf(err) == fault.Conflict {
		return retryConflict
	}
	return retry
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// markDirty has folders scanned, and notes read whatever their stamps say.
func (f *follower) markDirty(dirs, notes []string) {
	f.mu.Lock()
	for _, dir := range dirs {
		f.dirty[dir] = true
	}
	for _, p := range notes {
		f.touched[p] = true
	}
	f.mu.Unlock()
	f.wakeUp()
}

// markAllDirty has the whole vault scanned.
func (f *follower) markAllDirty() {
	f.mu.Lock()
	f.all = true
	f.mu.Unlock()
	f.wakeUp()
}

func (f *follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// dirtySet is what has to be scanned.
type dirtySet struct {
	all     bool
	dirs    []string // a folder before those in it
	touched []string
}

func (f *follower) takeDirty() dirtySet {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := dirtySet{f.all, slices.Sorted(maps.Keys(f.dirty)), slices.Sorted(maps.Keys(f.touched))}
	f.all = false
	clear(f.dirty)
	clear(f.touched)
	return s
}

// update scans what is dirty and makes the store agree with it.
func (f *follower) update(ctx context.Context) error {
	release, err := f.im.claim(ctx, f.name, false)
	if err != nil {
		return err
	}
	defer release()
	root, err := openFolder(f.path)
	if err != nil {
		f.stopWatcher() // another folder may take its place
		return err
	}
	defer root.Close()
	if f.tree == nil {
		unregister, err := f.admit(ctx)
		defer unregister()
		if err != nil {
			return err
		}
	}
	f.startWatcher()
	due := f.takeDirty()
	w := f.im.newWalker(root, f.name)
	w.enter = f.watchFolder
	next, err := f.scan(ctx, w, due)
	if err != nil {
		return err
	}
	if f.tree != nil && next.misses(f.tree) {
		sleep(ctx, grace)
		more := f.takeDirty()
		due = dirtySet{due.all || more.all, append(due.dirs, more.dirs...), append(due.touched, more.touched...)}
		slices.Sort(due.dirs)
		next, err = f.scan(ctx, w, due)
		if err != nil {
			return err
		}
	}
	f.syncWatches(next)
	next.unsettle(due.touched)
	r := &run{Importer: f.im, root: root, name: f.name, path: f.path, tree: next, watch: true}
	r.progress = func(stage string, done, total int) { f.host.Progress(f.name, stage, done, total) }
	if err := f.runFor(ctx, r); err != nil {
		return err
	}
	if f.tree == nil {
		f.im.tellAttached()
	}
	f.tree, f.faults = next, r.faults
	f.clearWatcherProblem(next)
	f.restamp(r)
	return nil
}

// scan reads the whole vault, or the dirty folders, into a new tree.
func (f *follower) scan(ctx context.Context, w *walker, due dirtySet) (*tree, error) {
	if f.tree == nil || due.all {
		began := time.Now()
		next, err := w.all(ctx)
		f.lastSweep, f.sweepTook = time.Now(), time.Since(began)
		if err == nil {
			f.swept = next.size()
		}
		return next, err
	}
	next := f.tree.clone()
	for _, dir := range due.dirs {
		if next.folders[dir] == nil {
			continue // it is gone, or left out
		}
		if err := w.again(ctx, next, dir); err != nil {
			return nil, err
		}
	}
	w.readDays(next)
	return next, nil
}

// runFor makes the store agree with the tree of a run.
func (f *follower) runFor(ctx context.Context, r *run) error {
	if f.tree == nil {
		return r.whole(ctx, r.tree)
	}
	d := r.tree.since(f.tree)
	switch {
	case d.none() && sameSkips(r.tree, f.tree):
		r.faults = f.faults
		return nil
	case (len(d.gone) > 0 || d.lost) && r.tree.folders["."].empty:
		return emptied()
	case d.whole:
		return r.whole(ctx, r.tree)
	}
	r.faults = faults{maps.Clone(f.faults.notes), f.faults.types}
	return r.part(ctx, d)
}

// restamp sets the stamps of the files that were read, and marks those that have to be
// read again.
func (f *follower) restamp(r *run) {
	stamps := make(map[string]stamp)
	var again, dirs []string
	for _, d := range r.looked {
		switch {
		case d.unsettled:
			again, dirs = append(again, d.path), append(dirs, path.Dir(d.path))
			stamps[d.path] = stamp{}
		case d.closed:
			stamps[d.path] = stamp{} // who may read it is not in its stamp
		case d.skip == "":
			stamps[d.path] = d.stamp
		}
	}
	f.tree.restamp(stamps)
	if len(again) > 0 {
		f.markDirty(dirs, again)
	}
}

// addTo adds to the status of a vault how it is followed.
func (f *follower) addTo(s *Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Watching = true
	s.Stale = f.problem != "" || f.lastScan.IsZero() && s.Stale // it has not scanned yet
	if f.lastScan.After(s.LastScanAt) {
		s.LastScanAt = f.lastScan
	}
	for _, reason := range []string{f.problem, f.watcherProblem} {
		if reason != "" {
			s.Errors = slices.Insert(slices.Clip(s.Errors), 0, ImportSkip{Path: ".", Reason: reason})
		}
	}
}

func sameSkips(a, b *tree) bool {
	if len(a.folders) != len(b.folders) || !slices.Equal(a.daysSkip, b.daysSkip) {
		return false
	}
	for dir, f := range a.folders {
		was := b.folders[dir]
		if was == nil || was != f && !slices.Equal(f.skipped, was.skipped) {
			return false
		}
	}
	return true
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + many
}
