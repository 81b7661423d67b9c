package stream

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/commitlog"
)

// Servers say where a cluster is and how it is entered.
type Servers struct {
	URL         string // nats://HOST:PORT, or tls://; several are separated by commas
	Credentials string // the text of a credentials file, a user seed, USER:PASSWORD, or a token; "": none
	CA          string // file of the certificates that are trusted beside those of the system
	Cert        string // files of this machine's certificate
	CertKey     string
}

// How long things may take.
const (
	dialWait      = 5 * time.Second
	reconnectWait = 100 * time.Millisecond
	reconnectMost = 2 * time.Second
	pingEvery     = 5 * time.Second
	askWait       = 5 * time.Second // for a question to the servers that is not repeated
	attemptWait   = 2 * time.Second // for one attempt of it, and one acknowledgement; an election takes about as long
	firstWait     = attemptWait / 8 // for the first attempt of a question
	askTries      = 6
	elsewhere     = 2 * attemptWait // without an answer, before another server is tried; an election may be over by then
)

// CheckURL refuses what is no address of servers. The error does not show it: it may hold a
// password.
func CheckURL(text string) *fault.Error {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return fault.New(fault.Invalid, "it is no address of NATS servers").WithHint("give nats://HOST:4222, or tls://HOST:4222, several separated by commas")
		}
		if u.User != nil {
			return fault.New(fault.Invalid, "the address holds a user or a password").
				WithHint("leave it out, and say with store.sync.credentials where it is found")
		}
	}
	return nil
}

// entering returns the options that credentials are.
func entering(text string) (nats.Option, error) {
	text = strings.TrimSpace(text)
	user, password, pair := strings.Cut(text, ":")
	switch {
	case text == "":
		return nil, nil
	case strings.Contains(text, "BEGIN NATS USER JWT"):
		return nats.UserCredentialBytes([]byte(text)), nil
	case strings.HasPrefix(text, "SU") && len(text) == 58:
		pairOfKeys, err := nkeys.FromSeed([]byte(text))
		if err != nil {
			return nil, fault.New(fault.Unavailable, "the credentials of the servers are no valid seed").WithHint("correct what store.sync.credentials names")
		}
		public, err := pairOfKeys.PublicKey()
		if err != nil {
			return nil, fault.New(fault.Unavailable, "the credentials of the servers are no valid seed").WithHint("correct what store.sync.credentials names")
		}
		return nats.Nkey(public, pairOfKeys.Sign), nil
	case pair && !strings.Contains(text, "\n"):
		return nats.UserInfo(user, password), nil
	default:
		return nats.Token(text), nil
	}
}

// dialer keeps why it could not connect the last time: the client forgets it when it tries again.
type dialer struct {
	net.Dialer
	mu   sync.Mutex // of what follows
	last error      // nil: it could
}

// Dial connects.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	c, err := d.Dialer.Dial(network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = err
	return c, err
}

func (d *dialer) why() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
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
		nats.CustomReconnectDelay(func(attempts int) time.Duration { return min(reconnectMost, reconnectWait<<min(attempts, 6)) }),
		nats.ReconnectBufSize(-1), // what can't be sent now is not sent later behind our back
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.IgnoreAuthErrorAbort(),
	}, more...)
	in, bad := entering(s.Credentials)
	if bad != nil {
		return nil, bad
	}
	if in != nil {
		options = append(options, in)
	}
	if s.CA != "" {
		options = append(options, nats.RootCAs(s.CA))
	}
	if s.Cert != "" {
		options = append(options, nats.ClientCert(s.Cert, s.CertKey))
	}
	nc, failed := nats.Connect(s.URL, append(options, nats.SetCustomDialer(d))...)
	if failed != nil {
		return nil, unreachable(failed)
	}
	return nc, nil
}

// unreachable is the fault of servers that do not answer, or whose answer is no use. All of it
// can pass without anything being done here.
func unreachable(err error) *fault.Error {
	msg, hint := why(err)
	f := fault.Wrap(fault.Unavailable, err, "%s", msg)
	f.Retryable = true
	return f.WithHint("%s", hint)
}

