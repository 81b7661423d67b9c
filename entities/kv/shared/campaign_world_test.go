//go:build unix

package shared_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

const (
	daemons = 3
	servers = 3
)

// world is all processes and what stands between them.
type world struct {
	t       *testing.T
	members [servers]natstest.Member
	servers [servers]*child // of the one goroutine that does bad things
	routes  [servers][servers]*natstest.Proxy
	ways    [daemons][servers]*natstest.Proxy
	options [daemons]daemonOptions
	daemons [daemons]*process
	stream  string
	random  *rand.Rand
	history *history
	log     string // folder of what processes say
}

// process is a daemon that ends and is started again.
type process struct {
	mu  sync.Mutex
	now *child
	new chan struct{} // closed at the next start
}

func (p *process) child() *child {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// alive returns the daemon, once there is one.
func (p *process) alive(stop context.Context) *child {
	for {
		p.mu.Lock()
		c, next := p.now, p.new
		p.mu.Unlock()
		select {
		case <-c.dead:
		default:
			return c
		}
		select {
		case <-next:
		case <-stop.Done():
			return c
		}
	}
}

func (p *process) set(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = c
	if p.new != nil {
		close(p.new)
	}
	p.new = make(chan struct{})
}

// newWorld starts the servers, begins a store and has all daemons take part in it.
func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 9)), history: newHistory(), log: t.TempDir()}
	w.startServers()
	dirs := t.TempDir()
	var words string
	for i := range w.daemons {
		var addresses []string
		for j := range w.ways[i] {
			w.ways[i][j] = w.proxy(w.members[j].Port)
			addresses = append(addresses, w.ways[i][j].URL())
		}
		o := daemonOptions{Dir: filepath.Join(dirs, fmt.Sprint(i)), URL: strings.Join(addresses, ","), Clock: clocks[i]}
		w.options[i] = o
		if i == 0 {
			w.must(os.Mkdir(o.Dir, 0o700))
			id, _, err := shared.Begin(ctx, shared.BeginOptions{Servers: nats.Servers{URL: o.URL}, Dir: o.Dir, Name: "first", Synced: true})
			w.must(err)
			words = id.Words()
		} else {
			w.join(o, words)
		}
		w.daemons[i] = &process{}
		w.startDaemon(i)
	}
	key, err := os.ReadFile(filepath.Join(w.options[0].Dir, shared.Folder, "key"))
	w.must(err)
	var names struct{ Stream string }
	w.must(json.Unmarshal(key, &names))
	w.stream = names.Stream
	return w
}

// clocks of the daemons are apart by an hour each.
var clocks = [daemons]time.Duration{0, time.Hour, -time.Hour}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) proxy(port int) *natstest.Proxy {
	w.t.Helper()
	p, err := natstest.OpenProxy(fmt.Sprintf("127.0.0.1:%d", port))
	w.must(err)
	w.t.Cleanup(p.Close)
	return p
}

// startServers starts three servers that reach each other over proxies.
func (w *world) startServers() {
	w.t.Helper()
	ports, err := natstest.FreePorts(2 * servers)
	w.must(err)
	dir := w.t.TempDir()
	for i := range w.members {
		w.members[i] = natstest.Member{
			Name: fmt.Sprintf("server%d", i+1), Dir: filepath.Join(dir, fmt.Sprint(i)), Port: ports[2*i], RoutePort: ports[2*i+1],
		}
		for j := range w.members {
			if i == j {
				continue
			}
			w.routes[i][j] = w.proxy(ports[2*j+1])
			u, err := url.Parse(w.routes[i][j].URL())
			w.must(err)
			w.members[i].Routes = append(w.members[i].Routes, u.Host)
		}
	}
	for i := range w.members {
		w.startServer(i)
		w.t.Cleanup(func() { w.servers[i].kill() })
	}
	for i := range w.members {
		w.await("the servers have no leader", func() bool { return w.asks(i, "ready") })
	}
}

func (w *world) asks(server int, op string) bool {
	answer, err := w.servers[server].call(request{Op: op, Key: w.stream})
	return err == nil && answer.Outcome == done
}

// leader is the server that leads the stream, -1 when none says so.
func (w *world) leader() int {
	for i := range w.servers {
		if w.asks(i, "leads") {
			return i
		}
	}
	return -1
}

func (w *world) startServer(i int) {
	w.t.Helper()
	c, err := spawn("server", w.members[i], w.file(w.members[i].Name), func(reply) {})
	w.must(err)
	w.servers[i] = c
}

func (w *world) startDaemon(i int) {
	w.t.Helper()
	name := fmt.Sprintf("daemon%d", i+1)
	c, err := spawn("daemon", w.options[i], w.file(name), func(r reply) { w.history.odd(name + ": " + r.Error) })
	if err != nil {
		w.tell(name)
	}
	w.must(err)
	w.daemons[i].set(c)
	w.t.Cleanup(c.kill)
}

// file is where a process writes what it logs.
func (w *world) file(name string) io.Writer {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.log, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	w.must(err)
	w.t.Cleanup(func() { _ = f.Close() })
	return f
}

// tell shows what a process has logged last.
func (w *world) tell(name string) {
	const most = 4000
	text, err := os.ReadFile(filepath.Join(w.log, name))
	if err == nil {
		w.t.Logf("%s says: %s", name, text[max(0, len(text)-most):])
	}
}

// tellReasons shows why operations were not done.
func (w *world) tellReasons() {
	w.history.mu.Lock()
	defer w.history.mu.Unlock()
	for _, why := range slices.Sorted(maps.Keys(w.history.reasons)) {
		w.t.Logf("%6d %s", w.history.reasons[why], why)
	}
}

// join takes part in the store once its first state is there.
func (w *world) join(o daemonOptions, words string) {
	w.t.Helper()
	secret, err := nats.ParseSecret(words)
	w.must(err)
	join := shared.JoinOptions{
		Servers: nats.Servers{URL: o.URL}, Dir: o.Dir, Secret: secret, Name: "another", Synced: true, Store: storeOptions,
		Progress: func(int64, int64) {}, Logger: slog.New(slog.DiscardHandler),
	}
	w.await("a machine can't join", func() bool {
		_, err := shared.Join(ctx, join)
		var f *fault.Error
		if err != nil && (!errors.As(err, &f) || !f.Retryable) {
			w.t.Fatal(err)
		}
		return err == nil
	})
}

// patience is how long something may take that has to come. Nothing is measured by it.
const patience = 2 * time.Minute

// await asks again and again.
func (w *world) await(what string, ok func() bool) {
	w.t.Helper()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-limit:
			w.t.Fatal(what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// acks waits until daemons have acknowledged so many more writes, each of them; false: not
// within the time.
func (w *world) acks(n int64, limit time.Duration, of ...int) bool {
	before, _ := w.history.acknowledged()
	over := time.After(limit)
	for {
		now, more := w.history.acknowledged()
		all := true
		for _, i := range of {
			all = all && now[i]-before[i] >= n
		}
		if all {
			return true
		}
		select {
		case <-more:
		case <-over:
			return false
		}
	}
}
