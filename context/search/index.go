package search

import (
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// Options say how an index is kept. The zero value works.
type Options struct {
	// Dir is where the index is kept between starts: a folder of its own, made
	// when absent. Empty: nowhere, and every start makes the index anew.
	Dir string
	// Literal turns the stemming of English words off.
	Literal bool
	// Logger gets what nobody waits for, without any content; nil discards.
	Logger *slog.Logger
	// Read is called when what is on disk is read, or is not to be had; nil: nobody
	// waits for it.
	Read func()
	// AtOnce is up to how many bytes of texts an index is made before Open
	// returns; 0: 4 MiB, less: none.
	AtOnce int64
	// Embedder gives the vectors by which notes are found by their meaning; nil:
	// they are found by their words alone. It stays the caller's, and is to be
	// closed after the store.
	Embedder embed.Embedder
	// Weights say what words and meaning count in a hybrid search; zero:
	// DefaultWeights.
	Weights Weights

	// Ahead is the file in Dir, if it is read already; nil: Open reads it.
	Ahead *Ahead

	begin chan struct{} // of a test: closed when the background may begin
	pace  *pace         // of a test; nil: usualPace
}

// Index finds notes by their words. Open makes one. It is safe for concurrent
// use.
type Index struct {
	db    *kv.Store
	notes *notes.Store
	opts  Options
	log   *slog.Logger
	file  snapshots
	stem  func(string) string

	meaning *meaning // nil without an embedder

	mu      sync.RWMutex // guards what follows
	x       *inverted
	docs    []*notes.Note // by docID; nil where there is none
	heads   []uint64      // of their titles, by docID
	number  map[string]docID
	free    []docID
	waiting map[string]struct{} // ids of notes that are not in the index yet
	seq     uint64              // of the last change
	at      int64               // when that was written, in Unix nanoseconds; 0: not known

	broken any // not nil when a commit broke off: what is here is not kept

	describers [4]describer // scratch

	scratch   sync.Pool        // of *run
	reading   reading          // of small commits: one runs at a time
	ahead     kv.Ahead[[]part] // large commits that are taken apart and on their way
	readings  sync.Pool        // of large ones: *reading
	preparing atomic.Int32     // large commits being taken apart

	stop     chan struct{}
	stopOnce sync.Once
	building sync.WaitGroup
	keeper   sync.WaitGroup
}

// Open makes the index of the notes of db and keeps it current. It must be
// opened after the notes, whose part in a commit comes first. An index that is
// not on disk, or not of this state of the store, is made in the background: a
// search meanwhile finds what is in it, and says so.
func Open(db *kv.Store, ns *notes.Store, opts Options) *Index {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.AtOnce == 0 {
		opts.AtOnce = 4 << 20
	}
	if opts.Weights == (Weights{}) {
		opts.Weights = DefaultWeights
	}
	stem := stemEnglish
	if opts.Literal {
		stem = keepWord
	}
	x := &Index{
		db: db, notes: ns, opts: opts, log: opts.Logger, stem: stem, x: newInverted(stem),
		number: make(map[string]docID), waiting: make(map[string]struct{}), stop: make(chan struct{}),
	}
	x.seq, x.at = db.Seq(), stampOf(db.Written())
	x.scratch.New = func() any { return new(run) }
	x.readings.New = func() any { return new(reading) }
	db.OnPrepare(x.prepare)
	db.OnCommit(x.commit)
	db.OnClose(x.close)
	db.OnDeleteCopies(x.forget)
	if opts.Embedder != nil {
		x.meaning = newMeaning(db, ns, &opts)
	}
	if opts.Dir != "" {
		x.file.wake, x.file.pace = make(chan struct{}, 1), usualPace
		if opts.pace != nil {
			x.file.pace = *opts.pace
		}
		x.keeper.Go(x.keep)
	}
	x.mu.Lock() // until what is on disk is read: a search waits for it
	x.building.Add(1)
	start := func() {
		defer x.building.Done()
		x.load()
		giveBack := len(x.docs) >= leavesMuch && len(x.waiting) == 0
		x.mu.Unlock()
		if opts.Read != nil {
			opts.Read()
		}
		if x.meaning != nil {
			close(x.meaning.begin)
		}
		if giveBack {
			debug.FreeOSMemory()
		}
		if opts.begin != nil {
			<-opts.begin
		}
		x.build()
	}
	if _, _, size := ns.Count(); size <= opts.AtOnce {
		start()
	} else {
		go start()
	}
	return x
}

// group is how many notes the index takes in at once when it is made: few enough
// that a search does not wait long, many enough that a word is looked up once for
// several of them.
const group = 32

// build reads the notes that wait.
func (x *Index) build() {
	todo := make(chan []*notes.Note, 4)
	done := make(chan part, 4)
	go func() { // reads ahead, so that the lock is not held for it
		defer close(done)
		var workers sync.WaitGroup
		for range min(2, runtime.GOMAXPROCS(0)) {
			workers.Go(func() {
				for some := range todo {
					p := part{reading: new(reading)}
					for _, n := range some {
						p.list = append(p.list, change{id: n.ID, now: n})
					}
					p.read()
					done <- p
				}
			})
		}
		workers.Wait()
	}()
	go func() {
		defer close(todo)
		for some := range slices.Chunk(x.waitingNotes(), group) {
			select {
			case todo <- some:
			case <-x.stop:
				return
			}
		}
	}()
	read := 0
	for p := range done {
		x.mu.Lock()
		p.list = slices.DeleteFunc(p.list, func(c change) bool { // a commit was quicker
			_, waits := x.waiting[c.id]
			return !waits
		})
		x.takeAll([]part{p})
		read += len(p.list)
		x.mu.Unlock()
	}
	if read >= leavesMuch && !x.stopped() {
		x.clip()
		debug.FreeOSMemory() // what the texts were taken apart into, more than the index itself
	}
	for read > 0 && !x.stopped() && errors.Is(x.save(), errBusy) {
		select {
		case <-x.stop:
		case <-time.After(saveAgain):
		}
	}
}

// leavesMuch is how many notes make it worth a collection to be rid of what was
// needed to read the index, or to make it.
const leavesMuch = 10_000

// clip gives back the room that lists have for postings that may never come.
func (x *Index) clip() {
	for from, done := 0, false; !done && !x.stopped(); from += 4096 { // a commit may come between
		x.mu.Lock()
		to := min(from+4096, len(x.x.lists))
		for i := min(from, to); i < to; i++ {
			x.x.lists[i].clip()
		}
		done = to == len(x.x.lists)
		x.mu.Unlock()
	}
}

// saveAgain is after how long the index that was made is kept when commits were in
// the way.
const saveAgain = time.Second

func (x *Index) stopped() bool {
	select {
	case <-x.stop:
		return true
	default:
		return false
	}
}

// waitingNotes returns the notes that are not in the index.
func (x *Index) waitingNotes() []*notes.Note {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := make([]*notes.Note, 0, len(x.waiting))
	for n := range x.notes.All() {
		if _, ok := x.waiting[n.ID]; ok {
			list = append(list, n)
		}
	}
	return list
}
