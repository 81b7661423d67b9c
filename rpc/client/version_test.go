package client_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// pretender is a daemon of another time, on one end of a pipe.
type pretender struct {
	version string // of its protocol
	refuses bool   // the handshake, when the client's version is another
	mute    bool   // about itself, before a handshake
	asked   chan string
}

// answer answers what the client sends until it goes.
func (p *pretender) answer(conn net.Conn) {
	defer close(p.asked)
	in := bufio.NewScanner(conn)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			panic(err)
		}
		p.asked <- m.Method + " " + m.Params.ProtocolVersion
		reply := `"result":{}`
		unknown := `"error":{"code":-32601,"message":"there is no method","data":{"kind":"method_not_found","hint":"rpc.discover lists the methods","retryable":false}}`
		switch {
		case m.ID == nil:
			continue
		case m.Method == "initialize" && p.refuses && m.Params.ProtocolVersion != "" && m.Params.ProtocolVersion != p.version:
			reply = `"error":{"code":1003,"message":"no","data":{"kind":"unavailable","retryable":false}}`
		case m.Method == "initialize":
			reply = fmt.Sprintf(`"result":{"serverInfo":{"name":"ctxd","version":"0.0.7"},"protocolVersion":%q}`, p.version)
		case p.mute:
			reply = unknown
		case m.Method == "rpc.discover":
			reply = fmt.Sprintf(`"result":{"openrpc":"1.3.2","info":{"title":"ctxd","version":%q}}`, p.version)
		case m.Method == "admin.health":
			reply = `"result":{"version":"0.0.7"}`
		case m.Method != "vault.list":
			reply = unknown
		}
		if _, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, reply); err != nil {
			return // the client has gone
		}
	}
}

// meet connects a client to a daemon that pretends to be of another time.
func meet(t *testing.T, p *pretender, opts client.Options) (*client.Client, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	p.asked = make(chan string, 16)
	go p.answer(theirs)
	c, err := client.New(t.Context(), ours, opts)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func TestCLI6_ClientSaysWhichIsOlder(t *testing.T) {
	newer := "this program is older than the daemon (version 0.0.7): it speaks protocol " + protocol.Version + ", the daemon 3.0"
	older := "the daemon (version 0.0.7) is older than this program: it speaks protocol 0.9, this program " + protocol.Version
	for _, c := range []struct {
		name    string
		daemon  pretender
		message string
		hint    string
	}{
		{"a newer daemon that takes the client", pretender{version: "3.0"}, newer, "update this program"},
		{"a newer daemon that refuses it", pretender{version: "3.0", refuses: true}, newer, "update this program"},
		{"an older daemon that takes the client", pretender{version: "0.9"}, older, "ctxd stop"},
		{"an older daemon that refuses it", pretender{version: "0.9", refuses: true}, older, "ctxd stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := meet(t, &c.daemon, client.Options{})
			var e *client.VersionError
			if !errors.As(err, &e) || err.Error() != c.message || e.Daemon != c.daemon.version || e.Program != "0.0.7" {
				t.Fatalf("%v", err)
			}
			var wire *client.Error
			var f *fault.Error
			if !errors.As(err, &wire) || wire.Code != protocol.CodeUnavailable || !errors.As(err, &f) {
				t.Fatalf("%#v", err)
			}
			if f.Kind != fault.Unavailable || f.Retryable || f.Msg != c.message || !strings.Contains(f.Hint, c.hint) {
				t.Errorf("%+v", f)
			}
			for range c.daemon.asked { // until the connection is closed
			}
		})
	}
}

func TestCLI6_RefusalThatTellsNothingStays(t *testing.T) {
	for _, p := range []pretender{{version: "3.0", refuses: true, mute: true}, {version: protocol.Version + "1", refuses: true}} {
		_, err := meet(t, &p, client.Options{})
		var e *client.Error
		if !errors.As(err, &e) || e.Message != "no" || errors.As(err, new(*client.VersionError)) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	_, err := meet(t, &pretender{version: "two"}, client.Options{})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "names no version") {
		t.Errorf("%v", err)
	}
}

// TestCLI6_DaemonsOfOneMajorVersion: both work, and what an older daemon does not know is
// said to come from that.
func TestCLI6_DaemonsOfOneMajorVersion(t *testing.T) {
	for _, version := range []string{"", "2.0", "2.99"} {
		c, err := meet(t, &pretender{version: version}, client.Options{})
		if err != nil {
			t.Fatalf("%q: %v", version, err)
		}
		if err := c.Call(t.Context(), "vault.list", nil, nil); err != nil {
			t.Errorf("%q: %v", version, err)
		}
		for method, dated := range map[string]bool{"notes.search": true, "no.such": false} {
			var f *fault.Error
			if err := c.Call(t.Context(), method, nil, nil); !errors.As(err, &f) || f.Kind != fault.Invalid {
				t.Fatalf("%s: %v", method, err)
			}
			if got := strings.Contains(f.Msg, "older than this program") && strings.Contains(f.Hint, "ctxd stop"); got != dated {
				t.Errorf("%q: %s: %+v", version, method, f)
			}
		}
	}
}

func TestCLI6_AnyVersion(t *testing.T) {
	for _, p := range []pretender{{version: "2.0", refuses: true}, {version: "0.9"}} {
		c, err := meet(t, &p, client.Options{AnyVersion: true})
		if err != nil {
			t.Fatal(err)
		}
		if asked := <-p.asked; asked != "initialize " || c.Server().ProtocolVersion != p.version {
			t.Errorf("%q, %+v", asked, c.Server())
		}
	}
}
