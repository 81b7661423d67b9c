package natstest

import (
	"errors"
	"net/url"

	"github.com/nats-io/nats-server/v2/server"
)

// Member is one server of a cluster whose servers are processes of their own. It writes to disk
// before it acknowledges.
type Member struct {
	Name      string   `json:"name"`
	Dir       string   `json:"dir"`
	Port      int      `json:"port"`
	RoutePort int      `json:"routePort"` // where other servers reach it
	Routes    []string `json:"routes"`    // where it reaches the others, HOST:PORT; no other way is tried

	running *server.Server
}

// Start returns when the server listens.
func (m *Member) Start() error {
	o := options(m.Name, m.Dir, m.Port)
	// Servers tell each other what they hear of others. What they hear of this one leads nowhere.
	o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: m.RoutePort, NoAdvertise: true, Advertise: "127.0.0.1:1"}
	for _, r := range m.Routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: r})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	m.running = s
	s.Start()
	if !s.ReadyForConnections(readyWait) {
		return errors.New("the server does not listen")
	}
	return nil
}

// Stop ends the server as a signal does, which lets another one lead first.
func (m *Member) Stop() {
	m.running.Shutdown()
	m.running.WaitForShutdown()
}

// Ready reports whether the server keeps streams.
func (m *Member) Ready() bool { return m.running.JetStreamIsCurrent() }

// Leads reports whether it leads a stream.
func (m *Member) Leads(stream string) bool {
	return m.running.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream)
}
