//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

const (
	messageLimit = 16 << 20
	memoryLimit  = 5*messageLimit + 64<<20
)

// shape is a message of about the size limit.
type shape struct {
	name string
	text string // with its framing
	code int    // of the answer
}

func header(text string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
}

// pad repeats part until the whole has the size of the largest message, less
// what a header may take.
func pad(head, part, tail string) string {
	n := (messageLimit - len(head) - len(tail)) / len(part)
	return head + strings.Repeat(part, n) + tail
}

// shapes are messages of every kind that memory has been lost to, the worst
// ones first.
func shapes() []shape {
	call := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params
	}
	deep := strings.Repeat("[", 120) + strings.Repeat("]", 120) + ","
	text := pad(call("notes.put", `{"title":"x","body":"`), "word ", `"}}`)
	return []shape{
		{"a text by header", header(text), protocol.CodeLimit},
		{"small members", manyMembers(call("entities.put", `{"type":"Person","name":"x","fields":{`)) + "\n", protocol.CodeLimit},
		{"small texts", pad(call("notes.put", `{"title":"x","tags":[`), `"",`, `""]}}`) + "\n", protocol.CodeLimit},
		{"empty objects", pad(call("notes.putMany", `{"notes":[`), "{},", `{}]}}`) + "\n", protocol.CodeLimit},
		{"escapes", pad(call("notes.put", `{"id":"a","title":"x","body":"`), `\u00e9`, `"}}`) + "\n", protocol.CodeLimit},
		{"a batch of requests", pad("[", `{"jsonrpc":"2.0","id":1,"method":"admin.health"},`, "1]") + "\n", protocol.CodeLimit},
		{"broken UTF-8", pad(call("notes.put", `{"title":"`), "\xff\xfe", `"}}`) + "\n", protocol.CodeParse},
		{"a line over the limit", `{"id":1,"a":"` + strings.Repeat("x", 3*messageLimit) + "\"}\n", protocol.CodeLimit},
		{"a text", text + "\n", protocol.CodeLimit},
		{"a text that is no body", pad(call("notes.search", `{"query":"`), "word ", `"}}`) + "\n", protocol.CodeLimit},
		{"deep lists", pad(call("notes.put", `{"title":[`), deep, `0]}}`) + "\n", protocol.CodeInvalidParams},
		{"small numbers", pad(call("notes.put", `{"title":"x","tags":[`), "1,", `1]}}`) + "\n", protocol.CodeInvalidParams},
		{"empty objects in a field", pad(call("entities.put", `{"type":"Person","name":"x","fields":{"a":[`), "{},", `{}]}}}`) + "\n", protocol.CodeInvalidParams},
		{"a batch of numbers", pad("[", "1,", "1]") + "\n", protocol.CodeLimit},
		{"a name", pad(call("notes.put", `{"`), "x", `":1}}`) + "\n", protocol.CodeInvalidParams},
		{"a method", pad(`{"jsonrpc":"2.0","id":1,"method":"`, "x", `"}`) + "\n", protocol.CodeMethodNotFound},
		{"an id", pad(`{"jsonrpc":"2.0","method":"admin.health","id":"`, "x", `"}`) + "\n", 0},
		{"members of an envelope", pad(`{"jsonrpc":"2.0","id":1,"method":"nothing",`, `"x":0,`, `"y":0}`) + "\n", protocol.CodeMethodNotFound},
		{"no JSON", pad("{", "x", "") + "\n", protocol.CodeParse},
		{"blanks", pad(call("admin.health", "{"), " ", "}}") + "\n", 0},
		{"a frame over the limit", header(`{"id":1,"a":"` + strings.Repeat("x", 3*messageLimit) + `"}`), protocol.CodeLimit},
	}
}

// manyMembers returns a message with as many members as fit.
func manyMembers(head string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < messageLimit-32; i++ {
		fmt.Fprintf(&b, `"%x":0,`, i)
	}
	b.WriteString(`"last":0}}}`)
	return b.String()
}

