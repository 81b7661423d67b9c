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
	To     string   `placeholder:"NAME" help:"Show how it is connected with this entity or note, by the shortest ways."`
	Depth  *int     `placeholder:"N" help:"Edges to go: 1 to 4, or 1 to 16 with --to. Default: 1, and 6 with --to."`
	Ways   int      `default:"5" placeholder:"N" help:"With --to: ways to show at most, 1 to 16. Default: 5."`
	Kind   []string `enum:"note,entity" placeholder:"KIND" help:"Show only entities, or only notes: entity or note."`
	Fields int      `default:"-1" placeholder:"N" help:"Fields to show of each entity, 0 to 16. Default: 3 in an SVG, else 0."`
	Format string   `enum:"tree,dot,mermaid,svg" default:"tree" placeholder:"FORMAT" help:"Form of the drawing: tree, dot, mermaid or svg. Default: tree."`
	Output string   `short:"o" placeholder:"FILE" help:"Write the drawing to this file, which only you can read."`
	Force  bool     `help:"Replace the file when there is one."`
}

func (inspectGraphCmd) Help() string {
	return "Draws what lies around a note or an entity: references in fields, computed ones too, and links between notes, in either direction. " +
		"With --to it shows how two are connected, with the fields that connect them. Without a name it counts the whole graph."
}

func (inspectGraphCmd) Examples() []example {
	return []example{
		{"ctxd inspect graph @Engineering", "what refers to what"},
		{"ctxd inspect graph @Alice --to Glossary", "how are these two connected?"},
		{"ctxd inspect graph @Alice --depth 2 --format svg -o alice.svg", "a drawing that any browser shows"},
		{"ctxd inspect graph @Alice --depth 2 --format dot | dot -Tpdf > alice.pdf", "with Graphviz"},
		{"ctxd inspect graph @Alice --format mermaid --kind entity", "to paste into a note or an issue"},
		{"ctxd inspect graph", "counts of the whole graph, and its hubs"},
	}
}

func (c *inspectGraphCmd) Run(a *app) error {
	if err := c.check(a); err != nil {
		return err
	}
	return a.with(func(cl *client.Client) error {
		if c.Node == "" {
			return graphStats(a, cl)
		}
		from, err := findNode(a, cl, c.Node)
		if err != nil {
			return err
		}
		if c.To == "" {
			return c.around(a, cl, from)
		}
		to, err := findNode(a, cl, c.To)
		if err != nil {
			return err
		}
		return c.between(a, cl, from, to)
	})
}

// check refuses flags that say nothing together, before a daemon is asked.
func (c *inspectGraphCmd) check(a *app) error {
	most := 4
	if c.To != "" {
		most = 16
	}
	switch {
	case c.Node == "" && (c.To != "" || c.Format != "tree" || c.Output != "" || len(c.Kind) > 0):
		return &usageError{"there is nothing to draw", "name an entity or a note: ctxd inspect graph @Alice"}
	case c.depth() < 1 || c.depth() > most:
		return &usageError{fmt.Sprintf("--depth is %d", c.depth()), fmt.Sprintf("give 1 to %d", most)}
	case c.Ways < 1 || c.Ways > graph.MaxWays:
		return &usageError{fmt.Sprintf("--ways is %d", c.Ways), fmt.Sprintf("give 1 to %d", graph.MaxWays)}
	case c.Fields > graph.MaxDescribed:
		return &usageError{fmt.Sprintf("--fields is %d", c.Fields), fmt.Sprintf("give 0 to %d", graph.MaxDescribed)}
	case c.To != "" && len(c.Kind) > 0:
		return &usageError{"--kind says nothing with --to", "leave one of them out"}
	case c.Force && c.Output == "":
		return &usageError{"--force replaces no file without --output", "ctxd inspect graph @Alice --format svg --output alice.svg --force"}
	case a.JSON && c.Format != "tree":
		return &usageError{"--json and --format " + c.Format + " are two forms of one output", "leave one of them out"}
	}
	return nil
}

// depth returns how many edges to go.
func (c *inspectGraphCmd) depth() int {
	switch {
	case c.Depth != nil:
		return *c.Depth
	case c.To != "":
		return 6
	}
	return 1
}