// why says what a person can do about a connection that did not come about.
func why(err error) (msg, hint string) {
	var (
		name      *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		file      *fs.PathError
	)
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAccountAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return "the servers of the shared store refuse the credentials", "correct store.sync.credentials"
	case errors.Is(err, nats.ErrNoResponders):
		return "the servers of the shared store do not keep streams", "enable jetstream in the configuration of the servers"
	case errors.As(err, &name):
		return "the name of a server of the shared store is not known here", "look whether this machine has a network, and whether store.sync.url is right"
	case errors.As(err, &authority):
		return "the certificate of a server of the shared store is of an authority that is not trusted here", "name the certificate of the authority with store.sync.ca"
	case errors.As(err, &host):
		return "the certificate of a server of the shared store is for another name", "give the server in store.sync.url the name that its certificate has"
	case errors.As(err, &invalid):
		return "the certificate of a server of the shared store is not valid", "look whether it has expired, and whether the clock of this machine is right"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "a server of the shared store has no TLS", "configure tls on the server; nats:// in store.sync.url connects without it"
	case errors.As(err, &file):
		return "a file of a certificate can't be read", "correct store.sync.ca, store.sync.cert and store.sync.certKey"
	}
	return "the servers of the shared store can't be reached", "look whether they run, and whether store.sync.url is right; what is here can be read meanwhile"
}

// says maps what the servers or the client answered. Faults stay as they are.
func says(err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrBucketNotFound):
		return fault.Wrap(fault.Unavailable, err, "the shared store is not on these servers").
			WithHint("correct store.sync.url; if the servers have lost it, begin it anew on the machine that has most: ctxd sync init --again")
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fault.Wrap(fault.Unavailable, err, "the servers do not keep streams").WithHint("enable jetstream in the configuration of the servers")
	default:
		return unreachable(err)
	}
}

// Log is the log of a shared store on a cluster. It is what commitlog.Log asks for. Close ends
// it.
type Log struct {
	id      *Identity
	nc      *nats.Conn
	js      jetstream.JetStream
	dialer  dialer
	log     *slog.Logger
	changes chan struct{}
	tail    *tail
	cancel  context.CancelFunc
	running sync.WaitGroup

	follows atomic.Bool // a consumer of the newest messages is there

	appending sync.Mutex // held by the one Append that runs

	mu       sync.Mutex // of what follows
	head     head
	short    bool   // its end was missing for long enough to say so
	verified uint64 // connects of which the store's position was found in the log
	connects uint64 // how often there was a connection
}

// head is how far the log was checked behind a position of the store.
type head struct {
	after commitlog.Position
	chain *chain
}

var _ commitlog.Log = (*Log)(nil)

// Open begins to follow a log. Servers that can't be reached are no error: it connects when
// they can.
func Open(servers Servers, id *Identity, log *slog.Logger) (*Log, error) {
	l := &Log{id: id, log: log, changes: make(chan struct{}, 1), tail: newTail(), connects: 1}
	up := func(*nats.Conn) {
		l.mu.Lock()
		l.connects++
		l.mu.Unlock()
		l.signal()
	}
	nc, err := dial(servers, &l.dialer, nats.RetryOnFailedConnect(true), nats.ConnectHandler(up), nats.ReconnectHandler(up))
	if err != nil {
		return nil, err
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
	return l, nil
}

// Close ends the connection. No other method may be called afterwards.
func (l *Log) Close() {
	l.cancel()
	l.nc.Close()
	l.running.Wait()
}

// Changes gets a value when there may be something new.
func (l *Log) Changes() <-chan struct{} { return l.changes }

func (l *Log) signal() {
	select {
	case l.changes <- struct{}{}:
	default:
	}
}

// Connected reports whether there is a connection to a server now.
func (l *Log) Connected() bool { return l.nc.IsConnected() }

// mostPayload bounds a message in bytes, whatever the servers allow: larger ones hold up the
// elections of a cluster.
const mostPayload = 1 << 20

// Await waits until a server answers, for dialWait at most.
func (l *Log) Await(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	for !l.nc.IsConnected() {
		select {
		case <-l.changes:
		case <-wait.Done():
			return withdrawn(ctx, l.offline())
		}
	}
	return nil
}
