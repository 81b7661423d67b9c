package nats

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
)

// Durability is what an acknowledgement of a shared store is worth.
type Durability string

// The durabilities.
const (
	DurabilityQuorumSynced Durability = "quorum-synced" // on the disks of most servers
	DurabilityQuorum       Durability = "quorum"        // in the memory of most servers, on their disks within their interval
	DurabilitySingle       Durability = "single"        // on one server
)

// Cluster is what the servers of a store are.
type Cluster struct {
	Server     string     `json:"server"`  // that this machine is connected to
	Version    string     `json:"version"` // of that server
	MaxPayload int64      `json:"maxPayload"`
	Replicas   int        `json:"replicas"`   // that keep the log
	Reachable  int        `json:"reachable"`  // of them, as the leader sees it
	SyncAlways string     `json:"syncAlways"` // yes, no, or as a person has said: said, unknown
	Durability Durability `json:"durability"`
	Warnings   []string   `json:"warnings"`
}

// What is known of how servers write to disk.
const (
	syncYes     = "yes"
	syncNo      = "no"
	syncSaid    = "said"
	syncUnknown = "unknown"
)

// The oldest version of servers.
const minMajor, minMinor = 2, 11

// examine asks the servers what they are. Without a stream it leaves out what is the stream's.
//
// Replicas and reachable ones stand in the information of the stream, max_payload and the
// version in what a server says when it is connected to. How a server writes to disk it tells
// only on its system account, so mostly that is unknown.
func examine(ctx context.Context, nc *nats.Conn, s jetstream.Stream) (*Cluster, error) {
	c := &Cluster{
		Server: nc.ConnectedServerName(), Version: nc.ConnectedServerVersion(), MaxPayload: nc.MaxPayload(),
		SyncAlways: syncUnknown, Warnings: []string{},
	}
	if c.Server == nc.ConnectedServerId() { // it has no name, and this one tells a person nothing
		c.Server = nc.ConnectedAddr()
	}
	if s != nil {
		info, err := s.Info(ctx)
		if err != nil {
			return nil, explainError(err)
		}
		c.Replicas = info.Config.Replicas
		if info.Cluster != nil && info.Cluster.Leader != "" {
			c.Reachable = 1
			for _, p := range info.Cluster.Replicas {
				if !p.Offline && p.Active < 30*time.Second {
					c.Reachable++
				}
			}
		} else if info.Cluster == nil {
			c.Reachable = 1
		}
	}
	c.SyncAlways = askSync(ctx, nc)
	return c, nil
}

// askSync asks on the system account how the servers write to disk. Others may not ask.
func askSync(ctx context.Context, nc *nats.Conn) string {
	const wait = 300 * time.Millisecond
	ask, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	inbox := nats.NewInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return syncUnknown
	}
	defer func() { _ = answers.Unsubscribe() }() // it ends with the connection
	if nc.PublishRequest("$SYS.REQ.SERVER.PING.VARZ", inbox, nil) != nil {
		return syncUnknown
	}
	found := syncUnknown
	for {
		m, err := answers.NextMsgWithContext(ask)
		if err != nil {
			return found
		}
		if len(m.Data) == 0 { // nobody on this account answers
			return found
		}
		var answer struct {
			Data struct {
				JetStream struct {
					Config *struct {
						SyncAlways bool `json:"sync_always"`
					} `json:"config"`
				} `json:"jetstream"`
			} `json:"data"`
		}
		if json.Unmarshal(m.Data, &answer) != nil || answer.Data.JetStream.Config == nil {
			continue
		}
		if !answer.Data.JetStream.Config.SyncAlways {
			return syncNo
		}
		found = syncYes
	}
}

// tooOld is what is wrong with a version of servers, nil: nothing. One that is not a number, of
// a build of somebody's own, is taken.
func tooOld(version string) *fault.Error {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, badMajor := strconv.Atoi(major)
	b, badMinor := strconv.Atoi(minor)
	isNumber := badMajor == nil && badMinor == nil
	if !isNumber || a > minMajor || a == minMajor && b >= minMinor {
		return nil
	}
	return fault.New(fault.Unavailable, "the servers have version %s, %d.%d or later is needed", version, minMajor, minMinor).WithHint("update the servers")
}

// enough refuses servers that can't keep a store.
func (c *Cluster) enough() error {
	old := tooOld(c.Version)
	if old != nil {
		return old
	}
	if c.MaxPayload < minPayload {
		return fault.New(fault.Unavailable, "max_payload of the servers is %d bytes, at least %d are needed", c.MaxPayload, minPayload).WithHint("set max_payload: 1MB in the configuration of the servers")
	}
	return nil
}

// judge says what an acknowledgement is worth, and what is wanting.
func (c *Cluster) judge(id *Identity) {
	id.mu.Lock()
	said := id.id.Synced
	id.mu.Unlock()
	if c.SyncAlways == syncUnknown && said {
		c.SyncAlways = syncSaid
	}
	switch {
	case c.Replicas < wantedReplicas:
		c.Durability = DurabilitySingle // as somebody has asked for: nothing is wanting
	case c.SyncAlways == syncYes || c.SyncAlways == syncSaid:
		c.Durability = DurabilityQuorumSynced
	default:
		c.Durability = DurabilityQuorum
	}
	switch c.SyncAlways {
	case syncNo:
		c.Warnings = append(c.Warnings, "a server acknowledges before it has written to disk: a power cut of all servers can lose acknowledged writes; set sync_interval: always")
	case syncUnknown:
		c.Warnings = append(c.Warnings, "the servers do not tell whether they write to disk before they acknowledge: look for sync_interval: always in their configuration; --synced of ctxd sync init and join says that it is there")
	}
	old := tooOld(c.Version)
	if old != nil {
		c.Warnings = append(c.Warnings, old.Msg+": "+old.Hint)
	}
	if c.Reachable < c.Replicas {
		c.Warnings = append(c.Warnings, strconv.Itoa(c.Replicas-c.Reachable)+" of "+strconv.Itoa(c.Replicas)+" servers can't be reached")
	}
}

// Cluster asks what the servers are.
func (l *Log) Cluster(ctx context.Context) (*Cluster, error) {
	s, _, _, err := l.bounds(ctx)
	if err != nil {
		return nil, err
	}
	c, err := examine(ctx, l.nc, s)
	if err != nil {
		return nil, err
	}
	c.judge(l.id)
	return c, nil
}

// Permitted asks whether the user of this machine may do all that it needs, as doctor does.
func (l *Log) Permitted(ctx context.Context) error {
	if !l.Connected() {
		return l.offline()
	}
	return permitted(ctx, l.nc, l.dialer, l.id.needs(false))
}
