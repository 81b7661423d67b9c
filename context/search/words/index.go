package words

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
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

	// Ahead is the file in Dir, if it is read already; nil: Open reads it.
	Ahead *Ahead

	begin chan struct{} // of a test: closed when the background may begin
	pace  *pace         // of a test; nil: usualPace
}

// Index finds documents by their words. Open makes one. It is safe for concurrent
// use.
type Index struct {
	db     *kv.Store
	src    text.Source
	fields []text.Field
	opts   Options
	log    *slog.Logger
	file   snapshots
	stem   func(string) string

	finding sync.Mutex // held by who finds out what is hidden

	mu      sync.RWMutex // guards what follows
	x       *inverted
	hidden  *hidden         // what remote readers do not see; nil until that is known
	turned  map[string]bool // ids of documents of which others see something else, while it is found out; else nil
	docs    []text.Doc      // by docID; nil where there is none
	heads   []uint64        // of their titles, by docID
	number  map[string]docID
	free    []docID
	waiting map[string]struct{} // ids of documents that are not in the index yet
	seq     uint64              // of the last change
	at      int64               // when that was written, in Unix nanoseconds; 0: not known

	broken any // not nil when a commit broke off: what is here is not kept

	describers [4]describer // scratch

	scratch  sync.Pool           // of *run
	ahead    kv.Ahead[*prepared] // commits that are tokenised and not yet queued or entered
	queue    *Backlog[entry]
	entered  sync.Cond // with the lock for reading: a queued commit is entered
	readings sync.Pool // of *reading

	ctx      context.Context // ends with the store
	cancel   context.CancelFunc
	building sync.WaitGroup
	keeper   sync.WaitGroup
}

// Open makes the index of the documents of a Source and keeps it current. It must be
// opened after them: their part in a commit comes first. An index that is
// not on disk, or not of this state of the store, is made in the background: a
// search meanwhile finds what is in it, and says so.
func Open(db *kv.Store, src text.Source, opts Options) *Index {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.AtOnce == 0 {
		opts.AtOnce = 4 << 20
	}
	stem := text.StemEnglish
	if opts.Literal {
		stem = text.KeepWord
	}
	x := &Index{
		db: db, src: src, fields: src.Fields(), opts: opts, log: opts.Logger, stem: stem, x: newInverted(stem),
		number: make(map[string]docID), waiting: make(map[string]struct{}),
	}
	x.ctx, x.cancel = context.WithCancel(db.Closing())
	x.seq, x.at = db.Seq(), stampOf(db.Written())
	x.queue, x.entered.L = NewBacklog[entry](), x.mu.RLocker()
	x.scratch.New = func() any { return new(run) }
	x.readings.New = func() any { return new(reading) }
	db.OnPrepare(x.prepare)
	db.OnCommit(x.commit)
	db.OnWritten(x.queue.Await)
	db.OnClose(x.close)
	db.OnDeleteCopies(x.forget)
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
		if giveBack && !x.stopped() {
			debug.FreeOSMemory()
		}
		if opts.begin != nil {
			<-opts.begin
		}
		x.build()
		x.findHidden(x.stopped)
	}
	if _, size := src.Count(); size <= opts.AtOnce {
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
	waiting := x.waitingDocs()
	if len(waiting) == 0 {
		return
	}
	todo := make(chan []text.Doc, 4)
	done := make(chan part, 4)
	go func() { // reads ahead, so that the lock is not held for it
		defer close(done)
		var workers sync.WaitGroup
		for range min(2, runtime.GOMAXPROCS(0)) {
			workers.Go(func() {
				for some := range todo {
					p := part{reading: new(reading)}
					for _, n := range some {
						p.list = append(p.list, change{id: n.ID(), now: n})
					}
					p.read(x.fields)
					done <- p
				}
			})
		}
		workers.Wait()
	}()
	go func() {
		defer close(todo)
		for some := range slices.Chunk(waiting, group) {
			select {
			case todo <- some:
			case <-x.ctx.Done():
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
		debug.FreeOSMemory() // the tokens of the texts, more than the index itself
	}
	for read > 0 && !x.stopped() && errors.Is(x.save(), errWriterBusy) {
		select {
		case <-x.ctx.Done():
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
			x.x.lists[i].Clip()
		}
		done = to == len(x.x.lists)
		x.mu.Unlock()
	}
}

// saveAgain is after how long the index that was made is kept when commits were in
// the way.
const saveAgain = time.Second

func (x *Index) stopped() bool { return x.ctx.Err() != nil }

// waitingDocs returns the documents that are not in the index.
func (x *Index) waitingDocs() []text.Doc {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.waiting) == 0 {
		return nil
	}
	list := make([]text.Doc, 0, len(x.waiting))
	for n := range x.src.All() {
		if x.stopped() {
			return nil
		}
		if _, ok := x.waiting[n.ID()]; ok {
			list = append(list, n)
		}
	}
	return list
}
