package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// queryInput are the arguments of query.
type queryInput struct {
	Query string `json:"query" jsonschema:"the WQL text"`
	This  string `json:"this,omitempty" jsonschema:"id of the entity that {this} means"`
	Limit int    `json:"limit,omitempty" jsonschema:"rows at most"`
}

func querySchema() *jsonschema.Schema {
	return inputOf[queryInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 500, 50) })
}

// queryOutput is the result of query.
type queryOutput struct {
	Rows  []queryRow `json:"rows" jsonschema:"the entities; empty for an aggregate"`
	Total int        `json:"total" jsonschema:"how many there are without a limit"`
	Value any        `json:"value,omitempty" jsonschema:"the value of an aggregate"`
}

type queryRow struct {
	ID   string `json:"id" jsonschema:"id of the entity"`
	Name string `json:"name" jsonschema:"its name"`
	Type string `json:"type" jsonschema:"its type"`
}

func (o queryOutput) text() string {
	if o.Value != nil {
		value, err := json.Marshal(o.Value)
		if err == nil {
			return string(value)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in all\n", plural(o.Total, "entity"))
	for _, r := range o.Rows {
		fmt.Fprintf(&b, "- @%s (%s) [id:%s]\n", oneLine(r.Name), r.Type, r.ID)
	}
	return b.String()
}

func (c *call) query(in queryInput) (queryOutput, error) {
	out := queryOutput{Rows: []queryRow{}}
	if in.This != "" {
		if e, err := c.entity(in.This); e == nil {
			return out, orMissing(err, "this")
		}
	}
	var res protocol.WQLResult
	if err := c.ask("wql.query", protocol.WQLQuery{Query: in.Query, This: in.This, Limit: in.Limit, Audience: c.audience()}, &res); err != nil {
		return out, c.unhinted(err)
	}
	for _, r := range res.Rows {
		if err := c.clean(&r.Name, nil); err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, queryRow{r.ID, r.Name, r.Type})
	}
	out.Total, out.Value = res.Total, res.Value.Value
	return out, nil
}

// unhinted takes the hint out of the error of a query: it may name a type or a
// field that only private entities have.
func (c *call) unhinted(err error) error {
	var f *fault.Error
	if c.opts.IncludePrivate || !errors.As(err, &f) || f.Kind != fault.Query {
		return err
	}
	e := *f
	e.Hint, e.Candidates = "list_types shows types and fields", nil
	return &e
}
