package mcp

import (
	"cmp"
	"errors"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
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
	args := map[string]any{"record": in.Record, "depth": in.Depth}
	if len(in.Kinds) > 0 {
		args["kinds"] = in.Kinds
	}
	return c.tool("explore_graph", in.paging, args)
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
	for _, end := range [][2]string{{"from", in.From}, {"to", in.To}} {
		if strings.TrimSpace(end[1]) == "" {
			return "", fault.Field(end[0], "%s is needed: a title, name, path or id", end[0])
		}
	}
	var sub record.GraphSubgraph
	if err := c.ask("graph.path", protocol.GraphPath{From: in.From, To: in.To, MaxDepth: in.MaxDepth}, &sub); err != nil {
		return "", orNoRecord(err, "from")
	}
	l := render.Graph(&sub)
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

// orNoRecord is the error of a method of the graph, in the words of this package
// where there is no record with an id.
func orNoRecord(err error, field string) error {
	var f *fault.Error
	if fault.IsMissing(err) && errors.As(err, &f) {
		return noRecord(cmp.Or(f.Field, field))
	}
	return err
}