// fields returns how many fields of an entity to ask for.
func (c *inspectGraphCmd) fields() int {
	switch {
	case c.Fields >= 0:
		return c.Fields
	case c.Format == "svg":
		return 3
	}
	return 0
}

func (c *inspectGraphCmd) around(a *app, cl *client.Client, id string) error {
	var sub graph.Subgraph
	p := protocol.GraphNeighbors{ID: id, Depth: c.depth(), Kinds: c.Kind, Fields: c.fields()}
	if err := cl.Call(a.ctx, "graph.neighbors", p, &sub); err != nil {
		return err
	}
	return c.show(a, &sub, func(s *screen) { drawSubgraph(s, &sub) })
}

func (c *inspectGraphCmd) between(a *app, cl *client.Client, from, to string) error {
	var sub graph.Subgraph
	p := protocol.GraphPath{From: from, To: to, MaxDepth: c.depth(), Ways: c.Ways, Fields: c.fields()}
	if err := cl.Call(a.ctx, "graph.path", p, &sub); err != nil {
		return err
	}
	if len(sub.Nodes) == 0 && !a.JSON {
		return c.unconnected(&sub)
	}
	return c.show(a, &sub, func(s *screen) { drawWays(s, &sub) })
}

// unconnected is the answer for two records without a way between them.
func (c *inspectGraphCmd) unconnected(sub *graph.Subgraph) error {
	depth := c.depth()
	e := fault.New(fault.NotFound, "%s and %s are not connected within %s", clean(c.Node), clean(c.To), count(depth, "edge"))
	switch {
	case sub.Truncated:
		return e.WithHint("there was more to look at than %s; try a smaller --depth", number(graph.MaxNodes))
	case depth < 16:
		return e.WithHint("look further with --depth 16")
	}
	return e.WithHint("see what lies around them: ctxd inspect graph %s", quoted(c.Node))
}

// show prints a part of the graph in the form that was asked for.
func (c *inspectGraphCmd) show(a *app, sub *graph.Subgraph, tree func(s *screen)) error {
	doc, err := c.drawing(a, sub)
	switch {
	case err != nil:
		return err
	case c.Output != "":
		return c.save(a, sub, doc, tree)
	case a.JSON:
		return a.out.json(sub)
	case c.Format == "tree":
		tree(a.out)
		return nil
	}
	_, err = a.out.Write([]byte(doc))
	return err
}

// save writes a drawing to a file and says so.
func (c *inspectGraphCmd) save(a *app, sub *graph.Subgraph, doc string, tree func(s *screen)) error {
	var b strings.Builder
	plain := &screen{Writer: &b}
	switch {
	case a.JSON:
		if err := plain.json(sub); err != nil {
			return err
		}
		doc = b.String()
	case c.Format == "tree":
		tree(plain)
		doc = b.String()
	}
	if err := writeDocument(c.Output, c.Force, doc); err != nil {
		return err
	}
	if !a.JSON { // which prints one document or none
		a.out.say(styled(good, "drawn"), text("  "), styled(strong, c.Output),
			styled(faint, "  "+count(len(sub.Nodes), "record")+", "+count(len(sub.Edges), "edge")))
	}
	return nil
}

// drawing returns the drawing in the forms that package graph makes.
func (c *inspectGraphCmd) drawing(a *app, sub *graph.Subgraph) (string, error) {
	switch {
	case a.JSON:
		return "", nil
	case c.Format == "dot":
		return graph.DOT(sub)
	case c.Format == "mermaid":
		return graph.Mermaid(sub), nil
	case c.Format == "svg":
		o := graph.SVGOptions{Title: "What lies around " + c.Node}
		if c.To != "" {
			o.Title = "How " + c.Node + " and " + c.To + " are connected"
			o.Marked = map[int]bool{}
			for _, way := range sub.Ways {
				o.Marked[way[0]], o.Marked[way[len(way)-1]] = true, true
			}
		}
		return graph.SVG(sub, o), nil
	}
	return "", nil
}

