package main

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectGraphCmd struct {
	Node   string   `arg:"" optional:"" help:"Id, name or title of the entity or note in the middle."`
	Depth  int      `default:"1" placeholder:"N" help:"Edges to go, 1 to 4. Default: 1."`
	Kind   []string `enum:"note,entity" placeholder:"KIND" help:"Show only entities, or only notes: entity or note."`
	Format string   `enum:"tree,dot,mermaid" default:"tree" placeholder:"FORMAT" help:"Form of the drawing: tree, dot or mermaid. Default: tree."`
}

func (inspectGraphCmd) Examples() []example {
	return []example{
		{"ctxd inspect graph @Engineering", "what refers to what"},
		{"ctxd inspect graph @Alice --depth 2 --format dot | dot -Tsvg > alice.svg", "with Graphviz"},
		{"ctxd inspect graph", "counts of the whole graph"},
	}
}

func (c *inspectGraphCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		if c.Node == "" {
			return graphStats(a, cl)
		}
		id, err := findNode(a, cl, c.Node)
		if err != nil {
			return err
		}
		var sub graph.Subgraph
		if err := cl.Call(a.ctx, "graph.neighbors", protocol.GraphNeighbors{ID: id, Depth: c.Depth, Kinds: c.Kind}, &sub); err != nil {
			return err
		}
		switch {
		case a.JSON:
			return a.out.json(sub)
		case c.Format == "dot":
			_, err = a.out.Write([]byte(dot(&sub)))
		case c.Format == "mermaid":
			_, err = a.out.Write([]byte(mermaid(&sub)))
		default:
			drawSubgraph(a.out, &sub)
		}
		return err
	})
}

// findNode returns the id of an entity or, where there is none of that name, of
// a note.
func findNode(a *app, cl *client.Client, name string) (string, error) {
	id, err := findEntity(a.ctx, cl, name)
	if err == nil || fault.KindOf(err) != fault.NotFound || strings.HasPrefix(name, "@") {
		return id, err
	}
	n, noteErr := findNote(a.ctx, cl, name)
	if noteErr == nil {
		return n.ID, nil
	}
	if fault.KindOf(noteErr) != fault.NotFound {
		return "", noteErr
	}
	return "", notFound("entity or note", name).WithHint("ctxd search %s", quoted(name))
}

func graphStats(a *app, cl *client.Client) error {
	var st graph.Stats
	if err := cl.Call(a.ctx, "graph.stats", nil, &st); err != nil {
		return err
	}
	if a.JSON {
		return a.out.json(st)
	}
	a.out.say(styled(strong, "Graph"))
	f := &facts{table{indent: 2}}
	f.addf("records", "%s, %s", count(st.Entities, "entity"), count(st.Notes, "note"))
	f.addf("edges", "%s, %s", count(st.References, "reference"), count(st.Links, "link"))
	f.addf("at a record", "%.1f edges on average, %s at most", st.MeanDegree, number(st.MaxDegree))
	f.addf("parts", "%s, %s of them a record without any edge", number(st.Components), number(st.Orphans))
	f.draw(a.out)
	return nil
}

// drawSubgraph draws the tree of the walk: each record hangs from the one that
// it was first reached from, with the edge between them.
func drawSubgraph(s *screen, sub *graph.Subgraph) {
	if len(sub.Nodes) == 0 {
		return
	}
	depth := make(map[string]int, len(sub.Nodes))
	branches := make(map[string]*branch, len(sub.Nodes))
	for _, v := range sub.Nodes {
		depth[v.ID] = v.Depth
		branches[v.ID] = &branch{}
	}
	for _, v := range sub.Nodes {
		b := branches[v.ID]
		if v.Depth == 0 {
			b.label = vertexLabel(v, strong)
			continue
		}
		b.label = vertexLabel(v, accent)
		var edges line
		above := ""
		for _, e := range sub.Edges {
			from, to, arrow := e.From, e.To, "→"
			if e.From == v.ID {
				from, to, arrow = e.To, e.From, "←"
			}
			if to != v.ID || depth[from] != v.Depth-1 || above != "" && from != above || from == v.ID {
				continue
			}
			above = from
			if len(edges) > 0 {
				edges = append(edges, text(", "))
			}
			edges = append(edges, styled(faint, e.Field+" "+arrow))
		}
		b.label = append(append(edges, text(" ")), b.label...)
		if over := branches[above]; over != nil {
			over.children = append(over.children, b)
		}
	}
	drawTree(s, "", []*branch{branches[sub.Nodes[0].ID]})
	s.say()
	s.say(styled(faint, count(len(sub.Nodes), "record")+", "+count(len(sub.Edges), "edge")+"; → refers to, ← is referred to by"))
	if sub.Truncated {
		s.say(styled(warn, "there is more than could be looked at"))
	}
}

func vertexLabel(v graph.Vertex, st style) line {
	if v.Kind == "note" {
		return line{styled(st, "[["+v.Name+"]]")}
	}
	return line{styled(st, "@"+v.Name), styled(faint, " ("+v.Type+")")}
}

// dot writes the graph for Graphviz.
func dot(sub *graph.Subgraph) string {
	var b strings.Builder
	b.WriteString("digraph ctxd {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n")
	for _, v := range sub.Nodes {
		shape := "box"
		if v.Kind == "note" {
			shape = "note"
		}
		fmt.Fprintf(&b, "  %s [label=%s, shape=%s];\n", dotText(v.ID), dotText(v.Name), shape)
	}
	for _, e := range sub.Edges {
		fmt.Fprintf(&b, "  %s -> %s [label=%s];\n", dotText(e.From), dotText(e.To), dotText(e.Field))
	}
	b.WriteString("}\n")
	return b.String()
}

// dotText quotes a text for Graphviz, in which a backslash begins an escape.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean(s)) + `"`
}

// mermaid writes the graph as a Mermaid flowchart.
func mermaid(sub *graph.Subgraph) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	names := make(map[string]string, len(sub.Nodes))
	for i, v := range sub.Nodes {
		names[v.ID] = fmt.Sprintf("n%d", i)
		open, end := "[", "]"
		if v.Kind == "note" {
			open, end = "([", "])"
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, open, mermaidText(v.Name), end)
	}
	for _, e := range sub.Edges {
		fmt.Fprintf(&b, "  %s -->|\"%s\"| %s\n", names[e.From], mermaidText(e.Field), names[e.To])
	}
	return b.String()
}

// mermaidText writes a text within quotes, in which Mermaid reads entity codes.
func mermaidText(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;").Replace(clean(s))
}
