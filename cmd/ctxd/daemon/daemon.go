package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

const (
	// EndTime is how long a daemon takes to end at most, whatever runs.
	EndTime = 5 * time.Second
	// DrainTime is how long a daemon that ends waits for calls under way before it
	// withdraws those that have changed nothing.
	DrainTime = 2 * time.Second
	// endMargin is left of EndTime for the process to be gone.
	endMargin = 500 * time.Millisecond
)

// Daemon is a server on a socket over a store of its own. Start makes
// one, load opens its store, close ends it.
type Daemon struct {
	Server    *rpc.Server
	Listener  *socket.Listener
	Dir       string
	store     config.Store
	embedder  embed.Embedder
	reranker  embed.Reranker // nil: none
	providers *llm.Set
	log       *slog.Logger
	started   time.Time
	refusing  atomic.Bool             // the shared store takes no writes, and the log says so
	replica   *shared.Replica         // nil: the store is this machine's alone; of who opens and closes it
	signed    bool                    // the data; of who opens and closes the store
	ahead     *search.Ahead           // of the store that is opened
	late      func() <-chan time.Time // starts the time limit of the shutdown; what it returns fires at the limit
	endsWith  atomic.Pointer[string]  // what the end waits for
	beside    sync.WaitGroup          // see Go

	stopOnce sync.Once
	Stopped  chan struct{} // closed by admin.stop
	Idle     chan struct{} // closed when there have been no clients for long enough
	Failed   chan error    // gets the error of a listener that broke
}

// Options say how a daemon is run.
type Options struct {
	Socket string
	Data   string // folder; made when absent
	Log    *slog.Logger
	// Servers are those of the store that is shared with other machines, "" as configured. Queue has
	// what only adds wait while they can't be reached.
	Servers string
	Queue   bool

	idleExit time.Duration // 0: it runs without clients, too
	limits   rpc.Limits
	records  config.Records
	store    config.Store
	embedder config.Embedder
	reranker config.Reranker
	chat     config.Chat
	prompts  string // folder of templates
	weights  config.Weights
	fusion   string
}

// OptionsOf returns what a daemon is started with.
func OptionsOf(c *config.Config, log *slog.Logger) Options {
	records := c.Records
	logFile, err := c.LogPath()
	if err == nil {
		records.Vault.Outside = []string{logFile}
	}
	return Options{
		chat: c.Chat, prompts: c.Prompts,
		Socket: c.Socket, Data: c.Data, Log: log, idleExit: c.IdleExit, limits: c.Limits,
		records: records, store: c.Store, embedder: c.Embedder, reranker: c.Reranker, weights: c.Weights, fusion: c.Fusion,
	}
}

// Start takes the socket and serves: how the daemon is, and calls that
// wait for load. The socket comes before the store: it is what tells a second
// daemon from the first without touching the data.
//
// A socket that another daemon owns is a *socket.OwnedError. GOMAXPROCS of the process is
// at least two from then on.
func Start(opts Options) (*Daemon, error) {
	ensureThreads()
	embedder, err := OpenEmbedder(opts.embedder, opts.Log)
	if err != nil {
		return nil, err
	}
	providers, err := OpenProviders(&opts.chat)
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	templates := prompts.Open(opts.prompts, opts.Log)
	distiller, err := OpenDistiller(&opts.chat, providers, templates)
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	learner, err := OpenLearner(&opts.chat, providers, templates)
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	ln, err := socket.Listen(opts.Socket, socket.Options{Version: term.ProgramVersion()})
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	by := Finding{
		embedder:      embedder,
		encoder:       OpenEncoder(&opts.embedder, embedder, opts.Log),
		reranker:      OpenReranker(opts.reranker, opts.embedder.Runner, 0, opts.Log),
		rerankTimeout: opts.reranker.Timeout,
		weights:       search.Weights{Lexical: opts.weights.Lexical, Semantic: opts.weights.Semantic},
		fusion:        search.Fusion(opts.fusion),
		providers:     providers,
		distiller:     distiller,
		learner:       learner,
	}
	d := &Daemon{
		Listener: ln, Dir: opts.Data, store: opts.store, embedder: embedder, reranker: by.reranker,
		providers: providers, log: opts.Log, started: time.Now(),
		Stopped: make(chan struct{}), Idle: make(chan struct{}), Failed: make(chan error, 1),
		late: func() <-chan time.Time { return time.After(EndTime - endMargin) },
	}
	if opts.Servers != "" {
		d.store.Sync.URL = opts.Servers
	}
	if opts.Queue {
		d.store.Sync.Offline = config.OfflineQueue
	}
	d.Server = rpc.New(rpc.Options{
		Methods: rpc.Methods(), Limits: opts.limits, Logger: opts.Log,
		Providers: providers, Templates: templates, Titles: opts.chat.Titles == config.TitlesByModel, Tasks: opts.chat.Tasks,
		Summaries: opts.chat.Summaries == config.SummariesByModel, Outcomes: opts.chat.Outcomes == config.OutcomesByModel && opts.records.Features.Learns(protocol.SettingMemoryOutcomes),
		Info:    protocol.ServerInfo{Name: "ctxd", Version: term.ProgramVersion(), Commit: term.ProgramCommit()},
		DataDir: opts.Data, Format: StoreFormat, Room: &opts.store.Room, Off: opts.records.Features.Off(),
		Stop:      func() { d.stopOnce.Do(func() { close(d.Stopped) }) },
		OpenStore: d.openStore,
		OpenAsIs:  func() (*kv.Store, error) { return openAsIs(d.Dir, d.store, d.log) },
		OpenRooms: func(db *kv.Store) (*rpc.Deps, error) { return d.openRooms(db, opts.records, by) },
		IdleAfter: opts.idleExit, OnIdle: func() { close(d.Idle) },
	})
	go func() {
		if err := d.Server.Serve(ln); err != nil {
			d.Failed <- err
		}
	}()
	return d, nil
}

