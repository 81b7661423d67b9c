package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ctxd/ctxd/entities/fault"
)

const (
	// maxComplaint is how much is read of a reply that tells of an error.
	maxComplaint = 4 << 10
	maxHeader    = 64 << 10
)

// service is what an endpoint is asked for, in the words of errors and hints.
type service struct {
	noun    string // of an endpoint
	setting string // what its settings begin with
	path    string // what its URL ends with
	example string // the name of a model
	pull    string // how one is fetched
	start   string // how a server is started for it
	outside string // how one on another machine is allowed, behind the name of its settings
}

// peer is an endpoint with what it takes to ask it.
type peer struct {
	service
	at      *endpoint
	remote  bool // it may be dialled outside this machine
	model   string
	key     string
	timeout time.Duration // of a request
	client  *http.Client
	dialer  *net.Dialer // of the client
	log     *slog.Logger
	pace    pace
}

// allowing is what lets a service be asked on another machine.
func (s service) allowing() string {
	return "set " + s.setting + "." + s.outside + " when the texts of your notes may leave this machine"
}

// newPeer fills in what options leave open. The timeout is that of s unless set.
func newPeer(s service, o *Options, timeout time.Duration, p pace) (peer, error) {
	at, err := o.endpoint(s)
	if err != nil {
		return peer{}, err
	}
	out := peer{
		service: s, at: at, remote: at.remote(o.AllowRemote), model: o.Model, key: o.Key, timeout: o.Timeout, log: o.Logger,
		pace: p,
	}
	if out.timeout <= 0 {
		out.timeout = timeout
	}
	if out.log == nil {
		out.log = slog.New(slog.DiscardHandler)
	}
	out.client, out.dialer = newClient(out.remote)
	return out, nil
}

// pace is how often and how soon a request is repeated.
type pace struct {
	queryTries, passageTries uint
	first, most              time.Duration // between tries; Retry-After is bounded by most
	rest                     time.Duration // after some failures in a row, in which nothing is asked
}

// failuresToRest is after how many failures in a row an endpoint is left alone
// for a while.
const failuresToRest = 3

// newClient returns a client that follows no redirect, and what it dials with.
// One that is not remote dials only addresses of this machine, and asks no proxy.
func newClient(remote bool) (*http.Client, *net.Dialer) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	t := &http.Transport{
		MaxIdleConnsPerHost: maxQueries + maxPassages, MaxConnsPerHost: maxQueries + maxPassages + 1,
		IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
		DisableCompression: true, ForceAttemptHTTP2: true, // a small reply can't unpack into a large one
	}
	if remote {
		t.Proxy = http.ProxyFromEnvironment
	} else {
		dialer.ControlContext = onlyLoopback
	}
	t.DialContext = dialer.DialContext
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: t, CheckRedirect: follow}, dialer
}

var errNotLoopback = errors.New("not an address of this machine")

// onlyLoopback refuses to dial what is not this machine. The address is the one
// that a name was resolved to.
func onlyLoopback(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return errNotLoopback
	}
	return nil
}

// failure is the error of an endpoint that can't serve now.
func (p *peer) failure(format string, args ...any) *fault.Error {
	e := fault.New(fault.Unavailable, "the %s %s %s", p.noun, p.at.host, fmt.Sprintf(format, args...))
	e.Retryable = true
	return e
}

// failureOf is the failure that a refusal is for a caller.
func (p *peer) failureOf(r *refusal) *fault.Error {
	f := p.failure("%s", r.fault.Msg)
	f.Hint, f.Err = r.fault.Hint, r.fault.Err
	return f
}

