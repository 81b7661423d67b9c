package mcp

// This file serves hosts over HTTP: those that start no program. Every request has to bring the token, and none may
// come from a page of another site.

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	headerWait = 10 * time.Second // for the header of a request
	endWait    = 2 * time.Second  // for requests under way at the end
)

// ServeHTTP speaks to hosts over HTTP until ctx ends, when it returns nil. The listener is closed by then. A request
// without the token is answered 401, one from a page of another site 403.
func ServeHTTP(ctx context.Context, ln net.Listener, token string, opts Options) error {
	s := newServer(opts)
	defer s.daemon.Close()
	telling, stop := context.WithCancel(ctx)
	defer stop()
	go s.tell(telling)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless: true, // of a session nothing would be left after a restart, and revision 2026-07-28 has none
		Logger:    s.opts.Logger, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	web := &http.Server{
		Handler:           guarded(token, handler),
		ReadHeaderTimeout: headerWait,
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return ctx }, // what listens to changes ends with it
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	waiting, done := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer done()
	if err := web.Shutdown(waiting); err != nil {
		_ = web.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// guarded lets requests of this machine pass that bring the token.
func guarded(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !isOurs(origin) {
			http.Error(w, "the page that asks is of another site", http.StatusForbidden)
			return
		}
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(sum[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="ctxd"`)
			http.Error(w, "the token is missing or wrong: send Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOurs reports whether a page comes from this machine.
func isOurs(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}
