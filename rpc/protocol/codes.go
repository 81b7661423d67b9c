package protocol

import "github.com/ctxd/ctxd/entities/fault"

// Version is the version of the protocol, MAJOR.MINOR. A minor version adds; a
// client that asks for a newer major version is refused.
const Version = "2.0"

// The error codes, first those of JSON-RPC.
const (
	CodeParse          = -32700 // bytes that are no JSON, or a malformed header
	CodeInvalidRequest = -32600 // JSON that is no request
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602 // data.field names the parameter
	CodeInternal       = -32603 // data.ref is the id of the incident in the log
	CodeNotInitialized = -32002 // a call before initialize
	CodeCancelled      = -32800 // withdrawn by $/cancelRequest or by closing
	CodeNotFound       = 1001
	CodeConflict       = 1002 // stale version, duplicate, ambiguous
	CodeUnavailable    = 1003 // can't be served now
	CodeLimit          = 1004 // a size or count over its limit
	CodeDeadline       = 1005 // out of time
	CodeQuery          = 1006 // a WQL text that can't be run
)

// Error is the error member of a reply.
type Error struct {
	Code    int        `json:"code" jsonschema:"the kind of error, see the list of codes"`
	Message string     `json:"message" jsonschema:"what was wrong; one sentence for people"`
	Data    *ErrorData `json:"data,omitempty" jsonschema:"what a program can act on"`
}

// ErrorData is what a program can act on in an Error.
type ErrorData struct {
	Kind       string            `json:"kind" jsonschema:"the kind of failure by name"`
	Ref        string            `json:"ref,omitempty" jsonschema:"id or name of the record concerned, or the id of the incident in the log"`
	Field      string            `json:"field,omitempty" jsonschema:"the parameter at fault, dotted, as in entities[3].name"`
	Hint       string            `json:"hint,omitempty" jsonschema:"what to do about it"`
	Reason     fault.Reason      `json:"reason,omitempty" enum:"version,exists,ambiguous,vaultBacked,state,duplicate,busy,changed" jsonschema:"of a conflict: what it is about. version: ifVersion is not that of the record; exists: it is there already; ambiguous: candidates are meant; vaultBacked: it changes with its file alone; state: its state does not allow it; duplicate: another record says the same; busy: something else goes on; changed: what was read has changed meanwhile"`
	Version    int               `json:"version,omitempty" jsonschema:"with version and exists: the version that the record has"`
	Retryable  bool              `json:"retryable" jsonschema:"whether the same call may succeed later"`
	Line       int               `json:"line,omitempty" jsonschema:"line in a query text, from 1"`
	Column     int               `json:"column,omitempty" jsonschema:"column in that line, UTF-16 code units, from 1"`
	Candidates []fault.Candidate `json:"candidates,omitempty" jsonschema:"the records that an ambiguous reference may have meant"`
	Sides      *fault.Sides      `json:"sides,omitempty" jsonschema:"with changed, of a text: both of them; absent above 1 MiB, and for a remote connection"`
}

// Code is one error code with what it means.
type Code struct {
	Code    int
	Kind    string // data.kind
	Message string // the standing text of the document
}

// Codes are all error codes, those of JSON-RPC first. Method.Errors says which
// of them a method may answer with.
var Codes = []Code{
	{CodeParse, "parse_error", "The message is not JSON, or its header is malformed. The id is null."},
	{CodeInvalidRequest, "invalid_request", "The message is not a valid request, or comes at the wrong time."},
	{CodeMethodNotFound, "method_not_found", "There is no method with that name."},
	{CodeInvalidParams, "invalid_params", "A parameter is unknown, missing, of the wrong type or has a bad value; data.field names it."},
	{CodeInternal, "internal", "A bug in the daemon; data.ref is the id of the incident in its log."},
	{CodeNotInitialized, "not_initialized", "The connection has not been initialized."},
	{CodeCancelled, "cancelled", "The call was withdrawn."},
	{CodeNotFound, "not_found", "There is no record with that id, path or title."},
	{CodeConflict, "conflict", "The record has changed or exists already, or the reference is ambiguous."},
	{CodeUnavailable, "unavailable", "A stage, the store or the disk cannot serve the call now."},
	{CodeLimit, "limit", "A size or count is over its limit; data.field names it."},
	{CodeDeadline, "deadline", "The call took too long."},
	{CodeQuery, "query", "The query cannot be run; data.line and data.column say where it is wrong."},
}

// ProgressParams is the parameter of $/progress, sent to the caller that put the token into the params of a call. Its
// shape is that of the Language Server Protocol.
type ProgressParams struct {
	Token any      `json:"token" jsonschema:"the progressToken of the call, as it was given"`
	Value Progress `json:"value" jsonschema:"how far the call has come"`
}

// Progress is how far a call has come.
type Progress struct {
	Kind       string `json:"kind" enum:"begin,report,end" jsonschema:"where the work stands"`
	Title      string `json:"title,omitempty" jsonschema:"what the call does; at the beginning"`
	Message    string `json:"message,omitempty" jsonschema:"what is being done"`
	Percentage int    `json:"percentage,omitempty" min:"0" max:"100" jsonschema:"done of total, rounded down; absent for 0 and when total is unknown"`
	Done       int64  `json:"done" jsonschema:"units of work that are done"`
	Total      int64  `json:"total" jsonschema:"total units of work; 0 when unknown"`
}

// The kinds of Progress.
const (
	ProgressBegin  = "begin"
	ProgressReport = "report"
	ProgressEnd    = "end"
)

// ProgressToken is the name of the member that any params may have: a text or a
// number that $/progress then carries.
const ProgressToken = "progressToken"

// Cancel is the parameter of $/cancelRequest.
type Cancel struct {
	ID any `json:"id" jsonschema:"the id of the call to cancel"`
}
