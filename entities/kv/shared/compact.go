package shared

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// compaction asks all machines to leave nothing of what was deleted. It is a record
// of the store, so every machine reads it behind the deletions that it is about.
type compaction struct {
	Number  uint64 `json:"number"` // from 1
	Machine uint32 `json:"machine"`
}

var compactions = kv.NewCollection[compaction]("compaction")

const (
	newest    = "newest"               // id of the one record
	lookAgain = 250 * time.Millisecond // at what others do
	// othersWait is how long machines get to read what is about to be deleted on the servers.
	// One that is on says how far it has come every announceEvery.
	othersWait = 2 * announceEvery
)

// Stages of Compact, as it tells them.
const (
	StageLease    = "lease"    // waits for another machine's snapshot
	StageUpload   = "upload"   // bytes of the state
	StageMachines = "machines" // waits for machines to read what goes
)

// Progress is told how far a compaction has come.
type Progress func(stage string, done, total int64)

// Compacted is what a compaction has done beyond this machine.
type Compacted struct {
	Done     bool
	Trouble  *fault.Error // why it is still to be done; it is when the servers can be used again
	Number   uint64       // that machines say in Presence.Compacted when their files have followed
	First    uint64       // sequence of the first message that is left on the servers
	Machines []nats.Machine
}

// Compact has nothing be left of what was deleted: here, by the function local, and on the
// servers, which get the present state and lose all that was before. Other machines compact
// their own files when they read that it was asked for, those that are off when they are back.
// When the servers can't be used, that is noted in the data folder and done later.
func (r *Replica) Compact(ctx context.Context, local func() error, tell Progress) (*Compacted, error) {
	err := r.compactLock.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer r.compactLock.unlock()
	err = r.writeNumber(compactDueFile, 0)
	if err != nil {
		return nil, err
	}
	number, failed := r.request(ctx)
	err = local()
	if err == nil {
		err = r.deleteState(ctx)
	}
	if err == nil {
		err = r.deleteCopies()
	}
	if err != nil {
		return nil, err
	}
	c := &Compacted{}
	if failed == nil {
		failed = r.writeNumber(compactedFile, number)
	}
	if failed == nil {
		c, failed = r.compactServers(ctx, number, true, tell)
	}
	if errors.Is(failed, outbox.ErrUnknown) { // it does no harm to ask twice
		f := fault.Wrap(fault.Unavailable, failed, "the servers of the shared store did not answer")
		f.Retryable, failed = true, f
	}
	var f *fault.Error
	if errors.As(failed, &f) && ctx.Err() == nil {
		return &Compacted{Trouble: f, Number: number}, nil
	}
	return c, failed
}

// withRoom does what the servers need room for. Where they have none, it makes some first.
func (r *Replica) withRoom(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, outbox.ErrFull) {
		return err
	}
	freed := r.log.Free(ctx)
	if freed != nil {
		return freed
	}
	return do()
}

// request asks all machines to compact, and notes the number of that.
func (r *Replica) request(ctx context.Context) (number uint64, err error) {
	err = r.withRoom(ctx, func() error {
		number, err = r.requestOnce(ctx)
		return err
	})
	return number, err
}

func (r *Replica) requestOnce(ctx context.Context) (number uint64, err error) {
	err = r.store().Update(ctx, func(tx *kv.Tx) error {
		was, err := compactions.Get(tx, newest)
		if err != nil {
			return err
		}
		number = 1
		if was != nil {
			number = was.Number + 1
		}
		return compactions.Put(tx, newest, &compaction{number, r.id.Machine()})
	})
	if err != nil {
		return 0, err
	}
	return number, r.writeNumber(compactDueFile, number)
}

// compactServers leaves on the servers the present state alone, and what comes after it. It
// waits for the lease of snapshots, or is nats.ErrLeased.
func (r *Replica) compactServers(ctx context.Context, number uint64, wait bool, tell Progress) (*Compacted, error) {
	at := r.store().DurablePosition()
	err := r.withRoom(ctx, func() error { return r.announce(ctx, false) })
	if err != nil {
		return nil, err
	}
	for {
		list, err := r.log.Snapshots(ctx)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[0].At.Seq >= at.Seq {
			break
		}
		err = r.withRoom(ctx, func() error { return r.Snapshot(ctx, func(done int64) { tell(StageUpload, done, 0) }) })
		if errors.Is(err, nats.ErrLeased) && wait {
			tell(StageLease, 0, 0)
			err = pause(ctx, lookAgain)
		}
		if err != nil {
			return nil, err
		}
	}
	err = r.awaitOthers(ctx, at.Seq, tell)
	if err != nil {
		return nil, err
	}
	c := &Compacted{Number: number, Done: true}
	c.First, err = r.log.Purge(ctx, at)
	if err != nil {
		return nil, err
	}
	err = r.delete(compactDueFile)
	if err != nil {
		return nil, err
	}
	err = r.announce(ctx, false)
	if err != nil {
		return nil, err
	}
	c.Machines, err = r.log.Machines(ctx)
	return c, err
}

// awaitOthers waits until the machines that are on have applied the log up to a sequence: what
// is purged before they have read it costs them to join anew.
func (r *Replica) awaitOthers(ctx context.Context, seq uint64, tell Progress) error {
	waiting, cancel := context.WithTimeout(ctx, othersWait)
	defer cancel()
	for {
		list, err := r.log.Machines(ctx)
		if err != nil {
			return err
		}
		var now time.Time // by the clock of the servers
		for _, m := range list {
			if m.Renewed.After(now) {
				now = m.Renewed
			}
		}
		behind := 0
		for _, m := range list {
			if m.Applied < seq && !m.Stopped && now.Sub(m.Renewed) < othersWait {
				behind++
			}
		}
		if behind == 0 {
			return nil
		}
		tell(StageMachines, int64(len(list)-behind), int64(len(list)))
		err = pause(waiting, lookAgain)
		if err != nil {
			return ctx.Err() // nil when only the time is over
		}
	}
}

