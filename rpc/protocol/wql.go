package protocol

import (
	"github.com/ctxd/ctxd/entities/record"
)

// WQLQuery are the parameters of wql.query.
type WQLQuery struct {
	Query   string `json:"query" jsonschema:"the WQL text, at most 4 KiB"`
	This    string `json:"this,omitempty" jsonschema:"the entity that {this} means: its id, handle or name, or its note"`
	Limit   int    `json:"limit,omitempty" min:"1" max:"10000" default:"200" jsonschema:"maximum number of rows; a smaller LIMIT in the query applies"`
	Explain bool   `json:"explain,omitempty" jsonschema:"add the plan"`

	Reads
}

// WQLResult is the result of wql.query.
type WQLResult struct {
	Rows      []record.WQLRow `json:"rows" jsonschema:"the entities, or tasks of notes; empty for an aggregate"`
	Total     int             `json:"total" jsonschema:"number of rows without any limit"`
	Truncated bool            `json:"truncated" jsonschema:"whether a limit left some out"`
	Value     Optional[any]   `json:"value,omitzero" jsonschema:"the value of an aggregate: a number, a text, or null when nothing was counted in"`
	Plan      *record.WQLPlan `json:"plan,omitempty" jsonschema:"with explain: how the query was answered"`
}

// WQLCheck are the parameters of wql.check.
type WQLCheck struct {
	Query string `json:"query" jsonschema:"the WQL text"`
	Type  string `json:"type,omitempty" jsonschema:"the type that the computed field belongs to; allows {this}"`
	Reads
}

// WQLChecked is the result of wql.check.
type WQLChecked struct {
	OK          bool                `json:"ok" jsonschema:"whether the query can be run"`
	Diagnostics []record.Diagnostic `json:"diagnostics" jsonschema:"all findings, in the order of the text"`
}

var wqlMethods = []Method{
	describe[WQLQuery, WQLResult]("wql.query", Read,
		"Run a query over the entities, or over the tasks of notes (FROM Task).", "",
		Example{
			`{"query":"SELECT p FROM Person WHERE p.team = {this}","this":"core"}`,
			`{"rows":[{"id":"alice","name":"Alice","type":"Person"}],"total":1,"truncated":false}`,
		}, CodeNotFound, CodeUnavailable, CodeLimit, CodeDeadline, CodeQuery),
	describe[WQLCheck, WQLChecked]("wql.check", Read,
		"Check a query and report all errors and warnings.", "",
		Example{
			`{"query":"SELECT p FROM Persn"}`,
			`{"ok":false,"diagnostics":[{"line":1,"column":15,"message":"there is no type Persn","hint":"did you mean Person?","severity":"error","source":"SELECT p FROM Persn\n              ^"}]}`,
		}, CodeLimit),
}
