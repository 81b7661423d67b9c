package rpc_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

var update = flag.Bool("update", false, "write the golden files")

// What goes over the wire, byte for byte, so that a change of it shows in a
// diff: testdata/wire has a file a conversation. A conversation is held in both
// framings and must be the same in both but for the frames, which framing.golden
// has as they are.
func TestRPC4_WireGolden(t *testing.T) {
	for name, hold := range map[string]func(*conversation){
		"backup":       holdBackup,
		"batch":        holdBatch,
		"call":         holdCall,
		"cancel":       holdCancel,
		"errors":       holdErrors,
		"events":       holdEvents,
		"handshake":    holdHandshake,
		"limits":       holdLimits,
		"notification": holdNotification,
		"progress":     holdProgress,
		"starting":     holdStarting,
	} {
		t.Run(name, func(t *testing.T) {
			lines, headers := &conversation{t: t}, &conversation{t: t, framed: true}
			hold(lines)
			hold(headers)
			if diff := cmp.Diff(lines.text(), headers.text()); diff != "" {
				t.Errorf("by lines (-) and by headers (+) not the same is said:\n%s", diff)
			}
			wireGolden(t, name, lines.text())
		})
	}
}

func TestRPC4_WireGoldenFraming(t *testing.T) {
	var all strings.Builder
	for _, framed := range []bool{false, true} {
		c := &conversation{t: t, framed: framed, raw: true}
		holdFraming(c)
		if framed {
			all.WriteByte('\n')
		}
		all.WriteString(c.text())
	}
	wireGolden(t, "framing", all.String())
}

// Every error code that is described is seen on the wire.
func TestRPC5_WireGoldenHasEveryCode(t *testing.T) {
	c := &conversation{t: t}
	holdErrors(c)
	for _, code := range protocol.Codes {
		if want := fmt.Sprintf(`"error":{"code":%d,`, code.Code); !strings.Contains(c.text(), want) {
			t.Errorf("no error with code %d (%s) in errors.golden", code.Code, code.Kind)
		}
		if want := fmt.Sprintf(`"data":{"kind":%q`, code.Kind); !strings.Contains(c.text(), want) {
			t.Errorf("no error of kind %s in errors.golden", code.Kind)
		}
	}
}

func wireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "wire", name+".golden")
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}

// conversation is one connection and what was said on it: a line a message,
// which begins with > when the client sent it and with < when it came.
type conversation struct {
	t      *testing.T
	framed bool // by headers
	raw    bool // frames are shown, not only what is in them
	said   strings.Builder

	*bench
	p *peer
}

func (c *conversation) text() string { return c.said.String() }

// start connects to a server of its own.
func (c *conversation) start(title string, limits rpc.Limits, rooms rpc.Deps) {
	c.bench = serveRooms(c.t, limits, rooms)
	c.anew(title)
}

// startWith connects to a daemon.
func (c *conversation) startWith(title string, d *daemon) {
	c.bench = &bench{t: c.t, path: d.path}
	c.anew(title)
}

// anew opens a further connection.
func (c *conversation) anew(title string) {
	c.p = c.dial()
	c.about(title)
}

// about heads what follows.
func (c *conversation) about(title string) {
	if c.said.Len() > 0 {
		c.said.WriteByte('\n')
	}
	fmt.Fprintf(&c.said, "# %s\n", title)
}

// send sends messages.
func (c *conversation) send(messages ...string) {
	for _, message := range messages {
		bytes := message + "\n"
		if c.framed {
			bytes = frame(message)
		}
		c.p.send(bytes)
		c.show(">", message, bytes)
	}
}

// show writes a message down.
func (c *conversation) show(mark, message, bytes string) {
	if c.raw {
		message = strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(bytes)
	}
	fmt.Fprintln(&c.said, mark, shorten(message))
}

// receive reads messages.
func (c *conversation) receive(n int) {
	for range n {
		message, bytes := c.read()
		c.show("<", message, bytes)
	}
}

// read returns a message, and all bytes that it came in.
func (c *conversation) read() (message, bytes string) {
	c.t.Helper()
	line, err := c.p.in.ReadString('\n')
	must(c.t, err)
	if !c.framed {
		return strings.TrimSuffix(line, "\n"), line
	}
	head, length := "", 0
	for ; line != "\r\n"; line, err = c.p.in.ReadString('\n') {
		must(c.t, err)
		head += line
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &length) // other lines show in the golden file
	}
	body := make([]byte, length)
	_, err = io.ReadFull(c.p.in, body)
	must(c.t, err)
	return string(body), head + line + string(body)
}

