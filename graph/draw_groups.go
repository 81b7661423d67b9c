package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// A layer of many nodes would be a column that no screen can hold. Its nodes stand
// in frames instead: those that one node leads to by the same fields, and that are of
// the same type, stand in one, under a heading that says so once for all of them. One
// edge leads to the frame in place of one to each node.

// From these numbers on nodes stand together, in a drawing and in a tree of lines.
const (
	CrowdedLayer    = 12 // nodes of a layer
	MinGroupedNodes = 3  // nodes of one kind
)

const (
	cellWidth = 176
	cellGap   = 7
	cellLow   = 27 // height of a node in a frame: its name
	cellHigh  = 42 // with a second line, which says how it was reached
	frameEdge = 9
	frameHead = 25
)

// block is what the layout places: a single node, or a frame around several.
type block struct {
	nodes   []int // positions in Nodes
	depth   int
	framed  bool
	heading string // what its nodes have in common; "" where each says it for itself
	parent  int    // the node that they were reached from; -1 for none
}

// tie is how a node hangs together with the node that it was reached from.
type tie struct {
	parent  int    // -1: there is none
	out, in string // fields of the parent that lead to it, and its own that lead back
}

// words says what a tie and the type of a node are: "members →, team ← · Person".
func (t tie) words(v *Vertex) string {
	var fields, parts []string
	if t.out != "" {
		fields = append(fields, t.out+" →")
	}
	if t.in != "" {
		fields = append(fields, t.in+" ←")
	}
	if len(fields) > 0 {
		parts = append(parts, strings.Join(fields, ", "))
	}
	return strings.Join(append(parts, cmp.Or(v.Type, v.Kind)), " · ")
}

// ties finds, for each node, the node of the layer before its own that it hangs from: of
// those that an edge connects it with, the one with the most nodes in this layer, and the
// first of several. So there are few frames.
func (d *svg) ties(depths []int) []tie {
	columns := columnsOf(depths)
	above := func(parent, node int) bool { return columns[depths[parent]] == columns[depths[node]]-1 }
	under := make([]int, d.shown) // edges to the next layer
	for _, s := range d.strokes {
		switch {
		case above(s.from, s.to):
			under[s.from]++
		case above(s.to, s.from):
			under[s.to]++
		}
	}
	list := make([]tie, d.shown)
	for i := range list {
		list[i].parent = -1
	}
	for _, s := range d.strokes {
		node, parent := s.to, s.from
		if !above(parent, node) {
			node, parent = s.from, s.to
		}
		if !above(parent, node) {
			continue
		}
		t := &list[node]
		switch before := t.parent; {
		case before < 0 || under[parent] > under[before] || under[parent] == under[before] && parent < before:
			*t = tie{parent: parent}
		case before != parent:
			continue
		}
		if node == s.to {
			t.out = s.label()
		} else {
			t.in = s.label()
		}
	}
	return list
}

// group divides the nodes into blocks: single ones, and frames in crowded layers.
func (d *svg) group() {
	depths, count := make([]int, d.shown), make(map[int]int)
	d.across = make(map[int]int)
	for i := range d.shown {
		depths[i] = d.Nodes[i].Depth
		count[depths[i]]++
		d.across[depths[i]] = 1
	}
	d.tied = d.ties(depths)
	type key struct {
		depth, parent int
		words, kind   string
	}
	keyOf := func(i int) key {
		v := &d.Nodes[i]
		return key{depths[i], d.tied[i].parent, d.tied[i].words(v), kindOf(v).String()}
	}
	alike, rest, parents := make(map[key]int), make(map[key]int), make(map[int]int)
	for i := range d.shown {
		alike[keyOf(i)]++
	}
	for k, n := range alike {
		if n < MinGroupedNodes {
			rest[key{depth: k.depth, parent: k.parent}] += n
		}
	}
	for k := range rest {
		parents[k.depth]++
	}
	at := make(map[key]int)
	for i := range d.shown {
		if count[depths[i]] < CrowdedLayer {
			d.blocks = append(d.blocks, block{nodes: []int{i}, depth: depths[i], parent: -1})
			continue
		}
		d.terse = true
		k := keyOf(i)
		heading := k.words
		if alike[k] < MinGroupedNodes {
			if k, heading = (key{depth: k.depth, parent: k.parent}), ""; rest[k] < MinGroupedNodes && parents[k.depth] > 1 {
				k.parent = -1 // the few of several parents stand together
			}
		}
		n, ok := at[k]
		if !ok {
			n = len(d.blocks)
			at[k] = n
			d.blocks = append(d.blocks, block{depth: depths[i], heading: heading, parent: k.parent})
		}
		d.blocks[n].nodes = append(d.blocks[n].nodes, i)
	}
	d.blockOf = make([]int, d.shown)
	for n := range d.blocks {
		b := &d.blocks[n]
		b.framed = len(b.nodes) > 1
		slices.SortStableFunc(b.nodes, func(i, j int) int { return text.CompareNatural(d.Nodes[i].Name, d.Nodes[j].Name) })
		for _, i := range b.nodes {
			d.blockOf[i] = n
		}
	}
}

