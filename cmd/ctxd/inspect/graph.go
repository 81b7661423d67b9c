package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type graphCmd struct {
	Node   string   `arg:"" optional:"" help:"Id, name or title of the entity or note in the centre."`
	To     string   `placeholder:"NAME" help:"Show the shortest paths to this entity or note."`
	Depth  *int     `placeholder:"N" help:"How many edges to follow: 1 to 4, or 1 to 16 with --to. Default: 1, or 6 with --to."`
	Ways   int      `default:"5" placeholder:"N" help:"With --to: maximum number of paths, 1 to 16. Default: 5."`
	Kind   []string `enum:"note,entity" placeholder:"KIND" help:"Show only this kind: entity or note."`
	Fields int      `default:"-1" placeholder:"N" help:"How many fields of each entity to show, 0 to 16. Default: 3 in an SVG that has room for them, else 0."`
	Format string   `enum:"tree,dot,mermaid,svg,html" default:"tree" placeholder:"FORMAT" help:"Form of the drawing: tree, dot, mermaid, svg, or html, a page to look around in. Default: tree."`
	Output string   `short:"o" placeholder:"FILE" help:"Write the drawing to this file. Only you can read it."`
	Force  bool     `help:"Replace the file if it exists."`

	connect.Audience
}

func (graphCmd) Help() string {
	return "Draws what lies around a note or an entity: references in fields, computed ones too, and links between notes, in either direction. " +
		"With --to it shows how two are connected, with the fields that connect them. Without a name it counts the whole graph."
}

func (graphCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect graph @Engineering", "what refers to what"},
		{"ctxd inspect graph @Alice --to Glossary", "how two records are connected"},
		{"ctxd inspect graph @Alice --depth 2 --format svg -o alice.svg", "a drawing that any browser shows"},
		{"ctxd inspect graph @Alice --format html -o alice.html", "a page: move, enlarge, hide kinds, open a record"},
		{"ctxd inspect graph @Alice --format svg | rsvg-convert -o alice.png", "a PNG, with librsvg"},
		{"ctxd inspect graph @Alice --depth 2 --format dot | dot -Tpdf > alice.pdf", "with Graphviz"},
		{"ctxd inspect graph @Alice --format mermaid --kind entity", "to paste into a note or an issue"},
		{"ctxd inspect graph @Alice --audience remote", "without private records and paths through them"},
		{"ctxd inspect graph", "counts of the whole graph, and its hubs"},
	}
}

