package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type rawMessage = json.RawMessage

// Options say what a Server serves.
type Options struct {
	Methods []Method // of two with a name the latter
	Limits  Limits
	Logger  *slog.Logger // nil: nothing is logged

	Info    protocol.ServerInfo
	DataDir string // folder of the store; "" when there is none
	Format  int    // of its records; a backup of a newer one is refused
	Stop    func() // ends the daemon; called on a goroutine of its own

	// OpenStore opens the store, and OpenRooms the rooms over one. They are
	// called by Load, and when a backup has replaced the store.
	OpenStore func() (*kv.Store, error)
	// OpenAsIs opens the store without bringing its records into today's format:
	// they are to be replaced, and that they can't be brought into it may be why.
	// nil: as OpenStore.
	OpenAsIs  func() (*kv.Store, error)
	OpenRooms func(*kv.Store) (*Rooms, error)
	// Rooms that are open already; nil: calls that need rooms wait for Load.
	Rooms *Rooms

	// OnIdle is called once, on a goroutine of its own, when no connection has
	// been open and no job has run for IdleAfter. 0: never.
	OnIdle    func()
	IdleAfter time.Duration
}

// Server serves connections. New makes one.
type Server struct {
	limits  Limits
	methods map[string]*entry
	names   []string
	log     *slog.Logger
	info    protocol.ServerInfo
	dataDir string
	format  int
	onStop  func()
	events  *events
	waiting ledger
	gate    gate

	door      door
	replacing sync.Mutex // held by who opens the rooms or replaces them
	openStore func() (*kv.Store, error)
	openAsIs  func() (*kv.Store, error)
	openOver  func(*kv.Store) (*Rooms, error)

	unfinished unfinished
	started    time.Time
	closed     traffic // of the connections that are over
	idle       idleWatch
	lookout    lookout
	workers    // run calls; their group counts connections too

	shedding sync.Mutex // held by who ends slow connections

	mu        sync.Mutex // guards everything below
	conns     map[uint64]*connection
	last      uint64
	listeners map[net.Listener]bool
	stopping  bool
	awaited   []watch.Request // vaults that are to be read when they can be

	accepted, refused, offended atomic.Uint64
	lastRefusal                 atomic.Int64 // Unix nanoseconds of the line in the log
	runningJobs                 atomic.Int32
}

// entry is a method with its figures.
type entry struct {
	Method
	stats
	pace
}

// New returns a server of the given methods.
func New(opts Options) *Server {
	s := &Server{
		limits: opts.Limits.withDefaults(), methods: make(map[string]*entry, len(opts.Methods)), log: opts.Logger,
		info: opts.Info, dataDir: opts.DataDir, format: opts.Format, onStop: opts.Stop, openStore: opts.OpenStore, openAsIs: opts.OpenAsIs, openOver: opts.OpenRooms,
		conns: map[uint64]*connection{}, listeners: map[net.Listener]bool{}, started: time.Now(),
	}
	s.door.close(protocol.LoadStarting)
	s.door.stage(protocol.StageStore)
	s.events = newEvents(s.Health)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, m := range opts.Methods {
		s.methods[m.Name] = &entry{Method: m}
		s.names = append(s.names, m.Name)
	}
	if opts.OnIdle != nil {
		s.idle.after, s.idle.notify = opts.IdleAfter, opts.OnIdle
	}
	s.idle.busy = func() bool { return s.runningJobs.Load() > 0 || s.door.shut() }
	s.lookout.run = s.run
	s.gate.run, s.gate.free = s.run, s.limits.Running
	s.unfinished.limit = s.limits.InboundTotal
	s.waiting.limit, s.waiting.over = s.limits.OutboundTotal, s.shedSlow
	if opts.Rooms != nil {
		s.serveRooms(protocol.LoadStarting, opts.Rooms)
	}
	return s
}

// The pauses after an accept that failed, most likely for want of descriptors.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// Serve accepts connections until Shutdown or until ln is closed, and returns
// nil then. It does not wait for the connections. A failing accept is repeated:
// descriptors come back.
func (s *Server) Serve(ln net.Listener) error {
	if !s.track(ln) {
		return ln.Close()
	}
	defer s.untrack(ln)
	s.idle.begin()
	pause := time.Duration(0)
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(conn)
		case errors.Is(err, net.ErrClosed) || s.isStopping():
			return nil
		default:
			if pause == 0 {
				s.log.Warn("accept failed, will be repeated", "error", err)
			}
			pause = min(max(2*pause, firstPause), lastPause)
			time.Sleep(pause) //nolint:forbidigo // out of descriptors: there is nothing to wait for but time
		}
	}
}

func (s *Server) track(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping {
		s.listeners[ln] = true
	}
	return !s.stopping
}

func (s *Server) untrack(ln net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, ln)
}

func (s *Server) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

