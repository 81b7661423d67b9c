package outbox

// replicate_*.go are the protocol between one store and the log of commits that it shares
// with other machines: when a group of transactions is appended, what follows when somebody
// else was first or the outcome is not known, when others are read, and how machines take
// turns. They know entries and positions, and nothing of records, journals or views: those
// are the store's, which gives itself as a RunnerStore and is called from one goroutine, Run.
// commitlog_log.go has a picture of the whole, and the words.
//
// A Runner lives as long as its store is open. Run is called once, all other methods by anybody at
// any time.
//
// # One step of Run
//
// Run waits for one event, handles it, and then serves who has asked for something (serveAsks):
//
//   - something is queued: commit appends it as one entry and has it written and applied. When
//     others were first, their entries are applied and everything accepted is aborted.
//   - the log says that something has come: applyArrived applies it, without asking the servers
//     where that is possible.
//   - nothing could be read for a while: readToEnd tries again.
//   - the time is over for which the gate was closed, or for which this machine had a turn.
//   - somebody wants a turn (Reserve) or the end of the log (CatchUp).
//
// # Taking turns
//
// Of several machines that append behind the same position, one wins. What the others had
// run is aborted: they apply the winner's entry and run their transactions again. Of the machines
// that have written lately, the one whose last entry is the oldest goes at once, and the others
// wait, one turn for each machine before them (Pace), so that nobody has it all and
// few lose; nobody waits while nobody else writes. A machine whose transactions take long to
// run would lose to quick ones for ever: its store calls Reserve when a transaction has been
// overtaken a few times. That appends an entry without transactions, which asks the others to
// leave this machine the next turn, for at most a second (maxHold). All transactions
// of a machine that want a turn share one, and a machine does not ask while another one has
// the turn.
//
// # Upgrades
//
// All entries up to some position have the records' older format, and all behind it the newer
// one. A program with the newer format that opens a store of the older one hands over what is
// in the log as it is, up to its end, and appends an entry of the newer format without
// transactions, by compare and append (SettleFormat). If somebody was first, it reads on. Then the
// store is upgraded, in one step with what was handed over and with the position. So everything
// before that entry is upgraded on every machine, and nothing behind it. A machine with the
// older program can't apply the entry, so it can't append behind it: it says that the newer
// program is to be installed, and goes on reading. The next machine with the newer program
// finds the entry there. A process that dies between any two of these steps begins again: what
// was handed over is not durable before the upgrade is, and an entry that is there already is
// found.
//
// When the log can't be used the store is upgraded with what it has, and the entry is appended
// as soon as it can, before anything else is: at the first contact of this start or of a later
// one, since the store keeps that (Applied). If another machine has written in the older
// format by then, what is here can't be continued: the machine has to join anew. A store that
// was off while others went through two formats, and wrote in the first of them, has to as well.
// A snapshot of the older format, for machines that join, is upgraded like a store that was
// off: the entry is behind it in the log.
//
// # A log that takes nothing
//
// A log may be read and take no entries: it has no room and says so (ErrFull), or does
// not answer. Either is told until an entry was appended; reading does not end it. Where nobody
// answers, an entry without transactions is appended before the next group, so that only one
// group can't be told whether it is there. What is provisional stays so meanwhile.
//
// # Entries without transactions
//
// CatchUp and Reserve append entries without transactions, and wait their turn as groups do.
// When there were only such ones for 1,000 positions, the next has a transaction without
// writes, so that stores keep their position with it.
//
// # Errors
//
// Errors are *fault.Error of kind Unavailable, but for a Limit of the log; those are
// Retryable where the log's was. Catching up takes the time of the entries that are read, at
// most 4 MiB of which are in memory at a time.

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

