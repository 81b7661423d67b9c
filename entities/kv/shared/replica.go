package shared

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Folder is in the data folder and holds the files of this package.
const Folder = "sync"

// Names in Folder.
const (
	keyFile             = "key"
	leftFile            = "left"                      // this machine has left: its store is its own, whatever the settings say
	stateFile           = "state.ctxdbackup"          // of a snapshot, on its way to the servers
	joiningKeyFile      = "joining.key"               // of a join that is not complete
	joiningStateFile    = "joining.ctxdbackup"        // what that has of a snapshot
	joiningProgressFile = "joining.json"              // of which snapshot that is
	copyFile            = "before-joining.ctxdbackup" // what a join has replaced; further ones have the time before the dot
	compactDueFile      = "compact"                   // the servers are to be compacted; number of the compaction, 0 for none yet
	compactedFile       = "compacted"                 // number of the newest compaction that the files of this machine have followed
)

const (
	announceEvery = 30 * time.Second
	announceRetry = time.Second // when it failed
	goodbyeWait   = time.Second
	snapshotEvery = 10_000 // messages
	catchUpWait   = 2 * time.Second
	stateRetry    = announceRetry // after a snapshot that failed, and twice as long each time
	maxStateRetry = time.Hour
)

// pathOf is the path of a file in Folder.
func pathOf(dir, name string) string { return filepath.Join(dir, Folder, name) }

func keyPath(dir string) string { return pathOf(dir, keyFile) }

// Options are what a Replica is opened with.
type Options struct {
	Servers nats.Servers
	Dir     string // data folder
	Logger  *slog.Logger
}

// Replica is a store's part in what several machines share.
type Replica struct {
	dir        string
	logger     *slog.Logger
	id         *nats.Identity
	log        *nats.Log
	ctx        context.Context // of what is done in the background
	stop       context.CancelFunc
	background sync.WaitGroup

	wake        chan struct{} // something is due; buffer of one
	compactLock mutex         // of Compact and its background part
	stateLock   mutex         // of the file of a state

	mu      sync.Mutex // of what follows
	db      *kv.Store
	cluster *nats.Cluster // as it was asked last; nil: never
	states  states
	// What the user of the servers may not do; nil: it may do all, or was not asked about.
	forbidden *fault.Error
	permitted bool // it was asked about, and may do all
}

// states says when the next snapshot is tried, where the last one failed: each takes the whole
// store.
type states struct {
	failed *fault.Error // nil: it did not
	wait   time.Duration
	next   time.Time
}

// Open begins to connect this machine's store to the others. Without a key it is
// fault.NotFound.
func Open(o Options) (*Replica, error) {
	id, err := nats.LoadIdentity(keyPath(o.Dir))
	if fault.KindOf(err) == fault.NotFound {
		_, half := os.Stat(pathOf(o.Dir, joiningKeyFile))
		if half == nil {
			return nil, interrupted()
		}
	}
	if err != nil {
		return nil, err
	}
	if id.Stage() == nats.StageJoining {
		return nil, interrupted()
	}
	l, err := nats.OpenLog(o.Servers, id, o.Logger)
	if err != nil {
		return nil, err
	}
	r := &Replica{dir: o.Dir, logger: o.Logger, id: id, log: l, wake: make(chan struct{}, 1), compactLock: make(mutex, 1), stateLock: make(mutex, 1)}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r, nil
}

func interrupted() error {
	return fault.New(fault.Unavailable, "joining the shared store was interrupted").WithHint("complete it: ctxd sync join")
}

// Prepare has a store be opened as a replica. Only the machine that has begun the log, and only
// once, brings its records along: an empty folder must not pass for the beginning.
func (r *Replica) Prepare(o *kv.Options) {
	o.Log = r.log
	if r.id.Stage() == nats.StageBeginning {
		start := r.id.Start()
		o.LogStart = &start
	}
}

// Serve follows the others from now on. What stands on the store is open. It is called again
// when the store was opened again.
func (r *Replica) Serve(db *kv.Store) error {
	if r.id.Stage() == nats.StageBeginning {
		err := r.id.SetStage(nats.StageMember)
		if err != nil {
			return err
		}
	}
	r.mu.Lock()
	first := r.db == nil
	r.db = db
	r.mu.Unlock()
	r.watchCompactions(db)
	db.Follow()
	if first {
		r.background.Go(r.run)
	}
	return nil
}

// Close ends the connection.
func (r *Replica) Close() {
	r.stop()
	r.background.Wait()
	r.log.Close()
}

// Name is what this machine is called in the list of machines.
func (r *Replica) Name() string { return r.id.Name() }

// Pause ends what is done beside the store, before it is closed, and tells the others so, who
// then do not wait for this machine.
func (r *Replica) Pause() {
	r.stop()
	r.background.Wait()
	if r.store() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeWait)
	defer cancel()
	_ = r.announce(ctx, true) // without it they find out by themselves
}

