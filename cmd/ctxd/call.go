package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
	params, err := c.params(a)
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