// rows returns how many nodes stand below each other in a frame.
func (d *svg) rows(b *block) int {
	across := d.across[b.depth]
	return (len(b.nodes) + across - 1) / across
}

// size returns how large a block is.
func (d *svg) size(b *block) (width, height float64) {
	if !b.framed {
		return boxWidth, d.boxHeight(b.nodes[0])
	}
	rows := d.rows(b)
	cols := (len(b.nodes) + rows - 1) / rows
	width = float64(cols)*(cellWidth+cellGap) - cellGap + 2*frameEdge
	height = float64(frameEdge)
	if b.heading != "" {
		height = frameHead
	}
	for r := range rows {
		height += d.rowHeight(b, r, rows) + cellGap
	}
	return width, height - cellGap + frameEdge
}

// widen lets the frames of the highest layer hold more nodes in a row. It returns false
// where that makes the layer hardly lower.
func (d *svg) widen() bool {
	highest, height := 0, 0.0
	for depth := range d.across {
		if h := d.layerHeight(depth); h > height || h == height && depth < highest {
			highest, height = depth, h
		}
	}
	before := d.across[highest]
	for more := 1; more <= 3; more++ { // frames of one size get a row less all at once, after some steps
		d.across[highest] = before + more
		if d.layerHeight(highest) <= height*(1-leastGain*float64(more)) {
			return true
		}
	}
	d.across[highest] = before
	return false
}

// leastGain is the part of its height that a layer has to lose for one more node in a row.
const leastGain = 0.03

// layerHeight returns how high the blocks of one depth are together.
func (d *svg) layerHeight(depth int) float64 {
	sum := 0.0
	for n := range d.blocks {
		if b := &d.blocks[n]; b.depth == depth {
			_, height := d.size(b)
			sum += height + rowGap
		}
	}
	return sum
}

// rowHeight returns the height of a row of a frame, which is filled column by column.
func (d *svg) rowHeight(b *block, row, rows int) float64 {
	h := 0.0
	for k := row; k < len(b.nodes); k += rows {
		h = max(h, d.cellHeight(b, b.nodes[k]))
	}
	return h
}

func (d *svg) cellHeight(b *block, node int) float64 {
	h := float64(cellLow)
	if b.heading == "" {
		h = cellHigh
	}
	return h + d.fieldsHeight(node)
}

// fill places the nodes of a block, whose box is placed.
func (d *svg) fill(n int) {
	b, outer := &d.blocks[n], &d.boxes[n]
	if !b.framed {
		d.places[b.nodes[0]] = *outer
		return
	}
	rows := d.rows(b)
	y := outer.y + frameEdge
	if b.heading != "" {
		y = outer.y + frameHead
	}
	for r := range rows {
		h := d.rowHeight(b, r, rows)
		for k := r; k < len(b.nodes); k += rows {
			d.places[b.nodes[k]] = box{
				column: outer.column, x: outer.x + frameEdge + float64(k/rows)*(cellWidth+cellGap), y: y,
				width: cellWidth, height: h,
			}
		}
		y += h + cellGap
	}
}

// lines makes the edges that are drawn from the strokes: one for each, but one for all
// between a frame and the node that its nodes were reached from.
func (d *svg) lines() {
	ofFrame := make(map[int]int)
	for _, s := range d.strokes {
		node, parent := s.to, s.from
		if d.tied[node].parent != parent || !d.blocks[d.blockOf[node]].framed {
			node, parent = s.from, s.to
		}
		n := d.blockOf[node]
		if b := &d.blocks[n]; b.framed && d.tied[node].parent == parent && b.parent == parent {
			at, ok := ofFrame[n]
			if !ok {
				at = len(d.edges)
				ofFrame[n] = at
				d.edges = append(d.edges, d.frameEdge(n))
			}
			if node == s.to {
				d.edges[at].tips[1] = true
			} else {
				d.edges[at].tips[0] = true
			}
			continue
		}
		far := d.blocks[d.blockOf[s.from]].framed || d.blocks[d.blockOf[s.to]].framed
		if far {
			d.far++
		}
		title := markup(d.Nodes[s.from].Name, maxName)
		if label := s.label(); label != "" {
			title += " — " + markup(label, maxLabels)
		}
		d.edges = append(d.edges, edge{
			from: s.from, to: s.to, tips: [2]bool{false, true}, far: far, nodes: fmt.Sprintf("%d %d", s.from, s.to),
			label: s.label(), title: title + " → " + markup(d.Nodes[s.to].Name, maxName),
		})
	}
}

// frameEdge is the edge between a frame and the node that leads to it.
func (d *svg) frameEdge(n int) edge {
	b := &d.blocks[n]
	nodes := fmt.Sprint(b.parent)
	for _, i := range b.nodes {
		nodes += fmt.Sprint(" ", i)
	}
	title := fmt.Sprintf("%s and %d", markup(d.Nodes[b.parent].Name, maxName), len(b.nodes))
	if b.heading != "" {
		title += ": " + markup(b.heading, maxLabels)
	}
	return edge{from: b.parent, to: d.shown + n, nodes: nodes, title: title}
}