// run does what is due until Pause or Close.
func (r *Replica) run() {
	for {
		wait := announceEvery
		err := r.maintain(r.ctx)
		if err != nil {
			wait = announceRetry
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.wake:
			timer.Stop()
		case <-r.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// maintain says that this machine is there, follows a compaction, and makes a snapshot if one is
// due.
func (r *Replica) maintain(ctx context.Context) error {
	_ = r.store().CatchUp(ctx) // its trouble is in what Replica says
	at, ok := r.store().Replica()
	if !ok {
		return nil
	}
	r.askPermitted(ctx)
	untold := r.announce(ctx, false)
	if untold != nil && !errors.Is(untold, outbox.ErrFull) {
		return untold
	}
	err := r.followCompaction(ctx) // which may make room
	if err != nil {
		r.logger.Warn("cannot follow a compaction of the shared store", "error", err)
		return err
	}
	c, err := r.log.Cluster(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.cluster = c
	r.mu.Unlock()
	list, err := r.log.Snapshots(ctx)
	if err != nil {
		return err
	}
	due := len(list) == 0 || at.Position.Seq >= list[0].At.Seq+snapshotEvery
	if !due || at.Trouble != nil || !r.mayTryState() {
		return untold
	}
	err = r.Snapshot(ctx, func(int64) {})
	if errors.Is(err, nats.ErrLeased) {
		return untold // the other machine makes it
	}
	if err != nil {
		r.logger.Warn("cannot write a snapshot of the shared store", "error", err)
	}
	if r.triedState(ctx, err) < announceEvery {
		return err
	}
	return untold
}

// mayTryState reports whether it is time for a snapshot, after those that have failed.
func (r *Replica) mayTryState() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !time.Now().Before(r.states.next)
}

// triedState notes what came of one, and returns how long the next has to wait.
func (r *Replica) triedState(ctx context.Context, err error) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.states = states{}
	}
	if err == nil || ctx.Err() != nil {
		return 0
	}
	if !errors.As(err, &r.states.failed) {
		r.states.failed = fault.Wrap(fault.Unavailable, err, "the state could not be written")
	}
	r.states.wait = min(max(2*r.states.wait, stateRetry), maxStateRetry)
	r.states.next = time.Now().Add(r.states.wait)
	return r.states.wait
}

// askPermitted asks once what the user of the servers may do, and again while that is not all.
func (r *Replica) askPermitted(ctx context.Context) {
	r.mu.Lock()
	done := r.permitted
	r.mu.Unlock()
	if done || !r.log.Connected() {
		return
	}
	err := r.log.Permitted(ctx)
	var f *fault.Error
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.permitted, r.forbidden = true, nil
	case errors.As(err, &f) && !f.Retryable:
		r.forbidden = f
	}
}

func (r *Replica) store() *kv.Store {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.db
}

// Snapshot writes the present state to the servers, for machines that join, and lets the
// servers delete what no machine needs any more.
func (r *Replica) Snapshot(ctx context.Context, progress nats.Progress) error {
	err := r.stateLock.lock(ctx)
	if err != nil {
		return err
	}
	defer r.stateLock.unlock()
	db := r.store()
	at := db.DurablePosition() // the state of the backup is this one or a later one
	path := pathOf(r.dir, stateFile)
	_, err = db.Backup(ctx, path, kv.BackupOptions{Overwrite: true, Shared: true})
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }() // the next one writes over it
	f, err := os.Open(path)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot read the state of the store")
	}
	defer f.Close()
	_, err = r.log.PutSnapshot(ctx, at, f, progress)
	return err
}

// Health is what an acknowledgement is worth, and what is wrong. It asks nobody.
type Health struct {
	Machine    uint32
	Connected  bool
	Durability nats.Durability // "": not known yet
	Warnings   []string
	Trouble    *fault.Error // why the log can't be read or written; nil: it can
	// CompactionDue says that what was deleted is still on the servers, since they could not
	// be used when it was asked for.
	CompactionDue bool
	Waiting       int // what was taken while it could not, and waits
	Refused       int // what of that the others refused
}

// Health says how it stands.
func (r *Replica) Health() Health {
	r.mu.Lock()
	c, db := r.cluster, r.db
	r.mu.Unlock()
	h := Health{Machine: r.id.Machine(), Connected: r.log.Connected(), Warnings: r.warnings(c)}
	_, h.CompactionDue = r.readNumber(compactDueFile)
	if c != nil {
		h.Durability = c.Durability
	}
	if db != nil {
		st, _ := db.Replica()
		h.Trouble, h.Waiting, h.Refused = st.Trouble, st.Waiting, st.Refused
	}
	return h
}

