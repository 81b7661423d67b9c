package graph

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxSVGNodes is how many nodes an SVG shows, the nearest; more can't be read.
const MaxSVGNodes = 400

// SVGOptions say how SVG draws. The zero value makes a whole document.
type SVGOptions struct {
	Title string // what the drawing shows; "" for a general one
	// Link gives the address that a node leads to, by its position in Nodes; ""
	// for none. Nil: no node leads anywhere. A node that does has the id
	// "g-node-" and its position.
	Link func(node int) string
	// Marked are nodes to stand out, by position; nil: those at depth 0.
	Marked map[int]bool
	// AllFields shows the fields of every node, also where there are many nodes.
	AllFields bool
	// Depths shows the depth of each node.
	Depths bool
	// Kinds tells of each node and frame what it shows, in data-kind and data-frame, for a
	// page that hides some.
	Kinds bool
	// Inline leaves out the style sheet, for a page that has SVGStyle and the
	// colours that it names. The drawing is as narrow as a page, unless it is Wide.
	Inline, Wide bool
}

// fontFamily are the fonts of a drawing: that of the system, where there is one.
const fontFamily = `ui-sans-serif,system-ui,-apple-system,Segoe UI,Roboto,Noto Sans,DejaVu Sans,sans-serif`

// SVGStyle is the style sheet of a drawing. A drawing has its colours in attributes,
// which every viewer draws; where variables are known, those that SVGColours sets for
// light and dark take their place.
const SVGStyle = `@supports (fill:var(--g-ink)){
.g-box{fill:var(--g-box);stroke:var(--g-line)}
.g-note .g-box{fill:var(--g-note)}
.g-marked .g-box{stroke:var(--g-accent)}
.g-frame{stroke:var(--g-line)}
.g-name,.g-field{fill:var(--g-ink)}
.g-type,.g-depth,.g-label,.g-more,.g-key,.g-heading{fill:var(--g-faint)}
.g-line{stroke:var(--g-edge)}
.g-tip{fill:var(--g-edge)}
.g-under{fill:var(--g-paper)}
.g-edge:hover .g-line{stroke:var(--g-accent);stroke-width:2}
.g-edge:hover .g-tip{fill:var(--g-accent)}
.g-edge:hover{opacity:1}
a.g-node{cursor:pointer}
a.g-node:hover .g-box{stroke:var(--g-accent)}
a.g-node:focus{outline:none}
a.g-node:focus .g-box{stroke:var(--g-accent);stroke-width:3}
}
`

// SVGColours sets the variables of SVGStyle for a document of its own.
const SVGColours = `:root{--g-paper:#fff;--g-box:#f6f7f9;--g-note:#fdf8ec;--g-line:#c3c9d2;--g-ink:#1b2330;--g-faint:#5b6675;--g-edge:#8a95a5;--g-accent:#0b63ce}
@media (prefers-color-scheme:dark){:root{--g-paper:#12161c;--g-box:#1c222b;--g-note:#26231a;--g-line:#3b4554;--g-ink:#e7ecf3;--g-faint:#9aa7b8;--g-edge:#6d7a8c;--g-accent:#6cb0ff}}
@supports (fill:var(--g-ink)){.g-paper{fill:var(--g-paper)}}
`

// Attributes of what a drawing is made of, for viewers without the variables.
const (
	paperLook  = `class="g-paper" fill="#fff"`
	frameLook  = `class="g-frame" fill="none" stroke="#c3c9d2" stroke-opacity=".7"`
	nameLook   = `class="g-name" fill="#1b2330"`
	boldName   = nameLook + ` font-size="13" font-weight="600"`
	cellName   = nameLook + ` font-size="12"`
	typeLook   = `class="g-type" fill="#5b6675" font-size="11"`
	depthLook  = `class="g-depth" fill="#5b6675" font-size="11"`
	fieldLook  = `class="g-field" fill="#1b2330" font-size="11"`
	keyLook    = `class="g-key" fill="#5b6675"`
	labelLook  = `class="g-label" fill="#5b6675" font-size="11"`
	underLook  = `class="g-under" fill="#fff" opacity=".8"`
	headLook   = `class="g-heading" fill="#5b6675" font-size="11"`
	moreLook   = `class="g-more" fill="#5b6675" font-size="11"`
	lineLook   = `class="g-line" fill="none" stroke="#8a95a5" stroke-width="1.25"`
	tipLook    = `class="g-tip" fill="#8a95a5"`
	boxLook    = `class="g-box" fill="#f6f7f9" stroke="#c3c9d2"`
	noteLook   = `class="g-box" fill="#fdf8ec" stroke="#c3c9d2"`
	markedBox  = `class="g-box" fill="#f6f7f9" stroke="#0b63ce" stroke-width="2"`
	markedNote = `class="g-box" fill="#fdf8ec" stroke="#0b63ce" stroke-width="2"`
)