func (c *graphCmd) Run(a *Options) error {
	if err := c.check(a); err != nil {
		return err
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
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
func (c *graphCmd) check(a *Options) error {
	most := 4
	if c.To != "" {
		most = 16
	}
	switch {
	case c.Node == "" && (c.To != "" || c.Format != "tree" || c.Output != "" || len(c.Kind) > 0):
		return term.Misuse("nothing to draw", "give an entity or a note: ctxd inspect graph @Alice")
	case c.depth() < 1 || c.depth() > most:
		return term.Misuse(fmt.Sprintf("--depth is %d", c.depth()), fmt.Sprintf("give 1 to %d", most))
	case c.Ways < 1 || c.Ways > graph.MaxWays:
		return term.Misuse(fmt.Sprintf("--ways is %d", c.Ways), fmt.Sprintf("give 1 to %d", graph.MaxWays))
	case c.Fields > graph.MaxDescribed:
		return term.Misuse(fmt.Sprintf("--fields is %d", c.Fields), fmt.Sprintf("give 0 to %d", graph.MaxDescribed))
	case c.To != "" && len(c.Kind) > 0:
		return term.Misuse("--kind cannot be combined with --to", "leave out one of them")
	case c.Force && c.Output == "":
		return term.Misuse("--force needs --output",
			"ctxd inspect graph @Alice --format svg --output alice.svg --force")
	case a.JSON && c.Format != "tree":
		return term.Misuse("--json and --format "+c.Format+" cannot be combined", "leave out one of them")
	}
	return nil
}

// depth returns how many edges to go.
func (c *graphCmd) depth() int {
	switch {
	case c.Depth != nil:
		return *c.Depth
	case c.To != "":
		return 6
	}
	return 1
}

// fields returns how many fields of an entity to ask for.
func (c *graphCmd) fields() int {
	switch {
	case c.Fields >= 0:
		return c.Fields
	case c.Format == "svg", c.Format == "html":
		return 3
	}
	return 0
}

func (c *graphCmd) around(a *Options, cl *client.Client, id string) error {
	var sub graph.Subgraph
	p := protocol.GraphNeighbors{Ref: id, Depth: c.depth(), Kinds: c.Kind, Fields: c.fields()}
	if err := cl.Call(a.Ctx, "graph.neighbors", p, &sub); err != nil {
		return err
	}
	return c.show(a, &sub, func(s *term.Screen) { drawSubgraph(s, &sub) })
}

func (c *graphCmd) between(a *Options, cl *client.Client, from, to string) error {
	var sub graph.Subgraph
	p := protocol.GraphPath{From: from, To: to, MaxDepth: c.depth(), Ways: c.Ways, Fields: c.fields()}
	if err := cl.Call(a.Ctx, "graph.path", p, &sub); err != nil {
		return err
	}
	if len(sub.Nodes) == 0 && !a.JSON {
		return c.unconnected(&sub)
	}
	return c.show(a, &sub, func(s *term.Screen) { drawWays(s, &sub) })
}

// unconnected is the answer for two records without a way between them.
func (c *graphCmd) unconnected(sub *graph.Subgraph) error {
	depth := c.depth()
	e := fault.New(fault.NotFound, "%s and %s are not connected within %s", term.Clean(c.Node), term.Clean(c.To),
		term.Count(depth, "edge"))
	switch {
	case sub.Truncated:
		return e.WithHint("the search stopped after %s; try a smaller --depth", term.Number(graph.MaxNodes))
	case depth < 16:
		return e.WithHint("try --depth 16")
	}
	return e.WithHint("show what is around them: ctxd inspect graph %s", term.ShellQuoted(c.Node))
}

// show prints a part of the graph in the form that was asked for.
func (c *graphCmd) show(a *Options, sub *graph.Subgraph, tree func(s *term.Screen)) error {
	doc, err := c.drawing(a, sub)
	switch {
	case err != nil:
		return err
	case c.Output != "":
		return c.save(a, sub, doc, tree)
	case a.JSON:
		return a.Out.JSON(sub)
	case c.Format == "tree":
		tree(a.Out)
		return nil
	}
	_, err = a.Out.Write([]byte(doc))
	return err
}

// save writes a drawing to a file and says so.
func (c *graphCmd) save(a *Options, sub *graph.Subgraph, doc string, tree func(s *term.Screen)) error {
	var b strings.Builder
	plain := &term.Screen{Writer: &b}
	switch {
	case a.JSON:
		if err := plain.JSON(sub); err != nil {
			return err
		}
		doc = b.String()
	case c.Format == "tree":
		tree(plain)
		doc = b.String()
	}
	if err := term.WriteDocument(c.Output, c.Force, doc); err != nil {
		return err
	}
	if !a.JSON { // which prints one document or none
		a.Out.Say(term.Styled(term.Good, "drawn"), term.Text("  "), term.Styled(term.Strong, c.Output),
			term.Styled(term.Faint, "  "+term.Count(len(sub.Nodes), "record")+", "+term.Count(len(sub.Edges), "edge")))
	}
	return nil
}

// drawing returns the drawing in the forms that package graph makes.
func (c *graphCmd) drawing(a *Options, sub *graph.Subgraph) (string, error) {
	switch {
	case a.JSON:
		return "", nil
	case c.Format == "dot":
		return graph.DrawDOT(sub)
	case c.Format == "mermaid":
		return graph.DrawMermaid(sub), nil
	case c.Format == "svg", c.Format == "html":
		o := graph.SVGOptions{Title: "Around " + c.Node, AllFields: c.Fields >= 0}
		if c.To != "" {
			o.Title = "How " + c.Node + " and " + c.To + " are connected"
			o.Marked = map[int]bool{}
			for _, way := range sub.Ways {
				o.Marked[way[0]], o.Marked[way[len(way)-1]] = true, true
			}
		}
		if c.Format == "html" {
			return page.RenderGraph(sub, page.GraphOptions{Title: o.Title, Draw: o, Made: time.Now()})
		}
		return graph.DrawSVG(sub, o), nil
	}
	return "", nil
}

// findNode returns the id of an entity or, where there is none of that name, of
// a note.
func findNode(a *Options, cl *client.Client, name string) (string, error) {
	if strings.HasPrefix(name, "[[") || strings.HasSuffix(name, ".md") {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, name)
		if err != nil {
			return "", err
		}
		return n.ID, nil
	}
	id, err := connect.FindEntity(a.Ctx, cl, name)
	if err == nil || fault.KindOf(err) != fault.NotFound || strings.HasPrefix(name, "@") {
		return id, err
	}
	n, noteErr := connect.FindNote(a.Ctx, cl, a.Err, name)
	if noteErr == nil {
		return n.ID, nil
	}
	if fault.KindOf(noteErr) != fault.NotFound {
		return "", noteErr
	}
	return "", term.NotFound("entity or note", name).WithHint("ctxd search %s", term.ShellQuoted(name))
}

func graphStats(a *Options, cl *client.Client) error {
	var st graph.Stats
	if err := cl.Call(a.Ctx, "graph.stats", nil, &st); err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(st)
	}
	a.Out.Say(term.Styled(term.Strong, "Graph"))
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("records", "%s, %s", term.Count(st.Entities, "entity"), term.Count(st.Notes, "note"))
	f.Addf("edges", "%s, %s", term.Count(st.References, "reference"), term.Count(st.Links, "link"))
	if st.Dangling > 0 {
		f.Addf("dangling", "%s to records that are missing or archived", term.Count(st.Dangling, "reference"))
	}
	f.Addf("per record", "mean %.1f edges, median %s, maximum %s", st.MeanDegree,
		term.Number(st.MedianDegree), term.Number(st.MaxDegree))
	f.Addf("parts", "%s, the largest of %s; %s without any edge", term.Number(st.Components),
		term.Count(st.Largest, "record"), term.Count(st.Orphans, "record"))
	f.Draw(a.Out)
	drawDegrees(a.Out, st.Degrees)
	drawHubs(a.Out, st.Hubs)
	return nil
}

