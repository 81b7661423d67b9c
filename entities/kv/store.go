package kv

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// InMemory is the directory to give to Open for a store that keeps nothing on
// disk. Everything else about it is the same.
const InMemory = ":memory:"

// Durability says when an Update is acknowledged.
type Durability int

const (
	// Strict acknowledges a transaction when the disk has confirmed it.
	Strict Durability = iota
	// Relaxed acknowledges a transaction when the operating system has it and
	// has the disk confirm at most a second later. When the process dies nothing
	// is lost; when the machine loses power, the last second may be: the
	// transactions that are left are then an unbroken beginning of the others.
	Relaxed
)

// String returns the name of d in Status and in configurations.
func (d Durability) String() string {
	if d == Relaxed {
		return "relaxed"
	}
	return "strict"
}

// defaultSnapshotAfter is Options.SnapshotAfter when that is 0.
const defaultSnapshotAfter = 64 << 20

// Options says how to open a Store. The zero value is fine.
type Options struct {
	// FS is the file system; nil is that of the operating system.
	FS FS
	// Durability is Strict unless said otherwise.
	Durability Durability
	// OnStatus is called after the Mode, the Reason or the SnapshotError of
	// Status has changed, in a goroutine of its own; nil: nobody is told.
	OnStatus func()
	// Beside names what else may lie in the store's folder before there is a
	// store in it, folders with a slash at the end. A folder with anything else
	// is refused, but for names with a dot at the beginning.
	Beside []string
	// Salvage makes Open put together what can still be read when neither a
	// whole snapshot nor the whole journal is left, instead of refusing.
	Salvage bool
	// Format is the version of the records kept in the store. It is written
	// into the store; a store that holds a newer one is not opened.
	Format int
	// Upgrade, when the store holds records of an older format, rewrites
	// them inside Open, in one step that also marks the store as being of
	// Format. What was before is kept in the store's folder as a backup,
	// before-format-N.ctxdbackup. Nil means that the records need no change. With a Log,
	// each machine does so by itself: what comes of shared records must depend on them alone.
	Upgrade func(tx *Tx, from int) error
	// Logger gets what nobody waits for, without any content; nil discards.
	Logger *slog.Logger
	// Now is the clock for ChangeSet.Time; nil is time.Now.
	Now func() time.Time
	// Log makes the store a replica: its transactions are durable when they are in the log,
	// which several machines share, and those of others are applied as its own are. Nil: the
	// store is one machine's, and its journal is the truth. See Follow.
	Log Log
	// LogStart is the beginning of Log, for the one store with whose records it begins, and
	// which was none of its replicas until now. Nil: only an empty store can begin, at the zero
	// Position.
	LogStart *Position
	// Leave makes a replica a store of this machine again. Changes that wait are then ordinary ones.
	Leave bool
	// Replace opens a replica without its log, for Restore with KeepLocal and nothing else. Until
	// then it keeps how far it has applied the log.
	Replace bool
	// Queue has transactions that only add be accepted while the log can't be reached, see Queueable.
	// They wait here, and are done again when it can.
	Queue bool
	// SnapshotAfter is after how many bytes of journal a snapshot is made in
	// the background: 0 is 64 MiB, less never. A store larger than that waits
	// until the journal has grown to the size of the last snapshot, so that
	// the disk never writes much more than twice what it is given.
	SnapshotAfter int64
}