const (
	// maxRead is how many bytes of entries are read before they are applied.
	maxRead = 4 << 20
	// outcomeWait is how long one append may take until its outcome is known.
	outcomeWait = 10 * time.Second
	// probeWait is how long a log that did not answer to a write is asked whether it does again.
	probeWait = 4 * time.Second
	// fullFor is how long it is said that there was no room for an entry, where only much smaller
	// ones were taken since.
	fullFor = time.Minute
	// retryEvery is how often a store that is behind tries to read, without being told to.
	retryEvery = 5 * time.Second
	// reserveTries is how often a turn is asked for, where others are first with that, too.
	reserveTries = 8
	// emptyTries is how often an entry without transactions is appended, where others are first.
	emptyTries = 16
	// keepEvery is after how many positions without a transaction one without writes is
	// appended. A store keeps its position only with a transaction: without this one it would
	// read all these entries again at its next start, and join anew when they are purged.
	keepEvery = 1000
)

// ForeignEntry is an entry of another machine, and the position behind it.
type ForeignEntry struct {
	At    Position
	Entry *Entry
}

// RunnerStore is what a Runner asks of the store that it works for.
type RunnerStore interface {
	// At is the position up to which the log is applied, as a whole entry.
	At() Position
	// Done is how many transactions of the entry behind At are applied, too.
	Done() int
	// TakeGroup takes the transactions that are queued, as one group, and returns what other
	// machines get of them; ok is false when there are none.
	TakeGroup() (list []Transaction, ok bool)
	// WriteGroup makes a group durable and applies it, of which n transactions are in the log as
	// one entry, behind which is the position at. On an error At is where it came to, and the
	// rest is in the log alone; who waits for it has been told.
	WriteGroup(at Position, n int) error
	// Abort takes back everything that is accepted and not in the log. What the group has for
	// other machines fails with err, see TransactionError; without one, and all else, runs again. The
	// gate is closed after it: nothing is accepted until OpenGate.
	Abort(err error)
	// Apply takes back what is provisional and applies entries of others, after Abort. On an
	// error At is where it came to.
	Apply(list []ForeignEntry) error
	// Skip notes that the log is applied up to an entry that holds nothing.
	Skip(at Position)
	// CloseGate keeps transactions from beginning, and OpenGate lets them begin.
	CloseGate()
	OpenGate()
	// Provisional reports whether transactions are applied, or accepted to be, that are not in
	// the log and are not on their way there. Apply takes them back first; it is called for
	// that without entries, too, as soon as the log can be read.
	Provisional() bool
	// SetTrouble gets why the log could not be used the last time, nil: it could.
	SetTrouble(trouble *fault.Error)
}

// Runner appends what its store has to tell others, and has it apply what they tell.
type Runner struct {
	store    RunnerStore
	log      Log
	format   int           // of the store's records
	me       WriterID      // in the ids of its entries
	work     chan struct{} // something is queued; buffer of one
	asks     chan ask
	released chan struct{} // a transaction that a turn was reserved for is queued; buffer of one
	releases atomic.Int64  // how many of them since Run has looked

	follow     chan struct{} // closed by Follow
	followOnce sync.Once
	ctx        context.Context // done when the Runner is about to end
	cancel     context.CancelFunc
	ended      chan struct{} // closed when Run has ended
	conflicts  atomic.Uint64
	found      found
	appendTime atomic.Int64 // how long an append takes, in nanoseconds

	// All below is of Run alone.

	hasGroup  bool // a group was taken, and is neither written nor aborted
	behind    bool // there is, or may be, something to read before anything can be appended
	unsettled bool // the log may not say where records of this format begin
	// Why nothing can be appended to a log that can be read; nil: it can, or nobody has tried.
	refusal *fault.Error
	silent  bool // the refusal is that nobody answers
	// Or there was no room for an entry of so many bytes, then.
	refusedSize int
	refusedAt   time.Time
	pace        Pace

	// The gate of the store.
	reopen    bool          // it is to be opened, soon or at once
	gateTimer *time.Timer   // runs while it is closed for a known time; nil otherwise
	gateOpens time.Time     // when the timer ends
	hold      time.Duration // another machine has asked for the next turn, for so long
	holding   bool          // the timer runs for that machine

	// The next turn, where this machine has asked the others for it.
	waiting    []ask            // who wants it
	granted    int              // how many have it and have not called Release
	turnEnds   <-chan time.Time // until then nothing is appended but by them; nil: nobody has it
	askedAt    Position         // of the entry that asked the others
	askedUntil time.Time        // how long the others wait

	// Who catches up, and the entry that is appended to prove that everything was read.
	proving   []ask
	proof     [16]byte // its id
	proofRead bool     // it was read
	lastKept  uint64   // sequence of the newest entry with transactions, or less
}

