package graph

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// MaxNodes bounds what Neighbors and Path visit.
const MaxNodes = 10_000

// Vertex is a node for people: what it is and how far from where the walk
// began.
type Vertex struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"` // entity or note
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"` // of an entity
	Depth int    `json:"depth"`
}

// Arc is an edge by ids. Field is the field of the entity that refers, "link"
// for a wikilink.
type Arc struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Field string `json:"field"`
}

// WikiLink is the Field of an Arc between notes.
const WikiLink = "link"

// Subgraph is a part of the graph: nodes in the order they were reached, and
// the edges that led to them or lie between them.
type Subgraph struct {
	Nodes     []Vertex `json:"nodes"`
	Edges     []Arc    `json:"edges"`
	Truncated bool     `json:"truncated,omitempty"` // there is more than MaxNodes
}

// find returns the key of a live entity or note of that id; an entity comes
// first when both exist.
func (g *Graph) find(id string) (Key, error) {
	if err := entities.CheckID("id", id); err != nil {
		return Key{}, err
	}
	if g.vertex(Key{Entity, id}, 0) != nil {
		return Key{Entity, id}, nil
	}
	if g.vertex(Key{Note, id}, 0) != nil {
		return Key{Note, id}, nil
	}
	return Key{}, fault.New(fault.NotFound, "no entity or note with id %q", id).WithRef(id).
		WithHint("entities.complete and notes.complete find records by name")
}

// vertex describes a node, nil for one that is gone, in the trash or archived.
func (g *Graph) vertex(key Key, depth int) *Vertex {
	if key.Kind == Note {
		if n := g.notes.Get(key.ID); n.Live() {
			return &Vertex{ID: n.ID, Kind: Note.String(), Name: n.Title, Depth: depth}
		}
		return nil
	}
	if e := g.ents.Get(key.ID); e.Live() {
		return &Vertex{ID: e.ID, Kind: Entity.String(), Name: e.Name, Type: e.Type, Depth: depth}
	}
	return nil
}

// around returns the edges of a node in both directions: an entity's stored
// and computed references, what refers to it, wikilinks of notes.
func (g *Graph) around(ctx context.Context, key Key) (out, in []Ref) {
	if key.Kind == Entity {
		out = g.References(key.ID)
		if e := g.ents.Get(key.ID); e.Live() {
			out = append(out, g.computed(ctx, e)...)
		}
	} else {
		for _, id := range g.notes.Linked(key.ID) {
			out = append(out, Ref{Key{Note, id}, WikiLink})
		}
		for _, id := range g.notes.Linking(key.ID) {
			in = append(in, Ref{Key{Note, id}, WikiLink})
		}
	}
	for _, from := range g.Referrers(key) {
		for _, ref := range g.References(from) {
			if ref.Key == key {
				in = append(in, Ref{Key{Entity, from}, ref.Field})
			}
		}
	}
	return out, in
}

// Neighbors returns the live nodes within depth edges of id, in either
// direction, and the edges among them. kinds narrows the nodes to entities or
// notes; empty means both.
func (g *Graph) Neighbors(ctx context.Context, id string, depth int, kinds []string) (*Subgraph, error) {
	root, err := g.find(id)
	if err != nil {
		return nil, err
	}
	sub := &Subgraph{Nodes: []Vertex{}, Edges: []Arc{}}
	arcs := make(map[Arc]bool)
	shown := make(map[Key]bool)
	wanted := func(k Key) bool { return k == root || len(kinds) == 0 || slices.Contains(kinds, k.Kind.String()) }
	var all []Arc
	var ends [][2]Key
	g.Walk([]Node{g.Number(root)}, depth, func(step Step) []Node {
		key := g.Key(step.Node)
		v := g.vertex(key, step.Depth)
		if v == nil || !wanted(key) || len(sub.Nodes) >= MaxNodes || ctx.Err() != nil {
			sub.Truncated = sub.Truncated || len(sub.Nodes) >= MaxNodes
			return nil
		}
		shown[key] = true
		sub.Nodes = append(sub.Nodes, *v)
		out, in := g.around(ctx, key)
		next := make([]Node, 0, len(out)+len(in))
		add := func(from, to Key, field string) {
			arc := Arc{from.ID, to.ID, field}
			if !arcs[arc] {
				arcs[arc] = true
				all = append(all, arc)
				ends = append(ends, [2]Key{from, to})
			}
		}
		for _, ref := range out {
			add(key, ref.Key, ref.Field)
			next = append(next, g.Number(ref.Key))
		}
		for _, ref := range in {
			add(ref.Key, key, ref.Field)
			next = append(next, g.Number(ref.Key))
		}
		return next
	})
	for i, arc := range all {
		if shown[ends[i][0]] && shown[ends[i][1]] {
			sub.Edges = append(sub.Edges, arc)
		}
	}
	return sub, ctx.Err()
}

// Path returns the nodes and edges of a shortest way between two records of at
// most maxDepth edges, taken in either direction; empty when there is none.
func (g *Graph) Path(ctx context.Context, from, to string, maxDepth int) (*Subgraph, error) {
	start, err := g.find(from)
	if err != nil {
		return nil, fault.Under("from", err)
	}
	goal, err := g.find(to)
	if err != nil {
		return nil, fault.Under("to", err)
	}
	type hop struct {
		key    Key
		arc    Arc
		vertex *Vertex // as it was when the walk came by
	}
	came := map[Key]hop{start: {vertex: g.vertex(start, 0)}}
	visited, found := 0, start == goal
	g.Walk([]Node{g.Number(start)}, maxDepth, func(step Step) []Node {
		key := g.Key(step.Node)
		if visited++; found || visited > MaxNodes || ctx.Err() != nil {
			return nil
		}
		out, in := g.around(ctx, key)
		var next []Node
		reach := func(other Key, arc Arc) {
			if _, seen := came[other]; seen {
				return
			}
			v := g.vertex(other, 0)
			if v == nil {
				return
			}
			came[other] = hop{key, arc, v}
			next = append(next, g.Number(other))
			found = found || other == goal && step.Depth < maxDepth
		}
		for _, ref := range out {
			reach(ref.Key, Arc{key.ID, ref.ID, ref.Field})
		}
		for _, ref := range in {
			reach(ref.Key, Arc{ref.ID, key.ID, ref.Field})
		}
		return next
	})
	sub := &Subgraph{Nodes: []Vertex{}, Edges: []Arc{}, Truncated: !found && visited > MaxNodes}
	if !found {
		return sub, ctx.Err()
	}
	var way []Key
	for key := goal; ; key = came[key].key {
		way = append(way, key)
		if key == start {
			break
		}
		sub.Edges = append(sub.Edges, came[key].arc)
	}
	slices.Reverse(way)
	slices.Reverse(sub.Edges)
	for i, key := range way {
		v := came[key].vertex
		if v == nil { // the start went while we looked for it
			return &Subgraph{Nodes: []Vertex{}, Edges: []Arc{}}, ctx.Err()
		}
		v.Depth = i
		sub.Nodes = append(sub.Nodes, *v)
	}
	return sub, ctx.Err()
}