// call sends messages and reads a reply to each.
func (c *conversation) call(messages ...string) {
	for _, message := range messages {
		c.send(message)
		c.receive(1)
	}
}

// hello initializes without a word about it.
func (c *conversation) hello() {
	said := c.said.String()
	c.call(hello)
	c.said.Reset()
	c.said.WriteString(said)
}

// end checks that the daemon has ended the connection and says so.
func (c *conversation) end() {
	if rest, err := io.ReadAll(c.p.in); err != nil || len(rest) > 0 {
		c.t.Fatalf("no end of the connection: %q %v", rest, err)
	}
	c.said.WriteString("< (the end)\n")
}

var (
	incidents = regexp.MustCompile(`incident-[0-9a-f]+`)
	names     = regexp.MustCompile(`("methods":\[).*?\]`)
	runs      = regexp.MustCompile(`x{100,}`)
	// What differs from run to run.
	figures = regexp.MustCompile(`("(?:ms|forMs|uptimeMs|pid|bytes|freeBytes|totalBytes)":)[0-9]+`)
	moments = regexp.MustCompile(`("created":")[^"]*`)
	sums    = regexp.MustCompile(`[0-9a-f]{64}`)
	folders = regexp.MustCompile(`"[^"]*/(b\.ctxdbackup|replaced-)[^"]*"`)
	salts   = regexp.MustCompile(`((?:journal|snapshot)-[0-9a-f]+-)[0-9a-f]+`)
	kept    = regexp.MustCompile(`replaced-[^".]*\.[^".]*`)
)

// shorten spells out what can't be seen, and leaves out what differs from run to
// run, the list of methods, which has a golden file of its own, and most of long
// texts.
func shorten(message string) string {
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "<FF>"), "\u2028", "<U+2028>")
	message = incidents.ReplaceAllString(message, "incident-…")
	message = names.ReplaceAllString(message, "$1…]")
	message = figures.ReplaceAllString(message, "${1}0")
	message = moments.ReplaceAllString(message, "$1…")
	message = sums.ReplaceAllString(message, "…")
	message = folders.ReplaceAllString(message, `"…/$1…"`)
	message = salts.ReplaceAllString(message, "$1…")
	message = kept.ReplaceAllString(message, "replaced-…")
	return runs.ReplaceAllStringFunc(message, func(run string) string { return "x… (" + strconv.Itoa(len(run)) + ")" })
}

