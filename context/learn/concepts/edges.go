package concepts

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// keys returns the keys of terms that the reader sees in a document, in order: those that are entities, or the others.
func (l *look) keys(entity bool) (list []string) {
	for term, key := range l.x.keys {
		if strings.HasPrefix(key, aboutEntity) != entity {
			continue
		}
		for _, p := range l.x.postings[term] {
			if l.sees(p) != nil {
				list = append(list, key)
				break
			}
		}
	}
	slices.Sort(list)
	return list
}

// together is what is known of two concepts that stand together.
type together struct {
	count int
	last  *doc
}

func (t *together) add(d *doc) {
	t.count++
	if later(d, t.last) {
		t.last = d
	}
}

// mostNear is how many terms that stand beside a concept are looked at, those that do so most often.
const mostNear = 150

// edges returns the concepts that stand together with one, the nearest first: by the share of the documents of both, which
// is high where each is seldom without the other.
func (l *look) edges(j joined, c *record.Concept) []record.ConceptEdge {
	near := make(map[uint32]*together)
	l.each(j, func(d *doc, _ posting) {
		if d.current&l.bit == 0 {
			return
		}
		for _, m := range d.terms {
			if m.bits&l.bit == 0 || slices.Contains(j.terms, m.term) {
				continue
			}
			if near[m.term] == nil {
				near[m.term] = new(together)
			}
			near[m.term].add(d)
		}
	})
	terms := make([]uint32, 0, len(near))
	for term := range near {
		terms = append(terms, term)
	}
	slices.SortFunc(terms, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(near[b].count, near[a].count), cmp.Compare(l.x.keys[a], l.x.keys[b]))
	})
	type edge struct {
		record.ConceptEdge
		near float64
	}
	var list []edge
	seen := slices.Clone(j.terms)
	for _, term := range terms[:min(mostNear, len(terms))] {
		if slices.Contains(seen, term) {
			continue
		}
		other := l.join(l.x.keys[term])
		seen = append(seen, other.terms...)
		if partOf(j.keys, other.keys) {
			continue
		}
		to := l.concept(other, everything)
		if to == nil || to.Label == c.Label {
			continue
		}
		n := near[term]
		e := edge{record.ConceptEdge{From: c.Label, To: to.Label, Count: n.count, Example: l.place(n.last)}, 0}
		l.typed(&e.ConceptEdge, j.entity, other.entity)
		e.near = float64(n.count) / math.Sqrt(float64(c.Mentions)*float64(to.Mentions))
		if n.count > 1 || e.Type != "" || c.Mentions < 3 || to.Kind != record.ConceptPhrase {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.near, a.near), cmp.Compare(b.Count, a.Count), cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
	})
	out := []record.ConceptEdge{}
	for _, e := range list[:min(mostEdges, len(list))] {
		out = append(out, e.ConceptEdge)
	}
	return out
}

// partOf reports whether a phrase is a part of another one: that they stand together says nothing.
func partOf(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if strings.HasSuffix(x, " "+y) || strings.HasSuffix(y, " "+x) || strings.HasPrefix(x, y+" ") || strings.HasPrefix(y, x+" ") {
				return true
			}
		}
	}
	return false
}

// typed says of an edge between two entities by which field one refers to the other.
func (l *look) typed(e *record.ConceptEdge, a, b *entities.Entity) {
	if a == nil || b == nil {
		return
	}
	if field := refers(a, b.ID); field != "" {
		e.Type = field
	} else if field := refers(b, a.ID); field != "" {
		e.Type, e.From, e.To = field, e.To, e.From
	}
}

