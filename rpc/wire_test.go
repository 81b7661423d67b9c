package rpc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const echo = `{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"hé"}}`

func TestRPC4_Framings(t *testing.T) {
	b := serve(t, rpc.Limits{})
	for _, c := range []struct{ name, hello, call string }{
		{"lines", hello + "\n", echo + "\n"},
		{"lines after blanks", " \r\n\t" + hello + "\r\n", "\n\n" + echo + "\n"},
		{"header", frame(hello), frame(echo)},
		{"lower case", frame(hello), strings.ToLower(frame(echo)[:len(frame(echo))-len(echo)]) + echo},
		{"no blank after the colon", frame(hello), fmt.Sprintf("Content-Length:%d\r\n\r\n%s", len(echo), echo)},
		{"content type", frame(hello), fmt.Sprintf("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s", len(echo), echo)},
		{"unknown header", frame(hello), fmt.Sprintf("content-length: %d\r\nX-Trace: a b\r\n\r\n%s", len(echo), echo)},
		{"line feeds alone", frame(hello), fmt.Sprintf("Content-Length: %d\n\n%s", len(echo), echo)},
		{"blanks in the frame", frame(hello), frame("  " + echo + " \r\n ")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.dial()
			p.t = t
			read := p.line
			if strings.HasPrefix(c.hello, "Content") {
				read = p.framed
			}
			p.send(c.hello + c.call)
			if got := read(); !strings.Contains(got, `"id":"hello","result"`) {
				t.Fatal(got)
			}
			if got := read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"result":{"text":"hé"`) {
				t.Fatal(got)
			}
		})
	}
}

func TestRPC4_OneByteAtATime(t *testing.T) {
	b := serve(t, rpc.Limits{})
	for _, framed := range []bool{false, true} {
		p := b.dial()
		text, read := hello+"\n"+echo+"\n", p.line
		if framed {
			text, read = frame(hello)+frame(echo), p.framed
		}
		for i := range len(text) {
			p.send(text[i : i+1])
		}
		read()
		if got := read(); !strings.Contains(got, `"id":1,"result"`) {
			t.Fatal(got)
		}
	}
}

func TestRPC4_MalformedHeaderCloses(t *testing.T) {
	b := serve(t, rpc.Limits{})
	for name, head := range map[string]string{
		"no colon":       "hello\r\n\r\n",
		"http":           "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"no length":      "Content-Type: x\r\n\r\n{}",
		"no number":      "Content-Length: x\r\n\r\n{}",
		"negative":       "Content-Length: -2\r\n\r\n{}",
		"too large":      "Content-Length: 99999999999999999999\r\n\r\n",
		"given twice":    "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"other charset":  "Content-Length: 2\r\nContent-Type: x; charset=utf-16\r\n\r\n{}",
		"blank in name":  "Content Length: 2\r\n\r\n{}",
		"over the limit": "X: " + strings.Repeat("x", 9<<10) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := b.dial()
			p.t = t
			p.send(head)
			r := parseReply(t, p.framed())
			if string(r.ID) != "null" || r.Error == nil || r.Error.Code != protocol.CodeParse {
				t.Fatalf("%+v", r)
			}
			p.closed()
		})
	}
	if !strings.Contains(b.log.String(), "malformed header") {
		t.Error("the reason is not in the log")
	}
}

// Golden messages: what goes in and what comes out, byte for byte.
func TestRPC5_ByTheBook(t *testing.T) {
	b := serve(t, rpc.Limits{})
	const (
		parseErr = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`
		invalid  = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,`
		ok       = `{"jsonrpc":"2.0","id":%s,"result":""}`
	)
	call := func(id string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"test.history"}`, id)
	}
	for _, c := range []struct{ name, in, want string }{
		{"not JSON", `{"jsonrpc":"2.0","method`, parseErr},
		{"text behind", call("1") + "x", parseErr},
		{"leading zero", `{"jsonrpc":"2.0","id":01,"method":"test.history"}`, parseErr},
		{"control character", "{\"jsonrpc\":\"2.0\",\"id\":\"\x01\",\"method\":\"test.history\"}", parseErr},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"test.history\"}", parseErr},
		{"bad escape", `{"jsonrpc":"2.0","id":"\x","method":"test.history"}`, parseErr},
		{"bad batch", `[{"jsonrpc":"2.0","method":"test.history"},{`, parseErr},
		{"empty batch", `[]`, fmt.Sprintf(invalid, "null")},
		{"batch of nothing", `[1,"x"]`, `[` + fmt.Sprintf(invalid, "null")},
		{"empty object", `{}`, fmt.Sprintf(invalid, "null")},
		{"no version", `{"id":1,"method":"test.history"}`, fmt.Sprintf(invalid, "1")},
		{"version 1", `{"jsonrpc":"1.0","id":1,"method":"test.history"}`, fmt.Sprintf(invalid, "1")},
		{"no method", `{"jsonrpc":"2.0","id":"a"}`, fmt.Sprintf(invalid, `"a"`)},
		{"method is a number", `{"jsonrpc":"2.0","method":1,"params":"bar"}`, fmt.Sprintf(invalid, "null")},
		{"params are a text", `{"jsonrpc":"2.0","id":1,"method":"test.history","params":"bar"}`, fmt.Sprintf(invalid, "1")},
		{"id is a list", `{"jsonrpc":"2.0","id":[1],"method":"test.history"}`, fmt.Sprintf(invalid, "null")},
		{"id is true", `{"jsonrpc":"2.0","id":true,"method":"test.history"}`, fmt.Sprintf(invalid, "null")},
		{"member twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"test.history"}`, fmt.Sprintf(invalid, "2")},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no.such"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,`},
		{"id text", call(`"a\u00e9\/\""`), fmt.Sprintf(ok, `"a\u00e9\/\""`)},
		{"id empty text", call(`""`), fmt.Sprintf(ok, `""`)},
		{"id zero", call(`0`), fmt.Sprintf(ok, `0`)},
		{"id negative", call(`-1`), fmt.Sprintf(ok, `-1`)},
		{"id fraction", call(`1.50`), fmt.Sprintf(ok, `1.50`)},
		{"id exponent", call(`1e3`), fmt.Sprintf(ok, `1e3`)},
		{"id huge", call(`123456789012345678901234567890`), fmt.Sprintf(ok, `123456789012345678901234567890`)},
		{"id null", call(`null`), fmt.Sprintf(ok, `null`)},
		{"escaped members", `{"\u006asonrpc":"2.0","\u0069d":1,"method":"test\u002ehistory"}`, fmt.Sprintf(ok, `1`)},
		{"members in any order", `{"params":{},"method":"test.history","id":1,"jsonrpc":"2.0","meta":{"x":[1]}}`, fmt.Sprintf(ok, `1`)},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"test.history","params":null}`, fmt.Sprintf(ok, `1`)},
		{"params empty list", `{"jsonrpc":"2.0","id":1,"method":"test.history","params":[ ]}`, fmt.Sprintf(ok, `1`)},
		{
			"batch", `[` + call("1") + `,` + call(`"b"`) + `,{"jsonrpc":"2.0","method":"test.history"},` + call("3") + `]`,
			`[` + fmt.Sprintf(ok, "1") + `,` + fmt.Sprintf(ok, `"b"`) + `,` + fmt.Sprintf(ok, "3") + `]`,
		},
		{"batch with a bad one", `[` + call("1") + `,{"foo":1}]`, `[` + fmt.Sprintf(ok, "1") + `,` + fmt.Sprintf(invalid, "null")},
	} {
		for _, framed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/framed=%v", c.name, framed), func(t *testing.T) {
				p := b.dial()
				p.t = t
				wrap, read := func(s string) string { return s + "\n" }, p.line
				if framed {
					wrap, read = frame, p.framed
				}
				p.send(wrap(hello))
				read()
				p.send(wrap(c.in))
				if got := read(); !strings.HasPrefix(got, c.want) {
					t.Fatalf("got %s\nwant %s…", got, c.want)
				}
				// Whatever it was: the connection stays.
				p.send(wrap(call(`"after"`)))
				if got := read(); got != fmt.Sprintf(ok, `"after"`) {
					t.Fatalf("afterwards: %s", got)
				}
			})
		}
	}
}