// followCompaction compacts the files of this machine when another one has asked for it, and
// the servers when that is due from here.
func (r *Replica) followCompaction(ctx context.Context) error {
	if !r.compactLock.tryLock() {
		return nil // Compact does it
	}
	defer r.compactLock.unlock()
	due, isDue := r.readNumber(compactDueFile)
	var err error
	if isDue && due == 0 {
		due, err = r.request(ctx)
		if err != nil {
			return err
		}
	}
	err = r.compactFiles(ctx)
	if err != nil || !isDue {
		return err
	}
	_, err = r.compactServers(ctx, due, false, func(string, int64, int64) {})
	if errors.Is(err, nats.ErrLeased) {
		return nil // next time
	}
	return err
}

// compactFiles is the part of this machine. A copy of what was before it joined anew stays: it
// may hold what no other machine has, so a person decides. Others are told that it is there.
func (r *Replica) compactFiles(ctx context.Context) error {
	var asked *compaction
	err := r.store().View(ctx, func(tx *kv.Tx) (err error) {
		asked, err = compactions.Get(tx, newest)
		return err
	})
	if err != nil || asked == nil {
		return err
	}
	if done, _ := r.readNumber(compactedFile); done >= asked.Number {
		return nil
	}
	err = r.store().Compact(ctx, nil)
	if err == nil {
		err = r.deleteState(ctx)
	}
	if err != nil {
		return err
	}
	r.logger.Info("the files of the store hold nothing any more of what was deleted, as another machine has asked", "machine", asked.Machine)
	return errors.Join(r.writeNumber(compactedFile, asked.Number), r.announce(ctx, false))
}

// watchCompactions has one that is read be followed soon.
func (r *Replica) watchCompactions(db *kv.Store) {
	db.OnCommit(func(cs *kv.ChangeSet) {
		for i := range cs.Changes {
			if cs.Changes[i].Collection == compactions.Name() {
				select {
				case r.wake <- struct{}{}:
				default:
				}
			}
		}
	})
}

// announce says that this machine is there, and how far it has come.
func (r *Replica) announce(ctx context.Context, stopped bool) error {
	at, _ := r.store().Replica()
	done, _ := r.readNumber(compactedFile)
	copies, err := copiesIn(r.dir)
	if err != nil {
		return err
	}
	return r.log.Announce(ctx, nats.Presence{Applied: at.Position.Seq, Compacted: done, Copies: len(copies) > 0, Stopped: stopped})
}

// deleteState deletes what a process that was killed has left of a state for the servers.
func (r *Replica) deleteState(ctx context.Context) error {
	err := r.stateLock.lock(ctx) // somebody's state is on its way there, and is deleted then
	if err != nil {
		return err
	}
	defer r.stateLock.unlock()
	return r.delete(stateFile)
}

// copiesIn returns the names of the backups of what joins have replaced.
func copiesIn(dir string) (names []string, err error) {
	list, err := os.ReadDir(filepath.Join(dir, Folder))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot read the folder of the shared store")
	}
	for _, f := range list {
		if isCopy(f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// isCopy reports whether a name is one that copyPath gives.
func isCopy(name string) bool {
	ext := filepath.Ext(copyFile)
	at, ok := strings.CutPrefix(strings.TrimSuffix(name, ext), strings.TrimSuffix(copyFile, ext))
	_, err := time.Parse(copyTime, at)
	return name == copyFile || ok && err == nil && filepath.Ext(name) == ext
}

// IsFile reports whether a name is one of those that this package gives to files of Folder.
func IsFile(name string) bool {
	switch name {
	case keyFile, leftFile, stateFile, joiningKeyFile, joiningStateFile, joiningProgressFile, compactDueFile, compactedFile, nats.KeptFile:
		return true
	}
	return isCopy(name)
}

func (r *Replica) deleteCopies() error {
	names, err := copiesIn(r.dir)
	for _, name := range names {
		err = errors.Join(err, r.delete(name))
	}
	return err
}

// delete deletes a file in Folder, if it is there.
func (r *Replica) delete(name string) error {
	err := os.Remove(pathOf(r.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Unavailable, err, "cannot delete a file of the shared store in the data folder")
	}
	return nil
}

// mutex is a lock that is waited for with a context. It has a buffer of one.
type mutex chan struct{}

func (m mutex) lock(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m mutex) tryLock() bool {
	select {
	case m <- struct{}{}:
		return true
	default:
		return false
	}
}

func (m mutex) unlock() { <-m }

// writeNumber keeps a number in a file of Folder.
func (r *Replica) writeNumber(name string, number uint64) error {
	err := os.WriteFile(pathOf(r.dir, name), []byte(strconv.FormatUint(number, 10)), 0o600)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot note a compaction in the data folder")
	}
	return nil
}

// readNumber returns it. A file that can't be read counts as there, with 0: what it is about is done
// once more.
func (r *Replica) readNumber(name string) (number uint64, there bool) {
	data, err := os.ReadFile(pathOf(r.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false
	}
	number, err = strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, true
	}
	return number, true
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
