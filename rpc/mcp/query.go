package mcp

import (
	"github.com/google/jsonschema-go/jsonschema"
)

// queryInput are the arguments of query.
type queryInput struct {
	Query string `json:"query" jsonschema:"the WQL text"`
	This  string `json:"this,omitempty" jsonschema:"the entity that {this} means: its name or id"`
	Limit int    `json:"limit,omitempty" jsonschema:"rows of a page"`
	paging
}

func querySchema() *jsonschema.Schema {
	return pagesOf[queryInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 500, 50) })
}

func (c *call) query(in queryInput) (string, error) {
	return c.tool("query", in.paging, map[string]any{"query": in.Query, "this": in.This, "limit": in.Limit})
}
