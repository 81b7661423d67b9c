package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// maxComplaint is how much is read of a reply that tells of an error, in bytes.
const maxComplaint = 4 << 10

// Refusal is a request without an answer. The message of its fault goes on behind
// the name of the server.
type Refusal struct {
	Fault   *fault.Error
	Status  int            // of the reply, 0 for none
	Passing bool           // trying again may help
	Texts   bool           // the texts may be the reason
	Long    bool           // they are too long, it says
	After   *time.Duration // how long the server asks to wait, nil for nothing
	Known   bool           // its hint names the cause, which the server named
	said    string         // by the server, in lower case; it may quote texts and is shown to nobody
}

// Says reports whether the server's complaint has one of the words, which are in lower case.
func (r *Refusal) Says(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(r.said, w) })
}

// because sets the hint that the complaint of the server leads to.
func (r *Refusal) because(format string, args ...any) {
	r.Known = true
	_ = r.WithHint(format, args...)
}

// NewRefusal returns a refusal that is fault.Unavailable.
func NewRefusal(format string, args ...any) *Refusal {
	return &Refusal{Fault: fault.New(fault.Unavailable, format, args...)}
}

// Error is that of the fault.
func (r *Refusal) Error() string { return r.Fault.Error() }

// WithHint sets what to do about it and returns r.
func (r *Refusal) WithHint(format string, args ...any) *Refusal {
	r.Fault.Hint = fmt.Sprintf(format, args...)
	return r
}

// Failure is the error of a server that can't serve now.
func (s *Service) Failure(at *Address, format string, args ...any) *fault.Error {
	e := fault.New(fault.Unavailable, "the %s %s %s", s.Noun, at.Host, fmt.Sprintf(format, args...))
	e.Retryable = true
	return e
}

// FailureOf is the failure that a refusal is for a caller.
func (s *Service) FailureOf(at *Address, r *Refusal) *fault.Error {
	f := s.Failure(at, "%s", r.Fault.Msg)
	f.Hint, f.Err = r.Fault.Hint, r.Fault.Err
	return f
}

// Unreached is the refusal of a server that gave no whole reply to a request, which had
// so long. When ctx has ended it is the error of ctx.
func (s *Service) Unreached(ctx context.Context, err error, timeout time.Duration) error {
	var timedOut net.Error
	var dns *net.DNSError
	var dialled *net.OpError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNotLoopback):
		return NewRefusal("is not this machine").
			WithHint("%s", s.Allowing())
	case errors.Is(err, os.ErrPermission) && errors.As(err, &dialled) && dialled.Net == "unix": // of TCP it is a firewall
		return NewRefusal("may not be used by you").WithHint("look who may open its socket, or correct %s", s.address())
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist): // a socket that nobody listens on, or that is gone
		r := NewRefusal("takes no connection").WithHint("start its server, or correct %s", s.address())
		r.Passing = true
		return r
	case errors.As(err, &dns):
		return NewRefusal("has a name that leads nowhere").WithHint("correct %s", s.address())
	case errors.As(err, &timedOut) && timedOut.Timeout():
		return NewRefusal("gave no answer within %s", timeout).WithHint("%s.timeout gives it longer", s.Setting)
	}
	r := NewRefusal("broke the connection")
	r.Fault.Err, r.Passing = withoutURL(err), true
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

// Complaint is the refusal in a reply that is no success, of a server that was asked for a
// model. What the server wrote is not passed on: it may quote the texts. The hint names the cause that it names, and
// guesses none. A Retry-After is bounded by most.
func (s *Service) Complaint(res *http.Response, model string, most time.Duration) *Refusal {
	said, _ := io.ReadAll(io.LimitReader(res.Body, maxComplaint)) // what is missing says nothing
	r := NewRefusal("answered with status %d", res.StatusCode)
	r.Status, r.said = res.StatusCode, strings.ToLower(string(said))
	switch c := res.StatusCode; {
	case c == http.StatusBadRequest || c == http.StatusRequestEntityTooLarge || c == http.StatusUnprocessableEntity || c == http.StatusInternalServerError:
		r.Texts, r.Long = true, c == http.StatusRequestEntityTooLarge || r.tooLong()
		r.Passing = c == http.StatusInternalServerError && !r.Long
	case c > http.StatusInternalServerError && c != http.StatusNotImplemented || c == http.StatusTooManyRequests || c == http.StatusRequestTimeout || c == http.StatusTooEarly:
		r.Passing = true
	}
	s.explain(r, model)
	if r.Passing {
		r.After = RetryAfter(res.Header.Get("Retry-After"), time.Now(), most)
	}
	return r
}

// explain sets the hint of a complaint.
func (s *Service) explain(r *Refusal, model string) {
	switch c := r.Status; {
	case c >= 300 && c < 400:
		r.because("it sends elsewhere, which is not followed: set %s to the place itself", s.address())
	case c == http.StatusPaymentRequired || r.Says("insufficient_quota", "exceeded your current quota", "billing", "credit balance",
		"insufficient balance", "insufficient credits", "payment required"):
		r.Passing = false
		r.because("the account has no credit left: look at it where the key is from")
	case c == http.StatusUnauthorized || c == http.StatusForbidden || r.Says("invalid api key", "incorrect api key", "api key not valid", "invalid x-api-key", "invalid_api_key"):
		r.because("it wants a key: %s.key says where one is found", s.Setting)
	case c != http.StatusTooManyRequests && r.noModel():
		r.Texts, r.Passing = false, false
		r.because("it has no model %q%s: correct %s.model", model, s.Pull, s.Setting)
	case r.Says("loading model", "model is loading", "currently loading", "being loaded"):
		r.Texts, r.Passing = false, true
		r.because("its model is being loaded: try again in a moment")
	case c == http.StatusNotFound || c == http.StatusMethodNotAllowed:
		r.because("nothing answers at that address: correct %s", s.address())
	case c == http.StatusNotImplemented:
		r.because("%s", s.Start)
	default:
		_ = r.WithHint("look into the log of its server")
	}
}

// noModel reports whether a complaint is that the model is not there.
func (r *Refusal) noModel() bool {
	return r.Says("unknown model", "no such model", "model_not_found", "invalid model", "try pulling") ||
		r.Says("model:") && r.Says("not_found_error") ||
		r.Says("model") && r.Says("not found", "does not exist", "not exist", "not a valid model", "is not available")
}

// tooLong reports whether a complaint is of a text that is too long for the
// model, which llama-server calls a fault of its own.
func (r *Refusal) tooLong() bool {
	return r.Says("too large", "too long", "too many tokens", "context_length", "context length", "context window", "context size",
		"context_size", "maximum context", "maximum number of tokens", "exceeds the context", "larger than the max context")
}

// RetryAfter reads a Retry-After, in seconds or as a date, bounded; nil for none.
func RetryAfter(text string, now time.Time, most time.Duration) *time.Duration {
	text = strings.TrimSpace(text)
	if s, err := strconv.ParseUint(text, 10, 32); err == nil {
		d := min(time.Duration(s)*time.Second, most)
		return &d
	}
	if at, err := http.ParseTime(text); err == nil {
		d := max(0, min(at.Sub(now), most))
		return &d
	}
	return nil
}
