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
	"github.com/ctxd/ctxd/entities/kv/outbox"
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

	lost int // messages in the middle of the log
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
		c.Replicas, c.lost = info.Config.Replicas, info.State.NumDeleted
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

// writesFirst refuses servers that say that they acknowledge before they write to disk.
func (c *Cluster) writesFirst() error {
	if c.SyncAlways != syncNo {
		return nil
	}
	return fault.New(fault.Unavailable, "the servers acknowledge a write before it is on their disks, and lose it when the power fails").
		WithHint("set sync_interval: always in the block jetstream of their configuration, or accept the loss: --accept-loss")
}

// checkStream refuses a stream that does not keep what a log has to keep: somebody has changed it, or
// made it anew since created, zero for any time.
func checkStream(info *jetstream.StreamInfo, created time.Time) error {
	conf := &info.Config
	var wrong string
	switch {
	case !created.IsZero() && info.Created.After(created.Add(time.Second)):
		f := fault.Wrap(fault.Unavailable, outbox.ErrForked, "the log on the servers was made anew at %s: what this machine has is not in it", info.Created.UTC().Format(time.RFC3339))
		return f.WithHint("keep this folder; begin the shared store anew on the machine that has most: ctxd sync init --again")
	case conf.Storage != jetstream.FileStorage:
		wrong = "storage: it is not in files"
	case conf.Retention != jetstream.LimitsPolicy:
		wrong = "retention: it does not keep what was read"
	case conf.Discard != jetstream.DiscardNew:
		wrong = "discard: it drops the oldest where there is no room"
	case conf.MaxAge != 0:
		wrong = "max_age: it drops what is old"
	case conf.MaxMsgsPerSubject > 0:
		wrong = "max_msgs_per_subject: it keeps some messages only"
	case !conf.DenyDelete:
		wrong = "deny_delete: single messages can be deleted"
	case len(conf.Subjects) != 1 || conf.Mirror != nil || len(conf.Sources) > 0:
		wrong = "subjects and sources: it takes messages that are not of this log"
	default:
		return nil
	}
	return fault.New(fault.Unavailable, "somebody has changed the stream of the shared store on the servers (%s)", wrong).
		WithHint("set it back on the servers; until then this machine neither reads nor writes it")
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
	if c.lost > 0 {
		c.Warnings = append(c.Warnings, "the servers have lost "+strconv.Itoa(c.lost)+" messages in the middle of the log, which a machine that is behind them can't pass: ctxd compact on one that has everything puts its state there and ends the gap; the others join anew")
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
