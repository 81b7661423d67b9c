package protocol

import (
	"time"

	"github.com/ctxd/ctxd/entities/kv"
)

// The standings of Health.
const (
	Healthy = "healthy"
	Warning = "warning"
	Failing = "error"
)

// Health is the result of admin.health.
type Health struct {
	Status   string       `json:"status" enum:"healthy,warning,error" jsonschema:"how the daemon is"`
	Warnings []string     `json:"warnings" jsonschema:"what needs attention"`
	Disk     DiskHealth   `json:"disk" jsonschema:"the disk that the data lies on"`
	Store    kv.Status    `json:"store" jsonschema:"the record store"`
	Index    IndexHealth  `json:"index" jsonschema:"the search index"`
	Embedder EmbedderInfo `json:"embedder" jsonschema:"the model that turns text into vectors"`
	Loading  *Loading     `json:"loading,omitempty" jsonschema:"what calls wait for; absent when nothing keeps them"`
	UptimeMS int64        `json:"uptimeMs" jsonschema:"milliseconds since the start"`
	PID      int          `json:"pid" jsonschema:"process id of the daemon"`
	Version  string       `json:"version" jsonschema:"version of the daemon"`
}

// Serves reports whether the daemon has a store open that calls can use.
func (h *Health) Serves() bool { return h.Loading == nil && h.Store.Mode != StoreClosed }

// Loading says what is being done while calls wait for the store.
type Loading struct {
	Phase string `json:"phase" enum:"starting,restoring,checking" jsonschema:"why: the daemon starts, a backup takes the place of the store, or everything is built anew to be compared"`
	Stage string `json:"stage,omitempty" jsonschema:"what is being done: calls, until those under way are done; store, until its records are read; rooms, until what is derived from them is"`
	ForMS int64  `json:"forMs" jsonschema:"milliseconds since it began"`
}

// The phases of Loading.
const (
	LoadStarting  = "starting"
	LoadRestoring = "restoring"
	LoadChecking  = "checking"
)

// The stages of Loading.
const (
	StageCalls = "calls"
	StageStore = "store"
	StageRooms = "rooms"
)

// What Health.Store has for a mode beside those of an open store.
const (
	StoreLoading = "loading" // it is being opened or replaced
	StoreClosed  = "closed"  // it could not be opened; the reason says why
)

// DiskHealth says how much room there is.
type DiskHealth struct {
	FreeBytes  uint64 `json:"freeBytes" jsonschema:"room left, 0 when unknown"`
	TotalBytes uint64 `json:"totalBytes" jsonschema:"size of the disk, 0 when unknown"`
}

// IndexHealth says how the search index stands.
type IndexHealth struct {
	Ready bool `json:"ready" jsonschema:"whether every note is in it"`
	Notes int  `json:"notes" jsonschema:"notes in it"`
}

// Stats is the result of admin.stats.
type Stats struct {
	Notes       int           `json:"notes" jsonschema:"notes that are not archived"`
	Archived    int           `json:"archived" jsonschema:"archived notes"`
	Entities    int           `json:"entities" jsonschema:"entities that are not in the trash"`
	Types       int           `json:"types" jsonschema:"declared types"`
	Vaults      int           `json:"vaults" jsonschema:"known vaults"`
	Records     int           `json:"records" jsonschema:"records in the store"`
	RSSBytes    uint64        `json:"rssBytes" jsonschema:"memory of the process, 0 when unknown"`
	HeapBytes   uint64        `json:"heapBytes" jsonschema:"memory of live objects"`
	Goroutines  int           `json:"goroutines" jsonschema:"goroutines"`
	Index       IndexStats    `json:"index" jsonschema:"the search index"`
	Connections ConnStats     `json:"connections" jsonschema:"the connections"`
	Methods     []MethodStats `json:"methods" jsonschema:"calls by method, the busiest first"`
}

// IndexStats counts what the search index holds.
type IndexStats struct {
	Queue   int `json:"queue" jsonschema:"notes that wait to be indexed"`
	Vectors int `json:"vectors" jsonschema:"vectors"`
	Terms   int `json:"terms" jsonschema:"distinct terms"`
}

