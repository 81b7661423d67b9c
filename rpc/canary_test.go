package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// canary stands for what a user wrote and for keys. It may come back to the
// client that sent it, and to nobody else.
const canary = "canary-7c1e"

// thrower are methods with defects: each way in which the text of a call can
// get into an error.
func thrower() []rpc.Method {
	type text struct {
		How  string `json:"how"`
		Text string `json:"text"`
	}
	throw := func(_ context.Context, _ *rpc.Session, p text) (any, error) {
		path := &fs.PathError{Op: "open", Path: "/home/" + p.Text, Err: syscall.ENOENT}
		switch p.How {
		case "panic":
			panic(p.Text)
		case "panic with an error":
			panic(errors.New(p.Text))
		case "runtime error":
			return p.Text[len(p.Text)+len(p.How):], nil
		case "wrong type":
			return any(p.Text).(int), nil
		case "error":
			return nil, errors.New(p.Text)
		case "wrapped":
			return nil, fmt.Errorf("reading %s: %w", p.Text, path)
		case "joined":
			return nil, errors.Join(path, errors.New(p.Text))
		case "internal fault":
			return nil, fault.Wrap(fault.Internal, path, "%s", p.Text).WithRef(p.Text).WithHint("%s", p.Text)
		case "cause of a fault":
			return nil, fault.Wrap(fault.Unavailable, path, "the disk is full")
		case "no JSON":
			return map[string]any{p.Text: func() {}}, nil
		}
		return nil, nil
	}
	return []rpc.Method{
		rpc.Define("test.throw", protocol.Read, throw),
		rpc.Define("test.throwWrite", protocol.Mutation, throw),
	}
}

// canaryCalls are calls with the canary wherever a call has room for it.
func canaryCalls(vault string) []string {
	calls := []string{
		`{"jsonrpc":"2.0","id":"CANARY","method":"notes.put","params":{"id":"n1","title":"CANARY","body":"CANARY [[CANARY]] #CANARY","path":"CANARY/a.md","tags":["CANARY"],"aliases":["CANARY"]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"notes.put","params":{"title":"CANARY","path":"CANARY/a.md","progressToken":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"notes.put","params":{"id":"CANARY and blanks","title":"x"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"notes.get","params":{"ref":"no CANARY"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"notes.search","params":{"query":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"notes.put","params":{"CANARY":1}}`,
		`{"jsonrpc":"2.0","id":7,"method":"CANARY.put","params":{}}`,
		`{"jsonrpc":"2.0","id":8,"method":"types.put","params":{"name":"T","fields":[{"name":"CANARY","type":"CANARY"}]}}`,
		`{"jsonrpc":"2.0","id":9,"method":"types.put","params":{"name":"T","fields":[{"name":"a","type":"computed","query":"SELECT CANARY FROM"}]}}`,
		`{"jsonrpc":"2.0","id":10,"method":"entities.put","params":{"type":"T","name":"CANARY","fields":{"CANARY":"CANARY"}}}`,
		`{"jsonrpc":"2.0","id":11,"method":"wql.query","params":{"query":"SELECT p FROM CANARY WHERE"}}`,
		`{"jsonrpc":"2.0","id":12,"method":"context.assemble","params":{"text":"what of [[CANARY]] and @CANARY","audience":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":13,"method":"context.assemble","params":{"text":"what of [[CANARY]] and @CANARY","audience":"local"}}`,
		`{"jsonrpc":"2.0","id":14,"method":"vault.import","params":{"path":"/nowhere/CANARY"}}`,
		`{"jsonrpc":"2.0","id":15,"method":"vault.import","params":{"path":"` + vault + `","progressToken":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":16,"method":"vault.status","params":{"vault":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":17,"method":"notes.list","params":{"cursor":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":18,"method":"events.subscribe","params":{"topics":["CANARY"]}}`,
		`{"jsonrpc":"2.0","id":19,"method":"notes.resolve","params":{"link":"[[CANARY#CANARY]]"}}`,
		`{"jsonrpc":"2.0","id":20,"method":"graph.neighbors","params":{"ref":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":21,"CANARY":"CANARY","method":5}`,
		`{"jsonrpc":"2.0","method":"CANARY","params":{"CANARY":1}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"CANARY"}}`,
		`[{"jsonrpc":"2.0","id":"CANARY","method":"notes.get","params":{"ref":"CANARY"}},{"CANARY":1}]`,
		`{"CANARY": CANARY`,
	}
	for _, how := range []string{
		"panic", "panic with an error", "runtime error", "wrong type", "error", "wrapped", "joined",
		"internal fault", "cause of a fault", "no JSON",
	} {
		for _, method := range []string{"test.throw", "test.throwWrite"} {
			calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":30,"method":%q,"params":{"how":%q,"text":"CANARY"}}`, method, how))
		}
	}
	for i := range calls {
		calls[i] = strings.ReplaceAll(calls[i], "CANARY", canary)
	}
	return calls
}