// Load opens the store and lets in the calls that wait for it. An error ends the
// daemon; close is then not to be called. When ctx ends or admin.stop is called
// first, it is Cancelled; what has been begun is waited for, but not for ever: an end in
// the middle of it is as safe as a crash. Data that another daemon owns is an *OwnedError.
func (d *Daemon) Load(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-d.Stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	loaded := make(chan error, 1)
	go func() { loaded <- d.Server.Load(ctx) }()
	var err error
	select {
	case err = <-loaded:
	case <-ctx.Done():
		select {
		case err = <-loaded:
		case <-d.late():
			return errors.Join(ctx.Err(), d.Listener.Close())
		}
	}
	if err == nil {
		return nil
	}
	closed := d.Close() // first: telling who has the data may take a moment
	return errors.Join(OwnerOf(d.Dir, err), closed)
}

// openStore opens the store and signs the data.
func (d *Daemon) openStore() (*kv.Store, error) {
	d.ahead = readIndexAhead(d.Dir)
	err := d.openReplica()
	if err != nil {
		return nil, err
	}
	db, err := openData(d.Dir, d.store, d.replica, d.log, d.storeChanged, d.Listener.Files()...)
	if err != nil {
		return nil, err
	}
	if err := d.sign(); err != nil {
		d.log.Warn("cannot write the lock information: a second daemon will not learn which process owns the data", "error", err)
	}
	d.signed = true
	return db, nil
}

// storeChanged is called when the status of the store is another one.
func (d *Daemon) storeChanged() {
	d.Server.HealthChanged()
	if d.replica == nil {
		return
	}
	trouble := d.replica.Health().Trouble
	was := d.refusing.Swap(trouble != nil)
	switch {
	case trouble != nil && !was:
		d.log.Warn("the shared store takes no writes", "error", trouble.Msg)
	case trouble == nil && was:
		d.log.Info("the shared store takes writes again")
	}
}

// openReplica begins to connect the store to those that it is shared with, if it is. One that
// this machine has left is its own.
func (d *Daemon) openReplica() error {
	if d.store.Sync.URL == "" || d.replica != nil || shared.Left(d.Dir) {
		return nil
	}
	servers, err := d.store.Sync.Servers()
	if err != nil {
		return err
	}
	d.replica, err = shared.Open(shared.Options{Servers: servers, Dir: d.Dir, Logger: d.log})
	return err
}

// openRooms opens the rooms over a store, and has it follow those that it is shared with.
func (d *Daemon) openRooms(db *kv.Store, limits config.Records, by Finding) (*rpc.Deps, error) {
	by.ahead, d.ahead, by.bookChild = d.ahead, nil, books.OwnChild()
	by.replica, by.queue = d.replica, d.store.Sync.Offline == config.OfflineQueue
	rooms, err := RoomsOver(db, limits, by, d.log)
	if err != nil || d.replica == nil {
		return rooms, err
	}
	return rooms, d.replica.Serve(db)
}

