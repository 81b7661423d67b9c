package embed

import "context"

// Kind says what runs an embedder. Settings, status and the wire name it so.
type Kind string

// The kinds of embedders.
const (
	KindBuiltin Kind = "builtin" // a table in the program: StaticTable
	KindRunner  Kind = "runner"  // a child process: Runner
	KindHTTP    Kind = "http"    // an endpoint: Endpoint
)

// Kinds lists all of them, in the order of the documentation.
var Kinds = []Kind{KindBuiltin, KindRunner, KindHTTP}

// MaxText is how many bytes of a text are read, 1 MiB. A whole novel fits;
// what lies behind would move the mean of a text that long by nothing.
const MaxText = 1 << 20

// MaxDims is the greatest length of a vector that any embedder may give.
const MaxDims = 4096

// Clip cuts a text at MaxText bytes, not within a character.
func Clip(text string) string {
	if len(text) <= MaxText {
		return text
	}
	end := MaxText
	for end > MaxText-4 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end]
}

// Model is the identity of what made a vector. Vectors are comparable only if
// their models are equal.
type Model struct {
	Name string `json:"name"`
	Dims int    `json:"dims"`
	// SHA256 of the weights in hex, or of what stands for them where the weights
	// are out of reach.
	SHA256 string `json:"sha256"`
}

// Purpose is what texts are embedded for.
type Purpose int

const (
	// Query is what somebody asks and waits for. It goes before passages that
	// wait.
	Query Purpose = iota
	// Passage is a part of a note, embedded in the background.
	Passage
)

// Embedder gives the vectors of texts. All methods may be called concurrently.
type Embedder interface {
	// Model is the identity of the vectors. An embedder outside this process may
	// have to be reached first; it fails with fault.Unavailable when it can't be,
	// and may give another model after it was away.
	Model(ctx context.Context) (Model, error)
	// Embed gives one vector of Model's dimensions for each text, of length 1, and
	// the model that made all of them; a text with nothing to embed has a nil
	// vector. The vectors are the caller's. It fails as a whole or not at all:
	// with the error of ctx, with fault.Unavailable when the embedder is away,
	// which is worth another try later, or with another kind when these texts are
	// refused, which is not.
	Embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error)
	// Status tells people how it is, at once and without reaching for anything.
	Status() Status
	// Close ends it, with the calls that wait. Calls after it fail with
	// fault.Unavailable.
	Close() error
}

// Status is how an embedder is.
type Status struct {
	Kind  Kind   `json:"kind"`
	State string `json:"state"` // ready, idle (starts when asked), starting, or failed
	// Why it failed last, or what else serves in its place; without the texts of
	// anybody.
	Why   string `json:"why,omitempty"`
	Model *Model `json:"model,omitempty"` // as last known
	// Device is what it runs on: cpu, the name of a GPU, or the host of an
	// endpoint.
	Device          string `json:"device,omitempty"`
	Layers          int    `json:"layers,omitempty"`          // of the model, where known
	OffloadedLayers int    `json:"offloadedLayers,omitempty"` // of them on a GPU
	Restarts        int    `json:"restarts,omitempty"`        // of a child that died
	// Remote says that texts leave this machine: none of a private note may be
	// given to it.
	Remote bool `json:"remote,omitempty"`
}

// The states of an embedder.
const (
	Ready    = "ready"
	Idle     = "idle"
	Starting = "starting"
	Failed   = "failed"
)
