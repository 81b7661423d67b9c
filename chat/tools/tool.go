package tools

// A tool answers a model. A call always gives a [Result] that the model can read: an unknown tool, wrong arguments,
// nothing found and a timeout are results too, which say what would be right. The only error is that of a context that
// has ended. Titles, names and values are escaped in texts as prompts escape them. Every record stands there with its
// id.
//
// No tool changes a record. create_task and assign_entity check their arguments, and give a [Proposal] that a person
// confirms or not. One alone writes, and only in a conversation: record_response scores memories, as the method memory.outcome
// does; what was learned it proposes.
//
// The adapter of MCP is a client of the socket and offers more tools, with pages of any length and filters. Of the
// tools that both have, read_note, get_entity, explore_graph and query are those of this package: it calls tools.call.
// search_notes has filters and pages there, and recall stands in the place of search_memory; these ask notes.search and
// memory.search. What is said of the tools, and how records are written, stands once in package render.

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/record"
)

// Bounds of a call.
const (
	MaxResultText    = 16_000 // characters of a result, unless the Env says otherwise
	maxArgumentsSize = 64 << 10
	callTimeout      = 5 * time.Second
)

// Tool is what a model is told of a tool; clients are told the same.
type Tool = record.Tool

// Result is what a call gives.
type Result = record.ToolResult

// Reference is a record that a Result shows. A Turn has one for each note and memory.
type Reference = record.ToolReference

// Proposal is a change that a model asks for. It waits for a person.
type Proposal = record.ToolProposal

// Edit is a line of the frontmatter of a file.
type Edit = record.ToolEdit

// How records come into results. Of two the one further down shows more.
const (
	ExtentFound   = record.ToolFound   // it was in a list of a search
	ExtentPartial = record.ToolShown   // it was shown in part: a field, an edge, a row
	ExtentRead    = record.ToolRead    // its text was read
	ExtentExcerpt = record.ToolExcerpt // a passage of it was read
)

// Types of proposals.
const (
	CreateTask   = record.ProposeTask
	AssignEntity = record.ProposeAssign
)

// CallEnv is what the calls of one reader are made in.
type CallEnv struct {
	View *audience.View // what the one sees who reads the result: the provider of a model
	// MaxText is how many characters a result has at most; 0: MaxText.
	MaxText int
	// Score is of the conversation in which the model is asked, and At its message; nil: none, and there is no record_response.
	Score Scorer
	At    OrderPlace
}

// Recaller finds what is remembered: recall.Ranker. Tests have slow and failing ones.
type Recaller interface {
	Search(ctx context.Context, v *audience.View, req recall.Request) (*recall.Result, error)
}

// SetOptions are what a Set needs beside the View of a call.
type SetOptions struct {
	Views   *audience.Views
	Recall  Recaller      // nil: there is nothing to search, and search_memory says so
	Timeout time.Duration // of a call; 0: Timeout
}

// Set has all tools.
type Set struct {
	opts SetOptions
}

// NewSet returns the Set of all tools.
func NewSet(opts SetOptions) *Set {
	if opts.Timeout == 0 {
		opts.Timeout = callTimeout
	}
	return &Set{opts}
}

// List returns the tools in their order: with proposals, or those alone that read.
func List(proposals bool) []Tool { return list(proposals, false) }

// ListInConversation returns those that a conversation offers to its model, the one that scores among them.
func ListInConversation() []Tool { return list(true, true) }

func list(proposals, scores bool) []Tool {
	var list []Tool
	for i := range tools {
		if (proposals || !tools[i].Proposes) && (scores || !tools[i].converses()) {
			list = append(list, tools[i].Tool)
		}
	}
	return list
}
