package nats

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Servers say where a cluster is and how it is entered.
type Servers struct {
	URL         string // nats://HOST:PORT, or tls://; several are separated by commas
	Credentials string // the text of a credentials file, a user seed, USER:PASSWORD, or a token; "": none
	// Renew reads the credentials again, before each connection after the first; nil: they stay.
	Renew   func() (string, error)
	CA      string // file of the certificates that are trusted beside those of the system
	Cert    string // files of this machine's certificate
	CertKey string
}

// How long things may take.
const (
	dialWait         = 5 * time.Second
	reconnectWait    = 100 * time.Millisecond
	maxReconnectWait = 2 * time.Second
	pingEvery        = 5 * time.Second
	askWait          = 5 * time.Second // for a question to the servers that is not repeated
	attemptWait      = 2 * time.Second // for one attempt of it, and one acknowledgement; an election takes about as long
	firstWait        = attemptWait / 8 // for the first attempt of a question
	askTries         = 6
	// otherServerAfter is how long there is no answer before another server is tried. An election
	// may be over by then.
	otherServerAfter = 2 * attemptWait
)

// CheckURL refuses what is no address of servers. The error does not show it: it may hold a
// password.
func CheckURL(text string) *fault.Error {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		const hint = "give nats://HOST:4222, or tls://HOST:4222, several separated by commas"
		switch {
		case err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
			return fault.New(fault.Invalid, "it is no address of NATS servers").WithHint(hint)
		case u.User != nil:
			return fault.New(fault.Invalid, "the address holds a user or a password").
				WithHint("leave it out, and say with store.sync.credentials where it is found")
		}
		if port := u.Port(); port != "" {
			n, err := strconv.ParseUint(port, 10, 16)
			if err != nil || n == 0 {
				return fault.New(fault.Invalid, "the port of an address of NATS servers is not one of 1 to 65535").WithHint(hint)
			}
		}
	}
	return nil
}

// dial begins a connection, which is kept up for as long as it is not closed.
func dial(s Servers, d *dialer, more ...nats.Option) (*nats.Conn, error) {
	d.Timeout = dialWait
	err := CheckURL(s.URL)
	if err != nil {
		return nil, err
	}
	options := append([]nats.Option{
		nats.Name("ctxd"), nats.Timeout(dialWait), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.CustomReconnectDelay(func(attempts int) time.Duration { return min(maxReconnectWait, reconnectWait<<min(attempts, 6)) }),
		nats.ReconnectBufSize(-1), // what can't be sent now is not sent later behind our back
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(d.heard),
	}, more...)
	in, bad := d.entering(s)
	if bad != nil {
		return nil, bad
	}
	options = append(options, in...)
	if s.CA != "" {
		options = append(options, trusting(s.CA))
	}
	if s.Cert != "" {
		options = append(options, showing(s.Cert, s.CertKey))
	}
	nc, failed := nats.Connect(s.URL, append(options, nats.SetCustomDialer(d))...)
	if failed != nil {
		return nil, unreachable(d.precise(failed))
	}
	return nc, nil
}

// trusting has the certificates in a file be trusted beside those of the system. It is read
// again before each connection.
func trusting(file string) nats.Option {
	read := func() (*x509.CertPool, error) {
		certificates, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // those of the file are enough
		}
		if !pool.AppendCertsFromPEM(certificates) {
			return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("it holds no certificate")}
		}
		return pool, nil
	}
	return func(o *nats.Options) error {
		_, err := read()
		o.RootCAsCB, o.Secure = read, true
		return err
	}
}

// showing has the certificate of this machine be shown to servers.
func showing(cert, key string) nats.Option {
	return func(o *nats.Options) error {
		err := nats.ClientCert(cert, key)(o)
		if err != nil {
			return &fs.PathError{Op: "read", Path: cert, Err: err}
		}
		return nil
	}
}

// Log is the log of a shared store on a cluster. It is what outbox.Log asks for. Close ends
// it.
type Log struct {
	id      *Identity
	nc      *nats.Conn
	js      jetstream.JetStream
	dialer  *dialer
	log     *slog.Logger
	changes chan struct{}
	tail    *tail
	kept    *kept
	cancel  context.CancelFunc
	running sync.WaitGroup

	connected connected
	follows   atomic.Bool // a consumer of the newest messages is there

	appending sync.Mutex // held by the one Append that runs

	mu       sync.Mutex // of what follows
	head     head
	short    bool   // its end was missing for long enough to say so
	verified uint64 // connects of which the store's position was found in the log
	compared uint64 // connects of which the end was compared with what other machines have
	connects uint64 // how often there was a connection
}

// head is how far the log was checked behind a position of the store.
type head struct {
	after outbox.Position
	chain *chain
}

var _ outbox.Log = (*Log)(nil)

// OpenLog begins to follow a log. Servers that can't be reached are no error: it connects when
// they can.
func OpenLog(servers Servers, id *Identity, log *slog.Logger) (*Log, error) {
	l := &Log{id: id, log: log, changes: make(chan struct{}, 1), tail: newTail(), kept: id.kept(), connects: 1, dialer: newDialer()}
	up := func(*nats.Conn) {
		l.mu.Lock()
		l.connects++
		l.mu.Unlock()
		l.dialer.connected()
		l.connected.forget()
		l.connected.up.Store(true)
		l.signal()
	}
	told := make(chan struct{})
	first := func(nc *nats.Conn) {
		up(nc)
		close(told)
	}
	down := func(*nats.Conn, error) { l.connected.up.Store(false) }
	nc, err := dial(servers, l.dialer, nats.RetryOnFailedConnect(true),
		nats.ConnectHandler(first), nats.ReconnectHandler(up), nats.DisconnectErrHandler(down))
	if err != nil {
		return nil, err
	}
	wait := time.NewTimer(saidWait)
	defer wait.Stop()
	select {
	case <-told: // at once, if there is a connection
	case <-wait.C:
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(askWait))
	if err != nil {
		nc.Close()
		return nil, err
	}
	l.nc, l.js = nc, js
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.running.Go(func() { l.follow(ctx) })
	l.running.Go(func() { l.kept.flushing(ctx) })
	return l, nil
}

// Close ends the connection. No other method may be called afterwards.
func (l *Log) Close() {
	l.cancel()
	l.nc.Close()
	l.running.Wait()
	l.kept.close()
}

// Changes gets a value when there may be something new.
func (l *Log) Changes() <-chan struct{} { return l.changes }

func (l *Log) signal() {
	select {
	case l.changes <- struct{}{}:
	default:
	}
}

// maxPayload bounds a message in bytes, whatever the servers allow: larger ones hold up the
// elections of a cluster.
const maxPayload = 1 << 20

// Await waits until a server answers, for dialWait at most.
func (l *Log) Await(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	for !l.Connected() {
		select {
		case <-l.changes:
		case <-wait.Done():
			return withdrawn(ctx, l.offline())
		}
	}
	return nil
}