// findNode returns the id of an entity or, where there is none of that name, of
// a note.
func findNode(a *app, cl *client.Client, name string) (string, error) {
	if title, ok := strings.CutPrefix(name, "[["); ok {
		n, err := findNote(a.ctx, cl, strings.TrimSuffix(title, "]]"))
		if err != nil {
			return "", err
		}
		return n.ID, nil
	}
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
	if st.Dangling > 0 {
		f.addf("dangling", "%s to what is missing, in the trash or archived", count(st.Dangling, "reference"))
	}
	f.addf("at a record", "%.1f edges on average, %s at half of them or fewer, %s at most", st.MeanDegree, number(st.MedianDegree), number(st.MaxDegree))
	f.addf("parts", "%s, the largest of %s; %s without any edge", number(st.Components), count(st.Largest, "record"), count(st.Orphans, "record"))
	f.draw(a.out)
	drawDegrees(a.out, st.Degrees)
	drawHubs(a.out, st.Hubs)
	return nil
}

// drawDegrees draws how many records have how many edges.
func drawDegrees(s *screen, degrees []graph.Degree) {
	if len(degrees) == 0 {
		return
	}
	most := 0
	for _, d := range degrees {
		most = max(most, d.Records)
	}
	s.heading("Edges at a record")
	t := &table{indent: 2, right: []int{0, 2}}
	for _, d := range degrees {
		edges := number(d.From)
		if d.To > d.From {
			edges += "–" + number(d.To)
		}
		share := bar(d.Records, most, barWidth)
		share[0].style = accent // much is not bad here
		t.row(line{text(edges)}, share, line{text(number(d.Records))})
	}
	t.draw(s)
}

func drawHubs(s *screen, hubs []graph.Hub) {
	if len(hubs) == 0 {
		return
	}
	s.heading("Most connected")
	t := &table{indent: 2, right: []int{0}}
	for _, h := range hubs {
		t.row(line{text(number(h.Degree))}, vertexLabel(graph.Vertex{Kind: h.Kind, Name: h.Name, Type: h.Type}, accent))
	}
	t.draw(s)
}

// drawSubgraph draws the tree of the walk: each record hangs from the one that
// it was first reached from, with the edges between them. Edges that the tree
// has no place for follow it.
func drawSubgraph(s *screen, sub *graph.Subgraph) {
	if len(sub.Nodes) == 0 {
		return
	}
	index := sub.Index()
	branches := make([]*branch, len(sub.Nodes))
	above := make([]int, len(sub.Nodes)) // what a record hangs from
	edges := make([]line, len(sub.Nodes))
	for i, v := range sub.Nodes {
		branches[i], above[i] = &branch{}, -1
		if v.Depth == 0 {
			branches[i].label = vertexLabel(v, strong)
		}
	}
	var rest strays
	for _, e := range sub.Edges {
		from, to, ok := index.Ends(e)
		if !ok {
			continue
		}
		over, under, arrow := from, to, "→"
		if sub.Nodes[from].Depth > sub.Nodes[to].Depth {
			over, under, arrow = to, from, "←"
		}
		if sub.Nodes[over].Depth != sub.Nodes[under].Depth-1 || above[under] >= 0 && above[under] != over {
			rest.add(from, to, e.Field)
			continue
		}
		above[under] = over
		if len(edges[under]) > 0 {
			edges[under] = append(edges[under], text(", "))
		}
		edges[under] = append(edges[under], styled(faint, e.Field+" "+arrow))
	}
	for i, v := range sub.Nodes {
		if above[i] < 0 {
			continue
		}
		b := branches[i]
		b.label = append(append(edges[i], text(" ")), vertexLabel(v, accent)...)
		b.children = fieldBranches(v)
		branches[above[i]].children = append(branches[above[i]].children, b)
	}
	root := branches[0]
	root.children = append(fieldBranches(sub.Nodes[0]), root.children...)
	drawTree(s, "", []*branch{root})
	drawRest(s, sub, rest.list)
	s.say()
	s.say(styled(faint, count(len(sub.Nodes), "record")+", "+count(len(sub.Edges), "edge")+"; → refers to, ← is referred to by"))
	if sub.Truncated {
		s.say(styled(warn, "there is more than could be looked at"))
	}
}

