package graph

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/yield"
)

// MaxNodes bounds what Neighbors and Path visit.
const MaxNodes = 10_000

func keyOf(v *Vertex) Key {
	if v.Kind == Note.String() {
		return Key{Note, v.ID}
	}
	return Key{Entity, v.ID}
}

// WikiLink is the Field of an Arc between notes.
const WikiLink = "link"

// Index finds the ends of arcs among the nodes.
type Index struct{ at map[Key]int }

// IndexOf returns the Index of the nodes as they are now.
func IndexOf(s *Subgraph) Index {
	at := make(map[Key]int, len(s.Nodes))
	for i := range s.Nodes {
		at[keyOf(&s.Nodes[i])] = i
	}
	return Index{at}
}

// Ends returns where the ends of an arc stand in Nodes; ok is false when one of
// them is not there.
func (x Index) Ends(a Arc) (from, to int, ok bool) {
	from, has := x.end(a.From, a.FromKind)
	to, hasTo := x.end(a.To, a.ToKind)
	return from, to, has && hasTo
}

func (x Index) end(id, kind string) (int, bool) {
	first, second := Entity, Note
	if kind == Note.String() {
		first, second = Note, Entity
	}
	if at, ok := x.at[Key{first, id}]; ok {
		return at, true
	}
	at, ok := x.at[Key{second, id}]
	return at, ok
}

// link is an arc by the keys of its ends.
type link struct {
	from, to Key
	field    string
}

// arcs writes links for people: with the kinds of their ends only where ids
// alone don't tell them.
func (x Index) arcs(links []link) []Arc {
	arcs := make([]Arc, len(links))
	for i, l := range links {
		arcs[i] = Arc{From: l.from.ID, To: l.to.ID, Field: l.field, FromKind: x.kind(l.from), ToKind: x.kind(l.to)}
	}
	return arcs
}

func (x Index) kind(k Key) string {
	if _, both := x.at[Key{Entity + Note - k.Kind, k.ID}]; both {
		return k.Kind.String()
	}
	return ""
}

// linksAPoint is how many links are looked at between two yield.Points.
const linksAPoint = 256

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
	return Key{}, fault.New(fault.NotFound, "no entity or note has the id %q", id).WithRef(id).
		WithHint("entities.complete and notes.complete find records by name")
}

// vertex describes a node, nil for one that is gone or archived.
func (g *Graph) vertex(key Key, depth int) *Vertex {
	if g.hides(key) {
		return nil
	}
	if key.Kind == Note {
		if n := g.notes.Get(key.ID); n.Live() {
			return &Vertex{ID: n.ID, Kind: Note.String(), Name: g.noteTitle(n), Depth: depth}
		}
		return nil
	}
	if e := g.ents.Get(key.ID); e.Live() {
		return &Vertex{ID: e.ID, Kind: Entity.String(), Name: g.entityName(e), Type: e.Type, Depth: depth}
	}
	return nil
}

// around returns the edges of a node in both directions: an entity's stored
// and computed references, what refers to it, wikilinks of notes. Computed
// references are seen only from the entity whose field it is.
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
	return out, append(in, g.referring(key)...)
}

// referring returns the stored references that lead to a node: the entities
// that hold them in id order, the fields of each in their own order.
func (g *Graph) referring(key Key) []Ref {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n, ok := g.node[key.Kind][key.ID]
	if !ok {
		return nil
	}
	from := slices.Clone(g.in[n])
	slices.SortFunc(from, func(a, b Node) int { return strings.Compare(g.keys[a].ID, g.keys[b].ID) })
	refs := make([]Ref, 0, len(from))
	for _, f := range from {
		for _, e := range g.out[f] {
			if e.To == n {
				refs = append(refs, Ref{g.keys[f], e.Field})
			}
		}
	}
	return refs
}

// Neighbors returns the live nodes within depth edges of id, in either
// direction, and the edges among them. kinds narrows the nodes to entities or
// notes, and so what the way there leads through; empty means both. It takes
// O(nodes + edges) of what it reaches, besides its computed fields.
func (g *Graph) Neighbors(ctx context.Context, id string, depth int, kinds []string) (*Subgraph, error) {
	root, err := g.find(id)
	if err != nil {
		return nil, err
	}
	sub := &Subgraph{Nodes: []Vertex{}, Edges: []Arc{}}
	shown := make(map[Key]bool)
	wanted := func(k Key) bool { return k == root || len(kinds) == 0 || slices.Contains(kinds, k.Kind.String()) }
	var links []link
	g.Walk([]Node{g.Number(root)}, depth, func(step Step) []Node {
		key := g.Key(step.Node)
		if yield.Point(ctx) != nil || !wanted(key) {
			return nil
		}
		v := g.vertex(key, step.Depth)
		if v == nil {
			return nil
		}
		if len(sub.Nodes) >= MaxNodes {
			sub.Truncated = true
			return nil
		}
		shown[key] = true
		sub.Nodes = append(sub.Nodes, *v)
		out, in := g.around(ctx, key)
		next := make([]Node, 0, len(out)+len(in))
		for _, ref := range out {
			links = append(links, link{key, ref.Key, ref.Field})
			next = append(next, g.Number(ref.Key))
		}
		for _, ref := range in {
			links = append(links, link{ref.Key, key, ref.Field})
			next = append(next, g.Number(ref.Key))
		}
		return next
	})
	seen := make(map[link]bool, len(links))
	links = slices.DeleteFunc(links, func(l link) bool {
		_ = yield.Every(ctx, linksAPoint, len(seen)) // what it returns is looked at below
		again := seen[l]
		seen[l] = true
		return again || !shown[l.from] || !shown[l.to]
	})
	sub.Edges = append(sub.Edges, IndexOf(sub).arcs(links)...)
	return sub, ctx.Err()
}
