package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/rpc/mcp"
)

// openAs is open for a host that is told of things, and speaks a revision of the protocol.
func (d *daemon) openAs(opts mcp.Options, as *sdk.ClientOptions, revision string) *host {
	d.t.Helper()
	opts.Dial = d.Dial
	hostEnd, serverEnd := net.Pipe()
	h := &host{t: d.t, wire: &lockedBuffer{}}
	done := make(chan error, 1)
	go func() {
		defer serverEnd.Close()
		done <- mcp.Serve(context.Background(), serverEnd, serverEnd, opts)
	}()
	var err error
	h.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, as).
		Connect(d.t.Context(), &sdk.IOTransport{Reader: hostEnd, Writer: hostEnd}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	must(d.t, err)
	d.t.Cleanup(func() {
		_ = h.Close()
		if err := <-done; err != nil {
			d.t.Errorf("the server has ended with %v", err)
		}
	})
	return h
}

// TestMCP5_HostsFollowResources: an address is told of when its record is changed, and
// when the daemon was away.
func TestMCP5_HostsFollowResources(t *testing.T) {
	d := start(t)
	d.seed()
	d.put("notes.put", `{"id":"secret","title":"Secret","body":"x","private":true}`)
	told := make(chan string, 100)
	h := d.openAs(mcp.Options{}, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) {
		told <- req.Params.URI
	}}, "2025-11-25")
	if caps := h.InitializeResult().Capabilities; !caps.Resources.Subscribe || caps.Completions == nil {
		t.Errorf("%+v", caps)
	}
	next := func(want string) {
		t.Helper()
		if got := <-told; got != want {
			t.Errorf("told of %s, want %s", got, want)
		}
	}
	for _, uri := range []string{"ctxd://note/alpha", "ctxd://entity/bob", "ctxd://note/secret", "ctxd://note/kickoff"} {
		must(t, h.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))
	}
	d.put("notes.patch", `{"id":"alpha","body":"changed"}`)
	next("ctxd://note/alpha")
	d.put("notes.patch", `{"id":"sync1","body":"not followed"}`, "notes.patch", `{"id":"secret","body":"not seen"}`, "entities.patch", `{"id":"bob","fields":{"role":"x"}}`)
	next("ctxd://entity/bob")
	must(t, h.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "ctxd://note/alpha"}))
	d.put("notes.patch", `{"id":"alpha","body":"no longer followed"}`, "notes.archive", `{"id":"kickoff"}`)
	next("ctxd://note/kickoff")

	var wire *jsonrpc.Error
	if err := h.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "file:///etc/passwd"}); !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("%v", err)
	}
	d.Stop()
	d.Listen()
	h.call("read_note", `{"note":"alpha"}`) // connects again
	all := []string{<-told, <-told, <-told}
	slices.Sort(all)
	if want := "ctxd://entity/bob ctxd://note/kickoff ctxd://note/secret"; strings.Join(all, " ") != want {
		t.Errorf("after the daemon was away: %v", all)
	}
	d.put("entities.patch", `{"id":"bob","fields":{"role":"y"}}`)
	next("ctxd://entity/bob")
	for i := range 1000 {
		err := h.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fmt.Sprint("ctxd://note/n", i)})
		if (err != nil) != (i >= 997) {
			t.Fatalf("%d: %v", i, err)
		}
	}
}