// warnings are what is wanting of the servers, which may not be known yet, and of this machine.
func (r *Replica) warnings(c *nats.Cluster) (list []string) {
	if c != nil {
		list = slices.Clone(c.Warnings)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forbidden != nil {
		list = append(list, r.forbidden.Msg+": "+r.forbidden.Hint)
	}
	if r.states.failed != nil {
		list = append(list, "the newest state could not be written to the servers, so that joining takes longer and the log grows: "+r.states.failed.Msg)
	}
	if r.id.Copied() {
		list = append(list, "another machine takes part with the key of this one: its data folder is a copy; stop one of the two, and have it join by itself: ctxd sync join --again")
	}
	return list
}

// Status is all that there is to know.
type Status struct {
	Health
	Server    string
	Applied   uint64 // sequence up to which the log is applied here
	Newest    uint64 // on the servers; 0: not known
	Conflicts uint64 // groups of writes that ran again since the start, since others were first
	Foreign   uint64 // transactions of others since the start
	Machines  []nats.Machine
	Snapshot  *nats.Snapshot // the newest; nil: none, or not known
}

// Status asks the servers. What they do not say is left out, and Trouble says why.
func (r *Replica) Status(ctx context.Context) (*Status, error) {
	s := &Status{Health: r.Health()}
	at, _ := r.store().Replica()
	s.Applied, s.Conflicts, s.Foreign = at.Position.Seq, at.Conflicts, at.Foreign
	err := r.ask(ctx, s)
	var f *fault.Error
	if errors.As(err, &f) {
		s.Trouble = f
		return s, nil
	}
	return s, err
}

func (r *Replica) ask(ctx context.Context, s *Status) (err error) {
	s.Newest, err = r.log.End(ctx)
	if err != nil {
		return err
	}
	at, _ := r.store().Replica() // it may have come further meanwhile
	s.Applied = at.Position.Seq
	if s.Newest < s.Applied || s.Trouble != nil { // nobody may have looked since
		s.Trouble = r.tryCatchUp(ctx, s.Trouble)
	}
	c, err := r.log.Cluster(ctx)
	if err != nil {
		return err
	}
	s.Server, s.Durability, s.Warnings = c.Server, c.Durability, r.warnings(c)
	s.Machines, err = r.log.Machines(ctx)
	if err != nil {
		return err
	}
	list, err := r.log.Snapshots(ctx)
	if len(list) > 0 {
		s.Snapshot = list[0]
	}
	return err
}

// tryCatchUp reads the log, unless that takes long, and returns what is wrong then.
func (r *Replica) tryCatchUp(ctx context.Context, was *fault.Error) *fault.Error {
	wait, cancel := context.WithTimeout(ctx, catchUpWait)
	defer cancel()
	err := r.store().CatchUp(wait)
	var f *fault.Error
	switch {
	case err == nil:
		at, _ := r.store().Replica()
		return at.Trouble
	case errors.As(err, &f):
		return f
	}
	return was
}

// Remove takes a machine out and returns the new recovery words.
func (r *Replica) Remove(ctx context.Context, machine uint32) (words string, err error) {
	at, _ := r.store().Replica()
	return r.log.Remove(ctx, at.Position, machine)
}

// Leave takes this machine out. It goes on until the daemon ends; the next start opens a store
// of this machine alone. Servers that can't be told of it don't keep it: then untold says why,
// and the machine stays in the list of the others.
func (r *Replica) Leave(ctx context.Context) (untold *fault.Error, err error) {
	err = r.log.Leave(ctx)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil && !errors.As(err, &untold) {
		untold = fault.Wrap(fault.Unavailable, err, "the servers of the shared store were not told")
	}
	return untold, leave(r.dir)
}

// leave notes that this machine has left.
func leave(dir string) error {
	err := os.WriteFile(pathOf(dir, leftFile), nil, 0o600)
	if err == nil {
		_ = os.Remove(pathOf(dir, nats.KeptFile)) // sealed, and nothing without the key
	}
	if err == nil {
		err = os.Remove(keyPath(dir))
	}
	if errors.Is(err, fs.ErrNotExist) { // it has left before
		err = nil
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot delete the key of the shared store")
	}
	return nil
}

// TakesPart reports whether the store in a folder is a shared one, or is from the next start of
// its daemon on.
func TakesPart(dir string) bool {
	_, err := os.Stat(keyPath(dir))
	return err == nil && !Left(dir)
}

// Left reports whether the store in a folder is this machine's alone since it has left. It is
// so until it begins or joins a shared store.
func Left(dir string) bool {
	_, err := os.Stat(pathOf(dir, leftFile))
	return err == nil
}

// Check asks what the servers of this machine's shared store are, as somebody who is neither
// its daemon nor changes anything.
func Check(ctx context.Context, o Options) (*nats.Cluster, error) {
	id, err := nats.LoadIdentity(keyPath(o.Dir))
	if err != nil {
		return nil, err
	}
	l, err := connect(ctx, o.Servers, id, o.Logger)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c, err := l.Cluster(ctx)
	if err == nil {
		err = l.Permitted(ctx)
	}
	return c, err
}

// connect opens the log, and returns once the servers have answered. Whoever calls closes it.
func connect(ctx context.Context, servers nats.Servers, id *nats.Identity, log *slog.Logger) (*nats.Log, error) {
	l, err := nats.OpenLog(servers, id, log)
	if err != nil {
		return nil, err
	}
	if err := l.Await(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
