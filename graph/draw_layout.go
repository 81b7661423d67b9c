package graph

import (
	"cmp"
	"slices"
)

// The layout is that of layered drawings (K. Sugiyama, S. Tagawa, M. Toda,
// "Methods for visual understanding of hierarchical system structures", IEEE
// Transactions on Systems, Man, and Cybernetics 11(2), 1981): a node's layer is
// its depth, which means something to the reader, so none is computed; the
// order within a layer comes from sweeps of barycenters, and the places from
// moving each node towards the mean of its neighbours as far as the others
// leave room. Edges between neighbouring layers don't cross layers, so there
// are no dummy nodes; the few that lead further are drawn below the nodes. A layer of a
// dozen nodes or more is laid out as frames (draw_groups.go), which are placed like nodes.

// Sizes in the units of the drawing, about pixels.
const (
	boxWidth   = 216
	columnGap  = 148 // before a column
	framesGap  = 96  // before a column of frames, whose edges have no labels
	rowGap     = 18
	padding    = 24
	headHeight = 46 // of a box with its name and type
	lineHeight = 16 // of a field
	portGap    = 14 // between the ends of edges at one side of a box
	maxPorts   = 6  // ends with a label of their own at one side of a box
)

// sweeps is how often the layers are put in order; more hardly change it.
const sweeps = 8

// box is what the layout places: a node, or a frame around several.
type box struct {
	column        int
	x, y          float64 // of its upper left corner
	width, height float64
	beside        []int // boxes of other columns that an edge leads to or from
	order         float64
}

func (b *box) middle() float64 { return b.y + b.height/2 }

// layout is a drawing without its texts.
type layout struct {
	boxes         []box
	columns       [][]int // boxes from above
	width, height float64
}

// arrange places boxes of these depths and sizes; pairs are those with an edge
// between them.
func arrange(depths []int, sizes []box, pairs [][2]int) *layout {
	l := &layout{boxes: make([]box, len(depths))}
	columnOf := columnsOf(depths)
	for i := range l.boxes {
		c := columnOf[depths[i]]
		l.boxes[i] = box{column: c, width: sizes[i].width, height: sizes[i].height}
		for len(l.columns) <= c {
			l.columns = append(l.columns, nil)
		}
		l.columns[c] = append(l.columns[c], i)
	}
	for _, p := range pairs {
		if l.boxes[p[0]].column != l.boxes[p[1]].column {
			l.boxes[p[0]].beside = append(l.boxes[p[0]].beside, p[1])
			l.boxes[p[1]].beside = append(l.boxes[p[1]].beside, p[0])
		}
	}
	l.stack()
	for range sweeps {
		l.sortColumns(1)
		l.sortColumns(-1)
	}
	for range sweeps {
		for _, column := range l.columns {
			l.relax(column)
		}
	}
	return l
}

// columnsOf numbers the depths that occur from 0 without gaps.
func columnsOf(depths []int) map[int]int {
	sorted := slices.Clone(depths)
	slices.Sort(sorted)
	columns := make(map[int]int)
	for i, d := range slices.Compact(sorted) {
		columns[d] = i
	}
	return columns
}

// stack puts the boxes of each column below each other, centred.
func (l *layout) stack() {
	for _, column := range l.columns {
		total := -float64(rowGap)
		for _, i := range column {
			total += l.boxes[i].height + rowGap
		}
		y := -total / 2
		for _, i := range column {
			l.boxes[i].y = y
			y += l.boxes[i].height + rowGap
		}
	}
}

// sortColumns puts the boxes of each column in the order of the barycenters of
// their neighbours in the column before (direction 1) or after it (-1). A box
// without any keeps its place.
func (l *layout) sortColumns(direction int) {
	for c := range l.columns {
		if direction < 0 {
			c = len(l.columns) - 1 - c
		}
		column := l.columns[c]
		for _, i := range column {
			b := &l.boxes[i]
			sum, n := 0.0, 0.0
			for _, j := range b.beside {
				if (l.boxes[j].column < c) == (direction > 0) {
					sum += l.boxes[j].middle()
					n++
				}
			}
			b.order = b.middle()
			if n > 0 {
				b.order = sum / n
			}
		}
		slices.SortStableFunc(column, func(i, j int) int { return cmp.Compare(l.boxes[i].order, l.boxes[j].order) })
	}
	l.stack()
}

// relax moves the boxes of a column towards the means of their neighbours. Boxes
// that would overlap move as one block, towards the mean of what they want: the
// pool-adjacent-violators algorithm of isotonic regression, which gives the
// least sum of squared distances that keeps order and gaps.
func (l *layout) relax(column []int) {
	type block struct {
		first, last int     // in column
		top         float64 // of its first box
		wish        float64 // the sum of the tops that its boxes wish for the first
		n           float64
		height      float64
	}
	var blocks []block
	for at, i := range column {
		b := &l.boxes[i]
		wish := b.middle()
		if len(b.beside) > 0 {
			wish = 0
			for _, j := range b.beside {
				wish += l.boxes[j].middle()
			}
			wish /= float64(len(b.beside))
		}
		now := block{first: at, last: at, wish: wish - b.height/2, n: 1, height: b.height + rowGap}
		now.top = now.wish
		for len(blocks) > 0 {
			above := blocks[len(blocks)-1]
			if above.top+above.height <= now.top {
				break
			}
			blocks = blocks[:len(blocks)-1]
			now = block{
				first: above.first, last: now.last, n: above.n + now.n, height: above.height + now.height,
				wish: above.wish + now.wish - now.n*above.height,
			}
			now.top = now.wish / now.n
		}
		blocks = append(blocks, now)
	}
	for _, bl := range blocks {
		y := bl.top
		for _, i := range column[bl.first : bl.last+1] {
			l.boxes[i].y = y
			y += l.boxes[i].height + rowGap
		}
	}
}

// screen is how high a drawing may be and yet be seen as a whole.
const screen = 860

// frame moves everything into a frame that begins at 0, 0. gaps are the room before
// the columns. Where not all can be seen at once, the first column, from which the
// others are reached, goes to the top: that is what a viewer shows first.
func (l *layout) frame(gaps []float64) {
	if len(l.boxes) == 0 {
		l.width, l.height = 2*padding, 2*padding
		return
	}
	top := l.boxes[0].y
	for i := range l.boxes {
		top = min(top, l.boxes[i].y)
	}
	x := float64(padding)
	for c, column := range l.columns {
		x += gaps[c]
		wide := 0.0
		for _, i := range column {
			b := &l.boxes[i]
			b.x = x
			b.y += padding - top
			wide = max(wide, b.width)
			l.height = max(l.height, b.y+b.height+padding)
		}
		x += wide
	}
	l.width = x + padding
	if l.height > screen {
		up := l.boxes[l.columns[0][0]].y - padding
		for _, i := range l.columns[0] {
			l.boxes[i].y -= up
		}
	}
}
