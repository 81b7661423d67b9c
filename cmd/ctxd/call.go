package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type callCmd struct {
	Method   string   `arg:"" help:"Name of the method, such as notes.search."`
	Params   []string `arg:"" optional:"" help:"A JSON object, - to read it from standard input, or NAME=TEXT and NAME:=JSON for single members."`
	Describe bool     `short:"d" help:"Say what the method takes and gives instead of calling it; needs no daemon."`
}

func (callCmd) Help() string {
	return "Prints the result as JSON, indented on a terminal and on one line otherwise."
}

// More lists the methods that this version knows.
func (callCmd) More() string {
	var b strings.Builder
	b.WriteString("Methods:\n")
	for _, m := range protocol.Methods {
		fmt.Fprintf(&b, "  %-19s %s\n", m.Name, m.Summary)
	}
	return b.String()
}

func (callCmd) Examples() []example {
	return []example{
		{"ctxd call notes.complete prefix=Pro limit:=3", "params by name: = gives a text, := anything else"},
		{`ctxd call wql.query '{"query":"SELECT COUNT(*) FROM Person"}'`, "params as JSON"},
		{"ctxd call notes.putMany - < notes.json", "params from a file"},
		{"ctxd call context.assemble --describe", "what a method takes"},
	}
}

func (c *callCmd) Run(a *app) error {
	if c.Describe {
		return c.describe(a)
	}
	params, err := c.params(a.in)
	if err != nil {
		return err
	}
	return a.with(func(cl *client.Client) error {
		p := newProgress(a.err)
		var result json.RawMessage
		err := cl.CallProgress(a.ctx, c.Method, params, &result, p.wire)
		p.finish()
		if err != nil {
			return c.suggest(err, cl.Server().Capabilities.Methods)
		}
		return a.out.rawJSON(result)
	})
}

// params returns the params as a JSON object.
func (c *callCmd) params(in io.Reader) (json.RawMessage, error) {
	var doc []byte
	switch {
	case len(c.Params) == 0:
		return json.RawMessage("{}"), nil
	case len(c.Params) == 1 && c.Params[0] == "-":
		var err error
		if doc, err = io.ReadAll(in); err != nil {
			return nil, err
		}
	case len(c.Params) == 1 && !isMember(c.Params[0]):
		doc = []byte(c.Params[0])
	default:
		return members(c.Params)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(doc, &object); err != nil {
		return nil, badJSON("the params", err)
	}
	if object == nil {
		return nil, &usageError{"the params are null", "give a JSON object, or leave them out"}
	}
	return doc, nil
}

// isMember reports whether an argument is NAME=TEXT or NAME:=JSON.
func isMember(arg string) bool {
	name, _, ok := strings.Cut(arg, "=")
	return ok && strings.TrimSuffix(name, ":") != "" && !strings.ContainsAny(name, "{[\" \t\n")
}

// members makes an object of NAME=TEXT and NAME:=JSON.
func members(args []string) (json.RawMessage, error) {
	object := make(map[string]any, len(args))
	for _, arg := range args {
		if !isMember(arg) {
			return nil, &usageError{fmt.Sprintf("%q is no NAME=TEXT", arg), `quote JSON as one word: '{"query":"two words"}'`}
		}
		name, value, _ := strings.Cut(arg, "=")
		name, isJSON := strings.CutSuffix(name, ":")
		if !isJSON {
			object[name] = value
			continue
		}
		if err := json.Unmarshal([]byte(value), new(any)); err != nil {
			return nil, badJSON(name, err)
		}
		object[name] = json.RawMessage(value)
	}
	return json.Marshal(object)
}

func badJSON(what string, err error) error {
	hint := "JSON has double quotes around names and texts; in a shell, put single quotes around it"
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &usageError{fmt.Sprintf("%s can't be read as JSON: %s at byte %d", what, syntax, syntax.Offset), hint}
	}
	return &usageError{what + " must be a JSON object", hint}
}

// suggest adds the names that an unknown method may have been meant to be.
func (c *callCmd) suggest(err error, methods []string) error {
	var wire *client.Error
	if !errors.As(err, &wire) || wire.Code != protocol.CodeMethodNotFound {
		return err
	}
	e := fault.New(fault.NotFound, "the daemon has no method %q", c.Method).WithHint("ctxd call --help lists the methods")
	if near := nearest(c.Method, methods); len(near) > 0 {
		e.Hint = "ctxd call " + strings.Join(near, ", or ctxd call ")
	}
	return e
}

// nearest returns up to three of the names that are most like a misspelt one.
func nearest(name string, names []string) []string {
	type scored struct {
		name string
		away int
	}
	var list []scored
	name = strings.ToLower(name)
	for _, n := range names {
		away := distance(name, strings.ToLower(n))
		if _, last, ok := strings.Cut(n, "."); ok && !strings.Contains(name, ".") {
			away = min(away, distance(name, strings.ToLower(last)))
		}
		if away <= 1+len(name)/4 {
			list = append(list, scored{n, away})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.away, b.away) })
	var out []string
	for _, s := range list[:min(3, len(list))] {
		out = append(out, s.name)
	}
	return out
}

// distance is the Levenshtein distance in bytes: O(len(a) * len(b)).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