// ConnStats counts connections.
type ConnStats struct {
	Open          int    `json:"open" jsonschema:"open now"`
	Accepted      uint64 `json:"accepted" jsonschema:"since the start"`
	Refused       uint64 `json:"refused" jsonschema:"over the limit since the start"`
	Cut           uint64 `json:"cut" jsonschema:"closed by the daemon for breaking a limit since the start"`
	InFlight      int    `json:"inFlight" jsonschema:"calls that are not answered yet"`
	Queued        int    `json:"queued" jsonschema:"how many of them have not begun"`
	Requests      uint64 `json:"requests" jsonschema:"calls and notifications since the start, those of closed connections included"`
	Errors        uint64 `json:"errors" jsonschema:"answers that were errors since the start, messages that could not be read included"`
	BytesIn       int64  `json:"bytesIn" jsonschema:"bytes read since the start"`
	BytesOut      int64  `json:"bytesOut" jsonschema:"bytes of messages sent since the start, those that still wait included"`
	OutboundBytes int64  `json:"outboundBytes" jsonschema:"replies that wait for slow readers"`
}

// Connections is the result of admin.connections.
type Connections struct {
	Connections []Connection `json:"connections" jsonschema:"the open connections, the oldest first"`
	Totals      ConnStats    `json:"totals" jsonschema:"the figures of all connections"`
}

// Connection is one open connection.
type Connection struct {
	ID           uint64     `json:"id" jsonschema:"number of the connection, as in the log"`
	Client       PeerInfo   `json:"client" jsonschema:"the program as it named itself; an empty name before initialize"`
	PID          int        `json:"pid,omitempty" jsonschema:"its process: what it said, else what the system says; absent when unknown"`
	Framing      string     `json:"framing,omitempty" enum:"newline,content-length" jsonschema:"how its messages are framed; absent before initialize"`
	OpenedAt     time.Time  `json:"openedAt" jsonschema:"when it was accepted"`
	Requests     uint64     `json:"requests" jsonschema:"calls and notifications that came"`
	Errors       uint64     `json:"errors" jsonschema:"answers that were errors, messages that could not be read included"`
	InFlight     int        `json:"inFlight" jsonschema:"calls that are not answered yet"`
	Queued       int        `json:"queued" jsonschema:"how many of them have not begun"`
	BytesIn      int64      `json:"bytesIn" jsonschema:"bytes read"`
	BytesOut     int64      `json:"bytesOut" jsonschema:"bytes of messages sent, those that still wait included"`
	WaitingBytes int64      `json:"waitingBytes" jsonschema:"bytes that wait for the client to read"`
	Topics       []Topic    `json:"topics" jsonschema:"the topics that it subscribed to, sorted"`
	Calls        []ConnCall `json:"calls" jsonschema:"the calls in flight, the oldest first"`
}

// ConnCall is a call in flight.
type ConnCall struct {
	Call   uint64 `json:"call" jsonschema:"number of the call in its connection, as in the log"`
	Method string `json:"method" jsonschema:"name of the method"`
	State  string `json:"state" enum:"queued,running" jsonschema:"whether it has begun"`
	ForMS  int64  `json:"forMs" jsonschema:"milliseconds since it came"`
}

// The states of ConnCall.
const (
	CallQueued  = "queued"
	CallRunning = "running"
)

// MethodStats counts the calls of one method and says how long they took.
type MethodStats struct {
	Method string       `json:"method" jsonschema:"name of the method"`
	Calls  uint64       `json:"calls" jsonschema:"calls answered since the start"`
	Errors uint64       `json:"errors" jsonschema:"how many of them with an error"`
	Stages []StageStats `json:"stages" jsonschema:"time by stage: wait until the call ran, run"`
}

// StageStats is a latency histogram.
type StageStats struct {
	Stage   string   `json:"stage" enum:"wait,run" jsonschema:"the stage"`
	P50US   int64    `json:"p50us" jsonschema:"half took at most this, in microseconds; upper bound of its bucket"`
	P99US   int64    `json:"p99us" jsonschema:"99 of 100 took at most this, in microseconds; upper bound of its bucket"`
	MaxUS   int64    `json:"maxus" jsonschema:"the longest, in microseconds"`
	Buckets []Bucket `json:"buckets" jsonschema:"the buckets that are not empty"`
}

// Bucket counts calls up to a duration and above that of the bucket before.
type Bucket struct {
	UpToUS int64  `json:"upToUs" jsonschema:"upper bound in microseconds"`
	Count  uint64 `json:"count" jsonschema:"calls"`
}
