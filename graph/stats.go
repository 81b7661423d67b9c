package graph

// Stats counts the live nodes and the edges among them.
type Stats struct {
	Entities   int `json:"entities"`
	Notes      int `json:"notes"`
	References int `json:"references"` // stored references between live records
	Links      int `json:"links"`      // wikilinks between live notes, each pair once
	Components int `json:"components"` // parts that no edge connects, lone records included
	Orphans    int `json:"orphans"`    // records without any edge
	MaxDegree  int `json:"maxDegree"`
	// MeanDegree is edges at a record, in both directions, on average.
	MeanDegree float64 `json:"meanDegree"`
}

// Stats looks at every node and edge: O(nodes + edges).
func (g *Graph) Stats() Stats {
	var s Stats
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
			if parts.join(g.keys[from], g.keys[e.To]) {
				s.References++
			}
		}
	}
	g.mu.RUnlock()
	total := 0
	for _, d := range parts.degree {
		total += d
		s.MaxDegree = max(s.MaxDegree, d)
		if d == 0 {
			s.Orphans++
		}
	}
	s.Components = parts.count
	if n := len(parts.degree); n > 0 {
		s.MeanDegree = float64(total) / float64(n)
	}
	return s
}

// parts is a union-find over the live nodes, with their degrees.
type parts struct {
	parent map[Key]Key
	degree map[Key]int
	count  int
}

func newParts() *parts { return &parts{parent: make(map[Key]Key), degree: make(map[Key]int)} }

func (p *parts) add(k Key) {
	p.parent[k], p.degree[k] = k, 0
	p.count++
}

// join connects two nodes; it reports false when either is not live.
func (p *parts) join(a, b Key) bool {
	if _, ok := p.parent[a]; !ok {
		return false
	}
	if _, ok := p.parent[b]; !ok {
		return false
	}
	p.degree[a]++
	p.degree[b]++
	if ra, rb := p.root(a), p.root(b); ra != rb {
		p.parent[ra] = rb
		p.count--
	}
	return true
}

func (p *parts) root(k Key) Key {
	for p.parent[k] != k {
		p.parent[k] = p.parent[p.parent[k]]
		k = p.parent[k]
	}
	return k
}
