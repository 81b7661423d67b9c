package graph

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/yield"
)

// MaxWays bounds the ways that Paths returns.
const MaxWays = 16

// Path returns the nodes and edges of a shortest way between two records of at
// most maxDepth edges, taken in either direction; empty when there is none. Of
// several edges between two nodes it names the first: those of the record
// nearer to the start come before those that refer to it. Depth is the place
// on the way.
func (g *Graph) Path(ctx context.Context, from, to string, maxDepth int) (*Subgraph, error) {
	s, err := g.search(ctx, from, to, maxDepth)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, 1, false)
}

// Paths is Path for several shortest ways, at most limit and MaxWays: Ways
// names them, Nodes and Edges hold all that lies on them, with every edge
// between two nodes of a step.
//
// The ways are of the least number of edges, and each comes once; the order
// depends on nothing but the records. A computed field is followed from the
// record that has it, which may be met from either end.
func (g *Graph) Paths(ctx context.Context, from, to string, maxDepth, limit int) (*Subgraph, error) {
	s, err := g.search(ctx, from, to, maxDepth)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, max(1, min(limit, MaxWays)), true)
}

// meeting is a search for ways between two records from both ends.
type meeting struct {
	g           *Graph
	start, goal Key
	sides       [2]*side // from the start, from the goal
	length      int      // edges of the shortest way; -1 while there is none
	meets       []Key    // where the sides meet on ways of that length, in order
	truncated   bool
}

// side is the breadth-first search from one end.
type side struct {
	spots    map[Key]*spot
	frontier []Key // the spots at depth, in the order they were reached
	depth    int
	done     bool // there is nothing further
}

// spot is a node that a side has reached.
type spot struct {
	dist   int
	back   []Key   // the nodes one edge nearer to the end, in the order they reached it
	vertex *Vertex // as it was when the search came by
}

// search searches from both ends until the shortest ways are known: O(nodes +
// edges) of what lies within their length, at most MaxNodes nodes.
func (g *Graph) search(ctx context.Context, from, to string, maxDepth int) (*meeting, error) {
	start, err := g.find(from)
	if err != nil {
		return nil, fault.Under("from", err)
	}
	goal, err := g.find(to)
	if err != nil {
		return nil, fault.Under("to", err)
	}
	m := &meeting{g: g, start: start, goal: goal, length: -1}
	for i, end := range []Key{start, goal} {
		m.sides[i] = &side{
			spots:    map[Key]*spot{end: {vertex: g.vertex(end, 0)}},
			frontier: []Key{end},
		}
	}
	if start == goal {
		m.length, m.meets = 0, []Key{start}
		return m, nil
	}
	computes := g.anyComputed()
	for !m.settled(maxDepth, computes) && ctx.Err() == nil {
		m.advance(ctx, m.nextSide(computes))
		m.meet(maxDepth)
	}
	return m, ctx.Err()
}

// settled reports whether no further step can find a way, or one as short.
func (m *meeting) settled(maxDepth int, computes bool) bool {
	a, b := m.sides[0], m.sides[1]
	most := maxDepth
	if m.length >= 0 {
		most = m.length
	}
	switch {
	case m.truncated:
		return true
	case computes:
		// An edge that only one end can see may be anywhere on the way.
		return (a.done || a.depth >= most) && (b.done || b.depth >= most)
	}
	return a.done || b.done || a.depth+b.depth >= most
}

// nextSide chooses the side with less to look at.
func (m *meeting) nextSide(computes bool) *side {
	a, b := m.sides[0], m.sides[1]
	switch {
	case a.done:
		return b
	case b.done:
		return a
	case computes && a.depth != b.depth:
		if a.depth < b.depth {
			return a
		}
		return b
	case len(b.frontier) < len(a.frontier):
		return b
	}
	return a
}

// advance takes one side an edge further.
func (m *meeting) advance(ctx context.Context, s *side) {
	var next []Key
	for _, key := range s.frontier {
		if len(m.sides[0].spots)+len(m.sides[1].spots) >= MaxNodes {
			m.truncated = true
			return
		}
		if yield.Point(ctx) != nil {
			return
		}
		out, in := m.g.around(ctx, key)
		for _, ref := range append(out, in...) {
			at, ok := s.spots[ref.Key]
			if !ok {
				v := m.g.vertex(ref.Key, 0)
				if v == nil {
					continue
				}
				at = &spot{dist: s.depth + 1, vertex: v}
				s.spots[ref.Key] = at
				next = append(next, ref.Key)
			}
			if at.dist == s.depth+1 && (len(at.back) == 0 || at.back[len(at.back)-1] != key) {
				at.back = append(at.back, key)
			}
		}
	}
	s.frontier = next
	s.depth++
	s.done = len(next) == 0
}

// meet looks where the sides have met.
func (m *meeting) meet(maxDepth int) {
	a, b := m.sides[0], m.sides[1]
	if len(b.spots) < len(a.spots) {
		a, b = b, a
	}
	m.length = -1
	for key, at := range a.spots {
		if other, ok := b.spots[key]; ok && at.dist+other.dist <= maxDepth &&
			(m.length < 0 || at.dist+other.dist < m.length) {
			m.length = at.dist + other.dist
		}
	}
	m.meets = nil
	for key, at := range a.spots {
		if other, ok := b.spots[key]; ok && at.dist+other.dist == m.length {
			m.meets = append(m.meets, key)
		}
	}
	slices.SortFunc(m.meets, compareKeys)
}