// TestMCP5_ArgumentsAreCompleted: of prompts and of templates of resources.
func TestMCP5_ArgumentsAreCompleted(t *testing.T) {
	d := start(t)
	d.seed()
	d.put("entities.put", `{"id":"full","type":"Person","name":"Carla Full"}`, "notes.put", `{"id":"hid","title":"Alps","private":true,"body":"x"}`)
	h := d.open(mcp.Options{})
	prompt, note, entity := &sdk.CompleteReference{Type: "ref/prompt", Name: "ask_notes"}, &sdk.CompleteReference{Type: "ref/resource", URI: "ctxd://note/{id}"},
		&sdk.CompleteReference{Type: "ref/resource", URI: "ctxd://entity/{id}"}
	for _, tc := range []struct {
		ref              *sdk.CompleteReference
		arg, value, want string
	}{
		{prompt, "message", "What of [[Al", "What of [[Alpha]]"},
		{prompt, "message", "[[Alpha]] and @car", "[[Alpha]] and @[Carla Full]"},
		{prompt, "message", "[[Alpha]] and @[al", "[[Alpha]] and @Alice"},
		{prompt, "message", "@Bo", "@Bob"}, // of both: nothing names one of them alone
		{prompt, "message", "[[Alpha]] and", ""},
		{prompt, "message", "[[" + strings.Repeat("x", 1000), ""},
		{note, "id", "ki", "Kickoff"},
		{note, "id", "sync", "sync1|sync2"},
		{entity, "id", "cor", "Core"},
		{entity, "id", "nobody", ""},
	} {
		res, err := h.Complete(t.Context(), &sdk.CompleteParams{Ref: tc.ref, Argument: sdk.CompleteParamsArgument{Name: tc.arg, Value: tc.value}})
		must(t, err)
		slices.Sort(res.Completion.Values)
		if got := strings.Join(res.Completion.Values, "|"); got != tc.want {
			t.Errorf("%.30s: %q, want %q", tc.value, got, tc.want)
		}
		if tc.ref != prompt && len(res.Completion.Values) > 0 {
			_, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: strings.Replace(tc.ref.URI, "{id}", res.Completion.Values[0], 1)})
			must(t, err)
		}
	}
	var wire *jsonrpc.Error
	for _, ref := range []*sdk.CompleteReference{{Type: "ref/prompt", Name: "nope"}, {Type: "ref/resource", URI: "ctxd://tree/{id}"}} {
		_, err := h.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "id", Value: "a"}})
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%v", err)
		}
	}
	if _, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ctxd://note/Kickoff#Goals"}); err != nil { // as chat.references gives it
		t.Errorf("with a heading: %v", err)
	}
	if _, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ctxd://note/Sync"}); !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a title that two notes have: %v", err)
	}
}

// TestMCP5_ResourcesHavePages: every note is listed once.
func TestMCP5_ResourcesHavePages(t *testing.T) {
	d := start(t)
	for i := range 120 {
		d.put("notes.put", fmt.Sprintf(`{"id":"n%d","title":"N %d"}`, i, i))
	}
	h := d.open(mcp.Options{})
	seen := make(map[string]bool)
	pages := 0
	for params := new(sdk.ListResourcesParams); ; pages++ {
		list, err := h.ListResources(t.Context(), params)
		must(t, err)
		for _, r := range list.Resources {
			seen[r.URI] = true
		}
		if params.Cursor = list.NextCursor; list.NextCursor == "" {
			break
		}
	}
	if len(seen) != 120 || pages != 2 {
		t.Errorf("%d notes on %d pages", len(seen), pages+1)
	}
	var wire *jsonrpc.Error
	if _, err := h.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: "?"}); !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("%v", err)
	}
}

// TestMCP5_ProgressIsTold: to a host that has asked.
func TestMCP5_ProgressIsTold(t *testing.T) {
	d := start(t)
	d.seed()
	told := make(chan string, 10)
	h := d.openAs(mcp.Options{}, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
		told <- fmt.Sprint(req.Params.ProgressToken, " ", req.Params.Progress, " of ", req.Params.Total)
	}}, "")
	params := &sdk.CallToolParams{Name: "read_notes", Arguments: map[string]any{"notes": []string{"Alpha", "Kickoff", "Sync"}}}
	params.SetProgressToken("t")
	res, err := h.CallTool(t.Context(), params)
	must(t, err)
	if got := <-told + ", " + <-told; got != "t 1 of 3, t 2 of 3" || res.IsError {
		t.Errorf("%s", got)
	}
}
