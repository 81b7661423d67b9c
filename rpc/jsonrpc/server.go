package jsonrpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// Options say what a Server serves.
type Options struct {
	Methods []Method // of two with a name the latter
	Limits  Limits
	Logger  *slog.Logger

	Closed, Stage string // what the gate is closed for at first, and what is being done

	// Failed and Panicked say what a client is told of an error that a method
	// returned, and of what it threw. ctx is that of the call.
	Failed   func(ctx context.Context, m *Method, err error) *protocol.Error
	Panicked func(ctx context.Context, m *Method, thrown any) *protocol.Error

	// Unknown returns what to do instead of calling a method that does not exist. nil: nothing is said.
	Unknown func(method string) (hint string)
	// Attach returns what Conn.Data returns. It is called before anything is read.
	Attach func(*Conn) any
	// ProcessOf returns the process at the other end of a connection, 0 when that can't
	// be told; nil: as the system knows it.
	ProcessOf func(net.Conn) int
	// Follows reports whether a client waits for what it is told of, such as events: it is
	// no idle one then. nil: none does.
	Follows func(*Conn) bool
	// Drained is called when everything that waited for a client has gone out; nil
	// when nobody need be told. It must not wait.
	Drained func(*Conn)

	// OnIdle is called once, on a goroutine of its own, when no connection has been
	// open and no job has run for IdleAfter; the gate was open. 0: never.
	OnIdle    func()
	IdleAfter time.Duration
}

// Server serves connections. New makes one, with its gate closed.
type Server struct {
	unknown  func(method string) string // Options.Unknown; never nil
	limits   Limits
	methods  map[string]*entry
	names    []string
	log      *slog.Logger
	failed   func(ctx context.Context, m *Method, err error) *protocol.Error
	panicked func(ctx context.Context, m *Method, thrown any) *protocol.Error

	attach    func(*Conn) any
	onDrained func(*Conn)
	processOf func(net.Conn) int
	follows   func(*Conn) bool

	gate       Gate
	places     readPool
	watchdog   watchdog
	waiting    ledger
	unfinished unfinished
	memory     memory
	replies    replies
	closed     traffic // of the connections that are over
	idle       idleWatch
	workers    // run calls; their group counts connections too

	shedding sync.Mutex // held by who ends slow connections

	mu        sync.Mutex // guards everything below
	conns     map[uint64]*Conn
	open      int              // of them, those that are not evicted
	processes map[int]*process // with a connection, by number
	last      uint64
	listeners map[net.Listener]bool
	stopping  bool

	accepted, refused, cuts, evicted atomic.Uint64
	lastRefusal, lastEviction        onceASecond // a line in the log
	lastShortage                     onceASecond
	openSpare                        func() (io.Closer, error)

	jobs    runningJobs
	ending  context.Context // ends when jobs are to end with the server
	endJobs context.CancelCauseFunc
}

// New returns a server of the given methods.
func New(opts Options) *Server {
	s := &Server{
		limits: opts.Limits.withDefaults(), methods: make(map[string]*entry, len(opts.Methods)), log: opts.Logger,
		failed: opts.Failed, panicked: opts.Panicked, attach: opts.Attach, onDrained: opts.Drained,
		processOf: opts.ProcessOf, follows: opts.Follows, conns: map[uint64]*Conn{}, processes: map[int]*process{}, listeners: map[net.Listener]bool{},
		openSpare: openNull,
	}
	if s.processOf == nil {
		s.processOf = socket.PeerPID
	}
	if s.unknown = opts.Unknown; s.unknown == nil {
		s.unknown = func(string) string { return "" }
	}
	if s.follows == nil {
		s.follows = func(*Conn) bool { return false }
	}
	s.gate.Close(opts.Closed, opts.Stage)
	s.ending, s.endJobs = context.WithCancelCause(context.Background())
	kinds := map[string]*jobKind{}
	for _, m := range opts.Methods {
		kind := kinds[m.Kind.Name]
		if kind == nil {
			kind = &jobKind{JobKind: m.Kind}
			kinds[m.Kind.Name] = kind
		}
		s.methods[m.Name] = &entry{Method: m, kind: kind}
		s.names = append(s.names, m.Name)
	}
	if opts.OnIdle != nil {
		s.idle.after, s.idle.notify = opts.IdleAfter, opts.OnIdle
	}
	s.idle.busy = func() bool { return s.jobs.any() || s.gate.Closed() }
	s.watchdog.run = s.run
	s.places.Init(s.run, s.limits.Running, s.limits.ReadSlice)
	s.unfinished.limit = s.limits.InboundTotal
	s.memory.limit, s.memory.room.L = s.limits.MemoryTotal, &s.memory.mu
	s.replies.limit = s.limits.ReplyTotal
	s.waiting.limit, s.waiting.exceeded = s.limits.OutboundTotal, s.shedSlow
	return s
}

