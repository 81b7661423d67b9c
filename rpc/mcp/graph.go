package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/graph"
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
		return "[[" + oneLine(v.Name) + "]]"
	}
	return "@" + oneLine(v.Name) + " (" + v.Type + ")"
}

func (o graphOutput) text() string {
	if len(o.Records) == 0 {
		return "They are not connected within these steps."
	}
	var b strings.Builder
	labels := make(map[string]string, len(o.Records))
	for _, v := range o.Records {
		labels[v.ID] = v.label()
		fmt.Fprintf(&b, "- %s [id:%s], %s\n", v.label(), v.ID, plural(v.Depth, "step"))
	}
	for _, e := range o.Edges {
		fmt.Fprintf(&b, "%s --%s--> %s\n", labels[e.From], oneLine(e.Field), labels[e.To])
	}
	if o.More {
		b.WriteString("There is more around; raise limit, or start from one of these.\n")
	}
	return b.String()
}

func (c *call) exploreGraph(in graphInput) (graphOutput, error) {
	if ok, err := c.shows(in.ID); !ok {
		return graphOutput{}, orMissing(err, "id")
	}
	var sub graph.Subgraph
	if err := c.ask("graph.neighbors", protocol.GraphNeighbors{ID: in.ID, Depth: in.Depth, Kinds: in.Kinds}, &sub); err != nil {
		return graphOutput{}, err
	}
	return c.reached(&sub, in.Depth, in.Limit)
}

// reached returns what can be reached in a part of the graph without private
// records, at most limit of them. The first node is where the walk began.
func (c *call) reached(sub *graph.Subgraph, depth, limit int) (graphOutput, error) {
	out := graphOutput{Records: []vertex{}, Edges: []arc{}}
	if len(sub.Nodes) == 0 {
		return out, noRecord("id")
	}
	nodes := make(map[string]graph.Vertex, len(sub.Nodes))
	for _, v := range sub.Nodes {
		nodes[v.ID] = v
	}
	beside := make(map[string][]string, len(nodes))
	for _, e := range sub.Edges {
		beside[e.From] = append(beside[e.From], e.To)
		beside[e.To] = append(beside[e.To], e.From)
	}
	start := sub.Nodes[0]
	start.Depth = 0
	queue := []graph.Vertex{start}
	seen := map[string]bool{start.ID: true}
	shown := make(map[string]bool)
	for i := 0; i < len(queue) && !out.More; i++ {
		v := queue[i]
		shows, err := c.vertex(v)
		switch {
		case err != nil:
			return out, err
		case shows == nil:
			continue
		case len(out.Records) == limit:
			out.More = true
			continue
		}
		shown[v.ID] = true
		out.Records = append(out.Records, *shows)
		for _, id := range beside[v.ID] {
			if next, ok := nodes[id]; ok && !seen[id] && v.Depth < depth {
				seen[id] = true
				next.Depth = v.Depth + 1
				queue = append(queue, next)
			}
		}
	}
	for _, e := range sub.Edges {
		if shown[e.From] && shown[e.To] {
			out.Edges = append(out.Edges, arc{e.From, e.To, e.Field})
		}
	}
	return out, nil
}

// shows reports whether there is a live record of that id that may be shown.
func (c *call) shows(id string) (bool, error) {
	if e, err := c.entity(id); e != nil || err != nil {
		return e != nil, err
	}
	n, err := c.note(id)
	return n != nil && n.ArchivedAt == nil, err
}

// vertex returns what may be shown of a node, nil when nothing may.
func (c *call) vertex(v graph.Vertex) (*vertex, error) {
	if v.Kind == "note" {
		n, err := c.note(v.ID)
		if n == nil || err != nil {
			return nil, err
		}
		v.Name = n.Title
	} else {
		e, err := c.entity(v.ID)
		if e == nil || err != nil {
			return nil, err
		}
		v.Name = e.Name
	}
	out := vertex{v.ID, v.Kind, v.Name, v.Type, v.Depth}
	return &out, nil
}

func orMissing(err error, field string) error {
	if err != nil {
		return err
	}
	return noRecord(field)
}

func (c *call) findPath(in pathInput) (graphOutput, error) {
	for field, id := range map[string]string{"from": in.From, "to": in.To} {
		if ok, err := c.shows(id); !ok {
			return graphOutput{}, orMissing(err, field)
		}
	}
	var sub graph.Subgraph
	if err := c.ask("graph.path", protocol.GraphPath{From: in.From, To: in.To, MaxDepth: in.MaxDepth}, &sub); err != nil {
		return graphOutput{}, err
	}
	out := graphOutput{Records: []vertex{}, Edges: []arc{}}
	for _, v := range sub.Nodes {
		shown, err := c.vertex(v)
		if err != nil {
			return out, err
		}
		if shown == nil {
			return c.detour(in)
		}
		out.Records = append(out.Records, *shown)
	}
	for _, e := range sub.Edges {
		out.Edges = append(out.Edges, arc{e.From, e.To, e.Field})
	}
	return out, nil
}

// maxDetour is how many records a search for a way around private ones looks
// at. A way that it does not find is not told of.
const maxDetour = 300

// hop is how a search came to a record.
type hop struct {
	vertex
	from *hop
	by   arc
}

// detour finds a shortest way that does not lead through private records.
func (c *call) detour(in pathInput) (graphOutput, error) {
	queue := []*hop{{vertex: vertex{ID: in.From}}}
	seen := map[string]bool{in.From: true}
	for i := 0; i < len(queue) && i < maxDetour && queue[i].Depth < in.MaxDepth; i++ {
		at := queue[i]
		var sub graph.Subgraph
		err := c.ask("graph.neighbors", protocol.GraphNeighbors{ID: at.ID, Depth: 1}, &sub)
		if absent(err) {
			continue // it went meanwhile
		}
		if err != nil {
			return graphOutput{}, err
		}
		for _, v := range sub.Nodes {
			if seen[v.ID] && (i > 0 || v.ID != in.From) {
				continue
			}
			seen[v.ID] = true
			shown, err := c.vertex(v)
			switch {
			case err != nil:
				return graphOutput{}, err
			case shown == nil:
				continue
			case v.ID == in.From: // until now only its id is known
				at.vertex = *shown
				continue
			}
			shown.Depth = at.Depth + 1
			next := &hop{*shown, at, edgeBetween(sub.Edges, at.ID, v.ID)}
			if v.ID == in.To {
				return next.way(), nil
			}
			queue = append(queue, next)
		}
	}
	return graphOutput{Records: []vertex{}, Edges: []arc{}}, nil
}

// edgeBetween returns the first edge between two records.
func edgeBetween(edges []graph.Arc, a, b string) arc {
	for _, e := range edges {
		if e.From == a && e.To == b || e.From == b && e.To == a {
			return arc{e.From, e.To, e.Field}
		}
	}
	return arc{From: a, To: b}
}

// way returns how a search came to a record, from the start on.
func (h *hop) way() graphOutput {
	out := graphOutput{Edges: []arc{}}
	for ; h != nil; h = h.from {
		out.Records = append(out.Records, h.vertex)
		if h.from != nil {
			out.Edges = append(out.Edges, h.by)
		}
	}
	slices.Reverse(out.Records)
	slices.Reverse(out.Edges)
	return out
}