// start serves conn on goroutines of its own. The newest connection over the
// limit is refused.
func (s *Server) start(conn net.Conn) *connection {
	s.mu.Lock()
	if s.stopping || len(s.conns)+s.door.left() >= s.limits.Connections {
		n := len(s.conns)
		s.mu.Unlock()
		refused := s.refused.Add(1)
		if now := time.Now().UnixNano(); now-s.lastRefusal.Load() > int64(time.Second) { // of a storm, a line a second
			s.lastRefusal.Store(now)
			s.log.Warn("connections are refused: too many are open", "open", n, "refused", refused)
		}
		_ = conn.Close()
		return nil
	}
	s.last++
	c := s.connect(conn, s.last)
	s.conns[s.last] = c
	s.work.Add(1)
	s.mu.Unlock()
	s.accepted.Add(1)
	s.idle.enter()
	s.lookout.add(c)
	s.run(c.lead)
	jsonrpc2.NewConn(context.Background(), c, c, jsonrpc2.OnSend(c.onSend), jsonrpc2.SetLogger(quiet{}))
	return c
}

// forget is called when a connection is over.
func (s *Server) forget(c *connection) {
	s.lookout.remove(c)
	if k := c.busy.Load(); k != nil {
		c.relieve(k) // who shuts the door does not find it here any more
	}
	s.door.forget(c)
	s.mu.Lock()
	delete(s.conns, c.session.id)
	s.mu.Unlock()
	c.out.book(func() *atomic.Int64 {
		s.closed.add(&c.traffic)
		return &s.closed.bytesOut
	})
	s.idle.leave()
	s.work.Done()
}

// quiet drops what the library logs: it would print texts of messages.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (s *Server) connect(conn net.Conn, id uint64) *connection {
	c := &connection{
		srv: s, in: newFrames(conn, s.limits), out: newOutbound(conn, s.limits, &s.waiting), socket: conn,
		hangup: make(chan struct{}), drained: make(chan struct{}), heard: make(chan *call),
	}
	c.opened = time.Now()
	c.in.src = meter{conn, &c.bytesIn}
	c.in.hold = func(n int) { s.hold(c, n) }
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.session = &Session{id: id, conn: c}
	c.calls = map[uint64]*call{}
	c.short.mean.Store(int64(2 * shortTurn))
	c.room.L = &c.mu
	c.out.cut, c.out.empty, c.out.sent = c.cut, c.emptied, &c.bytesOut
	return c
}

// ServeConn serves one connection, such as one end of a pipe, and returns when
// it is over.
func (s *Server) ServeConn(conn net.Conn) {
	if c := s.start(conn); c != nil {
		<-c.ctx.Done()
	}
}

// closing notes that the daemon ends a connection for what its client did.
func (s *Server) closing(c *connection, reason string) {
	s.offended.Add(1)
	client := c.session.Client()
	s.log.Warn("connection closed", "conn", c.session.id, "client", clip(client.Name), "reason", reason)
}

// shedSlow ends the connections whose readers have stood still for longest until
// the replies that wait are under the limit of the server.
func (s *Server) shedSlow() {
	s.shed(func() bool { return s.waiting.bytes.Load() > s.waiting.limit },
		func(c *connection) (time.Time, bool) {
			waiting, progress := c.out.backlog()
			return progress, waiting > 0
		}, "replies wait for slow readers beyond the limit of the daemon, and this is the slowest")
}

// shed ends connections, of those that are to blame the one whose time is the
// earliest first, for as long as the server holds too much.
func (s *Server) shed(tooMuch func() bool, blame func(*connection) (since time.Time, yes bool), reason string) {
	s.shedding.Lock()
	defer s.shedding.Unlock()
	for tooMuch() {
		var worst *connection
		var earliest time.Time
		for _, c := range s.connections() {
			if since, yes := blame(c); yes && (worst == nil || since.Before(earliest)) {
				worst, earliest = c, since
			}
		}
		if worst == nil {
			return
		}
		worst.cut(reason)
	}
}

func (s *Server) connections() []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*connection, 0, len(s.conns))
	for _, c := range s.conns {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *connection) int { return int(a.session.id) - int(b.session.id) })
	return list
}

// Sessions returns the sessions of the open connections, oldest first.
func (s *Server) Sessions() []*Session {
	var list []*Session
	for _, c := range s.connections() {
		list = append(list, c.session)
	}
	return list
}

// Shutdown closes the listeners, stops reading from every connection, lets the
// calls that were accepted finish, and closes the connections when their
// replies are out. When ctx ends first the connections are closed at once, and
// Shutdown returns the error of ctx; mutations complete all the same, and Wait
// waits for them.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	s.idle.stop()
	for ln := range s.listeners {
		_ = ln.Close()
	}
	s.mu.Unlock()
	s.giveUp()
	for _, c := range s.connections() {
		c.stopReading()
	}
	s.stop()
	idle := make(chan struct{})
	go func() {
		s.work.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		for _, c := range s.connections() {
			c.cut("")
		}
		return ctx.Err()
	}
}

// Wait returns when no connection is open and no accepted call runs.
func (s *Server) Wait() { s.work.Wait() }

// stopReading ends the input of a connection as if its client had closed its
// half. A connection that can't be closed by halves is cut.
func (c *connection) stopReading() {
	half, ok := c.socket.(interface{ CloseRead() error })
	if !ok || half.CloseRead() != nil {
		c.cut("")
	}
}
