package embed

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// connectTimeout bounds dialling.
const connectTimeout = 10 * time.Second

// peer is an endpoint with what it takes to ask it.
type peer struct {
	outbound.Service
	at      *outbound.Address
	remote  bool // it may be dialled outside this machine
	model   string
	key     string
	timeout time.Duration // of a request
	client  *http.Client
	dialer  *net.Dialer // of the client
	log     *slog.Logger
	pace    pace
}

// newPeer fills in what options leave open. The timeout is that of s unless set.
func newPeer(s outbound.Service, o *EndpointOptions, timeout time.Duration, p pace) (peer, error) {
	at, err := s.Resolve(o.target())
	if err != nil {
		return peer{}, err
	}
	out := peer{
		Service: s, at: at, remote: at.Remote(o.AllowRemote), model: o.Model, key: o.Key, timeout: o.Timeout, log: o.Logger,
		pace: p,
	}
	if out.timeout <= 0 {
		out.timeout = timeout
	}
	if out.log == nil {
		out.log = slog.New(slog.DiscardHandler)
	}
	out.client, out.dialer = outbound.NewClient(outbound.ClientOptions{
		Remote: out.remote, Socket: at.Socket, Idle: maxQueries + maxPassages, Connections: maxQueries + maxPassages + 1,
		Connect: connectTimeout,
	})
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

// failure is the error of an endpoint that can't serve now.
func (p *peer) failure(format string, args ...any) *fault.Error {
	return p.Failure(p.at, format, args...)
}

// failureOf is the failure that a refusal is for a caller.
func (p *peer) failureOf(r *refusal) *fault.Error { return p.FailureOf(p.at, r) }

// repeat tries again what fails with a refusal that may pass.
func repeat[T any](ctx context.Context, p pace, tries uint, try func() (T, error)) (T, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = p.first, p.most
	return backoff.Retry(ctx, func() (T, error) {
		answer, err := try()
		var r *refusal
		switch {
		case errors.As(err, &r) && !r.Passing:
			return answer, backoff.Permanent(err)
		case r != nil && r.After != nil:
			return answer, &pausing{r}
		}
		return answer, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
}

// refusal is a request without an answer.
type refusal = outbound.Refusal

func refused(format string, args ...any) *refusal { return outbound.NewRefusal(format, args...) }

// pausing is a refusal whose wait, which the endpoint asks for, is found by package backoff.
type pausing struct{ *refusal }

// Unwrap returns the refusal and its wait.
func (p *pausing) Unwrap() []error {
	return []error{p.refusal, &backoff.RetryAfterError{Duration: *p.After}}
}

// send posts a body and gives the reply, of at most so many bytes. Its errors are
// *refusal and that of ctx.
func (p *peer) send(ctx context.Context, body []byte, most int64) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := p.at.NewRequest(limited, body, "application/json")
	if err != nil {
		return nil, err
	}
	if p.key != "" {
		req.Header.Set("Authorization", "Bearer "+p.key)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, p.Unreached(ctx, err, p.timeout)
	}
	defer func() { _ = res.Body.Close() }() // what was read is all that counts
	if res.StatusCode != http.StatusOK {
		return nil, p.Complaint(res, p.model, p.pace.most)
	}
	reply, err := outbound.ReadBody(res.Body, most)
	var r *refusal
	if err == nil || errors.As(err, &r) {
		return reply, err
	}
	return nil, p.Unreached(ctx, err, p.timeout)
}
