package outbound

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// maxHeader bounds the header of a reply in bytes.
const maxHeader = 64 << 10

// ClientOptions say how a client reaches a server.
type ClientOptions struct {
	Remote      bool          // it may be dialled outside this machine
	Socket      string        // path of the Unix socket that is dialled in the place of any host; "" for none
	Connections int           // to one server at a time, 0 for any number
	Idle        int           // of them are kept open when they are idle
	Connect     time.Duration // how long dialling may take, and as long again greeting by TLS
}

// NewClient returns a client that follows no redirect, and what it dials with.
// One that is not remote dials only addresses of this machine, and asks no proxy.
func NewClient(o ClientOptions) (*http.Client, *net.Dialer) {
	dialer := &net.Dialer{Timeout: o.Connect}
	t := &http.Transport{
		MaxIdleConnsPerHost: o.Idle, MaxConnsPerHost: o.Connections,
		IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: o.Connect, MaxResponseHeaderBytes: maxHeader,
		DisableCompression: true, ForceAttemptHTTP2: true, // a small reply can't unpack into a large one
	}
	t.DialContext = dialer.DialContext
	switch {
	case o.Socket != "":
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", o.Socket)
		}
	case o.Remote:
		t.Proxy = http.ProxyFromEnvironment
	default:
		dialer.ControlContext = onlyLoopback
	}
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

// NewRequest returns a request that posts JSON and asks for what accept says. Its caller adds
// the key, where the protocol of the server wants it. The error is why nothing may be posted, see Unless.
func (a *Address) NewRequest(ctx context.Context, body []byte, accept string) (*http.Request, error) {
	if err := checkStale(ctx); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	introduce(req, accept)
	return req, nil
}

// NewLookup returns a request that gets JSON. Its caller adds the key, as to NewRequest.
func (a *Address) NewLookup(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	introduce(req, "application/json")
	return req, nil
}

func introduce(req *http.Request, accept string) {
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "ctxd")
}

// Beside is where a server has another service than the one of the address, by the path of either.
func (a *Address) Beside(path, other string) *Address {
	b := *a
	b.URL = strings.TrimSuffix(a.URL, path) + other
	return &b
}

// ReadBody reads a body of at most so many bytes. A longer one is a *Refusal; other errors are
// those of the body.
func ReadBody(body io.Reader, most int64) ([]byte, error) {
	reply, err := io.ReadAll(io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(reply)) > most:
		return nil, NewRefusal("sent more than %d MiB", most>>20)
	}
	return reply, nil
}