// asRequest makes a request, without params when they are empty.
func asRequest(id, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q%s}`, id, method, params)
}

// asNotification makes a notification.
func asNotification(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

func holdFraming(c *conversation) {
	title := "by lines"
	if c.framed {
		title = "by headers"
	}
	c.start(title, rpc.Limits{}, rpc.Deps{})
	c.hello()
	c.call(asRequest("1", "test.history", ""), `[`+asRequest("2", "test.history", "")+`]`, "{")
	c.send(asRequest("3", "test.echo", `{"text":"é","progressToken":"p"}`))
	c.receive(3)
	if !c.framed {
		return
	}
	c.anew("a malformed header")
	c.p.send("Content-Length: ten\r\n\r\n")
	c.said.WriteString(`> Content-Length: ten\r\n\r\n` + "\n")
	c.receive(1)
	c.end()
}

func holdHandshake(c *conversation) {
	c.start("before it", rpc.Limits{}, rpc.Deps{})
	c.call(asRequest("1", "test.history", ""))
	c.about("that fails")
	c.call(
		asRequest("2", "initialize", ""),
		asRequest("3", "initialize", `{"clientInfo":{"name":"golden"},"protocolVersion":"one"}`),
		asRequest("4", "initialize", `{"clientInfo":{"name":"golden"},"protocolVersion":"3.0"}`),
	)
	c.about("that succeeds")
	c.call(asRequest("5", "initialize", `{"clientInfo":{"name":"golden","version":"1.2.3"},"processId":null,"protocolVersion":"2.0","capabilities":{}}`))
	c.send(asNotification("initialized", `{}`))
	c.call(asRequest("6", "test.history", ""))
	c.about("again")
	c.call(hello)
	c.about("the end of it")
	c.call(asRequest("7", "shutdown", ""), asRequest("8", "test.history", ""))
	c.send(asNotification("exit", `{}`))
	c.end()
}

func holdCall(c *conversation) {
	c.start("every kind of id comes back as it was", rpc.Limits{}, rpc.Deps{})
	c.hello()
	for _, id := range []string{`1`, `"a"`, `"\u0061\/\"é"`, `""`, `-0`, `1.50`, `1e3`, `123456789012345678901234567890`, `null`} {
		c.call(asRequest(id, "test.history", ""))
	}
	c.about("ways to give no params")
	c.call(asRequest("1", "test.history", ""), asRequest("2", "test.history", "null"),
		asRequest("3", "test.history", "{}"), asRequest("4", "test.history", "[]"))
	c.about("texts")
	c.call(asRequest("1", "test.echo", `{"text":"é 😀 \ud83d\ude00 \u2028 <&> \" \\ \/ \b\f\n\r\t \u0000 \ud800"}`))
	c.about("everything that params can hold")
	c.call(asRequest("1", "test.echo", `{"text":"","n":100,"ratio":-0.0015,"on":true,"items":[{"name":"a","count":1,"tags":["b"]}],`+
		`"extra":{"k":[1,2.5,null,false,{}]},"at":"2026-01-31T10:30:00+01:00","maybe":null,"mode":"slow","ifVersion":0}`))
	c.about("a mutation, and a read behind it")
	c.send(asRequest("1", "test.write", `{"name":"one"}`), asRequest("2", "test.history", ""))
	c.receive(2)
}

func holdBatch(c *conversation) {
	c.start("with the handshake in it", rpc.Limits{}, rpc.Deps{})
	c.call(`[` + hello + `,` + asRequest(`"a"`, "test.write", `{"name":"one"}`) + `,` + asNotification("test.write", `{"name":"two"}`) + `,` + asRequest("1.5", "test.history", "") + `]`)
	c.about("with bad ones in it")
	c.call(`[1,{},` + asRequest("1", "no.such", "") + `,` + asRequest("2", "test.echo", `{}`) + `,` + asRequest("3", "test.history", "") + `]`)
	c.about("of one")
	c.call(`[` + asRequest("1", "test.history", "") + `]`)
	c.about("of none")
	c.call(`[]`)
	c.about("of notifications: no answer")
	c.send(`[` + asNotification("test.write", `{"name":"three"}`) + `,` + asNotification("no.such", `{}`) + `]`)
	c.call(asRequest("1", "test.history", ""))
	c.about("broken off")
	c.call(`[` + asRequest("1", "test.history", "") + `,`)
}

func holdErrors(c *conversation) {
	c.start("not initialized", rpc.Limits{}, rpc.Deps{})
	c.call(asRequest("1", "test.history", ""))
	c.hello()
	c.about("no JSON")
	c.call(`{"jsonrpc":"2.0","method`, "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"test.history\"}")
	c.about("no request")
	c.call(`{}`, `{"id":1,"method":"test.history"}`, `{"jsonrpc":"2.0","id":2}`, `{"jsonrpc":"2.0","id":[3],"method":"test.history"}`,
		`{"jsonrpc":"2.0","id":4,"method":"test.history","params":"x"}`, `{"jsonrpc":"2.0","id":5,"id":6,"method":"test.history"}`)
	c.about("no method")
	c.call(asRequest("1", "no.such", `{}`))
	c.about("params")
	for i, params := range []string{
		``, `{"text":5}`, `{"txet":"x"}`, `{"text":"x","text":"y"}`, `["x"]`, `{"text":"x","n":101}`, `{"text":"x","mode":"middling"}`,
		`{"text":"x","items":[{"name":"a"},{"name":2}]}`, `{"text":"x","at":"yesterday"}`,
	} {
		c.call(asRequest(strconv.Itoa(i), "test.echo", params))
	}
	c.about("of the rooms")
	for _, kind := range []string{"invalid", "not_found", "conflict", "unavailable", "limit", "deadline", "query", "cancelled", "internal"} {
		c.call(asRequest(strconv.Quote(kind), "test.fault", `{"name":"`+kind+`"}`))
	}
	c.about("defects")
	c.call(asRequest("1", "test.panic", ""), asRequest("2", "test.panicWrite", ""), asRequest("3", "test.fail", ""), asRequest("4", "test.unencodable", ""))
}

