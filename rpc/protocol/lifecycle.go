package protocol

// Empty is the parameter of a method that takes none, and the result of one
// that has nothing to say.
type Empty struct{}

// Nothing is the result of shutdown: null, as clients of the Language Server Protocol
// expect.
type Nothing struct{}

// MarshalJSON returns null.
func (Nothing) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// PeerInfo names a program.
type PeerInfo struct {
	Name    string `json:"name" jsonschema:"name of the program"`
	Version string `json:"version,omitempty" jsonschema:"version of the program"`
}

// InitializeParams are the parameters of initialize.
type InitializeParams struct {
	ClientInfo      PeerInfo       `json:"clientInfo" jsonschema:"the client, for the log and ctxd inspect"`
	ProcessID       Optional[int]  `json:"processId,omitzero" jsonschema:"process id of the client; may be null"`
	ProtocolVersion string         `json:"protocolVersion,omitempty" jsonschema:"MAJOR.MINOR that the client was written for; a newer major version than the daemon's is refused"`
	Capabilities    map[string]any `json:"capabilities,omitempty" jsonschema:"what the client can do; nothing is defined yet"`
	Audience        string         `json:"audience,omitempty" enum:"local,remote" default:"local" jsonschema:"who reads the answers on this connection; for remote, private records do not exist"`
}

// ServerInfo names the daemon.
type ServerInfo struct {
	Name    string `json:"name" jsonschema:"ctxd"`
	Version string `json:"version" jsonschema:"version of the daemon"`
	Commit  string `json:"commit" jsonschema:"the commit it was built from, empty when unknown"`
}

// EmbedderInfo names the model that turns text into vectors. It is empty while
// the daemon searches by words alone.
type EmbedderInfo struct {
	Name   string `json:"name" jsonschema:"name of the model, empty for none or while it is not known"`
	Dims   int    `json:"dims" jsonschema:"length of its vectors"`
	Device string `json:"device" jsonschema:"what it runs on: cpu, the name of a GPU, or the host of an endpoint"`

	Kind            string `json:"kind,omitempty" enum:"builtin,runner,http" jsonschema:"the embedder; absent when the daemon searches only by words"`
	State           string `json:"state,omitempty" enum:"ready,idle,starting,failed" jsonschema:"whether it answers; idle: it starts when it is used"`
	Why             string `json:"why,omitempty" jsonschema:"the last error, or why another vector table is used than the configured one"`
	Remote          bool   `json:"remote,omitempty" jsonschema:"whether texts leave this machine; those of private notes never do"`
	Layers          int    `json:"layers,omitempty" jsonschema:"layers of the model, where known"`
	OffloadedLayers int    `json:"offloadedLayers,omitempty" jsonschema:"how many of them are on a GPU"`
	Restarts        int    `json:"restarts,omitempty" jsonschema:"how often it was restarted"`
}

// RerankerInfo names the model that reads a question together with each of the best hits.
type RerankerInfo struct {
	Kind     string `json:"kind" enum:"runner,http" jsonschema:"the reranker"`
	State    string `json:"state" enum:"ready,idle,starting,failed" jsonschema:"whether it answers; idle: it starts when it is used"`
	Name     string `json:"name,omitempty" jsonschema:"name of the model, once it is known"`
	Device   string `json:"device,omitempty" jsonschema:"what it runs on: cpu, the name of a GPU, or the host of an endpoint"`
	Why      string `json:"why,omitempty" jsonschema:"the last error"`
	Remote   bool   `json:"remote,omitempty" jsonschema:"whether texts may leave this machine; private ones never do"`
	Restarts int    `json:"restarts,omitempty" jsonschema:"how often it was restarted"`
}

// ServerCapabilities say what the daemon can do.
type ServerCapabilities struct {
	Methods   []string     `json:"methods" jsonschema:"names of all methods"`
	Framings  []string     `json:"framings" jsonschema:"how messages may be framed: newline and content-length"`
	Embedder  EmbedderInfo `json:"embedder" jsonschema:"the model that turns text into vectors"`
	Providers []string     `json:"providers" jsonschema:"the configured language model providers"`
}

// InitializeResult is the result of initialize.
type InitializeResult struct {
	ServerInfo      ServerInfo         `json:"serverInfo" jsonschema:"the daemon"`
	ProtocolVersion string             `json:"protocolVersion" jsonschema:"MAJOR.MINOR that the daemon speaks"`
	Capabilities    ServerCapabilities `json:"capabilities" jsonschema:"what the daemon can do"`
}

// The framings of InitializeResult.
const (
	FramingNewline       = "newline"
	FramingContentLength = "content-length"
)

// Audiences: who reads an answer.
const (
	Local  = "local"  // a person or a model on this machine
	Remote = "remote" // any other: private records do not exist
)

// Reads is the parameter that every method takes that reads records.
type Reads struct {
	Audience string `json:"audience,omitempty" enum:"local,remote" jsonschema:"who reads the answer; for remote, private records do not exist; default: the audience of the connection"`
}

// AskedAudience returns the audience that the call names, "" for that of the
// connection.
func (r *Reads) AskedAudience() string { return r.Audience }

// ReadAll are the parameters of a method that reads records and takes no others.
type ReadAll struct{ Reads }

// Returns is the parameter of methods that write records with long texts: their replies leave these out.
type Returns struct {
	Return string `json:"return,omitempty" enum:"brief,full" default:"brief" jsonschema:"full: answer the record whole; brief: without its long text, which is the body of a note, and a statement of more than 2,048 bytes"`
}

// ReturnFull is the Return of who wants the record whole.
const ReturnFull = "full"

// Whole reports whether the reply has the long text.
func (r *Returns) Whole() bool { return r.Return == ReturnFull }

// Page are the parameters that every list method takes.
type Page struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before; absent for the first"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"1000" default:"100" jsonschema:"records of a page"`
}

// ByID names a record and the version that the caller knows of.
type ByID struct {
	ID        string `json:"id" jsonschema:"id of the record"`
	IfVersion *int   `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to change; another one is a conflict"`
}

// Versioned is the result of a method that changes where a record is, not what
// is in it.
type Versioned struct {
	ID      string `json:"id" jsonschema:"id of the record"`
	Version int    `json:"version" jsonschema:"its version after the change"`
}
