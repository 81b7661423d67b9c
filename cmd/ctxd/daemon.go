package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// drainTime is how long a daemon that ends waits for calls under way before it
// withdraws those that change nothing.
const drainTime = 5 * time.Second

// daemon is a server on a socket over a store of its own. startDaemon makes
// one, load opens its store, close ends it.
type daemon struct {
	server   *rpc.Server
	listener *socket.Listener
	dir      string
	store    storeConfig
	embedder embed.Embedder
	log      *slog.Logger
	started  time.Time
	signed   bool          // the data; of who opens and closes the store
	ahead    *search.Ahead // of the store that is opened

	stopOnce sync.Once
	stopped  chan struct{} // closed by admin.stop
	idle     chan struct{} // closed when there have been no clients for long enough
	failed   chan error    // gets the error of a listener that broke
}

type daemonOptions struct {
	socket string
	data   string // folder; made when absent
	log    *slog.Logger

	idleExit time.Duration // 0: it runs without clients, too
	limits   rpc.Limits
	records  roomLimits
	store    storeConfig
	embedder embedderConfig
	weights  searchWeights
}

// startDaemon takes the socket and serves: how the daemon is, and calls that
// wait for load. The socket comes before the store: it is what tells a second
// daemon from the first without touching the data.
//
// A socket that another daemon owns is a *socket.OwnedError.
func startDaemon(opts daemonOptions) (*daemon, error) {
	embedder, err := openEmbedder(opts.embedder, opts.log)
	if err != nil {
		return nil, err
	}
	ln, err := socket.Listen(opts.socket, socket.Options{Version: version()})
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	by := finding{embedder: embedder, weights: search.Weights{Lexical: opts.weights.lexical, Semantic: opts.weights.semantic}}
	d := &daemon{
		listener: ln, dir: opts.data, store: opts.store, embedder: embedder, log: opts.log, started: time.Now(),
		stopped: make(chan struct{}), idle: make(chan struct{}), failed: make(chan error, 1),
	}
	d.server = rpc.New(rpc.Options{
		Methods: rpc.Methods(), Limits: opts.limits, Logger: opts.log,
		Info: protocol.ServerInfo{Name: "ctxd", Version: version(), Commit: commit()}, DataDir: opts.data, Format: storeFormat,
		Stop:      func() { d.stopOnce.Do(func() { close(d.stopped) }) },
		OpenStore: d.openStore,
		OpenAsIs:  func() (*kv.Store, error) { return openAsIs(d.dir, d.store, d.log) },
		OpenRooms: func(db *kv.Store) (*rpc.Rooms, error) {
			by := by
			by.ahead, d.ahead = d.ahead, nil
			return roomsOver(db, opts.records, by, opts.log)
		},
		IdleAfter: opts.idleExit, OnIdle: func() { close(d.idle) },
	})
	go func() {
		if err := d.server.Serve(ln); err != nil {
			d.failed <- err
		}
	}()
	return d, nil
}

// load opens the store and lets in the calls that wait for it. An error ends the
// daemon; close is then not to be called. When ctx ends or admin.stop is called
// first, it is Cancelled; what has been begun is waited for. Data that another
// daemon owns is an *ownedError.
func (d *daemon) load(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-d.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := d.server.Load(ctx)
	if err == nil {
		return nil
	}
	closed := d.close() // first: telling who has the data may take a moment
	return errors.Join(ownerOf(d.dir, err), closed)
}

// openStore opens the store and signs the data.
func (d *daemon) openStore() (*kv.Store, error) {
	d.ahead = readIndexAhead(d.dir)
	db, err := openData(d.dir, d.store, d.log, func() { d.server.HealthChanged() })
	if err != nil {
		return nil, err
	}
	if err := d.sign(); err != nil {
		d.log.Warn("the data can't be signed: a second daemon will not learn who has it", "error", err)
	}
	d.signed = true
	return db, nil
}

// close ends the daemon: it takes no more calls, lets those under way finish,
// and closes the store. Reads that last longer than drainTime are withdrawn;
// mutations always complete.
func (d *daemon) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := d.server.Shutdown(ctx); err != nil {
		d.log.Warn("calls were still running and have been withdrawn")
	}
	d.server.Wait()
	if d.signed {
		_ = os.Remove(filepath.Join(d.dir, signature)) // without it the next owner is told of by pid only
	}
	return errors.Join(d.listener.Close(), d.server.CloseStore(), d.embedder.Close())
}

// signature is the file in the data folder that says which daemon has it. The
// lock is the store's; this is for people.
const signature = "daemon.json"

// owner is what a signature says.
type owner struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Socket  string    `json:"socket"`
}

func (d *daemon) sign() error {
	data, err := json.Marshal(owner{os.Getpid(), version(), d.started.UTC(), d.listener.Path()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, signature), append(data, '\n'), 0o600)
}

// readSignature returns who has the data in a folder.
func readSignature(dir string) (o owner, err error) {
	data, err := os.ReadFile(filepath.Join(dir, signature))
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err == nil && o.PID == 0 {
		err = errors.New("the signature names no process")
	}
	return o, err
}

const (
	signatureWait = time.Second
	signatureStep = 10 * time.Millisecond
)

// awaitSignature returns who has the data in a folder that is in use. Its owner
// signs when the store is open; what lies there until then was signed by one
// that was killed.
func awaitSignature(dir string) (owner, error) {
	for deadline := time.Now().Add(signatureWait); ; {
		o, err := readSignature(dir)
		if err == nil && running(o.PID) {
			return o, nil
		}
		if time.Now().After(deadline) {
			return owner{}, errors.New("no running process has signed the data")
		}
		time.Sleep(signatureStep) //nolint:forbidigo // the owner is another process: its file can only be read again
	}
}

// ownedError says that another daemon has the data.
type ownedError struct {
	owner owner // zero when it could not be told
	fault *fault.Error
}

func (e *ownedError) Error() string { return e.fault.Error() }

func (e *ownedError) Unwrap() error { return e.fault }

// ownerOf makes an *ownedError of the conflict that opening data in use is.
func ownerOf(dir string, err error) error {
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	e := &ownedError{fault: fault.New(fault.Conflict, "%s", fault.Message(err)).WithHint("choose another folder with --data, or stop that process")}
	var unsigned error
	if e.owner, unsigned = awaitSignature(dir); unsigned != nil {
		return e
	}
	up := time.Since(e.owner.Started).Round(time.Second)
	e.fault.Msg = fmt.Sprintf("another ctxd already owns this data (pid %d, version %s, up %s) and listens on %s",
		e.owner.PID, e.owner.Version, up, e.owner.Socket)
	e.fault.Hint = "use that one, or end it with: ctxd stop --socket " + e.owner.Socket
	return e
}