func holdCancel(c *conversation) {
	c.start("a read that runs", rpc.Limits{}, rpc.Deps{})
	c.hello()
	c.send(asRequest("1", "test.wait", `{"name":"read"}`))
	c.begun("read")
	c.send(asNotification("$/cancelRequest", `{"id":1}`))
	c.receive(1)
	c.about("a mutation that runs completes, one that waits is dropped")
	c.send(asRequest(`"a"`, "test.write", `{"name":"slow"}`))
	c.begun("slow")
	c.send(asRequest(`"b"`, "test.write", `{"name":"dropped"}`), asNotification("$/cancelRequest", `{"id":"a"}`), asNotification("$/cancelRequest", `{"id":"b"}`))
	c.receive(1)
	c.open("slow")
	c.receive(1)
	c.call(asRequest("1", "test.history", ""))
	c.about("a job that runs")
	c.send(asRequest("1", "test.job", `{"name":"job"}`))
	c.begun("job")
	c.send(asNotification("$/cancelRequest", `{"id":1}`))
	c.receive(1)
	c.about("nothing that is known: no answer")
	c.send(asNotification("$/cancelRequest", `{"id":99}`), asNotification("$/cancelRequest", `{}`))
	c.call(asRequest("1", "test.history", ""))
}

func holdNotification(c *conversation) {
	c.start("never answered, done when it can be", rpc.Limits{}, rpc.Deps{})
	c.hello()
	c.send(
		asNotification("test.write", `{"name":"one"}`),
		asNotification("test.write", `{"nmae":"two"}`),
		asNotification("test.panic", `{}`),
		asNotification("no.such", `{}`),
		asNotification("$/whatever", `[1]`),
		`{"jsonrpc":"2.0","id":7,"result":{}}`,
	)
	c.call(asRequest("1", "test.history", ""))
}

func holdProgress(c *conversation) {
	c.start("of a read", rpc.Limits{}, rpc.Deps{})
	c.hello()
	c.send(asRequest("1", "test.echo", `{"text":"x","progressToken":"a \u0022token\u0022"}`))
	c.receive(3)
	c.about("of a job, with a number for a token")
	c.send(asRequest("2", "test.job", `{"name":"job","progressToken":7}`))
	c.begun("job")
	c.receive(2)
	c.open("job")
	c.receive(2)
	c.about("of a call that fails")
	c.send(asRequest("3", "test.fault", `{"name":"not_found","progressToken":8}`))
	c.receive(3)
}

func holdLimits(c *conversation) {
	c.start("a message, a batch and a result that are too large", rpc.Limits{
		MessageBytes: 1000, Batch: 2, InFlight: 2, Nesting: 8, OutboundBytes: 10_000,
	}, rpc.Deps{})
	c.hello()
	c.call(asRequest("1", "test.echo", `{"text":"`+strings.Repeat("x", 1000)+`"}`), `[1,2,3]`, asRequest("2", "test.size", `{"n":20000}`))
	c.about("too many in flight")
	for i := range 2 {
		c.send(asRequest(strconv.Itoa(i), "test.wait", fmt.Sprintf(`{"name":"wait%d"}`, i)))
		c.begun(fmt.Sprintf("wait%d", i))
	}
	c.call(asRequest("2", "test.history", ""))
	for i := range 2 {
		c.open(fmt.Sprintf("wait%d", i))
		c.receive(1)
	}
	c.about("too deep")
	c.call(asRequest("1", "test.echo", `{"text":"","extra":{"a":`+strings.Repeat("[", 9)+strings.Repeat("]", 9)+`}}`))
	c.end()
}

