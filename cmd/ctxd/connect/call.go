package connect

// This file and call_*.go are ctxd call: any method of the protocol from the command line. It makes params of words
// (key=value, read as the schema of the method says, and key:=json), of JSON or of standard input, and describes a
// method from the contract in rpc/protocol: its params, results and codes. It knows no method by name. The result is
// printed as the daemon sent it.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// CallCommand is ctxd call.
type CallCommand struct {
	Method   string   `arg:"" help:"Name of the method, such as notes.search."`
	Params   []string `arg:"" optional:"" help:"A JSON object, - to read one from standard input, or NAME=VALUE and NAME:=JSON for single parameters."`
	Describe bool     `short:"d" help:"Describe the params and result of the method instead of calling it. Needs no daemon."`

	Audience
}

// Help is what --help says of the command.
func (CallCommand) Help() string {
	return "Prints the result as JSON, indented on a terminal and on one line otherwise."
}

// More lists the methods that this version knows.
func (CallCommand) More() string {
	var b strings.Builder
	b.WriteString("Methods:\n")
	for _, m := range protocol.Methods {
		fmt.Fprintf(&b, "  %-19s %s\n", m.Name, m.Summary)
	}
	return b.String()
}

// Examples are those of --help.
func (CallCommand) Examples() []term.Example {
	return []term.Example{
		{"ctxd call notes.complete prefix=Pro limit=3", "parameters by name, converted to the types of the method"},
		{"ctxd call notes.list tags=work tags=2026", "a list of two items"},
		{`ctxd call notes.search query=drift filter:='{"tags":["work"]}'`, "NAME:= takes any JSON"},
		{`ctxd call wql.query '{"query":"SELECT COUNT(*) FROM Person"}'`, "params as JSON"},
		{"ctxd call notes.putMany - < notes.json", "params from a file"},
		{"ctxd call context.assemble --describe", "what a method takes and returns"},
		{"ctxd call notes.complete prefix=Pro --audience remote", "the answer to a remote reader"},
	}
}

// Run runs the command.
func (c *CallCommand) Run(a *CallOptions) error {
	if c.Describe {
		return c.describe(a)
	}
	params, err := c.params(a)
	if err != nil {
		return err
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		p := term.NewProgress(a.Err)
		var result json.RawMessage
		err := cl.CallProgress(a.Ctx, c.Method, params, &result, p.Wire)
		p.Finish()
		if err != nil {
			return c.suggest(err, cl.Server().Capabilities.Methods)
		}
		return a.Out.RawJSON(result)
	})
}

// suggest adds the names that an unknown method or parameter may have been meant
// to be.
func (c *CallCommand) suggest(err error, methods []string) error {
	var wire *client.Error
	if !errors.As(err, &wire) {
		return err
	}
	switch wire.Code {
	case protocol.CodeInvalidParams:
		return c.suggestParam(wire)
	case protocol.CodeMethodNotFound:
	default:
		return err
	}
	e := fault.New(fault.NotFound, "the daemon has no method %q", c.Method).
		WithHint("ctxd call --help lists the methods")
	if near := text.Nearest(c.Method, methods); len(near) > 0 {
		e.Hint = "ctxd call " + strings.Join(near, ", or ctxd call ")
	}
	return e
}

// suggestParam adds the parameters that the method has, the likely ones first,
// where one was given that it does not have.
func (c *CallCommand) suggestParam(refused *client.Error) error {
	name, schemas := refused.Data.Field, schemasOf(c.Method)
	if _, known := schemas[name]; known || schemas == nil || name == "" || strings.ContainsAny(name, ".[") {
		return refused
	}
	names := slices.Sorted(maps.Keys(schemas))
	e := *refused
	if len(names) == 0 {
		e.Data.Hint = c.Method + " takes no parameters"
		return &e
	}
	e.Data.Hint = c.Method + " takes " + strings.Join(names, ", ")
	return &e
}
