package protocol

import (
	"encoding/json"

	"github.com/ctxd/ctxd/entities/record"
)

// ToolsList are the parameters of tools.list.
type ToolsList struct {
	Write bool `json:"write,omitempty" jsonschema:"also those that propose a change, for a client in which a person can confirm it"`
}

// Tools is the result of tools.list.
type Tools struct {
	Tools []record.Tool `json:"tools" jsonschema:"the tools, in the order in which a model is told of them"`
}

// ToolCall are the parameters of tools.call.
type ToolCall struct {
	Name      string          `json:"name" jsonschema:"name of the tool"`
	Arguments json.RawMessage `json:"arguments,omitempty" jsonschema:"an object as the schema of the tool says; what is wrong with it is told in the result, for the model"`
	MaxChars  int             `json:"maxChars,omitempty" min:"4000" max:"200000" default:"16000" jsonschema:"length of the text at most, in characters"`
	Reads
}

var toolMethods = []Method{
	storeless(describe[ToolsList, Tools]("tools.list", Read,
		"List the tools that a model may call, with the schemas of their arguments.", "",
		Example{
			`{"write":true}`,
			`{"tools":[{"name":"create_task","title":"Propose a task","description":"Propose a task to the user, who decides whether it is created.","schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]},"proposes":true}]}`,
		})),
	describe[ToolCall, record.ToolResult]("tools.call", Read,
		"Run a tool for a model.",
		"No tool changes a record. An unknown tool, wrong arguments, nothing found and a tool that takes too long are results that the model can read, with error true. "+
			"A tool is stopped after five seconds.",
		Example{
			`{"name":"read_note","arguments":{"path":"docs/params.md"}}`,
			`{"text":"[[Parameters]] [id:7a2e]\npath: docs/params.md\nchanged: 2026-03-04T09:00:00Z\n\n# Parameters\n\nThe gain is 0.4.","error":false,"private":false,"references":[{"noteId":"7a2e","path":"docs/params.md","title":"Parameters","snippet":"Retrieved via read_note","how":"read","used":true,"tools":["read_note"]}]}`,
		}, CodeUnavailable),
}
