package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/recall"
)

// Bounds of a call.
const (
	MaxText      = 16_000 // characters of a result, unless the Env says otherwise
	MaxArguments = 64 << 10
	Timeout      = 5 * time.Second
)

// Tool is what a model is told of a tool.
type Tool struct {
	Name        string
	Title       string // for people
	Description string // for the model
	Schema      json.RawMessage
	// Proposes says that the tool makes a Proposal: it is listed where a person can confirm one.
	Proposes bool
}

// Env is what the calls of one reader are made in.
type Env struct {
	View *audience.View // what the one sees who reads the result: the provider of a model
	// MaxText is how many characters a result has at most; 0: MaxText.
	MaxText int
}

// How says how a record came into a result. Of two the one that shows more is the larger.
type How uint8

// How records come into results.
const (
	Found   How = iota + 1 // it was in a list of a search
	Shown                  // it was shown in part: a field, an edge, a row
	Read                   // its text was read
	Excerpt                // a passage of it was read
)

// Reference is a record that a result shows. A Turn has one for each note and memory.
type Reference struct {
	NoteID  string
	Path    string
	Title   string
	Heading string // of the part that was read
	Snippet string // of an Excerpt its beginning
	// Ranges are the places of excerpts in the body of the note as the reader sees it, which has that Hash: UTF-16 code units,
	// half-open.
	Ranges [][2]int
	Hash   string // SHA-256 of that body, hex; "" where there are no Ranges

	MemoryID string // in the place of a note
	Ref      string // of a memory: what # names it by

	How   How
	Used  bool     // the model has read of it; of a note that was only found it has not
	Tools []string // that showed it, in the order of the calls
}

// Proposal is a change that a model asks for. It waits for a person.
type Proposal struct {
	Type   string          // CreateTask or AssignEntity
	Args   json.RawMessage // an object: what the change is made of, checked
	Reason string          // why the model asks for it; may be empty
	// Edit is the change of a file that a person makes, where the record comes from a vault; nil: the change is one of
	// the daemon or the client.
	Edit *Edit
}

// Types of proposals.
const (
	CreateTask   = "createTask"
	AssignEntity = "assignEntity"
)

// Edit is a line of the frontmatter of a file.
type Edit struct {
	NoteID string
	Path   string // of the file in its vault
	Vault  string // "" where the reader sees one vault at most
	Field  string // key of the frontmatter
	Value  string // the link that it has then, or has beside others
	Line   string // what stands there then, whole; "" where the reader does not see all of it
}

// Result is what a call gives.
type Result struct {
	Text       string // for the model, at most as many characters as the Env says
	References []Reference
	Private    bool // something private went into it, and no remote reader may have it
	Proposal   *Proposal
	Error      bool // the call was wrong or failed: Text says what would be right
}

// Recaller finds what is remembered.
type Recaller interface {
	Search(ctx context.Context, v *audience.View, req recall.Request) (*recall.Result, error)
}

// Views gives the View of a remote reader, whose results tell what is private of others.
type Views interface {
	View(audience.Reader) *audience.View
}

// Options are what a Set needs beside the View of a call.
type Options struct {
	Views   Views
	Recall  Recaller      // nil: there is nothing to search, and search_memory says so
	Timeout time.Duration // of a call; 0: Timeout
}

// Set has all tools.
type Set struct {
	opts Options
}

// New returns the Set of all tools.
func New(opts Options) *Set {
	if opts.Timeout == 0 {
		opts.Timeout = Timeout
	}
	return &Set{opts}
}

// List returns the tools in their order: with proposals, or those alone that read.
func (s *Set) List(proposals bool) []Tool {
	var list []Tool
	for i := range tools {
		if proposals || !tools[i].Proposes {
			list = append(list, tools[i].Tool)
		}
	}
	return list
}