// frame reads one message in the framing of what was sent.
func (w *wire) frame(byHeader bool) (a answer) {
	if !byHeader {
		return w.reply()
	}
	w.t.Helper()
	_ = w.nc.SetReadDeadline(time.Now().Add(patience))
	head, err := w.in.ReadString('\n')
	var n int
	if err == nil {
		_, err = fmt.Sscanf(head, "Content-Length: %d\r\n", &n)
	}
	if err != nil {
		w.t.Fatalf("reading a header: %v (got %q)", err, head)
	}
	body := make([]byte, 2+n)
	_, err = io.ReadFull(w.in, body)
	if err == nil {
		err = json.Unmarshal(body[2:], &a)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// worstShapes is how many of the shapes a short run tries.
const worstShapes = 8

// TestCampaignREL6_MemoryOfMessages sends messages of the largest size and of
// every shape, each to a daemon of its own: it answers with the error that it
// should, goes on, and never holds more than the promise says.
func TestCampaignREL6_MemoryOfMessages(t *testing.T) {
	all := shapes()
	for _, s := range all[:figure(worstShapes, len(all))] {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			p := serve(t, launchOptions{})
			byHeader := strings.HasPrefix(s.text, "Content-Length")
			w := p.dial()
			hello := handshake
			if byHeader {
				hello = header(handshake)
			}
			w.send(hello)
			w.frame(byHeader)
			began := time.Now()
			w.send(s.text)
			got := w.frame(byHeader)
			took := time.Since(began)
			if got.code() != s.code {
				t.Errorf("answered %d, want %d (%.300v)", got.code(), s.code, got.Error)
			}
			peak := p.status("VmHWM")
			t.Logf("%s at most, answered in %v", mib(peak), took.Round(time.Millisecond))
			if peak > memoryLimit {
				t.Errorf("the daemon held %s, at most %s are promised", mib(peak), mib(memoryLimit))
			}
			w.send(hello)
			if got := w.frame(byHeader); got.code() != protocol.CodeInvalidRequest {
				t.Errorf("the connection does not go on: %+v", got)
			}
		})
	}
}

// TestCampaignREL6_Endless sends what never ends: a line, a header, and a body
// that was announced as larger than any memory.
func TestCampaignREL6_Endless(t *testing.T) {
	size := figure(64<<20, 3<<30)
	for name, head := range map[string]string{"line": "", "frame": fmt.Sprintf("Content-Length: %d\r\n\r\n", size)} {
		t.Run(name, func(t *testing.T) {
			// It takes more than ten seconds on a slow machine.
			p := serve(t, launchOptions{args: []string{"--set", "limits.frameTimeout=10m"}})
			w := p.dial()
			hello := handshake
			if name == "frame" {
				hello = header(handshake)
			}
			w.send(hello)
			w.frame(name == "frame")
			begin := `{"id":1,"a":"`
			w.send(head + begin)
			chunk := strings.Repeat("x", 1<<20)
			for sent := len(begin); sent < size; sent += len(chunk) {
				w.send(chunk[:min(len(chunk), size-sent)])
			}
			if name == "line" {
				w.send("\"}\n")
			}
			if got := w.frame(name == "frame"); got.code() != protocol.CodeLimit || string(got.ID) != "1" {
				t.Errorf("answered %+v", got)
			}
			if peak := p.status("VmHWM"); peak > memoryLimit {
				t.Errorf("the daemon held %s", mib(peak))
			} else {
				t.Logf("%s at most after %s", mib(peak), mib(int64(size)))
			}
		})
	}
	t.Run("header", func(t *testing.T) {
		const sent = 64 << 20 // some megabytes of the program itself come into memory meanwhile
		p := serve(t, launchOptions{})
		before := p.status("VmHWM")
		w := p.dial()
		// It is closed within the first kilobytes, so the rest can't be written.
		_, _ = w.nc.Write([]byte("Content-Length: " + strings.Repeat("1", sent)))
		if got := w.frame(true); got.code() != protocol.CodeParse {
			t.Errorf("answered %+v", got)
		}
		if grown := p.status("VmHWM") - before; grown > sent/2 {
			t.Errorf("the daemon holds %s more than before", mib(grown))
		}
	})
}
