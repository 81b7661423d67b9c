package rpc

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Limits bound what one client can cost (RPC-6).
type Limits = jsonrpc.Limits

// DefaultLimits returns the limits of a daemon that is configured no further.
func DefaultLimits() Limits { return jsonrpc.DefaultLimits() }

// Options say what a Server serves.
type Options struct {
	Methods []Method // of two with a name the latter
	Limits  Limits
	Logger  *slog.Logger // nil: nothing is logged

	Info    protocol.ServerInfo
	DataDir string          // folder of the store; "" when there is none
	Format  int             // of its records; a backup of a newer one is refused
	Room    *DiskThresholds // on the disk of it that must be free; nil: DefaultDiskThresholds
	Off     []string        // settings of protocol.Features that are off
	Stop    func()          // ends the daemon; called on a goroutine of its own

	// OpenStore opens the store, and OpenRooms the rooms over one. They are
	// called by Load, and when a backup has replaced the store.
	OpenStore func() (*kv.Store, error)
	// OpenAsIs opens the store without bringing its records into today's format:
	// they are to be replaced, and that they can't be brought into it may be why.
	// nil: as OpenStore.
	OpenAsIs  func() (*kv.Store, error)
	OpenRooms func(*kv.Store) (*Deps, error)
	// Deps that are open already; nil: calls that need rooms wait for Load.
	Rooms *Deps

	// Providers answer in conversations; nil: nobody.
	Providers *llm.Set
	// Tasks is the note that tasks are appended to: its id, path or title; "" for the note Tasks of the store.
	Tasks string
	// Titles has models make titles of conversations.
	Titles bool
	// Summaries has a model make summaries of notes.
	Summaries bool
	// Outcomes has models say how answers went.
	Outcomes bool
	// Templates are of what the daemon itself asks a model; nil: those that are compiled in.
	Templates *prompts.Set

	// OnIdle is called once, on a goroutine of its own, when no connection has
	// been open and no job has run for IdleAfter. 0: never.
	OnIdle    func()
	IdleAfter time.Duration
}

// Server serves connections. New makes one.
type Server struct {
	wire      *jsonrpc.Server
	pause     pause         // of what is done in the background
	gate      *jsonrpc.Gate // of wire; the rooms are behind it
	log       *slog.Logger
	info      protocol.ServerInfo
	dataDir   string
	format    int
	onStop    func()
	events    *eventHub
	room      DiskThresholds
	off       []string // settings of features
	providers *llm.Set
	templates *prompts.Set
	tasks     string                 // the note of tasks, see Options
	titles    *background.Titler     // nil: no model makes titles
	summaries *background.Summarizer // nil: no model makes summaries
	detector  *background.OutcomeDetector
	started   time.Time

	textBytes int // of a string in params

	replacing sync.Mutex // held by who opens the rooms or replaces them
	openStore func() (*kv.Store, error)
	openAsIs  func() (*kv.Store, error)
	openOver  func(*kv.Store) (*Deps, error)

	mu      sync.Mutex            // guards what follows
	awaited []vault.ImportRequest // vaults that are to be read when they can be
}

