//go:build unix

package shared_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// cell is a register, a set or a counter. A register has a text and the number of times that it
// was written, a set has 64 members that are there or not.
type cell struct {
	Text    string `json:"text,omitempty"`
	Version int    `json:"version,omitempty"`
	Set     uint64 `json:"set,omitempty"`
	Count   int    `json:"count,omitempty"`
}

var (
	cells = kv.NewCollection[cell]("cell")
	ops   = kv.NewCollection[string]("op") // of each operation that was applied, its cell
)

// daemonOptions are what a daemon is started with.
type daemonOptions struct {
	Dir   string        `json:"dir"`
	URL   string        `json:"url"`
	Clock time.Duration `json:"clock"` // by which its clock is ahead
}

// storeOptions make snapshots in the folder often enough that they are in the way of faults.
var storeOptions = kv.Options{Format: 1, Beside: []string{shared.Folder + "/"}, SnapshotAfter: 1 << 20}

// daemon serves the store of a folder.
type daemon struct {
	ahead, slow atomic.Int64 // of the clock, and of the disk, in nanoseconds
	replica     *shared.Replica
	db          *kv.Store
}

func runDaemon() error {
	var o daemonOptions
	if err := json.Unmarshal([]byte(os.Getenv(childOptions)), &o); err != nil {
		return err
	}
	d := &daemon{}
	d.ahead.Store(int64(o.Clock))
	err := serveCampaign(func(say func(reply)) error { return d.open(o, say) }, d.act)
	if d.db == nil {
		return err
	}
	d.replica.Pause()
	err = errors.Join(err, d.db.Close())
	d.replica.Close()
	return err
}

// open opens the store as a daemon does. What is applied twice is said at once.
func (d *daemon) open(o daemonOptions, say func(reply)) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	r, err := shared.Open(shared.Options{Servers: nats.Servers{URL: o.URL}, Dir: o.Dir, Logger: log})
	if err != nil {
		return err
	}
	opts := storeOptions
	opts.Logger = log
	opts.FS = slowDisk{disk.OS(), &d.slow}
	opts.Now = func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) }
	r.Prepare(&opts)
	db, err := kv.Open(o.Dir, opts)
	if err != nil {
		r.Close()
		return err
	}
	if was := db.Status().Recovered; was.Lost != 0 {
		say(reply{Outcome: wrong, Error: fmt.Sprintf("a start tells of a loss: %+v", was)})
	}
	db.OnCommit(func(cs *kv.ChangeSet) {
		for _, c := range ops.Each(cs) {
			if c.Old != nil || c.New == nil {
				say(reply{Outcome: wrong, Error: c.ID + " was applied twice"})
			}
		}
	})
	if err := r.Serve(db); err != nil {
		return err
	}
	d.replica, d.db = r, db
	return nil
}

var (
	errSame  = fault.New(fault.Conflict, "there is nothing to do")
	errTwice = errors.New("the operation is there before it was done")
)

// act carries out a request.
func (d *daemon) act(r request) reply {
	switch r.Op {
	case "read":
		return d.read(r)
	case "clock":
		d.ahead.Store(int64(r.Time))
		return reply{Outcome: done}
	case "disk":
		d.slow.Store(int64(r.Time))
		return reply{Outcome: done}
	case "catch up":
		return outcome(d.db.CatchUp(ctx))
	case "digest":
		at, sum, err := d.db.Digest()
		answer := outcome(err)
		answer.Seq, answer.Sum = at.Seq, fmt.Sprintf("%x", sum)
		return answer
	case "all":
		return d.all()
	default:
		return d.write(r)
	}
}

// read answers with what any machine had acknowledged before.
func (d *daemon) read(r request) (answer reply) {
	err := d.db.CatchUp(ctx)
	if err == nil {
		err = d.db.View(ctx, func(tx *kv.Tx) error {
			c, err := cells.Get(tx, r.Key)
			if c != nil {
				answer.Cell = *c
			}
			return err
		})
	}
	answer.Outcome = done
	if err != nil {
		answer.Outcome, answer.Error = refused, err.Error()
	}
	return answer
}

// all is everything that the store has.
func (d *daemon) all() reply {
	answer := reply{Cells: map[string]cell{}, Ops: map[string]string{}}
	err := d.db.View(ctx, func(tx *kv.Tx) error {
		for id, c := range cells.All(tx, "") {
			answer.Cells[id] = *c
		}
		for id, of := range ops.All(tx, "") {
			answer.Ops[id] = *of
		}
		return tx.Err()
	})
	answer.Outcome = outcome(err).Outcome
	return answer
}

// write changes a cell and notes the operation, in one transaction.
func (d *daemon) write(r request) reply {
	var c cell
	err := d.db.Update(ctx, func(tx *kv.Tx) error {
		c = cell{}
		have, err := cells.Get(tx, r.Key)
		if err != nil {
			return err
		}
		if have != nil {
			c = *have
		}
		had, err := ops.Has(tx, r.ID)
		if err != nil {
			return err
		}
		if had {
			return errTwice
		}
		next, changes := after(c, r)
		if !changes {
			return errSame
		}
		c = next
		return errors.Join(cells.Put(tx, r.Key, &c), ops.Put(tx, r.ID, &r.Key))
	})
	answer := outcome(err)
	answer.Cell = c
	return answer
}

// after is the cell that a request leaves, and whether it changes anything.
func after(c cell, r request) (cell, bool) {
	switch r.Op {
	case "swap":
		if c.Version != r.Version {
			return c, false
		}
		fallthrough
	case "write":
		c.Text, c.Version = r.Text, c.Version+1
	case "add":
		if c.Set&(1<<r.Member) != 0 {
			return c, false
		}
		c.Set |= 1 << r.Member
	case "remove":
		if c.Set&(1<<r.Member) == 0 {
			return c, false
		}
		c.Set &^= 1 << r.Member
	case "count":
		c.Count++
	}
	return c, true
}

// outcome is what an error of the store says.
func outcome(err error) reply {
	var f *fault.Error
	switch {
	case err == nil:
		return reply{Outcome: done}
	case errors.Is(err, errSame) && errors.Is(err, kv.ErrUnconfirmed):
		return reply{Outcome: stale}
	case errors.Is(err, errSame):
		return reply{Outcome: differs}
	case errors.As(err, &f) && f.Retryable:
		return reply{Outcome: refused, Error: err.Error()}
	case errors.As(err, &f) && f.Kind == fault.Unavailable:
		return reply{Outcome: unknown, Error: err.Error()}
	default:
		return reply{Outcome: wrong, Error: err.Error()}
	}
}

// slowDisk is the disk of the machine, which takes longer to flush.
type slowDisk struct {
	kv.FS
	slow *atomic.Int64
}

type slowFile struct {
	disk.File
	slow *atomic.Int64
}

func (d slowDisk) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return slowFile{f, d.slow}, nil
}

func (d slowDisk) SyncDir(dir string) error {
	lag(d.slow)
	return d.FS.SyncDir(dir)
}

func (f slowFile) Sync() error {
	lag(f.slow)
	return f.File.Sync()
}

func lag(d *atomic.Int64) {
	if d := time.Duration(d.Load()); d > 0 {
		<-time.After(d)
	}
}
