package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/prompt"
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
			return prompt.EscapeLine(string(value))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in all\n", plural(o.Total, "entity"))
	for _, r := range o.Rows {
		b.WriteString("- " + entityLabel(r.Name, r.Type) + idMark(r.ID) + "\n")
	}
	return b.String()
}

func (c *call) query(in queryInput) (queryOutput, error) {
	out := queryOutput{Rows: []queryRow{}}
	var res protocol.WQLResult
	if err := c.ask("wql.query", protocol.WQLQuery{Query: in.Query, This: in.This, Limit: in.Limit}, &res); err != nil {
		return out, err
	}
	for _, r := range res.Rows {
		out.Rows = append(out.Rows, queryRow{r.ID, r.Name, r.Type})
	}
	out.Total, out.Value = res.Total, res.Value.Value
	return out, nil
}
