package draw

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/ctxd/ctxd/graph"
)

// MaxDrawn is how many nodes an SVG shows, the nearest; more can't be read.
const MaxDrawn = 400

// SVGOptions say how SVG draws. The zero value makes a whole document.
type SVGOptions struct {
	Title string // what the drawing shows; "" for a general one
	// Link gives the address that a node leads to, by its position in Nodes; ""
	// for none. Nil: no node leads anywhere. A node that does has the id
	// "g-node-" and its position.
	Link func(node int) string
	// Marked are nodes to stand out, by position; nil: those at depth 0.
	Marked map[int]bool
	// Depths shows the depth of each node.
	Depths bool
	// Inline leaves out the style sheet, for a page that has SVGStyle and the
	// colours that it names.
	Inline bool
}

// SVGStyle is the style sheet of a drawing. It takes its colours from
// variables, which SVGColours sets for light and dark.
const SVGStyle = `.g-graph{font-family:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-size:13px}
.g-box{fill:var(--g-box);stroke:var(--g-line);stroke-width:1}
.g-note .g-box{fill:var(--g-note)}
.g-marked .g-box{stroke:var(--g-accent);stroke-width:2}
.g-name{font-weight:600;fill:var(--g-ink)}
.g-type,.g-depth,.g-label,.g-more{font-size:11px;fill:var(--g-faint)}
.g-field{font-size:11px;fill:var(--g-ink)}
.g-key{fill:var(--g-faint)}
.g-edge{fill:none;stroke:var(--g-edge);stroke-width:1.25}
.g-back{stroke-dasharray:4 3}
.g-beside{opacity:.55}
.g-edge:hover{stroke:var(--g-accent);stroke-width:2;opacity:1}
.g-tip{fill:var(--g-edge)}
.g-label{paint-order:stroke;stroke:var(--g-paper);stroke-width:3px;stroke-linejoin:round}
a.g-node{cursor:pointer}
a.g-node:hover .g-box{stroke:var(--g-accent)}
a.g-node:focus{outline:none}
a.g-node:focus .g-box{stroke:var(--g-accent);stroke-width:3}
`

// SVGColours sets the variables of SVGStyle for a document of its own.
const SVGColours = `:root{--g-paper:#fff;--g-box:#f6f7f9;--g-note:#fdf8ec;--g-line:#c3c9d2;--g-ink:#1b2330;--g-faint:#5b6675;--g-edge:#8a95a5;--g-accent:#0b63ce}
@media (prefers-color-scheme:dark){:root{--g-paper:#12161c;--g-box:#1c222b;--g-note:#26231a;--g-line:#3b4554;--g-ink:#e7ecf3;--g-faint:#9aa7b8;--g-edge:#6d7a8c;--g-accent:#6cb0ff}}
.g-paper{fill:var(--g-paper)}
`

// SVG draws a part of the graph: columns by depth, each node with its name, its
// type and the Fields it has. The document needs nothing from elsewhere, and no
// text of a record is read as markup. It takes O(nodes + edges).
func SVG(s *graph.Subgraph, o SVGOptions) string {
	d := &svg{Subgraph: s, options: o, shown: min(len(s.Nodes), MaxDrawn)}
	for _, e := range strokes(s) {
		if e.from < d.shown && e.to < d.shown {
			d.strokes = append(d.strokes, e)
		}
	}
	d.measure()
	d.write()
	return d.b.String()
}

// svg is a drawing in the making.
type svg struct {
	*graph.Subgraph
	options SVGOptions
	shown   int // nodes
	strokes []stroke
	ends    [][2]end // of each stroke
	*layout
	b strings.Builder
}

// sides of a box where an edge may end.
const (
	left = iota
	right
)

// end is where an edge touches a box.
type end struct {
	side  int
	y     float64
	alone bool // few enough ends are at that side for labels
}

// measure gives every box its height and place, and every edge its ends.
func (d *svg) measure() {
	depths, heights := make([]int, d.shown), make([]float64, d.shown)
	for i := range d.shown {
		depths[i] = d.Nodes[i].Depth
		heights[i] = headHeight + float64(len(d.Nodes[i].Fields))*lineHeight
		if len(d.Nodes[i].Fields) > 0 {
			heights[i] += 8
		}
	}
	d.layout = arrange(depths, heights, d.strokes)
	// Boxes grow with the labelled ends at their sides, which are known only
	// when the columns are.
	sides := d.sidesOfBoxes()
	for i := range d.shown {
		for _, list := range sides[i] {
			if len(list) <= maxPorts {
				heights[i] = max(heights[i], float64(len(list)+1)*portGap)
			}
		}
	}
	d.layout = arrange(depths, heights, d.strokes)
	d.place(d.sidesOfBoxes())
	last := len(d.columns) - 1
	if slices.ContainsFunc(d.strokes, func(s stroke) bool {
		return d.boxes[s.from].column == last && d.boxes[s.to].column == last
	}) {
		d.width += besideWidth
	}
	if len(d.Nodes) > d.shown {
		d.height += 20
	}
}

