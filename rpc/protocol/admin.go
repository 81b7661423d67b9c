package protocol

import (
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

// The standings of Health.
const (
	Healthy = "healthy"
	Warning = "warning"
	Failing = "error"
)

// Health is the result of admin.health.
type Health struct {
	Status   string                 `json:"status" enum:"healthy,warning,error" jsonschema:"how the daemon is"`
	Warnings []string               `json:"warnings" jsonschema:"what needs attention"`
	Disk     DiskHealth             `json:"disk" jsonschema:"the disk that the data lies on"`
	Store    record.StoreStatus     `json:"store" jsonschema:"the record store"`
	Index    IndexHealth            `json:"index" jsonschema:"the search index"`
	Embedder EmbedderInfo           `json:"embedder" jsonschema:"the model that turns text into vectors"`
	Reranker *RerankerInfo          `json:"reranker,omitempty" jsonschema:"what scores the best hits of a search anew; absent when none is configured"`
	Learning *record.LearningHealth `json:"learning,omitempty" jsonschema:"what waits for a model; absent when nothing does"`
	Sync     *SyncHealth            `json:"sync,omitempty" jsonschema:"how the store stands that several machines share; absent when it is this machine's alone"`
	Loading  *Loading               `json:"loading,omitempty" jsonschema:"what calls wait for; absent when they do not wait"`
	UptimeMS int64                  `json:"uptimeMs" jsonschema:"milliseconds since the start"`
	PID      int                    `json:"pid" jsonschema:"process id of the daemon"`
	Version  string                 `json:"version" jsonschema:"version of the daemon"`
}

// Serves reports whether the daemon has a store open that calls can use.
func (h *Health) Serves() bool { return h.Loading == nil && h.Store.Mode != StoreClosed }

// Loading says what is being done while calls wait for the store.
type Loading struct {
	Phase string `json:"phase" enum:"starting,restoring,checking" jsonschema:"the reason: the daemon starts, a backup is being restored, or everything is being rebuilt and compared"`
	Stage string `json:"stage,omitempty" jsonschema:"the stage: calls (waiting for calls in progress), store (reading records) or rooms (building what is derived from them)"`
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
	Ready bool `json:"ready" jsonschema:"whether every note and memory can be found by its words"`
	Notes int  `json:"notes" jsonschema:"notes in it"`
	Queue int  `json:"queue" jsonschema:"notes that cannot be found by their meaning yet"`

	Waiting int    `json:"waiting" jsonschema:"notes that cannot be found by their words yet"`
	Anew    string `json:"anew,omitempty" jsonschema:"why the index of words is being rebuilt; absent when it is not"`
}

// Stats is the result of admin.stats.
type Stats struct {
	Notes       int           `json:"notes" jsonschema:"notes that are not archived"`
	Archived    int           `json:"archived" jsonschema:"archived notes"`
	Entities    int           `json:"entities" jsonschema:"entities that are not archived"`
	Types       int           `json:"types" jsonschema:"declared types"`
	Vaults      int           `json:"vaults" jsonschema:"known vaults"`
	Records     int           `json:"records" jsonschema:"records in the store"`
	RSSBytes    uint64        `json:"rssBytes" jsonschema:"memory of the process, 0 when unknown"`
	HeapBytes   uint64        `json:"heapBytes" jsonschema:"memory of live objects"`
	Goroutines  int           `json:"goroutines" jsonschema:"goroutines"`
	Index       IndexStats    `json:"index" jsonschema:"the search index"`
	Chat        *ChatStats    `json:"chat,omitempty" jsonschema:"the conversations; absent for a remote reader"`
	Connections ConnStats     `json:"connections" jsonschema:"the connections"`
	Methods     []MethodStats `json:"methods" jsonschema:"calls by method, the busiest first"`
}

// ChatStats counts what is about conversations.
type ChatStats struct {
	Spending ChatSpending `json:"spending" jsonschema:"what language models were asked, and what that cost"`
}

// ChatSpending is what was spent on language models. Days are those of the time zone of the daemon.
type ChatSpending struct {
	Today []ChatSpent `json:"today" jsonschema:"since midnight, by provider and model"`
	Total []ChatSpent `json:"total" jsonschema:"on all days that are kept, by provider and model"`
	Since string      `json:"since,omitempty" jsonschema:"the first of these days, as YYYY-MM-DD; absent when nothing was spent. 400 days are kept"`
}

// ChatSpent is what one model of one provider was given and gave, in tokens.
type ChatSpent struct {
	Provider   string `json:"provider" jsonschema:"name of the provider"`
	Model      string `json:"model" jsonschema:"the model as its provider calls it; other for all others of a day that has more than 100"`
	Background bool   `json:"background" jsonschema:"whether nobody waited for it, as for titles"`
	Requests   int64  `json:"requests" jsonschema:"answers that were asked for"`
	In         int64  `json:"in" jsonschema:"tokens that the model was given"`
	Out        int64  `json:"out" jsonschema:"tokens that it gave"`
	Estimated  int64  `json:"estimated" jsonschema:"how many of both were estimated, since the provider counted none"`
}

// IndexStats counts what the search index holds.
type IndexStats struct {
	Queue    int          `json:"queue" jsonschema:"notes that wait for their vectors"`
	Vectors  int          `json:"vectors" jsonschema:"vectors that searches ask"`
	Terms    int          `json:"terms" jsonschema:"distinct terms"`
	Words    WordStats    `json:"words" jsonschema:"the index of words"`
	Meanings MeaningStats `json:"meanings" jsonschema:"the index of vectors"`
	Tokens   *TokenStats  `json:"tokens,omitempty" jsonschema:"the index of token vectors, by which hits are ranked; absent without the encoder"`
	Others   []OtherIndex `json:"others" jsonschema:"the indexes of what is found beside notes; empty for a remote reader"`
}

// OtherIndex counts what an index of documents that are no notes holds.
type OtherIndex struct {
	Kind        string `json:"kind" jsonschema:"of what it is, such as memories"`
	Documents   int    `json:"documents" jsonschema:"documents that are found by their words"`
	Waiting     int    `json:"waiting" jsonschema:"documents that are not found by their words yet"`
	Queue       int    `json:"queue" jsonschema:"documents that wait for their vectors"`
	Vectors     int    `json:"vectors" jsonschema:"vectors that searches ask"`
	HeldBack    int    `json:"heldBack" jsonschema:"private documents that are kept from a remote model, and have no vectors"`
	Refused     int    `json:"refused" jsonschema:"documents that the embedder refused"`
	MemoryBytes int64  `json:"memoryBytes" jsonschema:"bytes in memory, about"`
	DiskBytes   int64  `json:"diskBytes" jsonschema:"bytes of the files"`
	TokenQueue  int    `json:"tokenQueue,omitempty" jsonschema:"documents that wait for their token vectors; absent when none does"`
	LastError   string `json:"lastError,omitempty" jsonschema:"the last error that kept documents from being embedded; absent without one"`
}

// WordStats counts what the index of words holds.
type WordStats struct {
	Notes       int   `json:"notes" jsonschema:"notes in it, archived ones included"`
	Waiting     int   `json:"waiting" jsonschema:"notes that are not in it yet"`
	Terms       int   `json:"terms" jsonschema:"distinct terms"`
	Postings    int   `json:"postings" jsonschema:"number of postings: the notes of each term, added up"`
	MemoryBytes int64 `json:"memoryBytes" jsonschema:"bytes of it in memory, about"`
	DiskBytes   int64 `json:"diskBytes" jsonschema:"size of its file; 0 before it was written"`

	Kept     int    `json:"kept" jsonschema:"notes that were read unchanged from its file at the start"`
	Differed int    `json:"differed" jsonschema:"notes that were added, changed or removed since the file was written, and were indexed at the start"`
	Anew     string `json:"anew,omitempty" jsonschema:"why its file could not be used at the start and it was rebuilt; absent when it was used, or when there was none"`
	Unsaved  int    `json:"unsaved" jsonschema:"notes that changed since its file was written"`
}

// MeaningStats counts what the index of vectors holds, and what it waits for.
type MeaningStats struct {
	Model         *VectorModel  `json:"model,omitempty" jsonschema:"the model of the vectors; absent when there are none"`
	Notes         int           `json:"notes" jsonschema:"notes with all of their vectors"`
	Waiting       int           `json:"waiting" jsonschema:"notes that wait for some of their vectors"`
	OldestMS      int64         `json:"oldestMs" jsonschema:"how long the oldest of them has waited, in milliseconds; 0 when none waits"`
	HeldBack      int           `json:"heldBack" jsonschema:"private notes that are kept from a remote model, and have no vectors"`
	Refused       int           `json:"refused" jsonschema:"notes that the embedder refused; it is asked again when they change"`
	Vectors       int           `json:"vectors" jsonschema:"vectors, one for each part of a note"`
	MemoryBytes   int64         `json:"memoryBytes" jsonschema:"bytes of the vectors in memory, with what locates the rest on disk"`
	DiskBytes     int64         `json:"diskBytes" jsonschema:"bytes of their files"`
	DeadBytes     int64         `json:"deadBytes" jsonschema:"bytes of the files that are no longer used"`
	RatePerSecond float64       `json:"ratePerSecond" jsonschema:"texts embedded a second, over the last minute of work; 0 before the first"`
	Embedded      uint64        `json:"embedded" jsonschema:"texts embedded since the start"`
	Reused        uint64        `json:"reused" jsonschema:"texts of changed notes that needed no new vector, since the start"`
	LastError     string        `json:"lastError,omitempty" jsonschema:"the last error that kept notes from being embedded; absent without one"`
	RetryMS       int64         `json:"retryMs,omitempty" jsonschema:"milliseconds until the embedder is tried again; absent when it may be used"`
	Building      *VectorsAnew  `json:"building,omitempty" jsonschema:"the index of another model that is being made; absent when none is"`
	Weights       SearchWeights `json:"weights" jsonschema:"the weights of hybrid search"`
}

// TokenStats counts what the index of token vectors holds, and what it waits for.
type TokenStats struct {
	Model         *VectorModel `json:"model,omitempty" jsonschema:"the model of the encoder; absent when there are none yet"`
	State         string       `json:"state" enum:"ready,idle" jsonschema:"idle: the encoder is loaded when it is needed"`
	Device        string       `json:"device" jsonschema:"what the encoder runs on, with the instructions that it uses"`
	Notes         int          `json:"notes" jsonschema:"notes with all of their token vectors"`
	Waiting       int          `json:"waiting" jsonschema:"notes that wait for some of them; they are ranked by words and vectors"`
	Passages      int          `json:"passages" jsonschema:"passages that were encoded"`
	MemoryBytes   int64        `json:"memoryBytes" jsonschema:"bytes in memory, with what locates the rest on disk"`
	DiskBytes     int64        `json:"diskBytes" jsonschema:"bytes of the files"`
	DeadBytes     int64        `json:"deadBytes" jsonschema:"bytes of the files that are no longer used"`
	RatePerSecond float64      `json:"ratePerSecond" jsonschema:"passages encoded a second, over the last minute of work; 0 before the first"`
	LeftMS        int64        `json:"leftMs,omitempty" jsonschema:"milliseconds until the notes that wait are encoded, at that rate; absent when none waits or nothing is known"`
	LastError     string       `json:"lastError,omitempty" jsonschema:"the last error that kept notes from being encoded; absent without one"`
}

// SearchWeights say the weights of hybrid search.
type SearchWeights struct {
	Lexical  float64 `json:"lexical" jsonschema:"of words"`
	Semantic float64 `json:"semantic" jsonschema:"of meaning"`
}

// VectorModel is the identity of what made vectors.
type VectorModel struct {
	Name   string `json:"name" jsonschema:"name of the model"`
	Dims   int    `json:"dims" jsonschema:"length of its vectors"`
	SHA256 string `json:"sha256" jsonschema:"checksum of its weights, or of what identifies them"`
}

// VectorsAnew says how far an index of vectors has come that takes the place of
// another when it is complete.
type VectorsAnew struct {
	Model VectorModel `json:"model" jsonschema:"the model of the new vectors"`
	Done  int         `json:"done" jsonschema:"notes that have them"`
	Total int         `json:"total" jsonschema:"notes in all"`
}

// Stopped is the result of admin.stop.
type Stopped struct {
	BrokenOff []string `json:"brokenOff" jsonschema:"methods of the jobs that are interrupted; what they have done stays"`
}

// Reindex are the parameters of admin.reindex.
type Reindex struct {
	What string `json:"what,omitempty" enum:"all,words,vectors" default:"all" jsonschema:"which index"`
	Kind string `json:"kind,omitempty" enum:"notes,memories,messages,passages" jsonschema:"of what; of everything that is found when absent"`
}

// Reindexed is the result of admin.reindex.
type Reindexed struct {
	What    string `json:"what" enum:"all,words,vectors" jsonschema:"which index"`
	Kind    string `json:"kind,omitempty" enum:"notes,memories,messages,passages" jsonschema:"of what; absent for everything that is found"`
	Notes   int    `json:"notes" jsonschema:"notes that are in it now"`
	Vectors int    `json:"vectors" jsonschema:"vectors that are in it now; 0 for words"`
	Refused int    `json:"refused" jsonschema:"notes that the embedder refused"`
	Others  int    `json:"others" jsonschema:"documents of the other indexes, such as memories, that are in them now"`
	MS      int64  `json:"ms" jsonschema:"milliseconds that it took"`
}

// KindNotes is the kind of what the index of notes finds.
const KindNotes = "notes"

// What Reindex has for an index.
const (
	ReindexAll     = "all"
	ReindexWords   = "words"
	ReindexVectors = "vectors"
)

// ConnStats counts connections.
type ConnStats struct {
	Open          int    `json:"open" jsonschema:"open now"`
	Accepted      uint64 `json:"accepted" jsonschema:"since the start"`
	Refused       uint64 `json:"refused" jsonschema:"refused over the limit since the start"`
	Cut           uint64 `json:"cut" jsonschema:"closed by the daemon for breaking a limit since the start"`
	Evicted       uint64 `json:"evicted" jsonschema:"closed since the start to make room for a new connection"`
	Clients       int    `json:"clients" jsonschema:"processes that have a connection; an unknown process counts once for each connection"`
	Uninitialized int    `json:"uninitialized" jsonschema:"open connections whose client has not called initialize"`
	InFlight      int    `json:"inFlight" jsonschema:"calls that are not answered yet"`
	Queued        int    `json:"queued" jsonschema:"how many of them have not begun"`
	Requests      uint64 `json:"requests" jsonschema:"calls and notifications since the start, those of closed connections included"`
	Errors        uint64 `json:"errors" jsonschema:"answers that were errors since the start, messages that could not be read included"`
	BytesIn       int64  `json:"bytesIn" jsonschema:"bytes read since the start"`
	BytesOut      int64  `json:"bytesOut" jsonschema:"bytes of messages sent since the start, those that still wait included"`
	OutboundBytes int64  `json:"outboundBytes" jsonschema:"replies that wait to be read by slow clients"`
	ReadsRunning  int    `json:"readsRunning" jsonschema:"running reads, including those that cannot yield"`
	ReadsLong     int    `json:"readsLong" jsonschema:"those of them that have run longer than readSlice"`
	ReadsWaiting  int    `json:"readsWaiting" jsonschema:"connections and long reads that wait for a place"`
	CallBytes     int64  `json:"callBytes" jsonschema:"params of calls that are not answered yet"`
	WorkBytes     int64  `json:"workBytes" jsonschema:"memory that is reserved for running writes"`
	MemoryTotal   int64  `json:"memoryTotal" jsonschema:"the total of both"`
	WaitForMemory int    `json:"waitForMemory" jsonschema:"calls that write and wait until there is memory for them"`
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
	PID          int        `json:"pid,omitempty" jsonschema:"its process, as the client said or else as the system says; absent when unknown"`
	Framing      string     `json:"framing,omitempty" enum:"newline,content-length" jsonschema:"how its messages are framed; absent before initialize"`
	OpenedAt     time.Time  `json:"openedAt" jsonschema:"when it was accepted"`
	Requests     uint64     `json:"requests" jsonschema:"calls and notifications received"`
	Errors       uint64     `json:"errors" jsonschema:"answers that were errors, messages that could not be read included"`
	InFlight     int        `json:"inFlight" jsonschema:"calls that are not answered yet"`
	Queued       int        `json:"queued" jsonschema:"how many of them have not begun"`
	BytesIn      int64      `json:"bytesIn" jsonschema:"bytes read"`
	BytesOut     int64      `json:"bytesOut" jsonschema:"bytes of messages sent, those that still wait included"`
	WaitingBytes int64      `json:"waitingBytes" jsonschema:"bytes that wait for the client to read"`
	Topics       []Topic    `json:"topics" jsonschema:"the topics that it subscribed to, sorted"`
	Calls        []ConnCall `json:"calls" jsonschema:"the calls in progress, oldest first"`
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
	Stages []StageStats `json:"stages" jsonschema:"time of each stage: wait before the call ran, run"`
}

// StageStats is a latency histogram.
type StageStats struct {
	Stage   string   `json:"stage" enum:"wait,run" jsonschema:"the stage"`
	P50US   int64    `json:"p50us" jsonschema:"median in microseconds; the upper bound of its bucket"`
	P99US   int64    `json:"p99us" jsonschema:"99th percentile in microseconds; the upper bound of its bucket"`
	MaxUS   int64    `json:"maxus" jsonschema:"the longest, in microseconds"`
	Buckets []Bucket `json:"buckets" jsonschema:"the buckets that are not empty"`
}

// Bucket counts calls up to a duration and above that of the bucket before.
type Bucket struct {
	UpToUS int64  `json:"upToUs" jsonschema:"upper bound in microseconds"`
	Count  uint64 `json:"count" jsonschema:"calls"`
}