func TestRPC5_NotificationsAreNeverAnswered(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	for _, n := range []string{
		`{"jsonrpc":"2.0","method":"test.history"}`,
		`{"jsonrpc":"2.0","method":"no.such"}`,
		`{"jsonrpc":"2.0","method":"test.echo","params":{"bad":1}}`,
		`{"jsonrpc":"2.0","method":"test.panic"}`,
		`{"jsonrpc":"2.0","method":"$/whatever","params":[1]}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest"}`,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		`[{"jsonrpc":"2.0","method":"test.history"},{"jsonrpc":"2.0","method":"no.such"}]`,
		`{"jsonrpc":"2.0","id":7,"result":{}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"test.write","params":{"name":"told"}}`,
	} {
		p.send(n + "\n")
	}
	p.call(1, "test.history", "")
	p.wantResult("1", `"told"`)
}

func TestRPC5_StrictParams(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	for _, c := range []struct{ params, field string }{
		{`{}`, "text"},
		{`{"Text":"x"}`, "Text"},
		{`{"text":1}`, "text"},
		{`{"text":null}`, "text"},
		{`{"text":"x","no":1}`, "no"},
		{`{"text":"x","text":"y"}`, "text"},
		{`{"text":"x","n":"1"}`, "n"},
		{`{"text":"x","n":1.5}`, "n"},
		{`{"text":"x","n":0}`, "n"},
		{`{"text":"x","n":101}`, "n"},
		{`{"text":"x","n":99999999999999999999}`, "n"},
		{`{"text":"x","ratio":"1"}`, "ratio"},
		{`{"text":"x","ratio":1e999}`, "ratio"},
		{`{"text":"x","on":"true"}`, "on"},
		{`{"text":"x","items":{}}`, "items"},
		{`{"text":"x","items":[{"name":"a"},{"name":2}]}`, "items[1].name"},
		{`{"text":"x","items":[{"name":"a"},{"nmae":"b"}]}`, "items[1].nmae"},
		{`{"text":"x","items":[{}]}`, "items[0].name"},
		{`{"text":"x","items":[{"name":"a","count":11}]}`, "items[0].count"},
		{`{"text":"x","items":[{"name":"a","tags":["a","c"]}]}`, "items[0].tags[1]"},
		{`{"text":"x","items":[null]}`, "items[0]"},
		{`{"text":"x","extra":{"a":1,"a":2}}`, "extra.a"},
		{`{"text":"x","extra":{"a":{"b":1,"b":2}}}`, "extra.a.b"},
		{`{"text":"x","extra":[]}`, "extra"},
		{`{"text":"x","at":"yesterday"}`, "at"},
		{`{"text":"x","at":5}`, "at"},
		{`{"text":"x","maybe":5}`, "maybe"},
		{`{"text":"x","mode":"middling"}`, "mode"},
		{`{"text":"x","ifVersion":null}`, "ifVersion"},
		{`{"text":"x","progressToken":{}}`, "progressToken"},
		{`["x"]`, "params"},
		{`[[]]`, "params"},
	} {
		p.call(1, "test.echo", c.params)
		e := p.wantError("1", protocol.CodeInvalidParams)
		if e.Data.Field != c.field || e.Data.Kind != "invalid_params" || !strings.Contains(e.Message, c.field) && c.field != "params" {
			t.Errorf("%s: field %q, want %q (%s)", c.params, e.Data.Field, c.field, e.Message)
		}
	}
}