// Gate returns the gate that calls which need the store go through.
func (s *Server) Gate() *Gate { return &s.gate }

// Limits returns the limits that are in force.
func (s *Server) Limits() Limits { return s.limits }

// Names returns the names of the methods, in the order of the Options.
func (s *Server) Names() []string { return s.names }

// The pauses after an accept that failed, most likely for want of descriptors.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// Serve accepts connections until Shutdown or until ln is closed, and returns
// nil then. It does not wait for the connections. When the process has no descriptor
// left, a new connection is accepted on the spare one and evicts another. Any other
// accept that fails is repeated.
func (s *Server) Serve(ln net.Listener) error {
	if !s.track(ln) {
		return ln.Close()
	}
	defer s.untrack(ln)
	s.idle.begin()
	pause := backoff.ExponentialBackOff{InitialInterval: firstPause, Multiplier: 2, MaxInterval: lastPause}
	failing := false
	spare := spareDescriptor{open: s.openSpare}
	spare.take()
	defer spare.release()
	for {
		conn, err := ln.Accept()
		if outOfDescriptors(err) && spare.release() {
			if s.lastShortage.due() {
				s.log.Warn("accept failed: a new connection evicts another", "error", err)
			}
			conn, err = ln.Accept()
		}
		switch {
		case err == nil:
			pause.Reset()
			failing = false
			s.start(conn, spare.take())
		case errors.Is(err, net.ErrClosed) || s.isStopping():
			return nil
		default:
			if !failing {
				s.log.Warn("accept failed, will be repeated", "error", err)
			}
			failing = true
			time.Sleep(pause.NextBackOff()) //nolint:forbidigo // out of descriptors: there is nothing to wait for but time
			spare.take()
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

// start serves conn on goroutines of its own. When too many connections are open, or
// there is no room for another because the process has no descriptor left, it evicts one
// of them or is refused.
func (s *Server) start(conn net.Conn, room bool) *Conn {
	pid := s.processOf(conn)
	s.mu.Lock()
	full := s.stopping || len(s.conns)+s.gate.left() >= s.limits.Connections+maxEvictedOpen
	open, most := s.open+s.gate.left(), s.limits.Connections
	if !room {
		most = max(1, min(most, open))
	}
	var evict *Conn
	if !full && open >= most {
		evict = s.toEvict(pid, most)
		full = evict == nil
	}
	if full {
		s.mu.Unlock()
		s.refuse(conn)
		return nil
	}
	if evict != nil {
		evict.evicted = true
		s.open--
	}
	s.last++
	s.open++
	c := s.connect(conn, s.last, s.enterProcess(pid))
	s.conns[s.last] = c
	s.work.Add(1)
	s.mu.Unlock()
	if evict != nil {
		s.evict(evict)
	}
	s.accepted.Add(1)
	s.idle.enter()
	s.watchdog.add(c)
	s.run(c.read)
	jsonrpc2.NewConn(context.Background(), c, c, jsonrpc2.OnSend(c.onSend), jsonrpc2.SetLogger(quiet{}))
	return c
}

// forget is called when a connection is over.
func (s *Server) forget(c *Conn) {
	s.watchdog.remove(c)
	if k := c.inline.Load(); k != nil {
		c.handOver(k) // who closes the gate does not find it here any more
	}
	s.gate.forget(c)
	s.mu.Lock()
	delete(s.conns, c.id)
	if !c.evicted {
		s.open--
	}
	s.leaveProcess(c.process)
	s.mu.Unlock()
	c.out.book(func() *atomic.Int64 {
		s.closed.add(&c.traffic)
		return &s.closed.bytesOut
	})
	s.idle.leave()
	s.work.Done()
}

// quiet drops what the library logs: it would print what messages hold.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (s *Server) connect(conn net.Conn, id uint64, process *process) *Conn {
	c := &Conn{
		srv: s, id: id, process: process, out: newOutbound(conn, s.limits, &s.waiting), socket: conn,
		hangup: make(chan struct{}), drained: make(chan struct{}), incoming: make(chan *Call),
	}
	c.opened = time.Now()
	c.lastUsed.Store(c.opened.UnixNano())
	c.beginning = time.AfterFunc(s.limits.InitializeTimeout, c.notBegun)
	c.in = NewReader(meter{conn, &c.bytesIn}, ReaderOptions{
		MessageBytes: s.limits.MessageBytes, HeaderBytes: s.limits.HeaderBytes,
		Timeout: s.limits.FrameTimeout, Timer: conn, Hold: func(n int) { s.hold(c, n) },
	})
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.calls = map[uint64]*Call{}
	c.places.Init(&s.places, &process.places, c.turn)
	c.room.L = &c.mu
	c.out.cut, c.out.empty, c.out.sent = c.cut, c.emptied, &c.bytesOut
	c.data = s.attach(c)
	return c
}

// ServeConn serves one connection, such as one end of a pipe, and returns when
// it is over.
func (s *Server) ServeConn(conn net.Conn) {
	if c := s.start(conn, true); c != nil {
		<-c.ctx.Done()
	}
}

// offended notes that the daemon ends a connection for what its client did.
func (s *Server) offended(c *Conn, reason string) {
	s.cuts.Add(1)
	client := ""
	if name := c.client.Load(); name != nil {
		client = ClipName(*name)
	}
	s.log.Warn("connection closed", "conn", c.id, "client", client, "reason", reason)
}

// shedSlow ends the connections whose readers have stood still for longest until
// the replies that wait are under the limit of the server.
func (s *Server) shedSlow() {
	s.shed(func() bool { return s.waiting.bytes.Load() > s.waiting.limit },
		func(c *Conn) (time.Time, bool) {
			waiting, progress := c.out.backlog()
			return progress, waiting > 0
		}, "replies wait for slow readers beyond the limit of the daemon, and this is the slowest")
}

// shed ends connections, of those that are to blame the one whose time is the
// earliest first, for as long as the server holds too much.
func (s *Server) shed(tooMuch func() bool, blame func(*Conn) (since time.Time, yes bool), reason string) {
	s.shedding.Lock()
	defer s.shedding.Unlock()
	for tooMuch() {
		var worst *Conn
		var earliest time.Time
		for _, c := range s.connections() {
			since, yes := blame(c)
			if yes && (worst == nil || since.Before(earliest)) {
				worst, earliest = c, since
			}
		}
		if worst == nil {
			return
		}
		worst.cut(reason)
	}
}

// connections returns the open connections, oldest first.
func (s *Server) connections() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Conn, 0, len(s.conns))
	for _, c := range s.conns {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Conn) int { return int(a.id) - int(b.id) })
	return list
}

// Conns returns the open connections, oldest first.
func (s *Server) Conns() []*Conn { return s.connections() }

// Wait returns when no connection is open and no accepted call runs.
func (s *Server) Wait() { s.work.Wait() }
