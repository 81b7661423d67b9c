package protocol

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Mode says how calls of a method stand to the other calls of a connection.
type Mode string

// The modes.
const (
	Control  Mode = "control"  // run in the order of arrival, before anything else is read
	Read     Mode = "read"     // run beside each other, after every earlier mutation; can be cancelled
	Mutation Mode = "mutation" // run one after the other; once started it completes
	Job      Mode = "job"      // stand outside the order; stop between transactions
)

// StoreUse says what a method needs of the store, which is being opened while the
// daemon starts and is closed for a moment while it is replaced.
type StoreUse uint8

// The uses of the store.
const (
	UsesStore     StoreUse = iota // runs over the open store; waits for it
	Storeless                     // needs none: answers meanwhile
	ReplacesStore                 // waits for the open store by itself, and is not in it when it replaces it
)

// Method describes one method.
type Method struct {
	Name        string
	Summary     string // one line
	Description string // what the summary leaves out; may be empty
	Mode        Mode
	Kind        JobKind      // of a Job
	Params      reflect.Type // a struct
	Result      reflect.Type
	Codes       []int // of its own; Errors adds those that any call may get
	Example     Example
	Early       bool // answers before initialize
	Store       StoreUse
	// WholeStore methods count, copy or change all records, private ones included: a
	// remote connection is refused.
	WholeStore bool
	// Daemon methods end the daemon or change how it runs, for all of its clients: a remote
	// connection is refused as well.
	Daemon bool
}

// LocalOnly reports whether a remote connection is refused the method.
func (m *Method) LocalOnly() bool { return m.WholeStore || m.Daemon }

// Example is a call of a method and its reply.
type Example struct {
	Params string // JSON
	Result string // JSON
}

// describe makes a Method of the types of its parameters and result.
func describe[P, R any](name string, mode Mode, summary, description string, ex Example, codes ...int) Method {
	return Method{
		Name: name, Mode: mode, Summary: summary, Description: description,
		Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R](), Example: ex, Codes: codes,
	}
}

// Title is what the method does, in a few words: the first clause of its summary.
func (m *Method) Title() string {
	if end := strings.IndexAny(m.Summary, ".,:;"); end > 0 {
		return m.Summary[:end]
	}
	return m.Summary
}

// Errors returns the codes of all errors that a call of the method may be
// answered with, in the order of Codes. CodeParse and CodeMethodNotFound are
// about messages that call no method.
func (m *Method) Errors() []int {
	var list []int
	for _, c := range Codes {
		if m.answers(c.Code) {
			list = append(list, c.Code)
		}
	}
	return list
}

func (m *Method) answers(code int) bool {
	switch code {
	case CodeInvalidRequest, CodeInvalidParams, CodeInternal, CodeLimit:
		return true // CodeLimit: too many calls are in flight, or the result is too large
	case CodeNotInitialized:
		return !m.Early
	case CodeUnavailable: // also when the store can't be opened
		return m.Store != Storeless || m.LocalOnly() || slices.Contains(m.Codes, code)
	case CodeCancelled:
		return m.Mode != Control
	case CodeDeadline:
		return m.Mode == Read || slices.Contains(m.Codes, code)
	}
	return slices.Contains(m.Codes, code)
}

func early(m Method) Method {
	m.Early = true
	return m
}

func wholeStore(m Method) Method {
	m.WholeStore = true
	return m
}

func daemon(m Method) Method {
	m.Daemon = true
	return m
}

func storeless(m Method) Method {
	m.Store = Storeless
	return m
}

func replacesStore(m Method) Method {
	m.Store = ReplacesStore
	return m
}

// Methods are all methods, in the order of the documentation.
var Methods = func() (all []Method) {
	for _, group := range [][]Method{
		lifecycleMethods, noteMethods, typeMethods, entityMethods, wqlMethods,
		graphMethods, contextMethods, refsMethods, memoryMethods, learningMethods, conceptMethods, upkeepMethods, bookMethods, chatMethods, citedMethods, shownMethods, intentMethods, personalityMethods, toolMethods, privacyMethods, vaultMethods, eventMethods, syncMethods, adminMethods,
	} {
		all = append(all, group...)
	}
	return all
}()

var byName = func() map[string]*Method {
	m := make(map[string]*Method, len(Methods))
	for i := range Methods {
		m[Methods[i].Name] = &Methods[i]
	}
	return m
}()

// Lookup returns the method of that name, nil when there is none.
func Lookup(name string) *Method { return byName[name] }

// Names returns the names of all methods, in the order of the documentation.
func Names() []string {
	names := make([]string, len(Methods))
	for i, m := range Methods {
		names[i] = m.Name
	}
	return names
}

// Document is the result of rpc.discover: an OpenRPC document.
type Document = json.RawMessage

