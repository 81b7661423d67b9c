package outbound_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

const canaryKey = "sk-canary-7d2e90"

var service = outbound.Service{
	Noun: "server", Setting: "thing", Path: "things", Example: "any", Start: "start it", Outside: "remote", Base: "base",
}

func TestSEC4_WhereTextsAndKeysMayGo(t *testing.T) {
	for _, c := range []struct {
		target outbound.Target
		url    string
		field  string // of the error; "" for none
		local  bool
	}{
		{outbound.Target{URL: "http://127.0.0.1:1", Key: canaryKey}, "http://127.0.0.1:1/v1/things", "", true},
		{outbound.Target{URL: "http://[::1]:1/v2/", Key: canaryKey}, "http://[::1]:1/v2/things", "", true},
		{outbound.Target{URL: "HTTP://LOCALHOST/a/things/", Key: canaryKey}, "http://localhost/a/things", "", true},
		{outbound.Target{URL: "http://llm.localhost:8080"}, "http://llm.localhost:8080/v1/things", "", true},
		{outbound.Target{URL: "unix:///run/llama.sock", Key: canaryKey}, "http://localhost/v1/things", "", true},
		{outbound.Target{URL: "unix:///run/llama.sock:/"}, "http://localhost/v1/things", "", true},
		{outbound.Target{URL: "unix:///run/llama.sock:/api/v2/"}, "http://localhost/api/v2/things", "", true},
		{outbound.Target{URL: "UNIX:/run/a%20b:c.sock:/v1/things", AllowRemote: true}, "http://localhost/v1/things", "", true},
		{outbound.Target{URL: "unix://run/llama.sock"}, "", "url", false},
		{outbound.Target{URL: "unix:llama.sock"}, "", "url", false},
		{outbound.Target{URL: "unix:///"}, "", "url", false},
		{outbound.Target{URL: "unix:///run/llama.sock?key=" + canaryKey}, "", "url", false},
		{outbound.Target{URL: "unix:///run/%00" + canaryKey}, "", "url", false},
		{outbound.Target{URL: "unix:///" + strings.Repeat("a", 120)}, "", "url", false},
		{outbound.Target{URL: "https://example.org/v1", Key: canaryKey, AllowRemote: true}, "https://example.org/v1/things", "", false},
		{outbound.Target{URL: "http://example.org/v1", AllowRemote: true}, "http://example.org/v1/things", "", false},
		{outbound.Target{URL: "http://example.org/v1", Key: canaryKey, AllowRemote: true}, "", "url", false},
		{outbound.Target{URL: "http://192.168.1.5:11434", Key: canaryKey, AllowRemote: true}, "", "url", false},
		{outbound.Target{URL: "http://127.0.0.1.example.org", Key: canaryKey, AllowRemote: true}, "", "url", false},
		{outbound.Target{URL: "http://192.168.1.5:11434"}, "", "url", false},
		{outbound.Target{URL: "http://0.0.0.0:11434"}, "", "url", false},
		{outbound.Target{URL: "http://ann:" + canaryKey + "@127.0.0.1"}, "", "url", false},
		{outbound.Target{URL: "http://127.0.0.1/?key=" + canaryKey}, "", "url", false},
		{outbound.Target{URL: "http://127.0.0.1/#" + canaryKey}, "", "url", false},
		{outbound.Target{URL: canaryKey}, "", "url", false},
		{outbound.Target{URL: "ftp://127.0.0.1/" + canaryKey}, "", "url", false},
		{outbound.Target{URL: "http://127.0.0.1", Key: canaryKey + "\r\nX: y"}, "", "key", false},
		{outbound.Target{URL: "http://127.0.0.1", Key: canaryKey + "ä"}, "", "key", false},
	} {
		c.target.Model = "m"
		a, err := service.Resolve(c.target)
		var f *fault.Error
		switch {
		case c.field == "" && (err != nil || a.URL != c.url || a.Local != c.local):
			t.Errorf("%s: %+v %v", c.target.URL, a, err)
		case c.field != "" && (!errors.As(err, &f) || f.Field != c.field || f.Kind != fault.Invalid || f.Hint == ""):
			t.Errorf("%s: %+v %v", c.target.URL, a, err)
		case f != nil && strings.Contains(f.Error()+f.Hint, "canary"):
			t.Errorf("the error shows the key: %v, %s", f, f.Hint)
		}
	}
}

// TestSEC4_NoRedirectIsFollowed shows the reply of the server itself, whatever it redirects to.
func TestSEC4_NoRedirectIsFollowed(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	client, _ := outbound.NewClient(outbound.ClientOptions{Connect: time.Minute})
	defer client.CloseIdleConnections()
	at, err := outbound.ParseAddress(server.URL, "things")
	if err != nil {
		t.Fatal(err)
	}
	req, err := at.NewRequest(t.Context(), []byte("{}"), "application/json")
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r := service.Complaint(res, "m", time.Second)
	if asked != 1 || r.Status != http.StatusTemporaryRedirect || r.Passing || !strings.Contains(r.Fault.Hint, "thing.base") {
		t.Errorf("asked %d times, %+v", asked, r)
	}
}

