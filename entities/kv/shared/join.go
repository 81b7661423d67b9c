package shared

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
)

// BeginOptions are what a shared store is begun with.
type BeginOptions struct {
	Servers nats.Servers
	Dir     string // data folder
	Name    string // of this machine
	Synced  bool   // somebody says that all servers write to disk before they acknowledge
	Single  bool   // one server is enough
	// AcceptLoss takes servers that say that they acknowledge before they write to disk.
	AcceptLoss bool
	// Again begins another store in the place of the one that this machine takes part in. The
	// daemon must not run.
	Again bool
	Store kv.Options // how the store is opened for that
}

// Begin makes a shared store on the servers, which begins with what is in the data folder when
// its daemon is started next.
func Begin(ctx context.Context, o BeginOptions) (*nats.Identity, *nats.Cluster, error) {
	_, err := nats.LoadIdentity(keyPath(o.Dir))
	if fault.KindOf(err) != fault.NotFound && !o.Again {
		return nil, nil, takesPart()
	}
	if o.Again {
		o.Store.Replace = true
		db, err := kv.Open(o.Dir, o.Store) // a daemon would go on with the key that is replaced
		if err != nil {
			return nil, nil, &OpenError{err}
		}
		id, cluster, err := o.begin(ctx)
		return id, cluster, errors.Join(err, db.Close())
	}
	return o.begin(ctx)
}