// New returns a server of the given methods.
func New(opts Options) *Server {
	s := &Server{
		log: opts.Logger, info: opts.Info, dataDir: opts.DataDir, format: opts.Format, onStop: opts.Stop,
		openStore: opts.OpenStore, openAsIs: opts.OpenAsIs, openOver: opts.OpenRooms, started: time.Now(),
		providers: opts.Providers, templates: opts.Templates, tasks: opts.Tasks,
	}
	s.room, s.off = DefaultDiskThresholds, opts.Off
	if opts.Room != nil {
		s.room = *opts.Room
	}
	if s.templates == nil {
		s.templates = prompts.BuiltIn()
	}
	if s.providers == nil {
		s.providers = llm.NoSet()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if opts.Titles {
		s.titles = background.NewTitler(background.TitlerOptions{Providers: s.providers, Prompts: s.templates, Log: s.log})
	}
	if opts.Summaries {
		s.summaries = background.NewSummarizer(background.SummarizerOptions{Providers: s.providers, Prompts: s.templates, Log: s.log})
	}
	s.detector = background.NewOutcomeDetector(background.DetectorOptions{
		Providers: s.providers, Prompts: s.templates, Log: s.log, Automatic: opts.Outcomes,
	})
	s.pause.count = s.calls
	s.wire = jsonrpc.New(jsonrpc.Options{
		Methods: opts.Methods, Limits: opts.Limits, Logger: s.log,
		Closed: protocol.LoadStarting, Stage: protocol.StageStore,
		Failed: s.failed, Panicked: s.panicked,
		Attach:  s.attach,
		Follows: func(c *jsonrpc.Conn) bool { return sessionOf(c).events.Any() },
		Drained: func(c *jsonrpc.Conn) { sessionOf(c).events.Drained() },
		Unknown: protocol.Instead,
		OnIdle:  opts.OnIdle, IdleAfter: opts.IdleAfter,
	})
	s.events = newEventHub(encoder, s.wire.Limits().OutboundBytes, s.healthFor)
	s.gate, s.textBytes = s.wire.Gate(), s.wire.Limits().TextBytes
	if opts.Rooms != nil {
		s.serveRooms(protocol.LoadStarting, opts.Rooms)
	}
	return s
}

// attach makes the session of a connection.
func (s *Server) attach(c *jsonrpc.Conn) any {
	session := &Session{srv: s, conn: c}
	session.events = s.events.Of(c, session.Reader)
	return session
}

// failed maps the error of a method to what its caller is told.
func (s *Server) failed(ctx context.Context, m *jsonrpc.Method, err error) *protocol.Error {
	err = evicted(ctx, err)
	if m.Writes() && fault.KindOf(err) == fault.Unavailable {
		s.events.SuspectHealth() // the reason may concern every other call
	}
	return toWire(ctx, s.log, m.Name, err)
}

// panicked maps what a method threw to what its caller is told.
func (s *Server) panicked(ctx context.Context, m *jsonrpc.Method, thrown any) *protocol.Error {
	return panicked(ctx, s.log, m.Name, thrown)
}

// Serve accepts connections until Shutdown or until ln is closed, and returns nil
// then. It does not wait for the connections.
func (s *Server) Serve(ln net.Listener) error { return s.wire.Serve(ln) }

// ServeConn serves one connection, such as one end of a pipe, and returns when it
// is over.
func (s *Server) ServeConn(conn net.Conn) { s.wire.ServeConn(conn) }

// CheckOutside returns an error when a file that is to be written lies in the folder of a
// vault.
func (s *Server) CheckOutside(ctx context.Context, file string) error {
	return s.use(ctx, func(ctx context.Context, r *Deps) error { return vault.CheckOutsideVaults(ctx, r.KV, file) })
}

// Sessions returns the sessions of the open connections, oldest first.
func (s *Server) Sessions() []*Session {
	var list []*Session
	for _, c := range s.wire.Conns() {
		list = append(list, sessionOf(c))
	}
	return list
}

// ConnStats counts the connections.
func (s *Server) ConnStats() protocol.ConnStats { return s.wire.ConnStats() }

// MethodStats returns the figures of the methods that were called, the busiest
// first.
func (s *Server) MethodStats() []protocol.MethodStats { return s.wire.MethodStats() }

// Shutdown closes the listeners, stops reading from every connection, has jobs stop
// between two transactions, lets the other calls that were accepted finish, and closes
// the connections when their replies are out; jobs, and calls that wait for the rooms,
// are told that the daemon is ending. When ctx ends first, reads, and mutations that have
// not begun, are told so too, the connections are closed, and Shutdown returns the error
// of ctx; mutations that have begun complete all the same, and Wait waits for them.
func (s *Server) Shutdown(ctx context.Context) error {
	s.giveUp()
	return s.wire.Shutdown(ctx, leaving())
}

// Wait returns when no connection is open and no accepted call runs.
func (s *Server) Wait() { s.wire.Wait() }
