//go:build linux

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The campaign holds the real program on a real socket to its promises: one
// daemon, hostile clients, cancellation, want of descriptors and of disk, no
// leaks, private files. go test ./... leaves it out; CTXD_CAMPAIGN=short runs its
// short form, full the figures of the promises, which takes about 25 minutes:
//
//	CTXD_CAMPAIGN=full go test ./cmd/ctxd -run Campaign -count=1 -v -timeout 60m
//
// Every test logs the figures that it reached.

const patience = hangs

// figure is short, or whole when the campaign is to be run in full.
func figure[T any](short, whole T) T {
	return campaign.Figure(short, whole)
}

// inTime is a limit of time in a whole campaign. The short form runs with all
// the tests, on machines that are busy, and only tells a hang.
func inTime(limit time.Duration) time.Duration {
	return figure(max(limit, patience), limit)
}

// process is a daemon of its own, in a home of its own.
type process struct {
	t      *testing.T
	home   string // of everything that it writes
	socket string
	data   string
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
}

// launchOptions say how a daemon is to be run. The zero value is a plain one.
type launchOptions struct {
	home    string   // of an earlier one; "": a new home
	data    string   // "": data in the home
	args    []string // after serve
	env     []string // beside those that keep it to its home
	wrapper []string // what it is run by, such as sh -c …
}

// shortHome makes a home whose path is short enough for a socket. Every test of
// the campaign begins with one, and is left out without CTXD_CAMPAIGN.
func shortHome(t *testing.T) string {
	t.Helper()
	campaign.Only(t)
	dir, err := os.MkdirTemp("", "ctxd-c-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// prepare makes a daemon that is not running yet.
func prepare(t *testing.T, s launchOptions) *process {
	t.Helper()
	if s.home == "" {
		s.home = shortHome(t)
	}
	p := &process{t: t, home: s.home, socket: filepath.Join(s.home, "run", "ctxd.sock"), data: cmp.Or(s.data, filepath.Join(s.home, "data"))}
	args := append(append(s.wrapper, "ctxd", "serve", "--log-level", "debug"), s.args...)
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Env = append(os.Environ(), "HOME="+s.home, "TMPDIR="+s.home, "XDG_DATA_HOME="+s.home, "XDG_CONFIG_HOME="+s.home,
		"XDG_RUNTIME_DIR="+s.home, "CTXD_SOCKET="+p.socket, "CTXD_DATA="+p.data,
		"GORACE="+strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	p.cmd.Env = append(p.cmd.Env, s.env...)
	return p
}

// logFile is where standard error goes.
func (p *process) logFile() string { return filepath.Join(p.home, "stderr.log") }

func (p *process) log() string {
	text, err := os.ReadFile(p.logFile())
	if err != nil {
		p.t.Error(err)
	}
	return string(text)
}

// launch starts the process and returns at once.
func (p *process) launch() {
	p.t.Helper()
	out, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer out.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.exited = make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // the state says how it ended
		close(p.exited)
	}()
	p.t.Cleanup(p.kill)
}

// serve starts a daemon and waits until it answers.
func serve(t *testing.T, s launchOptions) *process {
	t.Helper()
	p := prepare(t, s)
	p.launch()
	p.await()
	return p
}

// await returns how the daemon is once it serves.
func (p *process) await() protocol.Health {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		h, err := p.health(ctx)
		if err == nil && h.Loading == nil {
			return h
		}
		select {
		case <-time.After(time.Millisecond):
		case <-p.exited:
			p.t.Fatalf("the daemon ended: %v\n%s", p.cmd.ProcessState, p.log())
		case <-ctx.Done():
			p.t.Fatalf("no daemon: %v\n%s", err, p.log())
		}
	}
}

func (p *process) health(ctx context.Context) (h protocol.Health, err error) {
	c, err := client.Dial(ctx, p.socket, client.Options{Bare: true})
	if err != nil {
		return h, err
	}
	defer c.Close()
	return h, c.Call(ctx, "admin.health", nil, &h)
}

// kill ends the process without letting it do anything.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.exited
}

