package llm

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Kind is the protocol that a provider speaks.
type Kind string

// The kinds.
const (
	Anthropic Kind = "anthropic" // the Messages API
	OpenAI    Kind = "openai"    // any {base}/chat/completions
	None      Kind = "none"      // nobody: see Nobody
)

// Kinds are those that a setting may name, in the order of the documentation.
var Kinds = []Kind{OpenAI, Anthropic}

// Provider asks a language model. All methods may be called concurrently.
type Provider interface {
	// Stream asks for an answer and gives what arrives of it to emit, in order, from the
	// goroutine of the caller. While emit runs nothing is read, so a slow caller slows the
	// provider down and costs no memory. An error of emit ends the stream and is returned.
	//
	// The answer says what was received also where there is an error. The errors are that of
	// ctx; fault.Unavailable; fault.Deadline; fault.Limit when the request is too long;
	// fault.Invalid when it is none.
	Stream(ctx context.Context, r *Request, emit func(Delta) error) (Answer, error)
	// Info says who is asked. It looks for nothing, and costs nothing.
	Info() Info
	// Close ends the connections that are idle. Streams go on.
	Close()
}

// Info says who a provider is. It holds no key.
type Info struct {
	Name  string
	Kind  Kind
	Base  string // its URL
	Model string // that it is asked for when a request names none
	Local bool   // nothing leaves this machine: private records may be given to it
}

// Role says who speaks in a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Request is what a model is asked.
type Request struct {
	Model       string // "" for that of the provider
	System      string
	Messages    []Message
	Tools       []Tool
	NoCalls     bool     // the model is to call none of Tools, which earlier messages have called
	MaxTokens   int      // of the answer, 0 for the default: defaultMaxTokens or that of the server
	Temperature *float64 // nil for the default of the model
	// Background says that nobody waits: a title, an extraction. It is counted apart.
	Background bool
	// NoRetry has a server that is busy refuse the request at once.
	NoRetry bool
	// Fresh is called each time before the request is sent, and may change it: what it says may be private by then. nil: it
	// is sent as it is. Its error ends the stream.
	Fresh func(ctx context.Context, r *Request) error
}

// Message is one turn. A user's has text, images and results of tools; an assistant's has
// text and calls.
type Message struct {
	Role    Role
	Text    string
	Images  []Image
	Calls   []ToolCall
	Results []ToolResult
	// Returned is what came with Calls, and goes back with them to who sent it.
	Returned Returned
}

// Image is a picture that a model is shown.
type Image struct {
	Type string // image/png, image/jpeg, image/gif, image/webp
	Data []byte
}

// Tool is what a model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object
}

// ToolCall is a call that a model made. Arguments are what it wrote: they are checked by
// whoever runs the tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string

	extra members // that came with it and go back
}

// ToolResult is what a call gave.
type ToolResult struct {
	CallID string
	Text   string
	Failed bool
}

// Delta is a piece of an answer. One of its fields is set.
type Delta struct {
	Text      string // valid UTF-8
	Reasoning string // valid UTF-8
	Tool      *ToolPiece
	// Rethought says that all that came as Text until now was the model thinking: it comes again, as Reasoning.
	Rethought bool
	// Waits is how long it is waited before the request is sent again, since the server was busy.
	Waits time.Duration
}

// ToolPiece is a piece of a call. The first of each call has its id and name, or as much of the name as has come.
type ToolPiece struct {
	Index     int // of the call in the answer, from 0
	ID        string
	Name      string
	Arguments string
}

// Finish says how an answer ended.
type Finish string

// The ends of an answer. The model ended it with the first four.
const (
	Stop        Finish = "stop"
	Length      Finish = "length" // it reached MaxTokens or the context of the model
	Tools       Finish = "tools"  // it wants results of tools
	Filtered    Finish = "filtered"
	Interrupted Finish = "interrupted" // what came after it is missing
	Cancelled   Finish = "cancelled"   // the caller left
)

// Usage is what an answer cost, in tokens.
type Usage struct {
	In        int64 // of the request, those from a cache included
	Out       int64 // of the answer
	Cached    int64 // of In
	Estimated bool  // the provider did not say
}

// Answer is how a stream ended. The text went to emit.
type Answer struct {
	Finish Finish
	Usage  Usage
	Model  string // as the provider calls it, else that of the request
	Calls  []ToolCall
	// Returned goes into the message with the Calls.
	Returned Returned
	// LeftOut is what the server refused, and was asked without: names of Refusable.
	LeftOut []string
	// NoProvider says that nobody was asked: the text says why.
	NoProvider bool
	// Tries is how often the request was sent; 0 when it never was.
	Tries int
}

// maxRequest bounds a request in bytes: five images and a context of 32,768 tokens take half.
const maxRequest = 32 << 20

// BytesPerToken is how many bytes of UTF-8 count as one token where a provider counts none.
const BytesPerToken = 3

// Estimate returns how many tokens some bytes of text count as.
func Estimate(bytes int) int64 { return int64((bytes + BytesPerToken - 1) / BytesPerToken) }

// tokensOfImage is what an image counts as: about that of one of a megapixel.
const tokensOfImage = 1500

// Tokens returns about how many tokens a request has.
func (r *Request) Tokens() int64 {
	bytes, images := len(r.System), 0
	for i := range r.Messages {
		m := &r.Messages[i]
		bytes += len(m.Text)
		images += len(m.Images)
		for _, c := range m.Calls {
			bytes += len(c.Name) + len(c.Arguments)
		}
		for _, t := range m.Results {
			bytes += len(t.Text)
		}
	}
	for _, t := range r.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return Estimate(bytes) + int64(images*tokensOfImage)
}

// check refuses what no provider can be asked. The error names the field.
func (r *Request) check() error {
	if len(r.Messages) == 0 {
		return fault.Field("messages", "a request needs a message")
	}
	size := len(r.System)
	for i := range r.Messages {
		m := &r.Messages[i]
		size += len(m.Text)
		for _, p := range m.Images {
			if !strings.HasPrefix(p.Type, "image/") || len(p.Data) == 0 {
				return fault.Field("images", "%q is no image", p.Type).WithHint("give a PNG, JPEG, GIF or WebP")
			}
			size += len(p.Data) * 4 / 3
		}
		for _, t := range m.Results {
			size += len(t.Text)
		}
		if m.Role != User && m.Role != Assistant {
			return fault.Field("messages", "there is no role %q", m.Role)
		}
	}
	if size > maxRequest {
		return fault.TooLarge("messages", size, maxRequest, "bytes")
	}
	return nil
}
