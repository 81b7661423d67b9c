package nats

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// dialer keeps why there is no connection: the client forgets it when it tries again. It also
// keeps what the servers do not allow, which they say beside their answers.
type dialer struct {
	net.Dialer
	credentials credentials

	mu     sync.Mutex           // of what follows
	last   error                // nil: there is a connection, or nobody knows why there is none
	denied map[string]time.Time // when a server last refused to take what was published to a subject
	more   chan struct{}        // closed at the next such refusal
}

func newDialer() *dialer {
	return &dialer{denied: make(map[string]time.Time), more: make(chan struct{})}
}

// Dial connects.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	c, err := d.Dialer.Dial(network, address)
	if err != nil {
		d.note(err)
	}
	return c, err
}

func (d *dialer) note(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = err
}

// connected notes that there is a connection.
func (d *dialer) connected() { d.note(nil) }

// why returns why there is no connection.
func (d *dialer) why() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// precise is what is known of a connection that did not come about, where the client knows
// less.
func (d *dialer) precise(err error) error {
	if bad := d.credentials.why(); bad != nil && refusesCredentials(err) {
		return bad
	}
	if last := d.why(); last != nil && errors.Is(err, nats.ErrNoServers) {
		return last
	}
	return err
}

var deniedSubject = text.Pattern(`(Publish|Subscription) to "([^"]+)"`)

// heard is told what a server says beside its answers.
func (d *dialer) heard(_ *nats.Conn, _ *nats.Subscription, err error) {
	switch {
	case refusesCredentials(err):
		d.note(err)
	case ofDenial(err) != "":
		d.mu.Lock()
		defer d.mu.Unlock()
		d.denied[ofDenial(err)] = time.Now()
		close(d.more)
		d.more = make(chan struct{})
	}
}

// ofDenial returns the subject that a server does not allow, "" for another error.
func ofDenial(err error) string {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return ""
	}
	found := deniedSubject().FindStringSubmatch(err.Error())
	switch {
	case found == nil:
		return ""
	case found[1] == "Subscription" && strings.HasPrefix(found[2], "_INBOX."):
		return inboxes
	}
	return found[2]
}

// inboxes is where answers come.
const inboxes = "_INBOX.>"

// denies returns the subjects for which a server has said since that time that it takes nothing
// from us, of those that are asked for. Of inboxes it tells in any case.
func (d *dialer) denies(since time.Time, subjects ...string) (list []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range append(subjects, inboxes) {
		if at, there := d.denied[s]; there && !at.Before(since) {
			list = append(list, s)
		}
	}
	return list
}

// forbidden is the fault of what a user may not do.
func forbidden(what string) *fault.Error {
	f := fault.New(fault.Unavailable, "the user of the servers of the shared store may not %s", what)
	f.Retryable = true
	return f.WithHint("allow it in the permissions of the user on the servers, or name another user with store.sync.credentials")
}

func refusesCredentials(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAccountAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

// unreachable is the fault of servers that do not answer, or whose answer is no use. All of it
// can pass without anything being done here.
func unreachable(err error) *fault.Error {
	var known *fault.Error
	if errors.As(err, &known) {
		f := *known
		f.Retryable = true
		return &f
	}
	msg, hint := why(err)
	f := fault.Wrap(fault.Unavailable, err, "%s", msg)
	f.Retryable = true
	return f.WithHint("%s", hint)
}

const (
	renewCredentials = "renew what store.sync.credentials names; it is read again without a new start"
	wrongAddress     = "correct the address or the port in store.sync.url; NATS servers listen on 4222 unless their configuration says otherwise"
)

// why says what a person can do about a connection that did not come about.
func why(err error) (msg, hint string) {
	var (
		name      *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		op        *net.OpError
		file      *fs.PathError
	)
	switch {
	case errors.Is(err, nats.ErrAuthExpired):
		return "the credentials for the servers of the shared store have expired", renewCredentials
	case errors.Is(err, nats.ErrAccountAuthExpired):
		return "the account on the servers of the shared store has expired", "have whoever runs the servers renew the account"
	case errors.Is(err, nats.ErrAuthRevoked):
		return "the credentials for the servers of the shared store were revoked", renewCredentials
	case errors.Is(err, nats.ErrAuthorization):
		return "the servers of the shared store refuse the credentials", "correct or " + renewCredentials
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return "the servers of the shared store do not keep streams now", "look at their log: jetstream is not enabled in their configuration, or has ended since a disk is full"
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
	case errors.As(err, &op) && op.Op == "remote error", // an alert of TLS
		strings.Contains(err.Error(), "closed by remote after TLS handshake"): // the client did not wait for one
		return "a server of the shared store refuses the certificate of this machine, or wants one", "give store.sync.cert and store.sync.certKey, of an authority that the server trusts"
	case errors.As(err, &record), errors.Is(err, nats.ErrNoInfoReceived), isProtocol(err):
		return "what answers at the address of the shared store is no NATS server", wrongAddress
	case errors.As(err, &op) && op.Op == "read" && op.Timeout():
		return "what listens at the address of the shared store says nothing", "look whether the server hangs; or " + wrongAddress
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return "the servers of the shared store do not answer", "look whether most of them run, and in their log whether one of them leads and has room on its disk; what is here can be read meanwhile"
	case errors.Is(err, io.EOF):
		return "what listens at the address of the shared store closes the connection", "look whether the server is being stopped; or " + wrongAddress
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the servers of the shared store can't be reached: nothing listens at their address", "start them, or correct the address or the port in store.sync.url; what is here can be read meanwhile"
	case errors.As(err, &file):
		return "a file of a certificate can't be read", "correct store.sync.ca, store.sync.cert and store.sync.certKey"
	}
	return "the servers of the shared store can't be reached", "look whether they run, and whether store.sync.url is right; what is here can be read meanwhile"
}

// isProtocol reports whether the client could make nothing of what a server said.
func isProtocol(err error) bool {
	return strings.Contains(err.Error(), "nats: protocol exception") || strings.Contains(err.Error(), "nats: Parse Error")
}

// explainError maps what the servers or the client answered. Faults stay as they are.
func explainError(err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f), errors.Is(err, context.Canceled):
		return err
	case noRoom(err) != nil:
		return noRoom(err)
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrBucketNotFound):
		return fault.Wrap(fault.Unavailable, err, "the shared store is not on these servers").
			WithHint("correct store.sync.url; if the servers have lost it, begin it anew on the machine that has most: ctxd sync init --again")
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fault.Wrap(fault.Unavailable, err, "the servers do not keep streams for this account").WithHint("enable jetstream for the account in the configuration of the servers")
	default:
		return unreachable(err)
	}
}
