package graph

// walker is the state of one walk. It is used again: a node was seen in this
// walk when its mark is the walk's epoch.
type walker struct {
	seen  []uint32
	epoch uint32
	queue []Step
}

// Step is one node that a walk reached, at the least number of edges from a
// root.
type Step struct {
	Node  Node
	Depth int
}

// Walk searches breadth first from the roots, in their order, and calls visit
// once for each node. visit returns the nodes to go on to; the walk goes to
// those it has not seen while the depth is below maxDepth. The order is that
// of the roots and then that of the lists that visit returns, level by level.
func (g *Graph) Walk(roots []Node, maxDepth int, visit func(Step) []Node) {
	w := g.walkers.Get().(*walker)
	defer g.walkers.Put(w)
	w.start()
	for _, r := range roots {
		w.reach(r, 0)
	}
	for i := 0; i < len(w.queue); i++ {
		step := w.queue[i]
		next := visit(step)
		if step.Depth >= maxDepth {
			continue
		}
		for _, n := range next {
			w.reach(n, step.Depth+1)
		}
	}
}

func (w *walker) start() {
	w.queue = w.queue[:0]
	w.epoch++
	if w.epoch == 0 { // after 2^32 walks the old marks could look new
		clear(w.seen)
		w.epoch = 1
	}
}

func (w *walker) reach(n Node, depth int) {
	if int(n) >= len(w.seen) {
		grown := make([]uint32, max(int(n)+1, 2*len(w.seen)))
		copy(grown, w.seen)
		w.seen = grown
	}
	if w.seen[n] == w.epoch {
		return
	}
	w.seen[n] = w.epoch
	w.queue = append(w.queue, Step{n, depth})
}