// Store is an ordered set of records in memory, each change of which is on
// disk before it is seen. All methods are safe for concurrent use, but see
// View and OnCommit for what must not be nested.
type Store struct {
	opts    Options
	dir     string // empty in memory
	log     *slog.Logger
	now     func() time.Time
	db      *buntdb.DB
	journal *journal // nil in memory
	files   *files   // nil in memory
	lock    io.Closer
	report  Recovery

	closing context.Context // ends at the beginning of Close
	toClose context.CancelFunc

	writer  chan struct{}            // holds a token while somebody writes
	written uint64                   // the last sequence number given; guarded by writer
	format  int                      // of the records; guarded by writer
	newest  *pending                 // of the group being made durable; guarded by queue.mu
	decoded map[string]decodedRecord // by key; guarded by writer

	overlay writeOverlay
	queue   queue

	// view is held shared by whoever reads and exclusively while a
	// transaction is applied, so that readers see the store and all views
	// before it or after it.
	view      sync.RWMutex
	handlers  []func(*ChangeSet) // guarded by view
	preparers atomic.Pointer[[]func(*ChangeSet)]
	afterward []func(seq uint64) // see OnWritten
	closers   []func(bool)       // guarded by view
	copies    []func() error     // guarded by view
	capture   *snapshotCapture   // of the snapshot being made; guarded by view
	seq       atomic.Uint64      // of the last applied transaction
	at        atomic.Int64       // when that was written, in Unix nanoseconds; 0: not known
	synced    atomic.Uint64      // the last transaction that the disk has confirmed
	closed    atomic.Bool        // set with writer and view held
	unmended  atomic.Bool        // see Unmended

	snapshots snapshotter
	flusher   flusher
	deletion  deletion
	replica   *replica                             // nil without Options.Log; set by Open
	replay    func(context.Context, Waiting) error // see Replay
	replays   atomic.Pointer[outbox.Replayer]      // set by Follow
}

// Open opens the store in dir, creating it when there is none, or one in
// memory. It takes the directory's lock, loads the newest good snapshot and
// the journal after it, and repairs what a crash left; Status tells what it
// found.
//
// Errors are of kind Conflict when another process has the store, naming it,
// and Unavailable when the store can't be read, is of a newer format, or is
// damaged so that no beginning of it is left; the files are then unchanged.
func Open(dir string, opts Options) (*Store, error) {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the store can't be set up")
	}
	s := &Store{
		decoded: make(map[string]decodedRecord),
		opts:    opts, db: db, log: logger(opts.Logger), now: opts.Now,
		writer: make(chan struct{}, 1),
	}
	s.closing, s.toClose = context.WithCancel(context.Background())
	if s.now == nil {
		s.now = time.Now
	}
	if s.opts.FS == nil {
		s.opts.FS = disk.OS()
	}
	if s.opts.SnapshotAfter == 0 {
		s.opts.SnapshotAfter = defaultSnapshotAfter
	}
	s.queue.changed.L = &s.queue.mu
	s.snapshots.init()
	if dir != InMemory {
		if err := s.openDir(dir); err != nil {
			_ = s.abandon()
			return nil, err
		}
		if err := s.upgrade(); err != nil {
			_ = s.abandon()
			return nil, err
		}
	}
	if err := s.openReplica(); err != nil {
		_ = s.abandon()
		return nil, err
	}
	if dir != InMemory {
		s.startChecks()
	}
	return s, nil
}

// OnCommit registers a handler of change sets. Handlers are called in the
// order of the transactions and of their registration, one at a time, after
// the transaction is durable and before its Update returns. They run under
// the lock that View takes: they must be short and must not call View or
// Update. Register before the first Update; earlier changes are not replayed.
//
// A handler that panics does not undo the transaction; the store becomes
// read-only, since a view of it is no longer right.
func (s *Store) OnCommit(fn func(*ChangeSet)) {
	s.view.Lock()
	defer s.view.Unlock()
	s.handlers = append(s.handlers, fn)
}

// OnPrepare registers what a view can work out of a change set before it is applied:
// what takes long in an OnCommit handler, while other transactions are on their way
// and nobody waits for the lock. It is called once for each change set that holds
// records, several at a time, in no order, under no lock, and must not call View or
// Update. The transaction may still fail, and others before it may not have been
// applied yet, and no handler has refined the set. Register before the first Update.
func (s *Store) OnPrepare(fn func(*ChangeSet)) {
	s.view.Lock()
	defer s.view.Unlock()
	var list []func(*ChangeSet)
	if old := s.preparers.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = append(list, fn)
	s.preparers.Store(&list)
}

