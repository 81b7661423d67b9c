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

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

// drainTime is how long a daemon that ends waits for calls under way before it
// withdraws those that change nothing.
const drainTime = 5 * time.Second

// daemon is a server on a socket over a store of its own. startDaemon makes
// one; close ends it.
type daemon struct {
	rooms    *rpc.Rooms
	server   *rpc.Server
	listener *socket.Listener
	dir      string
	log      *slog.Logger

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
	records  recordLimits
}

// startDaemon takes the socket, opens the store and serves. The socket comes
// first: it is what tells a second daemon from the first without touching the
// data, and clients that call while the store loads wait instead of failing.
//
// A socket or data that another daemon owns is a *socket.OwnedError or an
// *ownedError.
func startDaemon(opts daemonOptions) (*daemon, error) {
	ln, err := socket.Listen(opts.socket, socket.Options{Version: version()})
	if err != nil {
		return nil, err
	}
	d := &daemon{listener: ln, dir: opts.data, log: opts.log, stopped: make(chan struct{}), idle: make(chan struct{}), failed: make(chan error, 1)}
	if d.rooms, err = openRooms(opts.data, opts.log, opts.records); err != nil {
		closed := ln.Close() // first: telling who has the data may take a moment
		return nil, errors.Join(ownerOf(opts.data, err), closed)
	}
	d.rooms.Stop = func() { d.stopOnce.Do(func() { close(d.stopped) }) }
	d.server = rpc.New(rpc.Options{
		Methods: rpc.Methods(*d.rooms), Limits: opts.limits, Logger: opts.log,
		IdleAfter: opts.idleExit, OnIdle: func() { close(d.idle) },
	})
	if err := d.sign(); err != nil {
		opts.log.Warn("the data can't be signed: a second daemon will not learn who has it", "error", err)
	}
	go func() {
		if err := d.server.Serve(ln); err != nil {
			d.failed <- err
		}
	}()
	return d, nil
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
	_ = os.Remove(filepath.Join(d.dir, signature)) // without it the next owner is told of by pid only
	return errors.Join(d.listener.Close(), d.rooms.KV.Close())
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
	data, err := json.Marshal(owner{os.Getpid(), version(), time.Now().UTC(), d.listener.Path()})
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