// ask is what somebody wants of Run.
type ask struct {
	ctx     context.Context // of who asks
	reserve time.Duration   // ask the others for the next turn, for so long; 0: catch up
	done    chan error
	tries   int
}

// NewRunner returns a Runner for a store whose records have a format, see kv.Options.Format.
// unsettled says that they were brought into it after a Settle that had failed, now or at an
// earlier start: the log then gets an entry of that format, as soon as it can be used, so that
// it says where that was.
func NewRunner(store RunnerStore, log Log, format int, unsettled bool) *Runner {
	r := &Runner{
		store: store, log: log, format: format, behind: true, unsettled: unsettled,
		me: NewWriterID(), work: make(chan struct{}, 1), asks: make(chan ask), released: make(chan struct{}, 1),
		follow: make(chan struct{}), ended: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Follow has what others commit read and applied from now on, not only when it is in the way.
func (r *Runner) Follow() { r.followOnce.Do(func() { close(r.follow) }) }

// Wake says that something was queued.
func (r *Runner) Wake() {
	select {
	case r.work <- struct{}{}:
	default:
	}
}

// Context is done when the Runner is about to end.
func (r *Runner) Context() context.Context { return r.ctx }

// End stops Run and waits for it.
func (r *Runner) End() {
	r.cancel()
	<-r.ended
}

// Conflicts returns how many groups came second.
func (r *Runner) Conflicts() uint64 { return r.conflicts.Load() }

// CatchUp has everything applied that was in the log when it was called. It appends an entry
// without transactions behind everything that it has read: a server that has not noticed yet
// that another one leads may show an end of the log that is some seconds old, but nothing can
// be appended behind that. So it costs as much as a write.
func (r *Runner) CatchUp(ctx context.Context) error { return r.ask(ctx, 0) }

// AppendTime returns how long an append takes, averaged; 0 when there was none.
func (r *Runner) AppendTime() time.Duration { return time.Duration(r.appendTime.Load()) }

// Reserve asks the other machines to append nothing until this one has, for a while, at most
// maxHold: it has been overtaken again and again by what takes less time to run. It
// appends nothing itself until Release, or for that while. Several that reserve at a time share
// the turn, and each calls Release.
func (r *Runner) Reserve(ctx context.Context, d time.Duration) error {
	return r.ask(ctx, min(max(d, time.Millisecond), maxHold))
}

// Release says that the transaction that a turn was reserved for is queued, or has failed.
func (r *Runner) Release() {
	r.releases.Add(1)
	select {
	case r.released <- struct{}{}:
	default:
	}
}

func (r *Runner) ask(ctx context.Context, reserve time.Duration) error {
	done := make(chan error, 1)
	select {
	case r.asks <- ask{ctx: ctx, reserve: reserve, done: done}:
	case <-ctx.Done():
		return ctx.Err()
	case <-r.ended:
		return errClosed()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func errClosed() error { return fault.New(fault.Unavailable, "the store is closed") }

// Run appends, reads and applies until End is called.
func (r *Runner) Run() {
	defer close(r.ended)
	follow := r.follow
	r.lastKept = r.store.At().Seq
	var changes <-chan struct{}
	for {
		var pause, retry <-chan time.Time
		work := r.work
		if r.gateTimer != nil {
			pause, work = r.gateTimer.C, nil
		}
		if r.turnEnds != nil {
			work = nil
		}
		if changes != nil && r.mustRead() {
			retry = time.After(retryEvery)
		}
		select {
		case <-r.ctx.Done():
			r.store.Abort(errClosed())
			r.proved(errClosed())
			r.grant(errClosed())
			return
		case <-pause:
			r.gateTimer, r.holding = nil, false
			r.store.OpenGate()
			r.Wake()
		case <-work:
			r.commit()
		case <-r.turnEnds:
			r.granted, r.turnEnds = 0, nil
			r.Wake()
		case <-r.released:
			r.granted -= int(r.releases.Swap(0))
			if r.granted <= 0 {
				r.granted, r.turnEnds = 0, nil
				r.Wake()
			}
		case <-follow:
			follow, changes = nil, r.log.Changes()
			_ = r.readToEnd() // SetTrouble gets the error
		case <-changes:
			_ = r.applyArrived()
		case <-retry:
			_ = r.readToEnd()
		case a := <-r.asks:
			r.enqueue(a)
		}
		r.serveAsks()
	}
}

// commit makes one group of transactions durable and has it applied.
func (r *Runner) commit() {
	list, ok := r.store.TakeGroup()
	if !ok {
		return
	}
	defer r.Wake() // more may be queued
	r.hasGroup = true
	at := r.store.At()
	if len(list) > 0 {
		var err error
		at, err = r.append(&Entry{ID: r.me.NewID(), Format: r.format, Transactions: list})
		if err != nil {
			r.abort(err)
		}
		if !r.hasGroup {
			return // refused, or to run again
		}
	}
	r.hasGroup, r.reopen = false, true
	if len(list) > 0 {
		r.lastKept = at.Seq
	}
	if err := r.store.WriteGroup(at, len(list)); err != nil {
		r.behind = true // what is in the log and not here is read from there
	}
}

// abort takes back what is accepted, see Store.Abort.
func (r *Runner) abort(err error) {
	r.hasGroup, r.reopen = false, true
	r.store.Abort(err)
}

// mustRead reports whether the log has to be read before anything can be appended.
func (r *Runner) mustRead() bool { return r.behind || r.store.Provisional() }

// append puts the entry of the group into the log. Where others were first, theirs are applied and
// the group is aborted: hasGroup is false then. An error is why the group is refused.
func (r *Runner) append(e *Entry) (Position, error) {
	if r.mustRead() {
		if err := r.readToEnd(); err != nil || !r.hasGroup {
			return Position{}, err
		}
	}
	if r.silent {
		if err := r.probe(); err != nil {
			return Position{}, r.report(err)
		}
	}
	start := time.Now()
	at, err := r.appendOnce(e)
	if err == nil {
		r.pace.Won(time.Since(start))
		r.pace.Wrote(r.me)
		r.appendTime.Store(int64(r.pace.AppendTime()))
		_ = r.report(nil)
		return at, nil
	}
	unknown := errors.Is(err, ErrUnknown) || errors.Is(err, context.DeadlineExceeded) || r.ctx.Err() != nil
	if !unknown && !errors.Is(err, ErrBehind) {
		return at, r.report(err)
	}
	r.behind = true
	var list []ForeignEntry
	var more bool
	var rerr error
	if !unknown {
		list, more, rerr = r.arrived()
	}
	if len(list) == 0 {
		list, more, rerr = r.read()
	}
	switch {
	case len(list) > 0 && list[0].Entry.ID == e.ID:
		return list[0].At, nil // it was appended; what is behind it is read next
	case len(list) == 0 && unknown:
		if rerr == nil && errors.Is(err, context.DeadlineExceeded) {
			r.refusal, r.silent = noAnswer(), true
		}
		if r.ctx.Err() == nil {
			_ = r.report(rerr) // the writer is told that it is not known, all others why
		}
		return at, &UnknownError{
			SentTransaction: SentTransaction{Entry: e.ID},
			Err: fault.Wrap(fault.Unavailable, err, "it is not known whether the change reached the other machines").
				WithHint("look whether it is there before you repeat it"),
		}
	case len(list) == 0 && rerr != nil:
		return at, r.report(rerr)
	}
	r.overtaken(list, more, rerr)
	return at, nil
}

// overtaken applies the entries of others that were first, and aborts the group. more says that
// there are others behind them, err why they could not be read.
func (r *Runner) overtaken(list []ForeignEntry, more bool, err error) {
	r.conflicts.Add(1)
	r.pace.Lost()
	r.abort(nil)
	err = errors.Join(r.apply(list), err)
	if more && err == nil {
		err = r.readToEnd()
	}
	r.behind = err != nil
	_ = r.report(err)
}

func (r *Runner) appendOnce(e *Entry) (Position, error) {
	ctx, cancel := context.WithTimeout(r.ctx, outcomeWait)
	defer cancel()
	return r.appendWithin(ctx, e)
}

func (r *Runner) appendWithin(ctx context.Context, e *Entry) (Position, error) {
	b := e.Encode()
	at, err := r.log.Append(ctx, r.store.At(), b)
	switch {
	case errors.Is(err, ErrFull):
		r.refusedSize, r.refusedAt = len(b), time.Now()
	case err != nil && !errors.Is(err, ErrBehind):
	case r.silent || 2*len(b) >= r.refusedSize || time.Since(r.refusedAt) > fullFor:
		r.refusal, r.silent, r.refusedSize = nil, false, 0
	}
	return at, err
}

// probe finds out with an entry that changes nothing whether a log answers again that can be
// read and did not answer to a write. So of all that is written meanwhile, only the first can't
// be told whether it was: nothing of the others is sent.
func (r *Runner) probe() error {
	ctx, cancel := context.WithTimeout(r.ctx, probeWait)
	defer cancel()
	at, err := r.appendWithin(ctx, &Entry{ID: r.me.NewID(), Format: r.format})
	switch {
	case err == nil:
		r.store.Skip(at)
		return nil
	case errors.Is(err, ErrBehind):
		return nil // the append finds out
	case errors.Is(err, ErrUnknown):
		r.behind = true
		return noAnswer()
	}
	return err
}

// noAnswer is the fault of a log that can be read and does not answer to writes.
func noAnswer() *fault.Error {
	f := fault.New(fault.Unavailable, "the servers of the shared store can be read, and do not answer to writes")
	f.Retryable = true
	return f.WithHint("look at the log of the servers: a disk may be full, and a server that was out of room is to be started again")
}

// readToEnd reads the log to its end and applies what is there. Everything that was accepted
// meanwhile runs again.
func (r *Runner) readToEnd() error {
	for {
		list, more, err := r.read()
		if len(list) == 0 && err == nil && r.refusal != nil && r.store.Provisional() {
			err = r.probe() // what is provisional stays so while the log would not take it
		}
		if len(list) > 0 || err == nil && r.store.Provisional() {
			r.abort(nil)
			err = errors.Join(r.apply(list), err)
		}
		if err == nil && !more && r.unsettled {
			more, err = r.markFormat()
		}
		r.behind = err != nil || more
		if !more || err != nil {
			return r.report(err)
		}
	}
}

// applyArrived applies what has come by itself, and reads the log where that is not all.
func (r *Runner) applyArrived() error {
	if r.mustRead() {
		return r.readToEnd()
	}
	list, more, err := r.arrived()
	if len(list) > 0 && err == nil {
		r.abort(nil)
		err = r.apply(list)
	}
	if more || err != nil {
		return r.readToEnd()
	}
	return r.report(nil)
}

// markFormat has the log say that records of this store's format begin here. Where others were
// first, there is more to read.
func (r *Runner) markFormat() (more bool, err error) {
	at, err := r.appendOnce(&Entry{ID: r.me.NewID(), Format: r.format})
	if errors.Is(err, ErrBehind) || errors.Is(err, ErrUnknown) {
		return true, nil
	}
	if err == nil {
		r.store.Skip(at)
		r.unsettled = false
	}
	return false, err
}

// apply has the store apply entries, and notes who wrote them and what they ask for.
func (r *Runner) apply(list []ForeignEntry) error {
	if len(list) == 0 {
		return r.store.Apply(nil)
	}
	for _, f := range list {
		r.pace.Wrote(f.Entry.Writer())
		r.proofRead = r.proofRead || f.Entry.ID == r.proof
		if len(f.Entry.Transactions) > 0 {
			r.lastKept = f.At.Seq
		}
	}
	r.endHold()
	r.hold = 0
	if last := list[len(list)-1].Entry; last.Writer() != r.me {
		r.hold = last.Hold
	}
	err := r.store.Apply(list)
	r.noteFound(list)
	return err
}

var errEnough = errors.New("enough")

// read returns the entries behind the position of the store, up to maxRead bytes of them. more
// says that there are others.
func (r *Runner) read() (list []ForeignEntry, more bool, err error) {
	err = r.log.Read(r.ctx, r.store.At(), r.collect(&list))
	if errors.Is(err, errEnough) {
		return list, true, nil
	}
	return list, false, err
}

// arrived is read without asking the servers. more says that only read knows what else there is.
func (r *Runner) arrived() (list []ForeignEntry, more bool, err error) {
	all, err := r.log.Arrived(r.store.At(), r.collect(&list))
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, !all, err
}

// collect returns a function for Read that decodes entries into a list, until they are enough.
func (r *Runner) collect(list *[]ForeignEntry) func(at Position, b []byte) error {
	size := 0
	last := r.store.At()
	return func(at Position, b []byte) error {
		if size += len(b); size > maxRead && len(*list) > 0 {
			return errEnough
		}
		e, err := DecodeEntry(b)
		switch {
		case err != nil:
			return err
		case at.Seq <= last.Seq:
			return fault.New(fault.Unavailable, "the shared log hands over its entries in another order")
		case e.Format > r.format:
			return fault.New(fault.Unavailable, "another machine writes records of format %d, this program knows formats up to %d",
				e.Format, r.format).WithHint("install the newer version of ctxd here, too")
		case e.Format < r.format && len(e.Transactions) > 0:
			return fault.New(fault.Unavailable, "another machine writes records of format %d, the store here has format %d",
				e.Format, r.format).WithHint("install the newer version of ctxd there, too, and join anew here: ctxd sync join --again")
		}
		last = at
		r.unsettled = r.unsettled && e.Format < r.format
		*list = append(*list, ForeignEntry{at, e})
		return nil
	}
}

// report passes on why the log could not be used, nil: it could. It returns what writers get.
func (r *Runner) report(err error) error {
	var e *fault.Error
	switch {
	case err == nil:
		r.store.SetTrouble(r.refusal)
		return nil
	case errors.As(err, &e):
	case errors.Is(err, ErrGone):
		e = fault.Wrap(fault.Unavailable, err, "the shared log does not reach back to where this store stands").
			WithHint("join the other machines anew: ctxd sync join --again")
	case errors.Is(err, ErrForked):
		e = fault.Wrap(fault.Unavailable, err, "the shared log and this store hold different transactions").
			WithHint("join the other machines anew, ctxd sync join --again; a backup of this store keeps what only it has")
	default:
		e = fault.Wrap(fault.Unavailable, err, "the log that the machines share can't be used")
	}
	if errors.Is(err, ErrFull) {
		r.refusal = e
	}
	if e.Kind != fault.Limit {
		r.store.SetTrouble(e)
	}
	return e
}

// reopenGate opens the gate when something was written or taken back, after a while where others
// are to have their turn. What comes meanwhile makes that shorter, never longer, unless another
// machine has asked for the next turn.
func (r *Runner) reopenGate() {
	if !r.reopen {
		return
	}
	r.reopen = false
	if r.hold > 0 {
		r.holding, r.gateOpens, r.hold = true, time.Now().Add(r.hold), 0
	} else if !r.holding {
		pause := time.Now().Add(r.pace.Delay(r.me))
		if r.gateTimer == nil || pause.Before(r.gateOpens) {
			r.gateOpens = pause
		}
	}
	if r.gateTimer != nil {
		r.gateTimer.Stop()
		r.gateTimer = nil
	}
	wait := time.Until(r.gateOpens)
	if wait <= 0 {
		r.holding = false
		r.store.OpenGate()
		return
	}
	r.store.CloseGate()
	r.gateTimer = time.NewTimer(wait)
}

// endHold is called when the turn that another machine asked for is over.
func (r *Runner) endHold() {
	if r.holding {
		r.gateTimer.Stop()
		r.gateTimer, r.holding = nil, false
	}
}