// OnWritten registers what is called in the goroutine of an Update, when its transaction, of that sequence number, is
// applied and every handler has seen it: under no lock, and in nobody's turn. A view that has still to work waits there
// with who gave it the work. Register before the first Update.
func (s *Store) OnWritten(fn func(seq uint64)) {
	s.view.Lock()
	defer s.view.Unlock()
	s.afterward = append(s.afterward, fn)
}

// Dir returns the folder that the store lies in, "" for one in memory.
func (s *Store) Dir() string { return s.dir }

// Closing is a context that ends when the store is about to be closed, or its state replaced, before any function of OnClose is
// called: what a view computes in the background depends on it, so that all of it ends at once, and not one view after the other.
func (s *Store) Closing() context.Context { return s.closing }

// OnClose registers what a view has to do when the store is about to be closed:
// to end what it does in the background, to keep what the next start can use.
// Functions are called once, at the beginning of Close, the last registered
// first. They may read the store and must not write to it. replaced says that
// Restore has put another state in the place of this one: there is nothing to keep.
func (s *Store) OnClose(fn func(replaced bool)) {
	s.view.Lock()
	defer s.view.Unlock()
	s.closers = append(s.closers, fn)
}

// OnDeleteCopies registers what a view that keeps files of its own has to do when
// nothing may be left of what was deleted: to write them anew, or delete them.
func (s *Store) OnDeleteCopies(fn func() error) {
	s.view.Lock()
	defer s.view.Unlock()
	s.copies = append(s.copies, fn)
}

// beforeClose calls the functions of OnClose.
func (s *Store) beforeClose(replaced bool) {
	s.view.Lock()
	list := s.closers
	s.closers = nil
	s.view.Unlock()
	s.toClose()
	if r := s.replays.Load(); r != nil {
		r.Stop()
	}
	for _, fn := range slices.Backward(list) {
		fn(replaced)
	}
}

// Seq returns the sequence number of the last transaction that is durable and
// applied, 0 for a store that never had one.
func (s *Store) Seq() uint64 { return s.seq.Load() }

// Written returns when the last transaction was written that is applied, zero when
// that is not known: when a start found it in a snapshot, or behind damage. With its
// number it says whether something kept beside the store is of this very state: a
// number alone may come again after a restore, or after a power cut. Ask while
// nothing is written.
func (s *Store) Written() time.Time {
	if at := s.at.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// Status returns the present state. O(1 + what waits in the outbox), and waits for nobody who reads.
func (s *Store) Status() Status {
	st := Status{Mode: "read-write", Durability: s.opts.Durability.String(), Recovered: s.report}
	if s.files == nil {
		st.Durability = "memory"
	} else {
		st.JournalBytes = s.journal.bytesSinceSnapshot()
		st.SnapshotSeq, st.SnapshotError = s.snapshots.state()
		st.Deleted = s.deleted()
	}
	s.queue.mu.Lock()
	if s.queue.failed != nil {
		st.Mode, st.Reason = "read-only", s.queue.failed.Msg
	}
	s.queue.mu.Unlock()

	st.Seq = s.seq.Load()
	st.Records = s.count()
	return st
}

// count returns how many records there are, 0 in a closed store.
func (s *Store) count() int {
	b, err := s.db.Begin(false)
	if err != nil {
		return 0
	}
	defer b.Rollback()
	n, err := b.Len()
	if err != nil {
		return 0
	}
	// Those of the store itself are no records.
	_ = b.AscendRange("", "!", "\"", func(string, string) bool {
		n--
		return true
	})
	return n
}

func (s *Store) lockWriter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.writer <- struct{}{}:
	default:
		select {
		case s.writer <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *Store) unlockWriter() { <-s.writer }

// writable says why the store takes no writes, nil when it does. Called with
// the writer lock held.
func (s *Store) writable() error {
	if s.closed.Load() {
		return errClosed()
	}
	return s.readOnly()
}

// readOnly returns why the store takes no more writes, nil while it does.
func (s *Store) readOnly() error {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	if s.queue.failed != nil {
		return s.queue.failed
	}
	return nil
}
