package mcp

import (
	"cmp"
	"errors"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// graphInput are the arguments of explore_graph.
type graphInput struct {
	ID    string   `json:"id" jsonschema:"id of the note or entity to start from"`
	Depth int      `json:"depth,omitempty" jsonschema:"steps to go"`
	Kinds []string `json:"kinds,omitempty" jsonschema:"show only note or entity; both when absent"`
	Limit int      `json:"limit,omitempty" jsonschema:"records at most, nearest first"`
}

func graphSchema() *jsonschema.Schema {
	return inputOf[graphInput](func(p map[string]*jsonschema.Schema) {
		between(p["depth"], 1, 4, 1)
		between(p["limit"], 1, 500, 50)
		p["kinds"].Items.Enum = []any{"note", "entity"}
	})
}

// pathInput are the arguments of find_path.
type pathInput struct {
	From     string `json:"from" jsonschema:"id of the note or entity to start from"`
	To       string `json:"to" jsonschema:"id of the note or entity to reach"`
	MaxDepth int    `json:"maxDepth,omitempty" jsonschema:"steps at most"`
}

func pathSchema() *jsonschema.Schema {
	return inputOf[pathInput](func(p map[string]*jsonschema.Schema) { between(p["maxDepth"], 1, 16, 6) })
}

// graphOutput is a part of the graph.
type graphOutput struct {
	Records []vertex `json:"records" jsonschema:"the notes and entities, nearest first"`
	Edges   []arc    `json:"edges" jsonschema:"the references and links between them"`
	More    bool     `json:"more,omitempty" jsonschema:"whether there are further records within the depth"`
}

// vertex is a record of the graph.
type vertex struct {
	ID    string `json:"id" jsonschema:"id of the record"`
	Kind  string `json:"kind" jsonschema:"note or entity"`
	Name  string `json:"name" jsonschema:"its title or name"`
	Type  string `json:"type,omitempty" jsonschema:"its type, of an entity"`
	Depth int    `json:"depth" jsonschema:"steps from the start"`
}

// arc is an edge of the graph.
type arc struct {
	From  string `json:"from" jsonschema:"id of the record that refers"`
	To    string `json:"to" jsonschema:"id of the record that is referred to"`
	Field string `json:"field" jsonschema:"the field that refers; link for a link in the text of a note"`
}

func (v vertex) label() string {
	if v.Kind == "note" {
		return noteLabel(v.Name)
	}
	return entityLabel(v.Name, v.Type)
}

func (o graphOutput) text() string {
	if len(o.Records) == 0 {
		return "They are not connected within these steps."
	}
	var b strings.Builder
	labels := make(map[string]string, len(o.Records))
	for _, v := range o.Records {
		labels[v.ID] = v.label()
		b.WriteString("- " + labels[v.ID] + idMark(v.ID) + ", " + plural(v.Depth, "step") + "\n")
	}
	for _, e := range o.Edges {
		b.WriteString(labels[e.From] + " --" + inline(e.Field) + "--> " + labels[e.To] + "\n")
	}
	if o.More {
		b.WriteString("There is more around; raise limit, or start from one of these.\n")
	}
	return b.String()
}

func (c *call) exploreGraph(in graphInput) (graphOutput, error) {
	var sub record.GraphSubgraph
	err := c.ask("graph.neighbors", protocol.GraphNeighbors{ID: in.ID, Depth: in.Depth, Kinds: in.Kinds}, &sub)
	if err != nil {
		return graphOutput{}, orNoRecord(err)
	}
	return partOf(&sub, in.Limit), nil
}

func (c *call) findPath(in pathInput) (graphOutput, error) {
	var sub record.GraphSubgraph
	err := c.ask("graph.path", protocol.GraphPath{From: in.From, To: in.To, MaxDepth: in.MaxDepth}, &sub)
	if err != nil {
		return graphOutput{}, orNoRecord(err)
	}
	return partOf(&sub, len(sub.Nodes)), nil
}

// partOf returns the first records of a part of the graph, and the edges between
// them.
func partOf(sub *record.GraphSubgraph, limit int) graphOutput {
	out := graphOutput{Records: []vertex{}, Edges: []arc{}, More: sub.Truncated || len(sub.Nodes) > limit}
	shown := make(map[string]bool, limit)
	for _, v := range sub.Nodes[:min(limit, len(sub.Nodes))] {
		shown[v.ID] = true
		out.Records = append(out.Records, vertex{v.ID, v.Kind, v.Name, v.Type, v.Depth})
	}
	for _, e := range sub.Edges {
		if shown[e.From] && shown[e.To] {
			out.Edges = append(out.Edges, arc{e.From, e.To, e.Field})
		}
	}
	return out
}

// orNoRecord is the error of a method of the graph, in the words of this package
// where there is no record with an id.
func orNoRecord(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.NotFound {
		return noRecord(cmp.Or(f.Field, "id"))
	}
	return err
}
