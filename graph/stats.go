package graph

import (
	"cmp"
	"math/bits"
	"slices"
)

// Stats counts the live nodes and the edges among them. A self reference adds
// two to the degree of its record, as any edge adds one at each end.
type Stats struct {
	Entities   int `json:"entities"`
	Notes      int `json:"notes"`
	References int `json:"references"` // stored references between live records
	Links      int `json:"links"`      // wikilinks between live notes, each pair once
	Dangling   int `json:"dangling"`   // references of live entities to what is missing, in the trash or archived
	Components int `json:"components"` // parts that no edge connects, lone records included
	Largest    int `json:"largest"`    // records of the largest part
	Orphans    int `json:"orphans"`    // records without any edge
	MaxDegree  int `json:"maxDegree"`
	// MeanDegree is edges at a record, in both directions, on average;
	// MedianDegree is what half of the records have at most.
	MeanDegree   float64  `json:"meanDegree"`
	MedianDegree int      `json:"medianDegree"`
	Degrees      []Degree `json:"degrees"` // how many records have how many edges
	Hubs         []Hub    `json:"hubs"`    // the records with the most edges
}

// Degree counts the records with From to To edges. The ranges are 0, 1, 2 to 3,
// 4 to 7 and so on, up to the greatest degree.
type Degree struct {
	From    int `json:"from"`
	To      int `json:"to"`
	Records int `json:"records"`
}

// Hub is a record with many edges.
type Hub struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"` // entity or note
	Name   string `json:"name"`
	Type   string `json:"type,omitempty"` // of an entity
	Degree int    `json:"degree"`
}

// maxHubs is the number of hubs in Stats.
const maxHubs = 10

// Stats looks at every node and edge: O(nodes + edges).
func (g *Graph) Stats() Stats {
	s := Stats{Degrees: []Degree{}, Hubs: []Hub{}}
	parts := newParts()
	for e := range g.ents.All() {
		if e.Live() {
			parts.add(Key{Entity, e.ID})
			s.Entities++
		}
	}
	var noteIDs []string
	for n := range g.notes.All() {
		if n.Live() {
			parts.add(Key{Note, n.ID})
			noteIDs = append(noteIDs, n.ID)
		}
	}
	s.Notes = len(noteIDs)
	for _, id := range noteIDs {
		for _, to := range g.notes.Linked(id) {
			if parts.join(Key{Note, id}, Key{Note, to}) {
				s.Links++
			}
		}
	}
	g.mu.RLock()
	for from, edges := range g.out {
		for _, e := range edges {
			switch {
			case parts.join(g.keys[from], g.keys[e.To]):
				s.References++
			case parts.has(g.keys[from]):
				s.Dangling++
			}
		}
	}
	g.mu.RUnlock()
	s.Components, s.Largest = parts.count, parts.largest()
	s.degrees(parts.degree)
	s.hubs(g, parts.degree)
	return s
}

func (s *Stats) degrees(degree map[Key]int) {
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

func (s *Stats) hubs(g *Graph, degree map[Key]int) {
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
			s.Hubs = append(s.Hubs, Hub{v.ID, v.Kind, v.Name, v.Type, r.degree})
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