// Go runs what the daemon does beside serving. Close waits for it: have it end before.
func (d *Daemon) Go(work func()) { d.beside.Go(work) }

// Close ends the daemon: it takes no more calls, has jobs stop, lets the other calls under
// way finish, and closes the store. Reads, and mutations that have not begun, are withdrawn
// after DrainTime. What has not ended shortly before EndTime is left behind, as by a
// crash, which the error says: nothing that was acknowledged is lost, and the process is to
// end.
func (d *Daemon) Close() error {
	d.awaits("writes in progress")
	ended := make(chan error, 1)
	go func() { ended <- d.end() }()
	select {
	case err := <-ended:
		return err
	case <-d.late():
		return fault.New(fault.Unavailable,
			"stopping took too long, so the daemon did not wait for %s; everything acknowledged is stored",
			*d.endsWith.Load()).
			WithHint("start the daemon again; it reads what is stored")
	}
}

// end is Close without a limit.
func (d *Daemon) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), DrainTime)
	defer cancel()
	_ = d.Server.Shutdown(ctx) // the log says what was withdrawn
	d.Server.Wait()
	d.awaits("imports in progress")
	d.beside.Wait()
	if d.signed {
		_ = os.Remove(filepath.Join(d.Dir, Signature)) // without it the next owner is told of by pid only
	}
	if d.replica != nil {
		d.awaits("a snapshot for other machines")
		d.replica.Pause()
	}
	d.awaits("closing the store")
	err := errors.Join(d.Listener.Close(), d.Server.CloseStore())
	if d.replica != nil {
		d.replica.Close()
	}
	d.awaits("stopping the embedder")
	err = errors.Join(err, d.embedder.Close())
	d.providers.Close()
	if d.reranker != nil {
		d.awaits("stopping the reranker")
		err = errors.Join(err, d.reranker.Close())
	}
	return err
}

func (d *Daemon) awaits(what string) { d.endsWith.Store(&what) }

// Signature is the file in the data folder that says which daemon has it. The
// lock is the store's; this is for people.
const Signature = "daemon.json"

// Owner is what a signature says.
type Owner struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Socket  string    `json:"socket"`
}

// Uptime is how long the daemon has run, 0 when the clock was set back since.
func (o Owner) Uptime() time.Duration { return max(0, time.Since(o.Started)) }

func (d *Daemon) sign() error {
	data, err := json.Marshal(Owner{os.Getpid(), term.ProgramVersion(), d.started.UTC(), d.Listener.Path()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.Dir, Signature), append(data, '\n'), 0o600)
}

// ReadSignature returns who has the data in a folder.
func ReadSignature(dir string) (o Owner, err error) {
	data, err := os.ReadFile(filepath.Join(dir, Signature))
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err == nil && o.PID == 0 {
		err = errors.New("the lock information names no process")
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
func awaitSignature(dir string) (Owner, error) {
	for deadline := time.Now().Add(signatureWait); ; {
		o, err := ReadSignature(dir)
		if err == nil && Running(o.PID) {
			return o, nil
		}
		if time.Now().After(deadline) {
			return Owner{}, errors.New("no running process owns the data")
		}
		time.Sleep(signatureStep) //nolint:forbidigo // the owner is another process: its file can only be read again
	}
}

// OwnedError says that another daemon has the data.
type OwnedError struct {
	owner Owner // zero when it could not be told
	Fault *fault.Error
}

// Error is the message.
func (e *OwnedError) Error() string { return e.Fault.Error() }

// Describe says how the error is shown.
func (*OwnedError) Describe(f *term.Failure) { f.Code = term.ExitOwned }

// Unwrap returns the cause.
func (e *OwnedError) Unwrap() error { return e.Fault }

// OwnerOf makes an *OwnedError of the conflict that opening data in use is.
func OwnerOf(dir string, err error) error {
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	e := &OwnedError{Fault: fault.Clash(fault.Exists, "%s", fault.Message(err)).
		WithHint("choose another folder with --data, or stop that process")}
	var unsigned error
	e.owner, unsigned = awaitSignature(dir)
	if unsigned != nil {
		return e
	}
	up := e.owner.Uptime().Round(time.Second)
	e.Fault.Msg = fmt.Sprintf("another ctxd already owns this data (pid %d, version %s, up %s) and listens on %s",
		e.owner.PID, e.owner.Version, up, e.owner.Socket)
	e.Fault.Hint = "use that one, or stop it with: ctxd stop --socket " + e.owner.Socket
	return e
}