// stop ends the daemon as a person would.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatal("the daemon does not end")
	}
	if !p.cmd.ProcessState.Success() {
		p.t.Fatalf("the daemon ended badly: %v\n%s", p.cmd.ProcessState, p.log())
	}
}

// client connects a well-behaved client.
func (p *process) client() *client.Client {
	p.t.Helper()
	c, err := client.Dial(p.t.Context(), p.socket, client.Options{Name: "campaign"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Close() })
	return c
}

// ask calls a method that must succeed.
func ask[R any](t *testing.T, c *client.Client, method string, params any) (out R) {
	t.Helper()
	if err := c.Call(t.Context(), method, params, &out); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return out
}

// status returns one line of /proc/PID/status in bytes, such as VmRSS or VmHWM.
func (p *process) status(name string) int64 {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return n << 10
		}
	}
	p.t.Fatalf("no %s", name)
	return 0
}

// resetPeak lets VmHWM begin anew at what is resident now, which it returns.
func (p *process) resetPeak() int64 {
	p.t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return p.status("VmRSS")
}

// descriptors counts the open files of the process.
func (p *process) descriptors() int {
	p.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(list)
}

// fill puts n notes of about size bytes with ids note-0, note-1 and so on.
func fill(t *testing.T, c *client.Client, n, size int) {
	t.Helper()
	words := strings.Fields("meadow harbour lantern copper violet summit orchard pebble saffron willow anchor compass")
	for from := 0; from < n; {
		var batch []protocol.NoteRecord
		for room := 4 << 20; from < n && len(batch) < 500 && room > 0; from++ {
			var body strings.Builder
			for i := 0; body.Len() < size; i++ {
				body.WriteString(words[(from*7+i*i+i/9)%len(words)])
				body.WriteString([]string{" ", " ", ".\n", " "}[i%4])
			}
			fmt.Fprintf(&body, "[[Note %d]]\n", (from*31+7)%n)
			batch = append(batch, protocol.NoteRecord{ID: "note-" + strconv.Itoa(from), Title: "Note " + strconv.Itoa(from), Body: body.String()})
			room -= size
		}
		ask[protocol.NoteList](t, c, "notes.putMany", protocol.NotePutMany{Notes: batch})
	}
}

// wire is a client that writes bytes, without manners.
type wire struct {
	t  *testing.T
	nc *net.UnixConn
	in *bufio.Reader
}

func (p *process) dial() *wire {
	p.t.Helper()
	nc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: p.socket, Net: "unix"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = nc.Close() })
	return &wire{t: p.t, nc: nc, in: bufio.NewReaderSize(nc, 64<<10)}
}

const handshake = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"clientInfo":{"name":"hostile"}}}` + "\n"

// greet connects and initializes, by lines.
func (p *process) greet() *wire {
	p.t.Helper()
	w := p.dial()
	w.send(handshake)
	if r := w.reply(); r.Error != nil {
		p.t.Fatal(r.Error)
	}
	return w
}

func (w *wire) send(text string) {
	w.t.Helper()
	if _, err := w.nc.Write([]byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

// answer is a reply as it came.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

// code is that of the error, 0 without one.
func (a answer) code() int {
	if a.Error == nil {
		return 0
	}
	return a.Error.Code
}

// reply reads one line.
func (w *wire) reply() (a answer) {
	w.t.Helper()
	_ = w.nc.SetReadDeadline(time.Now().Add(patience))
	line, err := w.in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		w.t.Fatalf("reading a reply: %v (got %.200q)", err, line)
	}
	return a
}

// latencies are times that were measured.
type latencies []time.Duration

// at returns the time that the given share of all did not exceed.
func (d latencies) at(share float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(int(share*float64(len(d))), len(d)-1)]
}

func (d latencies) String() string {
	return fmt.Sprintf("%d: p50 %v, p99 %v, max %v", len(d), d.at(0.5).Round(time.Microsecond), d.at(0.99).Round(time.Microsecond), d.at(1).Round(time.Microsecond))
}

// mib is a size for people.
func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
