package graph

import (
	"context"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// MaxResolve is the greatest depth of Resolve.
const MaxResolve = 4

// Resolved is an entity whose references are resolved. Fields has the stored
// values, and in place of references and computed fields what they lead to: a
// *Resolved or a list of them for entities, a Vertex for a note, a value for
// an aggregate. What is gone shows with its id and State.
type Resolved struct {
	ID        string         `json:"id"`
	Name      string         `json:"name,omitempty"`
	Type      string         `json:"type,omitempty"`
	State     string         `json:"state,omitempty"` // deleted; "" for a live one
	Fields    map[string]any `json:"fields,omitempty"`
	Truncated bool           `json:"truncated,omitempty"` // a computed field has more rows
}

// Resolve returns the entity of that id with its references resolved to depth
// edges. Each entity has its fields only where it is first reached, breadth
// first, so cycles end and the answer is at most linear in what is reached. A
// computed field that fails has an {"error": …} in its place.
func (g *Graph) Resolve(ctx context.Context, id string, depth int) (*Resolved, error) {
	if depth < 0 || depth > MaxResolve {
		return nil, fault.Field("resolve", "resolve is %d", depth).WithHint("give a depth from 0 to %d", MaxResolve)
	}
	e := g.ents.Get(id)
	if e == nil {
		return nil, fault.Missing("entity", id)
	}
	root := g.stub(id)
	// The places where an entity stands are filled when the walk comes to it.
	places := map[Node]*Resolved{g.Number(Key{Entity, id}): root}
	reached := 0
	g.Walk([]Node{g.Number(Key{Entity, id})}, depth, func(step Step) []Node {
		place := places[step.Node]
		e := g.ents.Get(place.ID)
		if reached++; e == nil || step.Depth >= depth && depth > 0 || reached > MaxNodes || ctx.Err() != nil {
			return nil
		}
		var next []Node
		place.Fields = g.resolveFields(ctx, e, depth > 0, func(id string) *Resolved {
			r := g.stub(id)
			n := g.Number(Key{Entity, id})
			if places[n] == nil {
				places[n] = r
			}
			next = append(next, n)
			return r
		})
		return next
	})
	return root, ctx.Err()
}

func (g *Graph) stub(id string) *Resolved {
	e := g.ents.Get(id)
	if !e.Live() {
		r := &Resolved{ID: id, State: "deleted"}
		if e != nil {
			r.Name, r.Type = e.Name, e.Type
		}
		return r
	}
	return &Resolved{ID: e.ID, Name: e.Name, Type: e.Type}
}

func (g *Graph) resolveFields(ctx context.Context, e *entities.Entity, follow bool, reach func(id string) *Resolved) map[string]any {
	fields := make(map[string]any)
	t := g.ents.Type(e.Type)
	if t == nil {
		return fields
	}
	for _, f := range t.Fields {
		value, ok := e.Fields[f.Name]
		id, _ := value.(string) // the type may have changed since e was read
		switch {
		case f.Type == entities.Computed && follow:
			if v := g.resolveComputed(ctx, e, f, reach); v != nil {
				fields[f.Name] = v
			}
		case !ok:
		case f.Type == entities.EntityRef && follow:
			fields[f.Name] = reach(id)
		case f.Type == entities.EntityRefList && follow:
			list := []*Resolved{}
			for _, id := range e.Strings(f.Name) {
				list = append(list, reach(id))
			}
			fields[f.Name] = list
		case f.Type == entities.NoteRef && follow:
			v := g.vertex(Key{Note, id}, 0)
			if v == nil {
				v = &Vertex{ID: id, Kind: Note.String()}
			}
			fields[f.Name] = v
		default:
			fields[f.Name] = value
		}
	}
	return fields
}

func (g *Graph) resolveComputed(ctx context.Context, e *entities.Entity, f entities.Field, reach func(id string) *Resolved) any {
	res, err := g.wql.Computed(ctx, e, f)
	if err != nil {
		return map[string]string{"error": fault.Message(err)}
	}
	if res.IsValue {
		return res.Value
	}
	list := []*Resolved{}
	for _, row := range res.Rows {
		list = append(list, reach(row.ID))
	}
	return list
}
