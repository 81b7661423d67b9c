package watch

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

// Host is what the followers of vaults need of who serves the store.
type Host struct {
	// Enter runs work when the store may be used, and returns what it returns. The
	// context that the work gets may end earlier than the one given.
	Enter func(ctx context.Context, work func(context.Context) error) error
	// Progress is told how far the reading of a vault has come; nil: nobody is.
	Progress func(vault, stage string, done, total int)
	// Changed is told that Warnings may return something else; nil: nobody is.
	Changed func()
}

// Start follows the vaults that are to be followed, and lets others be. It
// returns at once. What it starts ends with the store.
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
	list, err := im.records(ctx)
	for _, v := range list {
		switch {
		case v.Forgetting:
			// The rest of it goes as soon as the store may be used.
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

// follow follows a vault that is not followed, if begin is set, and has one
// that is look at everything. It reports whether the vault is followed.
func (im *Importer) follow(name, place string, begin bool) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	f := im.followers[name]
	if f != nil {
		f.suspectAll()
		return true
	}
	if !begin || im.host == nil || im.stopped {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	f = &follower{
		im: im, host: im.host, name: name, path: place, cancel: cancel, done: make(chan struct{}), wake: make(chan struct{}, 1),
		dirty: make(map[string]bool), touched: make(map[string]bool),
	}
	im.followers[name] = f
	go f.run(ctx)
	return true
}

// Unwatch no longer follows a vault. It is no error when it was not followed.
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

// stop ends what is being followed, before the store is closed.
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

// Warnings says what people should know of the vaults that are followed.
func (im *Importer) Warnings() []string {
	im.mu.Lock()
	list := slices.Collect(maps.Values(im.followers))
	im.mu.Unlock()
	stale, unheard := 0, 0
	for _, f := range list {
		f.mu.Lock()
		if f.problem != "" {
			stale++
		} else if f.deaf != "" && eventful {
			unheard++
		}
		f.mu.Unlock()
	}
	var out []string
	if stale > 0 {
		out = append(out, plural(stale, "vault", "vaults")+" can't be followed now; vault.status says why")
	}
	if unheard > 0 {
		out = append(out, plural(unheard, "vault is", "vaults are")+" looked through from time to time, since the system tells of no more changes; vault.status says why")
	}
	return out
}

// The times of a follower.
const (
	// quiet is how long nothing may change before what has changed is taken in: an
	// editor writes a file in several steps. latest is how long that may go on.
	quiet  = 40 * time.Millisecond
	latest = 150 * time.Millisecond
	// grace is the time before what was seen to be gone is taken for gone: a file
	// that moves is gone from one folder before it is seen in the other.
	grace = 20 * time.Millisecond
	// retry is the time before another try when the folder can't be looked at.
	retry = time.Second
	// retryConflict is that time where another vault has the notes: finding out whether
	// it still has takes a walk.
	retryConflict = 30 * time.Second

	sweepEvery = 30 * time.Second // where changes are heard of
	pollEvery  = time.Second      // where they are not
	// sweepShare is how much longer than a sweep the time between two of them is:
	// that keeps them under a hundredth of a processor. A sweep takes as long as it
	// does, but no more for each file than sweepFile: the rest is waiting, for a slow
	// disk or on a busy machine.
	sweepShare = 100
	sweepFile  = 20 * time.Microsecond
)

// follower keeps one vault as it is on the disk. Its goroutine, run, looks at what
// listen has heard of, and now and then at everything.
type follower struct {
	im     *Importer
	host   *Host
	name   string
	path   string
	cancel func()
	done   chan struct{} // closed when run has returned
	wake   chan struct{} // there is something to look at

	// Of run alone.
	tree      *tree // what was there when the store last agreed with the disk; nil before
	faults    faults
	lastSweep time.Time
	sweepTook time.Duration
	swept     int // folders and notes that the last sweep saw

	mu       sync.Mutex // guards what follows
	ears     *ears      // nil: changes are not heard of
	dirty    map[string]bool
	touched  map[string]bool // notes to be read whatever their stamps say
	all      bool
	lastScan time.Time
	problem  string // why the vault is not as it is on the disk; "" when it is
	deaf     string // why changes are not heard of, or not all; "" when they are
}

func (f *follower) run(ctx context.Context) {
	defer close(f.done)
	defer f.stopListening()
	for ctx.Err() == nil {
		err := f.host.Enter(ctx, f.look)
		if ctx.Err() != nil {
			return
		}
		f.conclude(err)
		if err != nil {
			f.suspectAll()
			sleep(ctx, pauseAfter(err))
			continue
		}
		if !f.await(ctx) {
			return
		}
	}
}

// conclude notes how a look ended.
func (f *follower) conclude(err error) {
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
	}
}

// await waits until there is something to look at.
func (f *follower) await(ctx context.Context) bool {
	sweep := time.NewTimer(time.Until(f.lastSweep.Add(f.pace())))
	defer sweep.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-sweep.C:
		f.suspectAll()
		<-f.wake
		return true
	case <-f.wake:
	}
	last := time.NewTimer(latest)
	defer last.Stop()
	for {
		calm := time.NewTimer(quiet)
		select {
		case <-f.wake:
			calm.Stop()
		case <-calm.C:
			return true
		case <-last.C:
			calm.Stop()
			return true
		case <-ctx.Done():
			calm.Stop()
			return false
		}
	}
}

