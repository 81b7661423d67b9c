package natstest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// readyWait is how long a server may take to serve. Nothing is measured by it.
const readyWait = time.Minute

// ClusterOptions are how servers run.
type ClusterOptions struct {
	Servers    int   // 0: three
	MaxPayload int32 // in bytes; 0: that of the server
	Lazy       bool  // they acknowledge before they have written to disk
	MaxStore   int64 // in bytes, that each server keeps; 0: more than any test needs
	// Config is a part of a configuration file, such as users and tls. What a Cluster needs
	// itself it sets.
	Config string
}

// Cluster is some servers that know each other.
type Cluster struct {
	options []*server.Options
	running []*server.Server // nil: it is stopped
}

// StartCluster runs servers until the end of the test.
func StartCluster(t testing.TB, o ClusterOptions) *Cluster {
	t.Helper()
	c, err := StartClusterIn(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// StartClusterIn runs servers with their data in a folder.
func StartClusterIn(dir string, o ClusterOptions) (*Cluster, error) {
	n := o.Servers
	if n == 0 {
		n = 3
	}
	c := &Cluster{running: make([]*server.Server, n)}
	routes := make([]*url.URL, n)
	ports, err := FreePorts(2 * n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		opts, err := o.of(fmt.Sprintf("server%d", i+1), filepath.Join(dir, fmt.Sprint(i)), ports[2*i])
		if err != nil {
			return nil, err
		}
		opts.SyncAlways, opts.MaxPayload = !o.Lazy, o.MaxPayload
		if n > 1 {
			opts.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[2*i+1], NoAdvertise: true}
			routes[i] = &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", ports[2*i+1])}
		}
		c.options = append(c.options, opts)
	}
	for i := range c.options {
		if n > 1 {
			c.options[i].Routes = routes
		}
		err := c.Start(i)
		if err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, c.Ready()
}

// of are the options of one server.
func (o *ClusterOptions) of(name, dir string, port int) (*server.Options, error) {
	base := options(name, dir, port)
	if o.MaxStore > 0 {
		base.JetStreamMaxStore = o.MaxStore
	}
	if o.Config == "" {
		return base, nil
	}
	opts := new(server.Options)
	err := opts.ProcessConfigString(o.Config)
	if err != nil {
		return nil, err
	}
	opts.ServerName, opts.Host, opts.Port, opts.NoLog, opts.NoSigs = base.ServerName, base.Host, base.Port, true, true
	opts.JetStream, opts.StoreDir, opts.JetStreamMaxMemory, opts.JetStreamMaxStore = true, base.StoreDir, base.JetStreamMaxMemory, base.JetStreamMaxStore
	return opts, nil
}

// Reconfigure starts a server that runs again with another configuration. It is not told to
// reload: nats-server 2.14 then writes fields of accounts that its connections read unlocked.
func (c *Cluster) Reconfigure(i int, config string) error {
	was := c.options[i]
	o := ClusterOptions{Config: config, MaxStore: was.JetStreamMaxStore}
	opts, err := o.of(was.ServerName, was.StoreDir, was.Port)
	if err != nil {
		return err
	}
	opts.SyncAlways, opts.MaxPayload, opts.Cluster, opts.Routes = was.SyncAlways, was.MaxPayload, was.Cluster, was.Routes
	c.options[i] = opts
	c.Stop(i)
	err = c.Start(i)
	if err != nil {
		return err
	}
	return c.Ready()
}

// Limit sets how much the account of all users keeps, in bytes, from now on.
func (c *Cluster) Limit(bytes int64) error {
	for _, s := range c.running {
		if s == nil {
			continue
		}
		err := s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": {
			MaxMemory: -1, MaxStore: bytes, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func options(name, dir string, port int) *server.Options {
	return &server.Options{
		ServerName: name, Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, SyncAlways: true,
		JetStream: true, StoreDir: dir, JetStreamMaxMemory: 1 << 30, JetStreamMaxStore: 8 << 30,
	}
}

// Ports are taken from where systems take none for connections that go out: one of those would hold the port of a
// server that does not run at the moment, such as one that is started again.
const firstPort, morePorts = 20_000, 12_000

// FreePorts returns ports that nobody listens on.
func FreePorts(n int) ([]int, error) {
	var ports []int
	var all []net.Listener // each port is another one while all are open
	defer func() {
		for _, ln := range all {
			closes(ln)
		}
	}()
	for tries := 0; len(ports) < n; tries++ {
		port := firstPort + rand.IntN(morePorts) //nolint:gosec // a guess that others may make, too
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil && tries < 1000 {
			continue // somebody has it
		}
		if err != nil {
			return nil, err
		}
		all = append(all, ln)
		ports = append(ports, port)
	}
	return ports, nil
}

// Start starts a server again that was stopped.
func (c *Cluster) Start(i int) error {
	s, err := server.NewServer(c.options[i].Clone())
	if err != nil {
		return err
	}
	c.running[i] = s
	s.Start()
	if !s.ReadyForConnections(readyWait) {
		return fmt.Errorf("server %d does not listen", i)
	}
	return nil
}

// Stop ends a server as at the end of a process.
func (c *Cluster) Stop(i int) {
	c.running[i].Shutdown()
	c.running[i].WaitForShutdown()
	c.running[i] = nil
}

// Ready waits until the servers that run have a leader and keep streams.
func (c *Cluster) Ready() error {
	limit := time.NewTimer(readyWait)
	defer limit.Stop()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for {
		if c.ready() {
			return nil
		}
		select {
		case <-every.C:
		case <-limit.C:
			return fmt.Errorf("the servers have no leader after %s", readyWait)
		}
	}
}

func (c *Cluster) ready() bool {
	led, known, running := false, 0, 0
	for _, s := range c.running {
		if s == nil {
			continue
		}
		running++
		if len(c.running) == 1 {
			return s.JetStreamEnabled()
		}
		if !s.JetStreamIsCurrent() {
			return false
		}
		if s.JetStreamIsLeader() {
			led, known = true, len(s.JetStreamClusterPeers()) // to which it would give a stream
		}
	}
	return led && known >= running
}

// Leader returns the server that leads a stream, -1 when none does.
func (c *Cluster) Leader(stream string) int {
	for i, s := range c.running {
		if s != nil && (len(c.running) == 1 || s.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream)) {
			return i
		}
	}
	return -1
}

// URL is the address of all servers.
func (c *Cluster) URL() string {
	list := make([]string, len(c.options))
	for i := range c.options {
		list[i] = c.URLOf(i)
	}
	return strings.Join(list, ",")
}

// URLOf is the address of one server.
func (c *Cluster) URLOf(i int) string { return fmt.Sprintf("nats://127.0.0.1:%d", c.options[i].Port) }

// Close ends all servers.
func (c *Cluster) Close() {
	for i, s := range c.running {
		if s != nil {
			c.Stop(i)
		}
	}
}

// Single reports whether it is one server.
func (c *Cluster) Single() bool { return len(c.options) == 1 }