func TestRPC5_ParamsArriveWhole(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	for params, want := range map[string]string{
		`{"text":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00<&>"}`: `{"text":"a\"\\/\b\f\n\r\té😀<&>","n":7,"mode":"fast"}`,
		`{"text":"\ud800x"}`:                                   `{"text":"�x","n":7,"mode":"fast"}`,
		`{"text":"","n":5.0,"ratio":-1.5e-3,"on":true}`:        `{"text":"","n":5,"ratio":-0.0015,"on":true,"mode":"fast"}`,
		`{"text":"","maybe":null,"mode":"slow"}`:               `{"text":"","n":7,"maybe":null,"mode":"slow"}`,
		`{"text":"","extra":{"":[1,null,{"k":"v"}],"é":true}}`: `{"text":"","n":7,"extra":{"":[1,null,{"k":"v"}],"é":true},"mode":"fast"}`,
		`{"\u0074ext":"x","at":"2026-01-31T10:30:00+01:00"}`:   `{"text":"x","n":7,"at":"2026-01-31T09:30:00Z","mode":"fast"}`,
	} {
		p.call(1, "test.echo", params)
		p.wantResult("1", want)
	}
}

func TestRPC6_LargeMessageIsSkipped(t *testing.T) {
	b := serve(t, rpc.Limits{MessageBytes: 10_000})
	x := strings.Repeat("x", 200_000)
	for _, c := range []struct{ text, id string }{
		{`{"jsonrpc":"2.0","id":"big","method":"test.echo","params":{"text":"` + x + `"}}`, `"big"`},
		{`{"jsonrpc":"2.0","method":"test.echo","params":{"text":"` + x + `"},"id":9}`, "9"},
		{`{"params":[{"id":1,"text":"` + x + `}],\"id\":2,\\"},[[]],{}],"id" : -1.5 ,"jsonrpc":"2.0"}`, "-1.5"},
		{`{"params":"` + x + `","id":1}`, "null"}, // behind a text that is too long itself
		{`[{"id":1,"params":["` + x + `"]}]`, "null"},
		{`{"id":1}]}` + x, "1"},
		{`{"` + x, "null"},
	} {
		p := b.connect()
		p.send(c.text + "\n")
		if e := p.wantError(c.id, protocol.CodeLimit); e.Data.Retryable {
			t.Error("it is said to be retryable")
		}
		p.call(1, "test.history", "")
		p.wantResult("1", "")

		f := b.dial()
		f.send(frame(hello) + frame(c.text) + frame(echo))
		f.framed()
		if r := parseReply(t, f.framed()); string(r.ID) != c.id || r.Error == nil || r.Error.Code != protocol.CodeLimit {
			t.Errorf("framed: %+v", r)
		}
		if r := parseReply(t, f.framed()); string(r.ID) != "1" || r.Error != nil {
			t.Errorf("framed, afterwards: %+v", r)
		}
	}
	p := b.connect()
	p.send(`{"params":{"id":1,"text":"` + x + `"},"method":"test.echo"}` + "\n") // a notification is never answered
	p.call(1, "test.history", "")
	p.wantResult("1", "")
}