// pace is the time from one sweep to the next.
func (f *follower) pace() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	least := f.im.opts.SweepEvery
	switch {
	case least > 0:
	case f.deaf != "":
		least = pollEvery
	default:
		least = sweepEvery
	}
	return max(least, sweepShare*min(f.sweepTook, time.Duration(f.swept)*sweepFile))
}

func pauseAfter(err error) time.Duration {
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

// suspect has folders looked at, and notes read.
func (f *follower) suspect(dirs, notes []string) {
	f.mu.Lock()
	for _, dir := range dirs {
		f.dirty[dir] = true
	}
	for _, p := range notes {
		f.touched[p] = true
	}
	f.mu.Unlock()
	f.poke()
}

// suspectAll has everything looked at.
func (f *follower) suspectAll() {
	f.mu.Lock()
	f.all = true
	f.mu.Unlock()
	f.poke()
}

func (f *follower) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// suspects are what is to be looked at.
type suspects struct {
	all     bool
	dirs    []string // those before what is in them
	touched []string
}

func (f *follower) take() suspects {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := suspects{f.all, slices.Sorted(maps.Keys(f.dirty)), slices.Sorted(maps.Keys(f.touched))}
	f.all = false
	clear(f.dirty)
	clear(f.touched)
	return s
}

// look makes the store agree with what is to be looked at.
func (f *follower) look(ctx context.Context) error {
	release, err := f.im.claim(ctx, f.name, false)
	if err != nil {
		return err
	}
	defer release()
	root, err := openFolder(f.path)
	if err != nil {
		f.stopListening() // another folder may come to be there
		return err
	}
	defer root.Close()
	if f.tree == nil {
		left, err := f.admit(ctx)
		defer left()
		if err != nil {
			return err
		}
	}
	f.listen()
	due := f.take()
	w := &walker{root: root, exclude: f.im.exclude, enter: f.hear}
	next, err := f.walk(ctx, w, due)
	if err != nil {
		return err
	}
	if f.tree != nil && len(next.since(f.tree).gone) > 0 {
		sleep(ctx, grace)
		more := f.take()
		due = suspects{due.all || more.all, append(due.dirs, more.dirs...), append(due.touched, more.touched...)}
		slices.Sort(due.dirs)
		if next, err = f.walk(ctx, w, due); err != nil {
			return err
		}
	}
	f.hearAgain(next)
	next.unsettle(due.touched)
	r := &run{Importer: f.im, root: root, name: f.name, path: f.path, tree: next, watch: true}
	r.progress = func(stage string, done, total int) { f.host.Progress(f.name, stage, done, total) }
	if err := f.agree(ctx, r); err != nil {
		return err
	}
	f.tree, f.faults = next, r.faults
	f.heardAll(next)
	f.settle(r)
	return nil
}

// walk looks at the disk: at everything, or at some folders.
func (f *follower) walk(ctx context.Context, w *walker, due suspects) (*tree, error) {
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
	return next, nil
}

// agree makes the store agree with the tree of a run.
func (f *follower) agree(ctx context.Context, r *run) error {
	if f.tree == nil {
		return r.whole(ctx, r.tree)
	}
	d := r.tree.since(f.tree)
	switch {
	case d.none() && sameSkips(r.tree, f.tree):
		r.faults = f.faults
		return nil
	case len(d.gone) > 0 && r.tree.folders["."].empty:
		return emptied()
	case d.whole:
		return r.whole(ctx, r.tree)
	}
	r.faults = faults{maps.Clone(f.faults.notes), f.faults.types}
	return r.part(ctx, d)
}

// settle notes what has to be looked at again, of what was read.
func (f *follower) settle(r *run) {
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
		f.suspect(dirs, again)
	}
}

// describe says in the status of a vault how it is followed.
func (f *follower) describe(s *Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Watching = true
	s.Stale = f.problem != "" || f.lastScan.IsZero() && s.Stale // it has not looked yet
	if f.lastScan.After(s.LastScanAt) {
		s.LastScanAt = f.lastScan
	}
	for _, reason := range []string{f.problem, f.deaf} {
		if reason != "" {
			s.Errors = slices.Insert(slices.Clip(s.Errors), 0, Skip{".", reason})
		}
	}
}

func sameSkips(a, b *tree) bool {
	if len(a.folders) != len(b.folders) {
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
