package mcp_test

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/rpc/mcp"
)

const testToken = "a-token-of-the-tests"

// overHTTP serves hosts at a free port, and returns its address and what ends it.
func (d *daemon) overHTTP(opts mcp.Options) (address string, end func()) {
	d.t.Helper()
	opts.Dial = d.Dial
	opts.Logger = slog.New(panicsFail{slog.DiscardHandler, d.t})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(d.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mcp.ServeHTTP(ctx, ln, testToken, opts) }()
	end = func() {
		cancel()
		if err := <-done; err != nil {
			d.t.Errorf("the server has ended with %v", err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	}
	return ln.Addr().String(), end
}

type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+testToken)
	return http.DefaultTransport.RoundTrip(r)
}

// TestCLI10_HostsSpeakHTTP: in each revision a host reads, and one that listens is told of changes; the end of the server
// waits for nobody.
func TestCLI10_HostsSpeakHTTP(t *testing.T) {
	d := start(t)
	d.seed()
	d.put("notes.put", `{"id":"zq","title":"Zqsecret","body":"scales","private":true}`)
	address, end := d.overHTTP(mcp.Options{AskToWrite: true})
	told := make(chan string, 10)
	for _, revision := range []string{"2025-06-18", "2026-07-28"} {
		session, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, &sdk.ClientOptions{
			ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				return &sdk.ElicitResult{Action: "accept"}, nil
			},
			ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) { told <- req.Params.URI },
		}).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: "http://" + address, HTTPClient: &http.Client{Transport: bearer{}}}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
		must(t, err)
		h := &host{ClientSession: session, t: t}
		h.contains(revision, h.call("read_note", `{"note":"alpha"}`), "Text of Alpha")
		if text := h.call("search_notes", `{"query":"scales"}`); strings.Contains(text, "Zq") {
			t.Errorf("private: %s", text)
		}
		if revision != "2026-07-28" { // without a session its user can't be asked
			h.contains("asking", h.fails("append_to_note", `{"note":"alpha","text":"more"}`), "--allow-write=yes")
			must(t, session.Close())
			continue
		}
		must(t, h.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "ctxd://note/alpha"}))
		for i := 0; len(told) == 0 && i < 1000; i++ { // when the server listens the client does not say
			h.call("append_to_note", `{"note":"alpha","text":"more"}`)
		}
		if got := <-told; got != "ctxd://note/alpha" {
			t.Errorf("told of %s", got)
		}
		end()
		_ = session.Close()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestCLI10_HTTPIsGuarded: without the token, from a page of another site, or under another name nothing is answered.
func TestCLI10_HTTPIsGuarded(t *testing.T) {
	d := start(t)
	d.seed()
	address, end := d.overHTTP(mcp.Options{})
	defer end()
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"alpha"}}}`
	for _, tc := range []struct {
		what, token, origin, host string
		want                      int
	}{
		{"the token", testToken, "", "", 200},
		{"a page of this machine", testToken, "http://localhost:3000", "", 200},
		{"a page at ::1", testToken, "http://[::1]:3000", "", 200},
		{"no token", "", "", "", 401},
		{"another token", testToken + "x", "", "", 401},
		{"a part of the token", testToken[:10], "", "", 401},
		{"another site", testToken, "https://evil.example", "", 403},
		{"a site that begins so", testToken, "http://localhost.evil.example", "", 403},
		{"a file", testToken, "null", "", 403},
		{"another site without a token", "", "https://evil.example", "", 403},
		{"a name that was bound to this machine", testToken, "", "evil.example", 403},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address, strings.NewReader(body))
		must(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if tc.token != "" {
			req.Header.Set("Authorization", "Bearer "+tc.token)
		}
		if tc.origin != "" {
			req.Header.Set("Origin", tc.origin)
		}
		req.Host = tc.host
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		text, err := io.ReadAll(res.Body)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != tc.want || strings.Contains(string(text), "Text of Alpha") != (tc.want == 200) {
			t.Errorf("%s: %d %s", tc.what, res.StatusCode, text)
		}
	}
}

// TestCLI10_NobodyListensUnasked: only the program's command for hosts opens a port; neither the daemon nor a room does.
func TestCLI10_NobodyListensUnasked(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, found := range listensAt(t, root) {
		if !slices.Contains([]string{
			"cmd/ctxd/mcp_http.go",
			"cmd/ctxd/demo/proxy.go", // between the stores of a demo
		}, found) && !strings.HasPrefix(found, "entities/kv/nats/natstest/") {
			t.Errorf("%s listens", found)
		}
	}
}

// listensAt returns the files of the program that listen for connections of the network.
func listensAt(t *testing.T, root string) (files []string) {
	t.Helper()
	for _, room := range []string{"cmd", "rpc", "entities", "notes", "context", "graph", "chat"} {
		must(t, filepath.WalkDir(filepath.Join(root, room), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, call := range []string{"net.Listen(", "net.ListenTCP(", "ListenConfig{", "ListenAndServe", "httptest.", "ListenPacket("} {
				if strings.Contains(string(text), call) {
					name, err := filepath.Rel(root, path)
					files = append(files, filepath.ToSlash(name))
					return err
				}
			}
			return nil
		}))
	}
	return files
}