// refers returns the first field, by name, of an entity that refers to another one; "" for none.
func refers(e *entities.Entity, id string) string {
	var fields []string
	for field := range e.Fields {
		if slices.Contains(e.Strings(field), id) {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return slices.Min(fields)
}

// between returns the edges between listed concepts, those that stand together most often first.
func (l *look) between(list []*record.Concept, of []joined, since int64) []record.ConceptEdge {
	which := make([]int32, len(l.x.keys)) // of the list, from 1, by term
	for i, j := range of {
		for _, term := range j.terms {
			which[term] = int32(i + 1)
		}
	}
	const few = 3 // mentions of which one beside another says something
	n := len(of)
	pairs := make([]together, n*n)
	var here []int
	for i, j := range of {
		l.each(j, func(d *doc, _ posting) {
			if d.current&l.bit == 0 || d.at < since {
				return
			}
			here = here[:0]
			for _, m := range d.terms {
				if k := int(which[m.term]) - 1; k > i && m.bits&l.bit != 0 && !slices.Contains(here, k) {
					here = append(here, k)
					pairs[i*n+k].add(d)
				}
			}
		})
	}
	edges := []record.ConceptEdge{}
	for at, t := range pairs {
		a, b := at/max(n, 1), at%max(n, 1)
		if t.count == 0 || partOf(of[a].keys, of[b].keys) {
			continue
		}
		e := record.ConceptEdge{From: list[a].Label, To: list[b].Label, Count: t.count, Example: l.place(t.last)}
		l.typed(&e, of[a].entity, of[b].entity)
		if t.count > 1 || e.Type != "" || min(list[a].Mentions, list[b].Mentions) <= few {
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, func(a, b record.ConceptEdge) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return edges[:min(len(edges), 4*len(list))]
}

// MaxPath is how many edges a path has at most.
const MaxPath = 6

// Path returns the shortest way from one concept to another over documents that speak of two of them each: the concepts in
// order, and the edges between them. Both are empty where there is none of MaxPath edges. The error is NotFound.
func (x *Index) Path(ctx context.Context, v *audience.View, from, to string) ([]*record.Concept, []record.ConceptEdge, error) {
	l, err := x.asking(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	defer l.done()
	start, first, err := l.find("from", from)
	if err != nil {
		return nil, nil, err
	}
	goal, last, err := l.find("to", to)
	if err != nil {
		return nil, nil, err
	}
	if first.Label == last.Label && first.EntityID == last.EntityID {
		return nil, nil, fault.Field("to", "from and to are the same concept").WithHint("give two concepts")
	}
	b := breadth{l: l, reached: make(map[uint32]*node), read: make(map[uint32]bool)}
	end := b.walk(ctx, &node{joined: start, concept: first}, goal.terms)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	list, edges := []*record.Concept{}, []record.ConceptEdge{}
	for n := end; n != nil; n = n.from {
		list = append(list, n.concept)
		if n.from != nil {
			edges = append(edges, l.edge(n.from, n))
		}
	}
	slices.Reverse(list)
	slices.Reverse(edges)
	return list, edges, nil
}

// node is a concept that a walk has reached.
type node struct {
	joined
	concept *record.Concept
	from    *node
	depth   int
}

// breadth walks from concept to concept.
type breadth struct {
	l       *look
	reached map[uint32]*node // by term; nil for one that is of no concept
	read    map[uint32]bool  // documents
}

// walk returns the node that holds one of the terms of the goal, nil for none. Of several ways of one length it takes the
// one whose keys come first.
func (b *breadth) walk(ctx context.Context, start *node, goal []uint32) *node {
	for _, term := range start.terms {
		b.reached[term] = start
	}
	for level := []*node{start}; len(level) > 0 && level[0].depth < MaxPath && ctx.Err() == nil; {
		var next []*node
		for _, n := range level {
			for _, term := range b.beside(n) {
				if m := b.reach(n, term); m != nil {
					next = append(next, m)
				}
			}
			for _, term := range goal {
				if m := b.reached[term]; m != nil {
					return m
				}
			}
		}
		level = next
	}
	return nil
}

// beside returns the terms of the documents of a node that are not reached yet, in the order of their keys.
func (b *breadth) beside(n *node) (terms []uint32) {
	l := b.l
	for _, term := range n.terms {
		for _, p := range l.x.postings[term] {
			d := l.sees(p)
			if d == nil || d.current&l.bit == 0 || b.read[p.doc] {
				continue
			}
			b.read[p.doc] = true
			for _, m := range d.terms {
				if _, ok := b.reached[m.term]; !ok && m.bits&l.bit != 0 {
					b.reached[m.term] = nil
					terms = append(terms, m.term)
				}
			}
		}
	}
	slices.SortFunc(terms, func(a, c uint32) int { return cmp.Compare(l.x.keys[a], l.x.keys[c]) })
	return terms
}

// reach makes a node of a term, nil for one that is no concept or is reached.
func (b *breadth) reach(from *node, term uint32) *node {
	if b.reached[term] != nil {
		return nil
	}
	j := b.l.join(b.l.x.keys[term])
	c := b.l.concept(j, everything)
	if c == nil {
		return nil
	}
	n := &node{j, c, from, from.depth + 1}
	for _, term := range j.terms {
		if b.reached[term] == nil {
			b.reached[term] = n
		}
	}
	return n
}

// edge returns the edge between two nodes that a document joins.
func (l *look) edge(a, b *node) record.ConceptEdge {
	var t together
	l.each(a.joined, func(d *doc, _ posting) {
		if d.current&l.bit == 0 {
			return
		}
		for _, m := range d.terms {
			if m.bits&l.bit != 0 && slices.Contains(b.terms, m.term) {
				t.add(d)
				return
			}
		}
	})
	e := record.ConceptEdge{From: a.concept.Label, To: b.concept.Label, Count: t.count, Example: l.place(t.last)}
	l.typed(&e, a.entity, b.entity)
	return e
}