func TestRPC6_MessageAtTheLimitIsTaken(t *testing.T) {
	const limit = 10_000
	b := serve(t, rpc.Limits{MessageBytes: limit})
	p := b.connect()
	head, tail := `{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"`, `"}}`
	for _, over := range []int{0, 1} {
		p.send(head + strings.Repeat("x", limit-len(head)-len(tail)+over) + tail + "\n")
		r := p.reply()
		if tooLarge := r.Error != nil; tooLarge != (over == 1) {
			t.Errorf("%d bytes over: %+v", over, r.Error)
		}
	}
}

func TestRPC6_NestingCloses(t *testing.T) {
	b := serve(t, rpc.Limits{})
	nested := func(n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"","extra":{"a":%s%s}}}`,
			strings.Repeat("[", n), strings.Repeat("]", n)) + "\n"
	}
	p := b.connect()
	p.send(nested(125)) // three objects around it
	p.wantResult("1", "")
	p.send(nested(126))
	p.wantError("null", protocol.CodeLimit)
	p.closed()
	if !strings.Contains(b.log.String(), "nested too deeply") {
		t.Error("the reason is not in the log")
	}
}

func TestRPC6_BatchSize(t *testing.T) {
	b := serve(t, rpc.Limits{Batch: 3})
	p := b.connect()
	p.send(`[1,2,3,4]` + "\n")
	p.wantError("null", protocol.CodeLimit)
	p.send(`[1,2,3]` + "\n")
	if got := p.line(); strings.Count(got, "-32600") != 3 {
		t.Error(got)
	}
}

func TestRPC6_FrameTimeout(t *testing.T) {
	b := serve(t, rpc.Limits{FrameTimeout: 50 * time.Millisecond})
	idle := b.connect()
	for _, start := range []string{`{"jsonrpc"`, "Content-Le", "Content-Length: 100\r\n\r\n{"} {
		p := b.dial()
		p.send(start)
		p.closed()
	}
	if !strings.Contains(b.log.String(), "not complete in time") {
		t.Error("the reason is not in the log")
	}
	idle.call(1, "test.history", "") // nothing was begun: it may be silent
	idle.wantResult("1", "")
}

// When a client has opened as many connections as may be, an idle one of them is closed
// for a new one, and the new one when none is idle.
func TestRPC6_Connections(t *testing.T) {
	b := serve(t, rpc.Limits{Connections: 2})
	first, second := b.connect(), b.connect()
	for name, p := range map[string]*peer{"a": first, "b": second} {
		p.call(1, "test.wait", `{"name":"`+name+`"}`)
		b.begun(name)
	}
	b.dial().closed()
	if !strings.Contains(b.log.String(), "connections are refused: too many are open") {
		t.Error("the reason is not in the log")
	}
	b.open("a")
	first.wantResult("1", `"a"`)
	first.call(2, "events.subscribe", `{"topics":["notes.changed"]}`)
	first.wantResult("2", "")
	b.dial().closed() // it follows a topic
	first.call(3, "events.unsubscribe", `{"topics":["notes.changed"]}`)
	first.wantResult("3", "")
	var third *peer
	until(t, "a new one is taken", func() bool { // one that has very many is refused for a moment
		third = b.dial()
		_, _ = third.nc.Write([]byte(hello + "\n"))
		_, err := third.in.ReadString('\n')
		return err == nil
	})
	first.closed()
	if !strings.Contains(b.log.String(), "too many connections are open: the least active one is closed") {
		t.Error("the reason is not in the log")
	}
	b.open("b")
	second.wantResult("1", `"b"`)
	third.call(1, "test.history", "")
	third.wantResult("1", "")
}

func TestRPC6_ResultTooLarge(t *testing.T) {
	b := serve(t, rpc.Limits{OutboundBytes: 1 << 20})
	p := b.connect()
	p.call(1, "test.size", `{"n":1048576}`)
	p.wantError("1", protocol.CodeLimit)
	p.call(2, "test.size", `{"n":1000000}`)
	p.wantResult("2", "")
	p.send(`[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"test.size","params":{"n":400000}},`, 2) +
		`{"jsonrpc":"2.0","id":1,"method":"test.size","params":{"n":400000}}]` + "\n")
	if got := p.line(); strings.Count(got, `"result"`) != 2 || strings.Count(got, `"code":1004`) != 1 {
		t.Errorf("a batch of %d bytes", len(got))
	}
}

func TestRPC6_SlowReadersAreCut(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits rpc.Limits
		reason string
	}{
		{"by bytes", rpc.Limits{OutboundBytes: 2 << 20}, "beyond the limit of a connection"},
		{"by all bytes", rpc.Limits{OutboundTotal: 2 << 20}, "the slowest"},
		{"by time", rpc.Limits{WriteStall: 200 * time.Millisecond}, "no progress on a write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := serve(t, c.limits)
			p := b.connect()
			p.sizes(6, 1_000_000)
			b.log.await(t, c.reason)
			other := b.connect()
			other.call(1, "test.history", "")
			other.wantResult("1", "")
			p.drain()
			if n := b.srv.ConnStats().OutboundBytes; n != 0 {
				t.Errorf("%d bytes are still counted", n)
			}
		})
	}
}

// Messages that never end take the memory of the daemon only up to a limit; the
// oldest have to go.
func TestRPC6_UnfinishedMessages(t *testing.T) {
	b := serve(t, rpc.Limits{MessageBytes: 1 << 20, InboundTotal: 3_000_000})
	begin := `{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"` + strings.Repeat("x", 900_000)
	var peers []*peer
	for i := range 6 {
		p := b.connect()
		before := b.srv.ConnStats().BytesIn
		p.send(begin)
		until(t, "it has been read", func() bool { return b.srv.ConnStats().BytesIn-before >= int64(len(begin)) })
		peers = append(peers, p)
		if i >= 2 { // 1 MiB a buffer: the third is one too many
			peers[i-2].closed()
		}
	}
	for _, p := range peers[4:] {
		p.send(`"}}` + "\n")
		p.wantResult("1", "")
	}
	b.log.await(t, "unfinished messages are beyond the limit")
	p := b.connect() // what was cut is no longer counted
	p.send(begin + `"}}` + "\n")
	p.wantResult("1", "")
}

// A batch that can't be answered whole is not worked on further.
func TestRPC6_BatchIsNotComputedBeyondWhatFits(t *testing.T) {
	b := serve(t, rpc.Limits{OutboundBytes: 100_000, Concurrency: 1})
	p := b.connect()
	p.send("[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"test.size","params":{"n":60000}},`, 2) +
		`{"jsonrpc":"2.0","id":2,"method":"test.wait","params":{"name":"never"}},{"jsonrpc":"2.0","id":3,"method":"test.write","params":{"name":"w"}}]` + "\n")
	if got := p.line(); strings.Count(got, `"the replies of the batch are too large"`) != 2 || !strings.Contains(got, `"result":"w"`) {
		t.Errorf("got %.200s … %.400s", got, got[max(0, len(got)-400):])
	}
}