// repeat tries again what fails with a refusal that may pass.
func repeat[T any](ctx context.Context, p pace, tries uint, try func() (T, error)) (T, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = p.first, p.most
	return backoff.Retry(ctx, func() (T, error) {
		answer, err := try()
		var r *refusal
		if errors.As(err, &r) && !r.passing {
			return answer, backoff.Permanent(err)
		}
		return answer, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
}

// refusal is a request without an answer. The message of its fault goes on behind
// the name of the endpoint.
type refusal struct {
	fault   *fault.Error
	passing bool                     // trying again may help
	texts   bool                     // the texts may be the reason
	long    bool                     // they are too long, it says
	after   *backoff.RetryAfterError // what the endpoint said, nil for nothing
}

func (r *refusal) Error() string { return r.fault.Error() }

// Unwrap has the wait that an endpoint asks for found.
func (r *refusal) Unwrap() error {
	if r.after == nil {
		return nil
	}
	return r.after
}

func refused(format string, args ...any) *refusal {
	return &refusal{fault: fault.New(fault.Unavailable, format, args...)}
}

func (r *refusal) hint(format string, args ...any) *refusal {
	r.fault.Hint = fmt.Sprintf(format, args...)
	return r
}

// send posts a body and gives the reply, of at most so many bytes. Its errors are
// *refusal and that of ctx.
func (p *peer) send(ctx context.Context, body []byte, most int64) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, p.at.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "ctxd")
	if p.key != "" {
		req.Header.Set("Authorization", "Bearer "+p.key)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, p.unreached(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // what was read is all that counts
	if res.StatusCode != http.StatusOK {
		return nil, p.complaint(res)
	}
	reply, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return nil, p.unreached(ctx, err)
	case int64(len(reply)) > most:
		return nil, refused("sent more than %d MiB", most>>20)
	}
	return reply, nil
}

// unreached is the refusal of an endpoint that gave no whole reply.
func (p *peer) unreached(ctx context.Context, err error) error {
	var timeout net.Error
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNotLoopback):
		return refused("is not this machine").
			hint("%s", p.allowing())
	case errors.Is(err, syscall.ECONNREFUSED):
		r := refused("takes no connection").hint("start its server, or correct %s.url", p.setting)
		r.passing = true
		return r
	case errors.As(err, &dns):
		return refused("has a name that leads nowhere").hint("correct %s.url", p.setting)
	case errors.As(err, &timeout) && timeout.Timeout():
		return refused("gave no answer within %s", p.timeout).hint("%s.timeout gives it longer", p.setting)
	}
	r := refused("broke the connection")
	r.fault.Err, r.passing = withoutURL(err), true
	return r
}

// withoutURL is the reason in an error of the client.
func withoutURL(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// complaint is the refusal in a reply that is no success. What the endpoint
// wrote is not passed on: it may quote the texts.
func (p *peer) complaint(res *http.Response) *refusal {
	said, _ := io.ReadAll(io.LimitReader(res.Body, maxComplaint)) // what is missing says nothing
	r := refused("answered with status %d", res.StatusCode)
	switch s := res.StatusCode; {
	case s >= 300 && s < 400:
		return r.hint("it sends elsewhere, which is not followed: set %s.url to the place itself", p.setting)
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return r.hint("it wants a key: %s.key says where one is found", p.setting)
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed:
		return r.hint("its model %q may be missing%s, or %s.url be wrong", p.model, p.pull, p.setting)
	case s == http.StatusNotImplemented:
		return r.hint("%s", p.start)
	case s == http.StatusBadRequest || s == http.StatusRequestEntityTooLarge || s == http.StatusUnprocessableEntity:
		r.texts, r.long = true, s == http.StatusRequestEntityTooLarge || tooLong(said)
		return r.hint("look into the log of its server; a model %q may not be there", p.model)
	case s == http.StatusInternalServerError:
		r.texts, r.long = true, tooLong(said)
		r.passing = !r.long
	case s >= 500 || s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s == http.StatusTooEarly:
		r.passing = true
	}
	if r.passing {
		r.after = retryAfter(res.Header.Get("Retry-After"), time.Now(), p.pace.most)
	}
	return r.hint("look into the log of its server")
}

// tooLong reports whether a complaint is of a text that is too long for the
// model, which llama-server calls a fault of its own.
func tooLong(said []byte) bool {
	text := strings.ToLower(string(said))
	return strings.Contains(text, "too large") || strings.Contains(text, "context")
}

// retryAfter reads a Retry-After, in seconds or as a date, bounded.
func retryAfter(text string, now time.Time, most time.Duration) *backoff.RetryAfterError {
	text = strings.TrimSpace(text)
	if s, err := strconv.ParseUint(text, 10, 32); err == nil {
		return &backoff.RetryAfterError{Duration: min(time.Duration(s)*time.Second, most)}
	}
	if at, err := http.ParseTime(text); err == nil {
		return &backoff.RetryAfterError{Duration: max(0, min(at.Sub(now), most))}
	}
	return nil
}
