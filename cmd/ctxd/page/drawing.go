package page

// This file makes a page of a part of the graph: the drawing of graph.DrawSVG, which one moves with the pointer,
// enlarges, and thins out by hiding kinds of records, and beside it the record that was opened, with its fields and
// what it hangs together with.
//
// [RenderGraph] is pure: a graph.Subgraph in, one HTML document out, which needs nothing from elsewhere and loads
// nothing: its policy names the hashes of its own style and script, and forbids the rest. Without a script the drawing
// scrolls and the records stand below it. [CanvasScript] and [CanvasStyle] are the part of script and style that moves
// a drawing, for other pages. No text of a record is read as markup. The size of the page is linear in the graph, at
// most graph.MaxDrawn nodes with maxTies ties each.

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
)

var (
	//go:embed drawing.html
	graphHTML string
	//go:embed drawing.css
	graphCSS string
	//go:embed drawing.js
	graphJS string
)

// CanvasScript moves and enlarges the drawing of a page, and hides kinds of records, and
// CanvasStyle is what its controls look like. CanvasTools are the controls themselves, which
// stand before the element of the class canvas.
var (
	//go:embed canvas.js
	CanvasScript string
	//go:embed canvas.css
	CanvasStyle string
	//go:embed canvas.html
	CanvasTools template.HTML
)

// maxTies is how many ties of a record a page lists.
const maxTies = 60

// GraphOptions say what a page tells of.
type GraphOptions struct {
	Title string
	Draw  graph.SVGOptions // Title, Link, Inline, Wide and Kinds are set by Page
	Made  time.Time
}

// graphData is what the template takes.
type graphData struct {
	Policy, Title, About string
	Style, Script        template.HTML
	Tools, Graph         template.HTML
	Records              []graphRecord
	More                 int // records that are not drawn
	Made, Program        string
}

// graphRecord is a record of the page.
type graphRecord struct {
	Anchor, Name, Type string
	Note               bool
	Address            template.URL // that ctxd open opens
	Fields             []graph.FieldText
	Ties               []recordTie
	More               int // ties that are not listed
}

// recordTie is an edge to or from a record.
type recordTie struct{ Field, Anchor, Name string }

// RenderGraph returns the page of a part of the graph.
func RenderGraph(sub *graph.Subgraph, o GraphOptions) (string, error) {
	shown := min(len(sub.Nodes), graph.MaxSVGNodes)
	o.Draw.Title, o.Draw.Inline, o.Draw.Wide, o.Draw.Kinds = o.Title, true, true, true
	o.Draw.Link = func(n int) string { return "#" + recordAnchor(n) }
	style, script := Style+graph.SVGStyle+CanvasStyle+graphCSS, CanvasScript+graphJS
	d := &graphData{
		Policy: "default-src 'none'; style-src '" + Hash(style) + "'; script-src '" + Hash(script) +
			"'; base-uri 'none'; form-action 'none'",
		Title: term.Clean(o.Title), Style: template.HTML("<style>" + style + "</style>"),
		About:  term.Count(len(sub.Nodes), "record") + ", " + term.Count(len(sub.Edges), "edge"),
		Script: template.HTML("<script>" + script + "</script>"), Tools: CanvasTools,
		Graph: template.HTML(graph.DrawSVG(sub, o.Draw)), // which escapes what users wrote
		More:  len(sub.Nodes) - shown, Made: term.Day(o.Made), Program: term.ProgramName(),
	}
	ties := tiesOf(sub, shown)
	for i, v := range sub.Nodes[:shown] {
		r := graphRecord{
			Anchor: recordAnchor(i), Name: term.Clean(v.Name), Type: term.Clean(v.Type), Note: v.Kind == graph.Note.String(),
			Fields: slices.Clone(v.Fields), Ties: ties[i],
		}
		base := record.EntityAddress
		if r.Note {
			base, r.Type = record.NoteAddress, "note"
		}
		r.Address = template.URL(base + template.URLQueryEscaper(v.ID)) // of our own scheme
		for k, f := range r.Fields {
			r.Fields[k] = graph.FieldText{Name: term.Clean(f.Name), Text: term.Clean(f.Text)}
		}
		if extra := len(r.Ties) - maxTies; extra > 0 {
			r.Ties, r.More = r.Ties[:maxTies], extra
		}
		d.Records = append(d.Records, r)
	}
	return Execute("drawing", graphHTML, d)
}

func recordAnchor(node int) string { return fmt.Sprintf("record-%d", node) }

// tiesOf lists the edges of each node, those from it first. A link between notes is said by
// its arrow alone.
func tiesOf(sub *graph.Subgraph, shown int) [][]recordTie {
	index := graph.IndexOf(sub)
	out, in := make([][]recordTie, shown), make([][]recordTie, shown)
	for _, e := range sub.Edges {
		from, to, ok := index.Ends(e)
		if !ok || from >= shown || to >= shown {
			continue
		}
		field := term.Clean(e.Field) + " "
		if e.Field == graph.WikiLink && sub.Nodes[from].Kind == graph.Note.String() {
			field = ""
		}
		out[from] = append(out[from], recordTie{field + "→", recordAnchor(to), term.Clean(sub.Nodes[to].Name)})
		in[to] = append(in[to], recordTie{field + "←", recordAnchor(from), term.Clean(sub.Nodes[from].Name)})
	}
	for i := range out {
		out[i] = append(out[i], in[i]...)
	}
	return out
}