func (o *BeginOptions) begin(ctx context.Context) (*nats.Identity, *nats.Cluster, error) {
	err := makeFolder(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	id, cluster, err := nats.CreateStore(ctx, nats.CreateOptions{Servers: o.Servers, Name: o.Name, Synced: o.Synced, Single: o.Single, AcceptLoss: o.AcceptLoss, Path: keyPath(o.Dir)})
	if err != nil {
		return nil, nil, err
	}
	err = os.Remove(pathOf(o.Dir, leftFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return id, cluster, err
}

func takesPart() error {
	return fault.Clash(fault.State, "this machine takes part in a shared store already").
		WithHint("look with ctxd sync status, or leave it with ctxd sync leave; --again replaces it with another one")
}

func makeFolder(dir string) error {
	err := os.MkdirAll(filepath.Join(dir, Folder), 0o700)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot make the folder of the key")
	}
	return nil
}

// JoinOptions are what a shared store is joined with.
type JoinOptions struct {
	Servers nats.Servers
	Dir     string // data folder; its store is empty
	Secret  nats.Secret
	Name    string // of this machine
	Synced  bool
	// AcceptLoss is that of BeginOptions. Whoever began the store may have said so for all.
	AcceptLoss bool
	Again      bool       // replace what is in the folder; a backup of it is kept
	Store      kv.Options // how the store is opened
	Progress   func(done, total int64)
	Logger     *slog.Logger
}

// Joined is what came of a join.
type Joined struct {
	Machine uint32
	Name    string // of this machine, see nats.JoinOptions
	Kept    string // backup of what was there before; "" for none
	Bytes   int64  // of the state that was taken
	Cluster *nats.Cluster
}

// OpenError says that the store in a folder could not be opened, mostly since a daemon has it.
type OpenError struct{ err error }

// Error is the message.
func (e *OpenError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.err }

// Join takes part in a store and takes its newest state. The daemon of the folder must not run.
// What an interrupted join has taken is kept for the next. Until the state is here as a whole,
// nothing of what the folder had has changed.
func Join(ctx context.Context, o JoinOptions) (*Joined, error) {
	id, err := nats.LoadIdentity(keyPath(o.Dir))
	switch {
	case o.Again:
	case err == nil && id.Stage() != nats.StageJoining:
		return nil, takesPart()
	case err != nil && fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	o.Store.Replace = true // the log is another one, or begins somewhere else
	db, err := kv.Open(o.Dir, o.Store)
	if err != nil {
		return nil, &OpenError{err}
	}
	joined, err := o.join(ctx, db)
	return joined, errors.Join(err, db.Close())
}

func (o *JoinOptions) join(ctx context.Context, db *kv.Store) (*Joined, error) {
	if db.Status().Records > 0 && !o.Again {
		return nil, fault.Clash(fault.State, "the store of this machine has records, and can't join another one").
			WithHint("join with an empty folder, or have what is here replaced, of which a backup is kept: ctxd sync join --again")
	}
	err := makeFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	id, err := o.identity(ctx)
	if err != nil {
		return nil, err
	}
	l, err := connect(ctx, o.Servers, id, o.Logger)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	cluster, err := l.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	s, err := o.take(ctx, l)
	if err != nil {
		return nil, err
	}
	err = o.fits(ctx, db)
	if err != nil {
		return nil, err
	}
	joined := &Joined{Machine: id.Machine(), Name: id.Name(), Bytes: s.Bytes, Cluster: cluster}
	if db.Status().Records > 0 {
		joined.Kept = copyPath(o.Dir)
	}
	return joined, o.replace(ctx, db, joined.Kept)
}

// fits refuses a state beside which the machine's own records can't be kept, since they have
// another format than it and can't be brought into that one.
func (o *JoinOptions) fits(ctx context.Context, db *kv.Store) error {
	b, err := kv.OpenBackup(ctx, pathOf(o.Dir, joiningStateFile), kv.ReadOptions{Format: o.Store.Format})
	if err != nil {
		return err
	}
	defer b.Close()
	ours, its := db.Format(), b.Manifest.Format
	if db.Status().Records == 0 || ours == its || ours < its && its == o.Store.Format {
		return nil
	}
	return fault.New(fault.Unavailable, "what belongs to this machine alone has format %d, and the newest state on the servers has format %d", ours, its).
		WithHint("on another machine, with this version of ctxd: ctxd compact, which puts a newer state on the servers; then try again")
}

// copyPath is where a backup of what a join replaces is kept: beside those of earlier joins.
func copyPath(dir string) string {
	path := pathOf(dir, copyFile)
	_, err := os.Stat(path)
	if err != nil {
		return path
	}
	suffix := filepath.Ext(copyFile)
	return strings.TrimSuffix(path, suffix) + time.Now().UTC().Format(copyTime) + suffix
}

const copyTime = "-20060102T150405.000Z"

// replace makes the store hold the state that was taken. From the renaming of the key on, the
// folder is one that a join has to complete.
func (o *JoinOptions) replace(ctx context.Context, db *kv.Store, keep string) error {
	err := os.Rename(pathOf(o.Dir, joiningKeyFile), keyPath(o.Dir))
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot write the key of the shared store")
	}
	id, err := nats.LoadIdentity(keyPath(o.Dir))
	if err != nil {
		return err
	}
	path := pathOf(o.Dir, joiningStateFile)
	_, err = db.Restore(ctx, path, kv.RestoreOptions{Keep: keep, KeepLocal: true})
	if err != nil {
		return err
	}
	err = id.SetStage(nats.StageMember)
	for _, name := range []string{path, pathOf(o.Dir, joiningProgressFile), pathOf(o.Dir, leftFile)} {
		failed := os.Remove(name)
		if !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// identity is that of an interrupted join, or a new one.
func (o *JoinOptions) identity(ctx context.Context) (*nats.Identity, error) {
	for _, path := range []string{pathOf(o.Dir, joiningKeyFile), keyPath(o.Dir)} {
		id, err := nats.LoadIdentity(path)
		if err == nil && id.Stage() == nats.StageJoining && id.Fits(o.Secret) {
			return id, os.Rename(path, pathOf(o.Dir, joiningKeyFile))
		}
	}
	var former uint32
	before, err := nats.LoadIdentity(keyPath(o.Dir))
	if err == nil && before.Fits(o.Secret) {
		former = before.Machine()
	}
	id, _, err := nats.JoinStore(ctx, nats.JoinOptions{
		Servers: o.Servers, Secret: o.Secret, Name: o.Name, Former: former, Synced: o.Synced, AcceptLoss: o.AcceptLoss, Path: pathOf(o.Dir, joiningKeyFile),
	})
	return id, err
}

// progressOf is what of a snapshot is in the file.
type progressOf struct {
	Name   string `json:"name"`
	Pieces int    `json:"pieces"`
	Bytes  int64  `json:"bytes"`
}

// take writes the newest snapshot to a file.
func (o *JoinOptions) take(ctx context.Context, l *nats.Log) (*nats.Snapshot, error) {
	list, err := l.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		f := fault.New(fault.Unavailable, "the shared store has no state on the servers yet")
		f.Retryable = true
		return nil, f.WithHint("start the daemon of the machine that has begun it, and try again")
	}
	s := list[0]
	f, err := os.OpenFile(pathOf(o.Dir, joiningStateFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot write the state of the shared store")
	}
	defer f.Close()
	resumed, err := o.takeTo(ctx, l, s, f)
	if resumed && nats.ReasonOf(err) == nats.ReasonAltered {
		// Nobody waits for the disk to confirm the file, so a power cut may have left less of it.
		err = os.Remove(pathOf(o.Dir, joiningProgressFile))
		if err == nil {
			_, err = o.takeTo(ctx, l, s, f)
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// takeTo goes on behind what is in the file, and reports whether that was something.
func (o *JoinOptions) takeTo(ctx context.Context, l *nats.Log, s *nats.Snapshot, f *os.File) (resumed bool, err error) {
	taken, err := o.resume(f, s)
	if err != nil {
		return false, err
	}
	resumed = taken.Pieces > 0
	return resumed, l.TakeSnapshot(ctx, s, taken, &pieces{File: f, o: o, s: s, taken: taken}, func(done int64) { o.Progress(done, s.Bytes) })
}

// resume goes on behind what is in the file.
func (o *JoinOptions) resume(f *os.File, s *nats.Snapshot) (*nats.PartialSnapshot, error) {
	var had progressOf
	data, err := os.ReadFile(pathOf(o.Dir, joiningProgressFile))
	if err != nil || json.Unmarshal(data, &had) != nil || had.Name != s.Name {
		had = progressOf{}
	}
	info, err := f.Stat()
	if err != nil || info.Size() < had.Bytes {
		had = progressOf{}
	}
	err = f.Truncate(had.Bytes)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot write the state of the shared store")
	}
	return nats.ResumeSnapshot(had.Pieces, f) // which leaves the file at its end
}

// pieces is a file of which is noted how many pieces it holds.
type pieces struct {
	*os.File
	o     *JoinOptions
	s     *nats.Snapshot
	taken *nats.PartialSnapshot
}

var _ io.Writer = (*pieces)(nil)

// Write writes one piece.
func (p *pieces) Write(piece []byte) (int, error) {
	n, err := p.File.Write(piece)
	if err == nil {
		had := progressOf{p.s.Name, p.taken.Pieces + 1, p.taken.Bytes + int64(n)}
		var data []byte
		data, err = json.Marshal(had)
		if err == nil {
			err = os.WriteFile(pathOf(p.o.Dir, joiningProgressFile), data, 0o600)
		}
	}
	if err != nil {
		return n, fault.Wrap(fault.Unavailable, err, "cannot write the state of the shared store")
	}
	return n, nil
}