// besideWidth is what the edges between the boxes of one column need beside it.
const besideWidth = 100

// sidesOfBoxes lists the ends of edges at each side of each box, from above.
func (d *svg) sidesOfBoxes() [][2][]touch {
	sides := make([][2][]touch, d.shown)
	for i, s := range d.strokes {
		from, to := &d.boxes[s.from], &d.boxes[s.to]
		a, b := right, left
		switch {
		case from.column == to.column:
			a, b = right, right
		case from.column > to.column:
			a, b = left, right
		}
		sides[s.from][a] = append(sides[s.from][a], touch{i, 0, to.middle()})
		sides[s.to][b] = append(sides[s.to][b], touch{i, 1, from.middle()})
	}
	for i := range sides {
		for side := range sides[i] {
			slices.SortStableFunc(sides[i][side], func(a, b touch) int { return cmp.Compare(a.other, b.other) })
		}
	}
	return sides
}

// touch is an end of a stroke at a side of a box.
type touch struct {
	stroke, which int
	other         float64 // height of the other box
}

func (d *svg) place(sides [][2][]touch) {
	d.ends = make([][2]end, len(d.strokes))
	for i := range sides {
		b := &d.boxes[i]
		for side, list := range sides[i] {
			gap := min(portGap, (b.height-8)/float64(len(list)))
			y := b.middle() - gap*float64(len(list)-1)/2
			for _, t := range list {
				d.ends[t.stroke][t.which] = end{side, y, len(list) <= maxPorts}
				y += gap
			}
		}
	}
}

func (d *svg) write() {
	title := d.options.Title
	if title == "" {
		title = "Notes and entities, and how they refer to each other"
	}
	w, h := num(d.width), num(d.height)
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="g-graph" viewBox="0 0 %s %s" width="%s" height="%s"`, w,
		h, w, h)
	if d.options.Link == nil {
		d.printf(` role="img"`)
	} else {
		d.printf(` role="group"`)
	}
	d.printf(" aria-label=\"%s\">\n<title>%s</title>\n", markup(title, maxLabels), markup(title, maxLabels))
	if !d.options.Inline {
		d.printf("<style>\n%s%s</style>\n<rect class=\"g-paper\" width=\"100%%\" height=\"100%%\"/>\n", SVGColours,
			SVGStyle)
	}
	d.printf(`<defs><marker id="g-tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="g-tip" d="M0 .8 8 4 0 7.2z"/></marker></defs>` + "\n<g>\n")
	for i := range d.strokes {
		d.edge(i)
	}
	d.printf("</g>\n<g>\n")
	for i := range d.strokes {
		d.label(i)
	}
	d.printf("</g>\n")
	for _, column := range d.columns {
		for _, i := range column {
			d.node(i)
		}
	}
	if extra := len(d.Nodes) - d.shown; extra > 0 {
		d.printf("<text class=\"g-more\" x=\"%d\" y=\"%s\">… and %d more, further away, not drawn</text>\n", padding,
			num(d.height-12), extra)
	}
	d.printf("</svg>\n")
}

func (d *svg) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

// edge draws the curve of a stroke.
func (d *svg) edge(i int) {
	s := d.strokes[i]
	a, b := d.point(s.from, d.ends[i][0]), d.point(s.to, d.ends[i][1])
	class := "g-edge"
	switch from, to := d.boxes[s.from].column, d.boxes[s.to].column; {
	case from > to:
		class += " g-back"
	case from == to:
		class += " g-back g-beside"
	}
	bend := max(48, (b.x-a.x)*a.out*0.5)
	if a.out == b.out { // both ends at one side: around it
		bend = 36 + min(60, abs(b.y-a.y)/4)
	}
	d.printf("<path class=\"%s\" data-edge=\"%d %d\" marker-end=\"url(#g-tip)\" d=\"M%s %sC%s %s %s %s %s %s\"><title>%s</title></path>\n",
		class, s.from, s.to, num(a.x), num(a.y), num(a.x+a.out*bend), num(a.y), num(b.x+b.out*bend), num(b.y), num(b.x),
		num(b.y),
		markup(d.Nodes[s.from].Name, maxName)+" — "+markup(s.label(), maxLabels)+" → "+
			markup(d.Nodes[s.to].Name, maxName))
}

// point is where an edge leaves a box; out is 1 to the right and -1 to the left.
type point struct{ x, y, out float64 }