// DrawSVG draws a part of the graph: columns by depth, each node with its name, its
// type and the Fields it has; the nodes of a crowded column in frames, without their
// fields. The document needs nothing from elsewhere, and no text of a record is read as
// markup. It takes O(n log n) for n nodes and edges.
func DrawSVG(s *Subgraph, o SVGOptions) string {
	d := &svg{Subgraph: s, options: o, shown: min(len(s.Nodes), MaxSVGNodes)}
	for _, e := range strokes(s) {
		if e.from < d.shown && e.to < d.shown {
			d.strokes = append(d.strokes, e)
		}
	}
	d.group()
	d.measure()
	d.write()
	return d.b.String()
}

// svg is a drawing in the making.
type svg struct {
	*Subgraph
	options SVGOptions
	shown   int // nodes
	strokes []stroke
	tied    []tie // by node
	blocks  []block
	blockOf []int       // by node
	across  map[int]int // nodes beside each other in the frames of a depth
	terse   bool        // there are too many nodes for their fields
	edges   []edge
	far     int       // edges
	ports   []float64 // least heights of nodes, for the ends of edges at their sides
	places  []box     // of the nodes, and then of the blocks
	*layout           // of the blocks
	b       strings.Builder
}

// edge is a line of the drawing, between two of its places.
type edge struct {
	from, to     int
	tips         [2]bool // whether there is a tip at either end
	far          bool    // one of many that only show what else hangs together
	nodes        string  // positions of the nodes it is about
	label, title string  // title is markup
	ends         [2]end
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

// Sizes that a drawing grows to before its frames become wider.
const (
	lowest    = 620
	flattest  = 0.6 // height by width
	pageWidth = 960 // of a drawing in a page
)

// measure gives every node its height and place, and every edge its ends.
func (d *svg) measure() {
	d.ports, d.places = make([]float64, d.shown), make([]box, d.shown+len(d.blocks))
	d.lines()
	d.arrange()
	if d.height > screen && !d.terse {
		d.terse = true
		d.arrange()
	}
	for d.height > max(lowest, flattest*d.width) {
		if d.options.Inline && !d.options.Wide && d.width+cellWidth+cellGap > pageWidth || !d.widen() {
			break
		}
		d.arrange()
	}
	// Boxes grow with the labelled ends at their sides, which are known only
	// when the columns are.
	for i, sides := range d.sidesOfBoxes() {
		for _, list := range sides {
			if i < d.shown && !d.inFrame(i) && len(list) <= maxPorts {
				d.ports[i] = max(d.ports[i], float64(len(list)+1)*portGap)
			}
		}
	}
	d.arrange()
	d.touch(d.sidesOfBoxes())
	last := len(d.columns) - 1
	if slices.ContainsFunc(d.edges, func(e edge) bool {
		return d.places[e.from].column == last && d.places[e.to].column == last
	}) {
		d.width += besideWidth
	}
	if len(d.Nodes) > d.shown {
		d.height += 20
	}
}

// arrange places the blocks and what is in them.
func (d *svg) arrange() {
	depths, sizes := make([]int, len(d.blocks)), make([]box, len(d.blocks))
	for n := range d.blocks {
		depths[n] = d.blocks[n].depth
		sizes[n].width, sizes[n].height = d.size(&d.blocks[n])
	}
	var pairs [][2]int
	for _, s := range d.strokes {
		pairs = append(pairs, [2]int{d.blockOf[s.from], d.blockOf[s.to]})
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	d.layout = arrange(depths, sizes, slices.Compact(pairs))
	gaps := make([]float64, len(d.columns))
	for c, column := range d.columns {
		if c == 0 {
			continue
		}
		gaps[c] = framesGap
		if slices.ContainsFunc(column, func(n int) bool { return !d.blocks[n].framed }) {
			gaps[c] = columnGap
		}
	}
	d.layout.frame(gaps)
	for n := range d.blocks {
		d.fill(n)
		d.places[d.shown+n] = d.boxes[n]
	}
}

func (d *svg) inFrame(node int) bool { return d.blocks[d.blockOf[node]].framed }

// boxHeight returns the height of a node outside of frames.
func (d *svg) boxHeight(node int) float64 {
	return max(headHeight+d.fieldsHeight(node), d.ports[node])
}

func (d *svg) fieldsHeight(node int) float64 {
	if n := len(d.fields(node)); n > 0 {
		return float64(n)*lineHeight + 8
	}
	return 0
}

// fields returns the fields that a node shows.
func (d *svg) fields(node int) []FieldText {
	if d.terse && !d.options.AllFields && !d.marked(node) {
		return nil
	}
	return d.Nodes[node].Fields
}

func (d *svg) marked(node int) bool {
	if d.options.Marked != nil {
		return d.options.Marked[node]
	}
	return d.Nodes[node].Depth == 0
}

// besideWidth is what the edges between the boxes of one column need beside it.
const besideWidth = 100

// sidesOfBoxes lists the ends of edges at each side of each place, from above.
func (d *svg) sidesOfBoxes() [][2][]touch {
	sides := make([][2][]touch, len(d.places))
	for i := range d.edges {
		e := &d.edges[i]
		from, to := &d.places[e.from], &d.places[e.to]
		a, b := right, left
		switch {
		case from.column == to.column:
			a, b = right, right
		case from.column > to.column:
			a, b = left, right
		}
		e.ends = [2]end{{side: a, y: from.middle()}, {side: b, y: to.middle()}}
		if e.far {
			continue // so many that they would need more room than there is
		}
		sides[e.from][a] = append(sides[e.from][a], touch{i, 0, to.middle()})
		sides[e.to][b] = append(sides[e.to][b], touch{i, 1, from.middle()})
	}
	for i := range sides {
		for side := range sides[i] {
			slices.SortStableFunc(sides[i][side], func(a, b touch) int { return cmp.Compare(a.other, b.other) })
		}
	}
	return sides
}

// touch is an end of an edge at a side of a box.
type touch struct {
	edge, which int
	other       float64 // height of the other box
}

// touch spreads the ends of edges over the sides of their boxes.
func (d *svg) touch(sides [][2][]touch) {
	for i := range sides {
		b := &d.places[i]
		for side, list := range sides[i] {
			gap := min(portGap, (b.height-8)/float64(len(list)))
			y := b.middle() - gap*float64(len(list)-1)/2
			for _, t := range list {
				d.edges[t.edge].ends[t.which] = end{side, y, len(list) <= maxPorts}
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
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="g-graph" viewBox="0 0 %s %s" width="%s" height="%s" `+
		`font-family="%s" font-size="13"`, w, h, w, h, fontFamily)
	if d.options.Link == nil {
		d.printf(` role="img"`)
	} else {
		d.printf(` role="group"`)
	}
	d.printf(" aria-label=\"%s\">\n<title>%s</title>\n", markup(title, maxLabels), markup(title, maxLabels))
	if !d.options.Inline {
		d.printf("<style>\n%s%s</style>\n<rect %s width=\"%s\" height=\"%s\"/>\n", SVGColours, SVGStyle, paperLook,
			w, h)
	}
	for n := range d.blocks {
		d.frame(n)
	}
	d.printf("<g>\n")
	for i := range d.edges {
		d.edge(&d.edges[i])
	}
	d.printf("</g>\n<g>\n")
	for i := range d.edges {
		d.label(&d.edges[i])
	}
	d.printf("</g>\n")
	for _, column := range d.columns {
		for _, n := range column {
			for _, i := range d.blocks[n].nodes {
				d.node(i)
			}
		}
	}
	if extra := len(d.Nodes) - d.shown; extra > 0 {
		d.printf("<text %s x=\"%d\" y=\"%s\">… and %d more, further away, not drawn</text>\n", moreLook, padding,
			num(d.height-12), extra)
	}
	d.printf("</svg>\n")
}

func (d *svg) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

// frame draws the frame around the nodes of a block and says what they have in common.
func (d *svg) frame(n int) {
	b, at := &d.blocks[n], &d.boxes[n]
	if !b.framed {
		return
	}
	if d.options.Kinds {
		d.printf("<g data-frame=\"%s\">", strings.Trim(fmt.Sprint(b.nodes), "[]"))
		defer d.printf("</g>\n")
	}
	d.printf("<rect %s x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"9\"/>\n", frameLook, num(at.x), num(at.y),
		num(at.width), num(at.height))
	if b.heading == "" {
		return
	}
	count := strconv.Itoa(len(b.nodes))
	room := at.width - 2*frameEdge
	d.text(headLook, at.x+frameEdge+2, at.y+17, b.heading, smallFont, room-smallFont.width(count)-14)
	d.printf("<text %s text-anchor=\"end\" x=\"%s\" y=\"%s\">%s</text>\n", headLook, num(at.x+at.width-frameEdge-2),
		num(at.y+17), count)
}

// edge draws the curve of an edge and its tips.
func (d *svg) edge(e *edge) {
	a, b := d.point(e.from, e.ends[0]), d.point(e.to, e.ends[1])
	dashed := ""
	if d.places[e.from].column >= d.places[e.to].column {
		dashed = ` stroke-dasharray="4 3"`
	}
	opacity := ""
	switch {
	case e.far && d.far > manyFar:
		opacity = ` opacity=".15"`
	case e.far:
		opacity = ` opacity=".3"`
	case d.places[e.from].column == d.places[e.to].column:
		opacity = ` opacity=".55"`
	}
	// A line ends where its tip begins.
	start, stop := a.x, b.x
	if e.tips[0] && !e.far {
		start += a.out * tipLength
	}
	if e.tips[1] && !e.far {
		stop += b.out * tipLength
	}
	bend := max(48, (stop-start)*a.out*0.5)
	if a.out == b.out { // both ends at one side: around it
		bend = 36 + min(60, abs(b.y-a.y)/4)
	}
	d.printf("<g class=\"g-edge\" data-edge=\"%s\"%s><title>%s</title><path %s%s d=\"M%s %sC%s %s %s %s %s %s\"/>", e.nodes,
		opacity, e.title, lineLook, dashed, num(start), num(a.y), num(start+a.out*bend), num(a.y),
		num(stop+b.out*bend), num(b.y), num(stop), num(b.y))
	for i, p := range []point{a, b} {
		if e.tips[i] && !e.far { // many tips beside each other would be a blot
			d.printf(`<path %s d="M%s %sl%s -4v8z"/>`, tipLook, num(p.x+p.out*0.5), num(p.y), num(p.out*tipLength))
		}
	}
	d.printf("</g>\n")
}

// manyFar is how many far edges are so many that they have to be fainter.
const manyFar = 60

// tipLength is how long the tip of an edge is.
const tipLength = 8

// point is where an edge leaves a box; out is 1 to the right and -1 to the left.
type point struct{ x, y, out float64 }

func (d *svg) point(place int, e end) point {
	b := &d.places[place]
	if e.side == right {
		return point{b.x + b.width, e.y, 1}
	}
	return point{b.x, e.y, -1}
}

// labelWidth is how wide the label of an edge may be.
const labelWidth = columnGap - 30

// label writes the fields of an edge at the end where there is room: at the
// deeper node, since edges fan out towards it.
func (d *svg) label(e *edge) {
	if e.label == "" || e.far {
		return
	}
	at, which := e.to, 1
	if d.places[e.from].column > d.places[e.to].column {
		at, which = e.from, 0
	}
	if !e.ends[which].alone {
		at, which = e.from+e.to-at, 1-which
		if !e.ends[which].alone {
			return // too many to be read; the title of the edge has it
		}
	}
	p := d.point(at, e.ends[which])
	anchor := "end"
	if p.out > 0 {
		anchor = "start"
	}
	label := smallFont.fit(e.label, labelWidth)
	wide := smallFont.width(label)
	x := p.x + p.out*11
	d.printf("<rect %s x=\"%s\" y=\"%s\" width=\"%s\" height=\"13\"/>\n", underLook, num(min(x, x+p.out*wide)), num(p.y-13),
		num(wide))
	d.printf("<text %s data-edge=\"%s\" text-anchor=\"%s\" x=\"%s\" y=\"%s\">%s</text>\n", labelLook, e.nodes, anchor,
		num(x), num(p.y-3), html.EscapeString(label))
}

// node draws a box with its texts.
func (d *svg) node(i int) {
	v, b := &d.Nodes[i], &d.places[i]
	marked, note := d.marked(i), kindOf(v) == Note
	class := "g-node g-" + kindOf(v).String()
	look, radius := boxLook, 6
	switch {
	case marked && note:
		look = markedNote
	case marked:
		look = markedBox
	case note:
		look = noteLook
	}
	if marked {
		class += " g-marked"
	}
	if note {
		radius = 13
	}
	element, link := "g", ""
	if d.options.Link != nil {
		link = d.options.Link(i)
	}
	kind := ""
	if d.options.Kinds {
		kind = ` data-kind="` + markup(cmp.Or(v.Type, v.Kind), maxName) + `"`
	}
	if link != "" {
		element = "a"
		d.printf(`<a href="%s" class="%s" id="g-node-%d" data-node="%d"%s>`, markup(link, 2048), class, i, i, kind)
	} else {
		d.printf(`<g class="%s" data-node="%d"%s>`, class, i, kind)
	}
	d.printf("<title>%s</title>\n", d.nodeTitle(v))
	d.printf("<rect %s x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"%d\"/>\n", look, num(b.x), num(b.y), num(b.width),
		num(b.height), radius)
	d.fieldTexts(i, d.headTexts(i))
	d.printf("</%s>\n", element)
}

// headTexts writes the name of a node and what stands below it, and returns the height
// of the first field.
func (d *svg) headTexts(i int) float64 {
	v, b, block := &d.Nodes[i], &d.places[i], &d.blocks[d.blockOf[i]]
	if block.framed {
		room := b.width - 20
		d.text(cellName, b.x+10, b.y+18, v.Name, cellFont, room)
		if block.heading != "" {
			return b.y + cellLow + 10
		}
		d.text(typeLook, b.x+10, b.y+34, d.tied[i].words(v), smallFont, room)
		return b.y + cellHigh + 10
	}
	room := b.width - 24
	d.text(boldName, b.x+12, b.y+20, v.Name, nameFont, room)
	if d.options.Depths {
		depth := "depth " + strconv.Itoa(v.Depth)
		d.printf("<text %s text-anchor=\"end\" x=\"%s\" y=\"%s\">%s</text>\n", depthLook, num(b.x+b.width-12), num(b.y+36),
			depth)
		room -= smallFont.width(depth) + 10
	}
	d.text(typeLook, b.x+12, b.y+36, cmp.Or(v.Type, v.Kind), smallFont, room)
	return b.y + 58
}

// fieldTexts writes the fields of a node, the first at the height y.
func (d *svg) fieldTexts(i int, y float64) {
	b := &d.places[i]
	for _, f := range d.fields(i) {
		room := b.width - 24
		name := smallFont.fit(f.Name, room/2) + ":"
		d.printf("<text %s x=\"%s\" y=\"%s\"><tspan %s>%s</tspan> %s</text>\n", fieldLook, num(b.x+12), num(y), keyLook,
			html.EscapeString(name), smallFont.fitMarkup(f.Text, room-smallFont.width(name+" ")))
		y += lineHeight
	}
}

// text writes one line that is no wider than room, from the left. A line that is read
// from the right is cut at its left.
func (d *svg) text(look string, x, y float64, s string, f font, room float64) {
	direction := ""
	if rightToLeft(s) {
		direction = ` direction="rtl" text-anchor="end"`
	}
	d.printf("<text %s%s x=\"%s\" y=\"%s\">%s</text>\n", look, direction, num(x), num(y), f.fitMarkup(s, room))
}

// kindOf returns the kind of a node; what is no note is drawn as an entity.
func kindOf(v *Vertex) Kind {
	if v.Kind == Note.String() {
		return Note
	}
	return Entity
}

func (d *svg) nodeTitle(v *Vertex) string {
	title := markup(v.Name, maxName)
	if v.Type != "" {
		title += " (" + markup(v.Type, maxName) + ")"
	}
	for _, f := range v.Fields {
		title += "\n" + markup(f.Name, maxName) + ": " + markup(f.Text, MaxFieldText)
	}
	return title
}

// num writes a coordinate with at most one decimal.
func num(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func abs(f float64) float64 { return max(f, -f) }