// stray is what refers from one record to another where the tree has no place
// for it.
type stray struct {
	from, to int // in Nodes
	fields   []string
}

// strays are what the tree has no place for, in the order of the edges.
type strays struct {
	list []stray
	at   map[[2]int]int // positions in list
}

func (s *strays) add(from, to int, field string) {
	if s.at == nil {
		s.at = make(map[[2]int]int)
	}
	at, ok := s.at[[2]int{from, to}]
	if !ok {
		at = len(s.list)
		s.at[[2]int{from, to}] = at
		s.list = append(s.list, stray{from: from, to: to})
	}
	s.list[at].fields = append(s.list[at].fields, field)
}

// maxStray is how many lines of edges follow a tree.
const maxStray = 40

// drawRest draws the edges that the tree has no place for.
func drawRest(s *screen, sub *graph.Subgraph, rest []stray) {
	if len(rest) == 0 {
		return
	}
	s.heading("Other edges", styled(faint, "  that the tree has no place for"))
	t := &table{indent: 2}
	for _, e := range rest[:min(len(rest), maxStray)] {
		other := line{styled(faint, "itself")}
		if e.from != e.to {
			other = vertexLabel(sub.Nodes[e.to], normal)
		}
		t.row(vertexLabel(sub.Nodes[e.from], normal), line{styled(faint, strings.Join(e.fields, ", ")+" →")}, other)
	}
	t.draw(s)
	if more := len(rest) - maxStray; more > 0 {
		s.say(styled(faint, "  and "+number(more)+" more: --format svg draws them, --json lists them"))
	}
}

// fieldBranches are the fields of a record under its name.
func fieldBranches(v graph.Vertex) []*branch {
	var list []*branch
	for _, f := range v.Fields {
		list = append(list, &branch{label: line{styled(faint, f.Name+": "), text(f.Text)}})
	}
	return list
}

// drawWays draws the shortest ways between two records, one below the other.
func drawWays(s *screen, sub *graph.Subgraph) {
	index := sub.Index()
	fields := make(map[[2]int][]string)
	for _, e := range sub.Edges {
		if from, to, ok := index.Ends(e); ok {
			fields[[2]int{from, to}] = append(fields[[2]int{from, to}], e.Field)
		}
	}
	for n, way := range sub.Ways {
		if n > 0 {
			s.say()
		}
		s.say(vertexLabel(sub.Nodes[way[0]], strong)...)
		for i := 1; i < len(way); i++ {
			var between line
			for _, d := range []struct {
				step  [2]int
				arrow string
			}{{[2]int{way[i-1], way[i]}, " →"}, {[2]int{way[i], way[i-1]}, " ←"}} {
				if names := fields[d.step]; len(names) > 0 {
					if len(between) > 0 {
						between = append(between, text(", "))
					}
					between = append(between, styled(faint, strings.Join(names, ", ")+d.arrow))
				}
			}
			st := accent
			if i == len(way)-1 {
				st = strong
			}
			at := sub.Nodes[way[i]]
			indent := strings.Repeat("   ", i-1)
			s.say(append(append(append(line{styled(faint, indent+"└─ ")}, between...), text(" ")), vertexLabel(at, st)...)...)
			for _, f := range at.Fields {
				s.say(styled(faint, indent+"     "+f.Name+": "), text(f.Text))
			}
		}
	}
	length := len(sub.Ways[0]) - 1
	out := count(length, "edge") + " apart"
	if n := len(sub.Ways); n > 1 || sub.MoreWays {
		out += ", " + count(n, "shortest way")
	}
	s.say()
	s.say(styled(faint, out+"; → refers to, ← is referred to by"))
	if sub.MoreWays {
		s.say(styled(faint, "there are more ways of this length: --ways"))
	}
}

func vertexLabel(v graph.Vertex, st style) line {
	if v.Kind == "note" {
		return line{styled(st, "[["+v.Name+"]]")}
	}
	return line{styled(st, "@"+v.Name), styled(faint, " ("+v.Type+")")}
}