func (d *svg) point(node int, e end) point {
	b := &d.boxes[node]
	if e.side == right {
		return point{b.x + b.width, e.y, 1}
	}
	return point{b.x, e.y, -1}
}

// label writes the fields of a stroke at the end where there is room: at the
// deeper node, since edges fan out towards it.
func (d *svg) label(i int) {
	s := d.strokes[i]
	at, which := s.to, 1
	if d.boxes[s.from].column > d.boxes[s.to].column {
		at, which = s.from, 0
	}
	e := d.ends[i][which]
	if !e.alone {
		at, which = s.from+s.to-at, 1-which
		e = d.ends[i][which]
		if !e.alone {
			return // too many to be read; the title of the edge has it
		}
	}
	p := d.point(at, e)
	anchor := "end"
	if p.out > 0 {
		anchor = "start"
	}
	d.printf("<text class=\"g-label\" data-edge=\"%d %d\" text-anchor=\"%s\" x=\"%s\" y=\"%s\">%s</text>\n",
		s.from, s.to, anchor, num(p.x+p.out*11), num(p.y-3), cutMarkup(s.label(), 18))
}

// node draws a box with its texts.
func (d *svg) node(i int) {
	v, b := &d.Nodes[i], &d.boxes[i]
	marked := v.Depth == 0
	if d.options.Marked != nil {
		marked = d.options.Marked[i]
	}
	class := "g-node g-" + kindOf(v).String()
	if marked {
		class += " g-marked"
	}
	element, link := "g", ""
	if d.options.Link != nil {
		link = d.options.Link(i)
	}
	if link != "" {
		element = "a"
		d.printf(`<a href="%s" class="%s" id="g-node-%d" data-node="%d">`, markup(link, 2048), class, i, i)
	} else {
		d.printf(`<g class="%s" data-node="%d">`, class, i)
	}
	d.printf("<title>%s</title>\n", d.nodeTitle(v))
	radius := 6
	if v.Kind == graph.Note.String() {
		radius = 16
	}
	d.printf("<rect class=\"g-box\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"%d\"/>\n", num(b.x), num(b.y),
		num(b.width), num(b.height), radius)
	// A drawing in the drawing cuts off what is wider than it was taken for.
	d.printf("<svg x=\"%s\" y=\"%s\" width=\"%d\" height=\"%s\">\n", num(b.x+12), num(b.y), boxWidth-20, num(b.height))
	d.printf("<text class=\"g-name\" y=\"20\">%s</text>\n", cutMarkup(v.Name, 27))
	d.printf("<text class=\"g-type\" y=\"36\">%s</text>\n", cutMarkup(cmp.Or(v.Type, v.Kind), 22))
	if d.options.Depths {
		d.printf("<text class=\"g-depth\" text-anchor=\"end\" x=\"%d\" y=\"36\">depth %d</text>\n", boxWidth-24,
			v.Depth)
	}
	y := 58
	for _, f := range v.Fields {
		room := max(6, 30-min(22, uniseg.StringWidth(f.Name)))
		d.printf("<text class=\"g-field\" y=\"%d\"><tspan class=\"g-key\">%s:</tspan> %s</text>\n", y,
			cutMarkup(f.Name, 22), cutMarkup(f.Text, room))
		y += lineHeight
	}
	d.printf("</svg>\n")
	d.printf("</%s>\n", element)
}

// kindOf returns the kind of a node; what is no note is drawn as an entity.
func kindOf(v *graph.Vertex) graph.Kind {
	if v.Kind == graph.Note.String() {
		return graph.Note
	}
	return graph.Entity
}

func (d *svg) nodeTitle(v *graph.Vertex) string {
	title := markup(v.Name, maxName)
	if v.Type != "" {
		title += " (" + markup(v.Type, maxName) + ")"
	}
	for _, f := range v.Fields {
		title += "\n" + markup(f.Name, maxName) + ": " + markup(f.Text, graph.MaxFieldText)
	}
	return title
}

// markup writes one line of text for XML.
func markup(s string, most int) string { return html.EscapeString(graph.OneLine(s, most)) }

// cutMarkup is markup for so many columns of a fixed width, about.
func cutMarkup(s string, columns int) string {
	s = graph.OneLine(s, graph.MaxFieldText)
	if uniseg.StringWidth(s) <= columns {
		return html.EscapeString(s)
	}
	rest, state, room := s, -1, columns-1
	for rest != "" {
		_, after, width, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if width > room {
			break
		}
		room -= width
		rest, state = after, next
	}
	return html.EscapeString(s[:len(s)-len(rest)] + "…")
}

// num writes a coordinate with at most one decimal.
func num(f float64) string { return strconv.FormatFloat(float64(int(f*10+0.5))/10, 'f', -1, 64) }

func abs(f float64) float64 { return max(f, -f) }