var lifecycleMethods = []Method{
	early(storeless(describe[InitializeParams, InitializeResult]("initialize", Control,
		"Open the connection; the client names itself and its protocol version.",
		"Before this call only rpc.discover and admin.health answer. Afterwards the client sends the notification initialized.",
		Example{
			`{"clientInfo":{"name":"notes-app","version":"2.1.0"},"protocolVersion":"2.0"}`,
			`{"serverInfo":{"name":"ctxd","version":"0.1.0","commit":""},"protocolVersion":"2.0","capabilities":{"methods":["notes.get"],"framings":["newline","content-length"],"embedder":{"name":"static","dims":256,"device":"cpu","kind":"builtin","state":"ready"},"providers":[]}}`,
		}, CodeUnavailable))),
	storeless(describe[Empty, Nothing]("shutdown", Mutation,
		"Prepare to close the connection; answers null when every earlier mutation is done.",
		"The daemon keeps running; admin.stop stops it. Afterwards the client sends the notification exit, or closes the connection.",
		Example{`{}`, `null`})),
}

var adminMethods = []Method{
	early(storeless(describe[Empty, Health]("admin.health", Read,
		"Report the health of the daemon and what needs attention.",
		"While the store is being opened or replaced the status is warning or worse, and loading says what other calls wait for.",
		Example{`{}`, exampleHealth}))),
	describe[Empty, Stats]("admin.stats", Read,
		"Report counts of records, connections and calls, memory and latencies.", "",
		Example{`{}`, `{"notes":60,"archived":2,"entities":40,"types":6,"vaults":1,"records":120,"rssBytes":30000000,"heapBytes":9000000,"goroutines":12,"index":{"queue":2,"vectors":180,"terms":2400,"words":{"notes":62,"waiting":0,"terms":2400,"postings":3100,"memoryBytes":65536,"diskBytes":90000,"kept":58,"differed":3,"unsaved":1},"meanings":{"model":{"name":"static","dims":256,"sha256":"9f86d081"},"notes":60,"waiting":2,"oldestMs":12,"heldBack":0,"refused":0,"vectors":180,"memoryBytes":51840,"diskBytes":190000,"deadBytes":0,"ratePerSecond":20000,"embedded":180,"reused":4,"weights":{"lexical":1,"semantic":0.5}},"others":[{"kind":"memories","documents":12,"waiting":0,"queue":0,"vectors":20,"heldBack":0,"refused":0,"memoryBytes":9000,"diskBytes":30000}]},"chat":{"spending":{"today":[],"total":[{"provider":"ours","model":"llama3.2","background":false,"requests":12,"in":9100,"out":2400,"estimated":0}],"since":"2026-01-30"}},"connections":` + exampleConnStats + `,"methods":[{"method":"notes.get","calls":1,"errors":0,"stages":[{"stage":"run","p50us":16,"p99us":16,"maxus":11,"buckets":[{"upToUs":16,"count":1}]}]}]}`}),
	storeless(describe[Empty, Connections]("admin.connections", Read,
		"List the open connections with their calls and sizes.",
		"Only names of methods and sizes, no content.",
		Example{`{}`, `{"connections":[{"id":3,"client":{"name":"notes-app","version":"2.1.0"},"pid":4712,"framing":"newline","openedAt":"2026-01-31T09:30:00Z","requests":18,"errors":1,"inFlight":2,"queued":1,"bytesIn":5120,"bytesOut":20480,"waitingBytes":0,"topics":["notes.changed"],"calls":[{"call":17,"method":"notes.put","state":"running","forMs":2},{"call":18,"method":"notes.get","state":"queued","forMs":1}]}],"totals":` + exampleConnStats + `}`})),
	backupMethod, restoreMethod, reindexMethod, checkMethod, compactMethod,
	daemon(storeless(describe[Empty, Stopped]("admin.stop", Control,
		"Stop the daemon when the calls that it has accepted are done.",
		"It stops within five seconds. Jobs stop between two transactions; reads, and mutations that have not begun, are cancelled after two seconds. Their callers get the error unavailable, retryable.",
		Example{`{}`, `{"brokenOff":["vault.import"]}`}))),
	early(storeless(describe[Empty, Document]("rpc.discover", Read,
		"Describe every method in an OpenRPC document.", "",
		Example{`{}`, `{"openrpc":"1.3.2","info":{"title":"ctxd","version":"2.0"},"methods":[]}`}))),
}

const (
	exampleHealth    = `{"status":"healthy","warnings":[],"disk":{"freeBytes":1000000,"totalBytes":2000000},"store":{"mode":"read-write","durability":"strict","seq":42,"records":120,"journalBytes":8192,"snapshotSeq":40,"recovered":{"clean":true,"replayed":2}},"index":{"ready":true,"notes":60,"queue":0,"waiting":0},"embedder":{"name":"static","dims":256,"device":"cpu","kind":"builtin","state":"ready"},"uptimeMs":5000,"pid":4711,"version":"0.1.0"}`
	exampleConnStats = `{"open":1,"accepted":3,"refused":0,"cut":0,"evicted":0,"clients":1,"uninitialized":0,"inFlight":2,"queued":1,"requests":60,"errors":2,"bytesIn":16384,"bytesOut":65536,"outboundBytes":0,"readsRunning":1,"readsLong":0,"readsWaiting":0,"callBytes":512,"workBytes":5120,"memoryTotal":536870912,"waitForMemory":0}`
)