// TestSEC4_OnlyThisMachineIsDialled lets a client that is not remote dial another address.
func TestSEC4_OnlyThisMachineIsDialled(t *testing.T) {
	client, _ := outbound.NewClient(outbound.ClientOptions{Connect: time.Minute})
	defer client.CloseIdleConnections()
	req, err := (&outbound.Address{URL: "http://192.0.2.1/"}).NewRequest(t.Context(), nil, "*/*")
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err == nil {
		res.Body.Close()
		t.Fatal("another machine was dialled")
	}
	var r *outbound.Refusal
	if failed := service.Unreached(t.Context(), err, time.Second); !errors.As(failed, &r) || r.Passing ||
		!strings.Contains(r.Fault.Hint, "thing.remote") {
		t.Errorf("%v", failed)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := service.Unreached(ended, err, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestSEC4_ComplaintsAreNotQuoted(t *testing.T) {
	for status, passing := range map[int]bool{
		400: false, 401: false, 403: false, 404: false, 408: true, 413: false, 429: true, 500: true, 501: false,
		502: true, 503: true, 504: true, 529: true,
	} {
		w := httptest.NewRecorder()
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":"`+canaryKey+`"}`)
		r := service.Complaint(w.Result(), "m", time.Minute)
		if r.Passing != passing || (r.After != nil) != passing || r.Fault.Hint == "" {
			t.Errorf("%d: %+v", status, r)
		}
		if strings.Contains(r.Error()+r.Fault.Hint, "canary") {
			t.Errorf("%d: %v", status, r)
		}
	}
}

func TestSEC4_BodiesAreBounded(t *testing.T) {
	var r *outbound.Refusal
	if _, err := outbound.ReadBody(strings.NewReader(strings.Repeat("x", 1<<20+1)), 1<<20); !errors.As(err, &r) {
		t.Errorf("%v", err)
	}
	if text, err := outbound.ReadBody(strings.NewReader("abc"), 3); err != nil || string(text) != "abc" {
		t.Errorf("%q %v", text, err)
	}
}

// TestCHAT47_ASocketIsSpokenTo over HTTP, wherever the environment sends requests, and nobody else is dialled.
func TestCHAT47_ASocketIsSpokenTo(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	folder, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "m.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/moved" {
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, r.Host+r.URL.Path)
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()

	at, err := service.Resolve(outbound.Target{URL: "unix://" + filepath.ToSlash(path) + ":/api", Model: "m", Key: canaryKey})
	if err != nil || at.Socket != path || at.Remote(true) || !strings.Contains(at.Host, path) {
		t.Fatalf("%+v %v", at, err)
	}
	client, _ := outbound.NewClient(outbound.ClientOptions{Socket: at.Socket, Remote: at.Remote(true), Connect: time.Minute})
	defer client.CloseIdleConnections()
	for other, want := range map[string]string{"things": "localhost/api/things", "models": "localhost/api/models"} {
		req, err := at.Beside("things", other).NewLookup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || string(body) != want {
			t.Errorf("%s: %q %v", other, body, err)
		}
	}
	req, err := at.Beside("things", "moved").NewLookup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil || res.StatusCode != http.StatusTemporaryRedirect {
		t.Fatalf("a redirect was followed: %v %v", res, err)
	}
	_ = res.Body.Close()

	server.Close()
	req, err = at.NewLookup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if res, err := client.Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatal("a socket that is gone answered")
	} else if failed := service.FailureOf(at, refusalOf(t, service.Unreached(t.Context(), err, time.Minute))); !strings.Contains(failed.Hint, "start its server") {
		t.Errorf("%v, %s", failed, failed.Hint)
	}
}

// TestCHAT47_WhoMayNotUseASocket is told so; of TCP the same error is of a firewall, which may let through what is asked later.
func TestCHAT47_WhoMayNotUseASocket(t *testing.T) {
	for network, passing := range map[string]bool{"unix": false, "tcp": true} {
		err := &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.EPERM)}
		r := refusalOf(t, service.Unreached(t.Context(), err, time.Minute))
		if r.Passing != passing || strings.Contains(r.Fault.Hint, "socket") == passing {
			t.Errorf("%s: %+v, %s", network, r, r.Fault.Hint)
		}
	}
}

func refusalOf(t *testing.T, err error) *outbound.Refusal {
	t.Helper()
	var r *outbound.Refusal
	if !errors.As(err, &r) {
		t.Fatal(err)
	}
	return r
}