func compareKeys(a, b Key) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return strings.Compare(a.ID, b.ID)
}

// place is a node at its place on a way.
type place struct {
	key Key
	at  int
}

// steps returns, for each place on a shortest way, what may come next.
func (m *meeting) steps() map[place][]Key {
	steps := make(map[place][]Key)
	add := func(from place, to Key) {
		if !slices.Contains(steps[from], to) {
			steps[from] = append(steps[from], to)
		}
	}
	for i, s := range m.sides {
		seen := make(map[Key]bool)
		queue := slices.Clone(m.meets)
		for len(queue) > 0 {
			key := queue[0]
			queue = queue[1:]
			at := s.spots[key]
			if seen[key] {
				continue
			}
			seen[key] = true
			for _, nearer := range at.back {
				if i == 0 {
					add(place{nearer, at.dist - 1}, key)
				} else {
					add(place{key, m.length - at.dist}, nearer)
				}
				queue = append(queue, nearer)
			}
		}
	}
	return steps
}

// ways lists the shortest ways, at most limit, and says whether there are more.
func (m *meeting) ways(ctx context.Context, limit int) (ways [][]Key, more bool) {
	if m.length < 0 {
		return nil, false
	}
	steps := m.steps()
	way := []Key{m.start}
	var follow func()
	follow = func() {
		at := place{way[len(way)-1], len(way) - 1}
		if at.at == m.length {
			more = len(ways) == limit
			if !more {
				ways = append(ways, slices.Clone(way))
			}
			return
		}
		if next := steps[at]; len(next) > 1 {
			m.sortByFields(ctx, at.key, next)
		}
		for _, key := range steps[at] {
			if more || yield.Point(ctx) != nil {
				return
			}
			way = append(way, key)
			follow()
			way = way[:len(way)-1]
		}
	}
	follow()
	return ways, more
}

// sortByFields puts nodes in the order in which a record refers to them, then
// those that refer to it.
func (m *meeting) sortByFields(ctx context.Context, from Key, nodes []Key) {
	rank := make(map[Key]int)
	out, in := m.g.around(ctx, from)
	for i, ref := range append(out, in...) {
		if _, ok := rank[ref.Key]; !ok {
			rank[ref.Key] = i + 1
		}
	}
	slices.SortFunc(nodes, func(a, b Key) int {
		switch ra, rb := rank[a], rank[b]; {
		case ra == rb:
			return compareKeys(a, b)
		case ra == 0: // only from the other end
			return 1
		case rb == 0:
			return -1
		default:
			return ra - rb
		}
	})
}

// between returns the edges between two nodes: those of the first, then those
// of the second.
func (g *Graph) between(ctx context.Context, a, b Key) []link {
	var links []link
	add := func(from, to Key) {
		out, _ := g.around(ctx, from)
		for _, ref := range out {
			if l := (link{from, to, ref.Field}); ref.Key == to && !slices.Contains(links, l) {
				links = append(links, l)
			}
		}
	}
	add(a, b)
	add(b, a)
	return links
}

// answer writes the shortest ways for people.
func (m *meeting) answer(ctx context.Context, limit int, all bool) (*Subgraph, error) {
	nothing := &Subgraph{Nodes: []Vertex{}, Edges: []Arc{}, Truncated: m.truncated}
	ways, more := m.ways(ctx, limit)
	sub := &Subgraph{Nodes: []Vertex{}, Edges: []Arc{}, Truncated: m.truncated, MoreWays: all && more}
	at := make(map[Key]int)
	for place := 0; place <= m.length; place++ { // nearest first
		for _, way := range ways {
			key := way[place]
			if _, ok := at[key]; ok {
				continue
			}
			v := m.vertex(key)
			if v == nil { // an end went while we looked for it
				return nothing, ctx.Err()
			}
			v.Depth = place
			at[key] = len(sub.Nodes)
			sub.Nodes = append(sub.Nodes, *v)
		}
	}
	var links []link
	known := make(map[[2]Key]bool)
	for _, way := range ways {
		for i := range m.length {
			if step := [2]Key{way[i], way[i+1]}; !known[step] {
				known[step] = true
				if err := yield.Point(ctx); err != nil {
					return nil, err
				}
				edges := m.g.between(ctx, step[0], step[1])
				if len(edges) == 0 { // it was changed meanwhile
					return nothing, ctx.Err()
				}
				if !all {
					edges = edges[:1]
				}
				links = append(links, edges...)
			}
		}
	}
	sub.Edges = append(sub.Edges, IndexOf(sub).arcs(links)...)
	if all {
		for _, way := range ways {
			places := make([]int, len(way))
			for i, key := range way {
				places[i] = at[key]
			}
			sub.Ways = append(sub.Ways, places)
		}
	}
	return sub, ctx.Err()
}

func (m *meeting) vertex(key Key) *Vertex {
	for _, s := range m.sides {
		if at, ok := s.spots[key]; ok && at.vertex != nil {
			v := *at.vertex
			return &v
		}
	}
	return nil
}

// anyComputed reports whether a type has a computed field.
func (g *Graph) anyComputed() bool {
	return slices.ContainsFunc(g.ents.Types(), func(t *entities.Type) bool {
		return slices.ContainsFunc(t.Fields, func(f entities.Field) bool { return f.Type.IsComputed() })
	})
}