// drawDegrees draws how many records have each number of edges.
func drawDegrees(s *term.Screen, degrees []graph.Degree) {
	if len(degrees) == 0 {
		return
	}
	most := 0
	for _, d := range degrees {
		most = max(most, d.Records)
	}
	s.Heading("Edges per record")
	t := &term.Table{Indent: 2, Right: []int{0, 2}}
	for _, d := range degrees {
		edges := term.Number(d.From)
		if d.To > d.From {
			edges += "–" + term.Number(d.To)
		}
		share := term.Bar(d.Records, most, page.BudgetBarWidth)
		share[0].Style = term.Accent // much is not bad here
		t.Row(term.Line{term.Text(edges)}, share, term.Line{term.Text(term.Number(d.Records))})
	}
	t.Draw(s)
}

func drawHubs(s *term.Screen, hubs []graph.Hub) {
	if len(hubs) == 0 {
		return
	}
	s.Heading("Most connected")
	t := &term.Table{Indent: 2, Right: []int{0}}
	for _, h := range hubs {
		t.Row(term.Line{term.Text(term.Number(h.Degree))},
			vertexLabel(graph.Vertex{Kind: h.Kind, Name: h.Name, Type: h.Type}, term.Accent))
	}
	t.Draw(s)
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
func drawRest(s *term.Screen, sub *graph.Subgraph, rest []stray) {
	if len(rest) == 0 {
		return
	}
	s.Heading("Other edges", term.Styled(term.Faint, "  that the tree does not show"))
	t := &term.Table{Indent: 2}
	for _, e := range rest[:min(len(rest), maxStray)] {
		other := term.Line{term.Styled(term.Faint, "itself")}
		if e.from != e.to {
			other = vertexLabel(sub.Nodes[e.to], term.Normal)
		}
		t.Row(vertexLabel(sub.Nodes[e.from], term.Normal),
			term.Line{term.Styled(term.Faint, strings.Join(e.fields, ", ")+" →")}, other)
	}
	t.Draw(s)
	if more := len(rest) - maxStray; more > 0 {
		s.Say(term.Styled(term.Faint, "  and "+term.Number(more)+" more: --format svg draws them, --json lists them"))
	}
}

// fieldBranches are the fields of a record under its name.
func fieldBranches(v graph.Vertex) []*term.Branch {
	var list []*term.Branch
	for _, f := range v.Fields {
		list = append(list, &term.Branch{Label: term.Line{term.Styled(term.Faint, f.Name+": "), term.Text(f.Text)}})
	}
	return list
}

// drawWays draws the shortest ways between two records, one below the other.
func drawWays(s *term.Screen, sub *graph.Subgraph) {
	index := graph.IndexOf(sub)
	fields := make(map[[2]int][]string)
	for _, e := range sub.Edges {
		if from, to, ok := index.Ends(e); ok {
			fields[[2]int{from, to}] = append(fields[[2]int{from, to}], e.Field)
		}
	}
	for n, way := range sub.Ways {
		if n > 0 {
			s.Say()
		}
		s.Say(vertexLabel(sub.Nodes[way[0]], term.Strong)...)
		for i := 1; i < len(way); i++ {
			var between term.Line
			for _, d := range []struct {
				step  [2]int
				arrow string
			}{{[2]int{way[i-1], way[i]}, " →"}, {[2]int{way[i], way[i-1]}, " ←"}} {
				if names := fields[d.step]; len(names) > 0 {
					if len(between) > 0 {
						between = append(between, term.Text(", "))
					}
					between = append(between, term.Styled(term.Faint, strings.Join(names, ", ")+d.arrow))
				}
			}
			st := term.Accent
			if i == len(way)-1 {
				st = term.Strong
			}
			at := sub.Nodes[way[i]]
			indent := strings.Repeat("   ", i-1)
			s.Say(append(append(append(term.Line{term.Styled(term.Faint, indent+"└─ ")}, between...), term.Text(" ")),
				vertexLabel(at, st)...)...)
			for _, f := range at.Fields {
				s.Say(term.Styled(term.Faint, indent+"     "+f.Name+": "), term.Text(f.Text))
			}
		}
	}
	length := len(sub.Ways[0]) - 1
	out := term.Count(length, "edge") + " apart"
	if n := len(sub.Ways); n > 1 || sub.MoreWays {
		out += ", " + term.Count(n, "shortest way")
	}
	s.Say()
	s.Say(term.Styled(term.Faint, out+"; → refers to, ← is referenced by"))
	if sub.MoreWays {
		s.Say(term.Styled(term.Faint, "there are more paths of this length: --ways"))
	}
}

func vertexLabel(v graph.Vertex, st term.Style) term.Line {
	if v.Kind == "note" {
		return term.Line{term.Styled(st, "[["+v.Name+"]]")}
	}
	return term.Line{term.Styled(st, "@"+v.Name), term.Styled(term.Faint, " ("+v.Type+")")}
}
