package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// graphInput are the arguments of explore_graph.
type graphInput struct {
	Record string   `json:"record" jsonschema:"the note or entity to start from: its title, name or id"`
	Depth  int      `json:"depth,omitempty" jsonschema:"steps to go"`
	Kinds  []string `json:"kinds,omitempty" jsonschema:"show only note or entity; both when absent"`
	paging
}

func graphSchema() *jsonschema.Schema {
	return pagesOf[graphInput](func(p map[string]*jsonschema.Schema) {
		between(p["depth"], 1, 4, 1)
		p["kinds"].Items.Enum = []any{"note", "entity"}
	})
}

func (c *call) exploreGraph(in graphInput) (string, error) {
	id, err := c.recordID("record", in.Record)
	if err != nil {
		return "", err
	}
	var sub record.GraphSubgraph
	err = c.ask("graph.neighbors", protocol.GraphNeighbors{ID: id, Depth: in.Depth, Kinds: in.Kinds}, &sub)
	if err != nil {
		return "", orNoRecord(err, "record")
	}
	return graphPage(&sub, in.paging)
}

// pathInput are the arguments of find_path.
type pathInput struct {
	From     string `json:"from" jsonschema:"the note or entity to start from: its title, name or id"`
	To       string `json:"to" jsonschema:"the note or entity to reach: its title, name or id"`
	MaxDepth int    `json:"maxDepth,omitempty" jsonschema:"steps at most"`
	paging
}

func pathSchema() *jsonschema.Schema {
	return pagesOf[pathInput](func(p map[string]*jsonschema.Schema) { between(p["maxDepth"], 1, 16, 6) })
}

func (c *call) findPath(in pathInput) (string, error) {
	from, err := c.recordID("from", in.From)
	if err != nil {
		return "", err
	}
	to, err := c.recordID("to", in.To)
	if err != nil {
		return "", err
	}
	var sub record.GraphSubgraph
	if err := c.ask("graph.path", protocol.GraphPath{From: from, To: to, MaxDepth: in.MaxDepth}, &sub); err != nil {
		return "", orNoRecord(err, "from")
	}
	return graphPage(&sub, in.paging)
}

// graphPage lists the records of a part of the graph, nearest first, then its edges.
func graphPage(sub *record.GraphSubgraph, in paging) (string, error) {
	l := &list{noun: "line", none: "They are not connected within these steps."}
	if len(sub.Nodes) > 0 {
		l.head = fmt.Sprintf("%s, %s\n", plural(len(sub.Nodes), "record"), plural(len(sub.Edges), "edge"))
	}
	if sub.Truncated {
		l.head += "There is more than can be shown here: start from one of these records.\n"
	}
	labels, alike := make(map[string]string, len(sub.Nodes)), make(map[string]int)
	for _, v := range sub.Nodes {
		labels[v.ID] = entityLabel(v.Name, v.Type)
		if v.Kind == "note" {
			labels[v.ID] = noteLabel(v.Name)
		}
		alike[labels[v.ID]]++
		l.items = append(l.items, "- "+labels[v.ID]+idMark(v.ID)+", "+plural(v.Depth, "step")+"\n")
	}
	for id, label := range labels {
		if alike[label] > 1 { // an edge would not say which of them it leads to
			labels[id] = label + idMark(id)
		}
	}
	for _, e := range sub.Edges {
		l.items = append(l.items, strings.Join([]string{labels[e.From], "--" + inline(e.Field) + "-->", labels[e.To]}, " ")+"\n")
	}
	l.total = len(l.items)
	if err := l.skip(in.Cursor); err != nil {
		return "", err
	}
	return l.page(in.MaxChars)
}

// orNoRecord is the error of a method of the graph, in the words of this package
// where there is no record with an id.
func orNoRecord(err error, field string) error {
	var f *fault.Error
	if isMissing(err) && errors.As(err, &f) {
		return noRecord(cmp.Or(f.Field, field))
	}
	return err
}