func TestSEC2_NothingThatAClientSentComesOutElsewhere(t *testing.T) {
	log := &lockedBuffer{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	db, err := kv.Open(t.TempDir(), kv.Options{Logger: logger})
	must(t, err)
	d := startOver(t, db, rpc.Options{Methods: thrower(), Logger: logger})
	vault := filepath.Join(t.TempDir(), "Vault "+canary)
	must(t, os.MkdirAll(filepath.Join(vault, canary), 0o700))
	must(t, os.WriteFile(filepath.Join(vault, canary, "note "+canary+".md"), []byte("---\n"+canary+": [\n---\n"+canary), 0o600))
	must(t, os.WriteFile(filepath.Join(vault, canary+".bin"), []byte(canary), 0o600))
	other := d.listen("notes.changed", "entities.changed", "health.changed")

	nc, err := socket.Dial(context.Background(), d.path)
	must(t, err)
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	p := &peer{t: t, nc: nc.(*net.UnixConn), in: bufio.NewReader(nc)}
	p.send(hello + "\n")
	p.line()
	calls := canaryCalls(vault)
	for _, call := range calls {
		p.send(call + "\n")
		if strings.Contains(call, `"id"`) && !strings.Contains(call, "cancelRequest") {
			p.line()
		}
	}
	p.call("last", "notes.list", "")
	for !strings.Contains(p.line(), `"id":"last"`) { // the rest of the replies and the progress
	}

	look := func(what, text string) {
		t.Helper()
		if i := strings.Index(strings.ToLower(text), canary); i >= 0 {
			t.Errorf("%s has the canary: …%s…", what, text[max(0, i-150):min(len(text), i+100)])
		}
	}
	for _, method := range []string{"admin.stats", "admin.connections", "admin.health", "rpc.discover"} {
		var raw json.RawMessage
		must(t, other.Call(context.Background(), method, nil, &raw))
		look(method, string(raw))
	}
	for _, call := range []struct{ method, params string }{
		{"test.throw", `{"how":"error","text":"x"}`},
		{"test.throwWrite", `{"how":"panic","text":"x"}`},
		{"notes.get", `{"ref":"none"}`},
		{"notes.put", `{"titel":"x"}`},
		{"wql.query", `{"query":"SELECT"}`},
		{"vault.import", `{"path":"/nowhere"}`},
	} {
		err := other.Call(context.Background(), call.method, json.RawMessage(call.params), nil)
		if err == nil {
			t.Errorf("%s %s is no error", call.method, call.params)
			continue
		}
		data, _ := json.Marshal(err)
		look(call.method+"'s error", string(data))
	}
	for len(other.told) > 0 {
		n := <-other.told
		look(n.method, string(n.params))
	}
	look("the log", log.String())

	// The log says enough to find the defects all the same.
	for _, want := range []string{"canary_test.go", "*fs.PathError <- syscall.Errno no such file", "slice bounds out of range", "*errors.errorString", "method=test.throwWrite"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in the log", want)
		}
	}
	if n := strings.Count(log.String(), "level=DEBUG msg=call"); n < len(calls)/2 {
		t.Errorf("%d calls are in the log: the test sees less than it should", n)
	}
}