func holdEvents(c *conversation) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(c.t, err)
	c.t.Cleanup(func() { must(c.t, db.Close()) })
	rooms, err := roomsOver(db)
	must(c.t, err)
	c.start("subscribe", rpc.Limits{}, *rooms)
	c.hello()
	c.call(
		asRequest("1", "events.subscribe", `{"topics":["notes.changed","entities.changed","index.progress"]}`),
		asRequest("2", "events.subscribe", `{"topics":["no.such"]}`),
	)
	other := c.connect()
	other.call(1, "types.put", `{"name":"Person","fields":[]}`)
	other.wantResult("1", "")
	change := func(method, params string) {
		fmt.Fprintf(&c.said, "\n# %s %s on another connection\n", method, params)
		other.call(1, method, params)
		other.wantResult("1", "")
		c.receive(1)
	}
	change("notes.putMany", `{"notes":[{"id":"n1","title":"One","body":""},{"id":"n2","title":"Two","body":""}]}`)
	change("notes.archive", `{"id":"n1"}`)
	change("notes.restore", `{"id":"n1"}`)
	change("notes.delete", `{"id":"n2"}`)
	change("entities.put", `{"id":"e1","type":"Person","name":"Ann"}`)
	change("entities.archive", `{"id":"e1"}`)
	change("entities.restore", `{"id":"e1"}`)
	change("entities.delete", `{"id":"e1"}`)
	c.about("unsubscribe")
	c.call(asRequest("3", "events.unsubscribe", `{"topics":["notes.changed"]}`))
	vault := c.t.TempDir()
	must(c.t, os.WriteFile(filepath.Join(vault, "Three.md"), nil, 0o600))
	c.about("vault.import on another connection")
	other.call(1, "vault.import", fmt.Sprintf(`{"path":%q,"name":"Work"}`, vault))
	c.receive(2)
	other.wantResult("1", "")
}

func holdStarting(c *conversation) {
	s := startSlowly(c.t, rpc.Options{})
	c.startWith("before the store is open", s.daemon)
	c.call(asRequest("1", "admin.health", ""))
	c.call(asRequest("2", "initialize", `{"clientInfo":{"name":"golden"}}`), asRequest("3", "events.subscribe", `{"topics":["health.changed"]}`))
	c.about("calls wait")
	c.send(asRequest("4", "notes.list", ""), asRequest("5", "notes.put", `{"id":"n1","title":"One"}`),
		asNotification("$/cancelRequest", `{"id":5}`))
	c.receive(1)
	c.about("it is open")
	s.release <- nil
	c.receiveBoth()
	must(c.t, <-s.loaded)

	s = startSlowly(c.t, rpc.Options{})
	c.startWith("it can't be opened", s.daemon)
	c.hello()
	c.send(asRequest("1", "notes.list", ""))
	s.release <- fault.New(fault.Conflict, "the store is in use by process 7").WithHint("stop that process")
	<-s.loaded
	c.receive(1)
	c.call(asRequest("2", "admin.health", ""))
}

// receiveBoth reads two messages that may come in either order.
func (c *conversation) receiveBoth() {
	var both []string
	for range 2 {
		message, _ := c.read()
		both = append(both, message)
	}
	slices.Sort(both)
	for _, message := range both {
		c.show("<", message, "")
	}
}

func holdBackup(c *conversation) {
	dir := c.t.TempDir()
	d := startOn(c.t, dir, rpc.Options{})
	d.do("notes.put", `{"id":"n1","title":"One"}`)
	file := filepath.ToSlash(filepath.Join(c.t.TempDir(), "b.ctxdbackup"))
	params := fmt.Sprintf(`{"path":%q}`, file)
	c.startWith("a backup", d)
	c.hello()
	c.call(asRequest("1", "admin.backup", params), asRequest("2", "admin.backup", params), asRequest("3", "admin.backup", `{"path":"b.ctxdbackup"}`),
		asRequest("4", "admin.backup", fmt.Sprintf(`{"path":%q}`, filepath.ToSlash(filepath.Join(dir, "b.ctxdbackup")))))
	c.about("a restore")
	d.do("notes.put", `{"id":"n2","title":"Two"}`)
	c.call(asRequest("1", "admin.restore", fmt.Sprintf(`{"path":%q,"dryRun":true}`, file)), asRequest("2", "admin.restore", params),
		asRequest("3", "notes.get", `{"ref":"n2"}`), asRequest("4", "admin.restore", fmt.Sprintf(`{"path":%q,"checksum":"00"}`, file)))
	must(c.t, os.WriteFile(file, []byte("something else"), 0o600))
	c.call(asRequest("5", "admin.restore", params))
	c.about("a check")
	c.call(asRequest("1", "admin.check", ""))
}
