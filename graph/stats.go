package graph

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/ctxd/ctxd/entities/yield"
)

// maxHubs is the number of hubs in Stats.
const maxHubs = 10

// Stats looks at every node and edge: O(nodes + edges). The error is that of ctx.
func (g *Graph) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Degrees: []Degree{}, Hubs: []Hub{}}
	parts := newParts()
	for i, e := range slices.Collect(g.ents.All()) {
		if err := yield.Every(ctx, nodesAPoint, i); err != nil {
			return s, err
		}
		if e.Live() && (g.shown == nil || g.shown.SeesEntity(e)) {
			parts.add(Key{Entity, e.ID})
			s.Entities++
		}
	}
	var noteIDs []string
	for i, n := range slices.Collect(g.notes.All()) {
		if err := yield.Every(ctx, nodesAPoint, i); err != nil {
			return s, err
		}
		if n.Live() && (g.shown == nil || g.shown.SeesNote(n)) {
			parts.add(Key{Note, n.ID})
			noteIDs = append(noteIDs, n.ID)
		}
	}
	s.Notes = len(noteIDs)
	for i, id := range noteIDs {
		if err := yield.Every(ctx, nodesAPoint, i); err != nil {
			return s, err
		}
		for _, to := range g.notes.Linked(id) {
			if parts.join(Key{Note, id}, Key{Note, to}) {
				s.Links++
			}
		}
	}
	keys, out := g.references()
	for from, edges := range out {
		for i, e := range edges {
			if err := yield.Every(ctx, nodesAPoint, i); err != nil {
				return s, err
			}
			switch {
			case parts.join(keys[from], keys[e.To]):
				s.References++
			case parts.has(keys[from]):
				s.Dangling++
			}
		}
	}
	s.Components, s.Largest = parts.count, parts.largest()
	countDegrees(&s, parts.degree)
	findHubs(&s, g, parts.degree)
	return s, nil
}

// nodesAPoint is how many nodes or edges are looked at between two yield.Points.
const nodesAPoint = 64

// references returns all nodes and their edges as they are now. What it returns is not
// changed any more.
func (g *Graph) references() ([]Key, [][]Edge) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.keys[:len(g.keys):len(g.keys)], slices.Clone(g.out)
}

func countDegrees(s *Stats, degree map[Key]int) {
	if len(degree) == 0 {
		return
	}
	all := make([]int, 0, len(degree))
	total := 0
	for _, d := range degree {
		all = append(all, d)
		total += d
	}
	slices.Sort(all)
	s.MaxDegree = all[len(all)-1]
	s.MedianDegree = all[(len(all)-1)/2]
	s.MeanDegree = float64(total) / float64(len(all))
	s.Degrees = make([]Degree, bits.Len(uint(s.MaxDegree))+1)
	for i := range s.Degrees {
		s.Degrees[i].From, s.Degrees[i].To = 1<<i>>1, (1<<i)-1
	}
	for _, d := range all {
		s.Degrees[bits.Len(uint(d))].Records++
	}
	s.Orphans = s.Degrees[0].Records
}

func findHubs(s *Stats, g *Graph, degree map[Key]int) {
	type ranked struct {
		Key
		degree int
	}
	var top []ranked // greatest first, those of one degree in the order of their keys
	order := func(a, b ranked) int { return cmp.Or(b.degree-a.degree, compareKeys(a.Key, b.Key)) }
	for key, d := range degree {
		r := ranked{key, d}
		if d == 0 || len(top) == maxHubs && order(top[maxHubs-1], r) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, r, order)
		top = slices.Insert(top, at, r)
		top = top[:min(len(top), maxHubs)]
	}
	for _, r := range top {
		if v := g.vertex(r.Key, 0); v != nil {
			s.Hubs = append(s.Hubs, Hub{ID: v.ID, Kind: v.Kind, Name: v.Name, Type: v.Type, Degree: r.degree})
		}
	}
}

// parts is a union-find over the live nodes, with their degrees.
type parts struct {
	parent map[Key]Key
	size   map[Key]int // of the parts, by their roots
	degree map[Key]int
	count  int
}

func newParts() *parts {
	return &parts{parent: make(map[Key]Key), size: make(map[Key]int), degree: make(map[Key]int)}
}

func (p *parts) add(k Key) {
	p.parent[k], p.size[k], p.degree[k] = k, 1, 0
	p.count++
}

func (p *parts) has(k Key) bool {
	_, ok := p.parent[k]
	return ok
}

// join connects two nodes; it reports false when either is not live.
func (p *parts) join(a, b Key) bool {
	if !p.has(a) || !p.has(b) {
		return false
	}
	p.degree[a]++
	p.degree[b]++
	ra, rb := p.root(a), p.root(b)
	if ra == rb {
		return true
	}
	if p.size[ra] > p.size[rb] {
		ra, rb = rb, ra
	}
	p.parent[ra] = rb
	p.size[rb] += p.size[ra]
	delete(p.size, ra)
	p.count--
	return true
}

func (p *parts) root(k Key) Key {
	for p.parent[k] != k {
		p.parent[k] = p.parent[p.parent[k]]
		k = p.parent[k]
	}
	return k
}

func (p *parts) largest() (n int) {
	for _, size := range p.size {
		n = max(n, size)
	}
	return n
}
