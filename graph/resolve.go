package graph

import (
	"context"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
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
	State     string         `json:"state,omitempty"` // deleted, unresolved, or private without an id; "" for a live one
	Fields    map[string]any `json:"fields,omitempty"`
	Truncated bool           `json:"truncated,omitempty"` // a computed field has more rows

	// StandsOn is what the answer was made of, of the entity that was asked for.
	StandsOn record.StandsOn `json:"-"`
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
	if e == nil || g.hides(Key{Entity, id}) {
		return nil, fault.Missing("entity", id)
	}
	root := g.stub(e, id)
	// The places where an entity stands are filled when the walk comes to it.
	places := map[Node]*Resolved{g.Number(Key{Entity, id}): root}
	reached := 0
	var stood record.StandsOn // in any order
	g.Walk([]Node{g.Number(Key{Entity, id})}, depth, func(step Step) []Node {
		place := places[step.Node]
		var e *entities.Entity
		if place.State != statePrivate {
			e = g.ents.Get(place.ID)
		}
		reached++
		if e == nil || step.Depth >= depth && depth > 0 || reached > MaxNodes || yield.Point(ctx) != nil {
			return nil
		}
		var next []Node
		place.Fields = g.resolveFields(ctx, e, depth > 0, &stood, func(id string) *Resolved {
			r := g.stub(e, id)
			stood.Entities = append(stood.Entities, r.ID)
			n := g.Number(Key{Entity, id})
			if places[n] == nil {
				places[n] = r
			}
			next = append(next, n)
			return r
		})
		return next
	})
	root.StandsOn.Entity(id)
	root.StandsOn.All(stood)
	return root, ctx.Err()
}

// Why a Resolved has no fields.
const (
	stateDeleted    = "deleted"
	statePrivate    = "private"
	stateUnresolved = "unresolved" // the id is what was written where one belongs
)

// stub returns the entity of an id that from refers to, without its fields.
func (g *Graph) stub(from *entities.Entity, id string) *Resolved {
	if g.withheld(from, Key{Entity, id}) {
		return &Resolved{State: statePrivate}
	}
	e := g.ents.Get(id)
	if e == nil && record.NeverLed(id) {
		if g.text(from, id) != id {
			return &Resolved{State: statePrivate}
		}
		return &Resolved{ID: id, State: stateUnresolved}
	}
	if !e.Live() {
		r := &Resolved{ID: id, State: stateDeleted}
		if e != nil {
			r.Name, r.Type = g.entityName(e), e.Type
		}
		return r
	}
	return &Resolved{ID: e.ID, Name: g.entityName(e), Type: e.Type}
}

func (g *Graph) resolveFields(ctx context.Context, e *entities.Entity, follow bool, stood *record.StandsOn,
	reach func(id string) *Resolved,
) map[string]any {
	fields := make(map[string]any)
	t := g.typeOf(e)
	if t == nil {
		return fields
	}
	for _, f := range t.Fields {
		value, ok := e.Fields[f.Name]
		id, _ := value.(string) // the type may have changed since e was read
		to, isList := f.Type.Info().To, f.Type.Info().Form == record.ListValue
		switch {
		case f.Type.IsComputed() && follow:
			if v := g.resolveComputed(ctx, e, f, stood, reach); v != nil {
				fields[f.Name] = v
			}
		case !ok:
		case to == record.ToEntity && !isList && follow:
			fields[f.Name] = reach(id)
		case to == record.ToEntity && isList && follow:
			list := []*Resolved{}
			for _, id := range e.Strings(f.Name) {
				list = append(list, reach(id))
			}
			fields[f.Name] = list
		case to == record.ToNote && follow:
			fields[f.Name] = g.resolveNote(e, id)
		default:
			fields[f.Name] = g.stored(e, f, value)
		}
	}
	return fields
}

// resolveNote returns what a reference of an entity to a note leads to.
func (g *Graph) resolveNote(e *entities.Entity, id string) *Vertex {
	if g.withheld(e, Key{Note, id}) {
		return &Vertex{Kind: Note.String(), Name: Private}
	}
	v := g.vertex(Key{Note, id}, 0)
	switch {
	case v != nil:
		return v
	case record.NeverLed(id) && g.text(e, id) != id: // a name
		return &Vertex{Kind: Note.String(), Name: Private}
	}
	return &Vertex{ID: id, Kind: Note.String()}
}

// Stored returns the values of an entity as they are stored and the reader sees
// them: Private stands for a record that is hidden.
func (g *Graph) Stored(e *entities.Entity) map[string]any {
	if g.shown == nil {
		return e.Fields
	}
	fields := make(map[string]any, len(e.Fields))
	t := g.ents.TypeOf(e)
	for name, value := range e.Fields {
		f := entities.Field{Name: name, Type: record.Text}
		if t != nil {
			if declared, ok := t.Field(name); ok {
				f = declared
			}
		}
		fields[name] = g.stored(e, f, value)
	}
	return fields
}

// stored returns the stored value of a field as the reader sees it.
func (g *Graph) stored(e *entities.Entity, f entities.Field, value any) any {
	if g.shown == nil {
		return value
	}
	show := func(text string) string { return g.text(e, text) }
	if f.Type.IsRef() {
		kind := Entity
		if f.Type.Info().To == record.ToNote {
			kind = Note
		}
		show = func(id string) string {
			switch {
			case g.withheld(e, Key{kind, id}):
				return Private
			case record.NeverLed(id) && g.vertex(Key{kind, id}, 0) == nil && g.text(e, id) != id: // a name
				return Private
			}
			return id
		}
	}
	switch v := value.(type) {
	case string:
		return show(v)
	case []string:
		list := make([]string, len(v))
		for i, text := range v {
			list[i] = show(text)
		}
		return list
	}
	return value
}

// shownValue returns an aggregate of an entity's computed field as the reader sees it.
func (g *Graph) shownValue(e *entities.Entity, value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	return g.text(e, text)
}

func (g *Graph) resolveComputed(ctx context.Context, e *entities.Entity, f entities.Field, stood *record.StandsOn,
	reach func(id string) *Resolved,
) any {
	res, err := g.wql.Computed(ctx, e, f)
	if err != nil {
		return map[string]string{"error": fault.Message(err)}
	}
	ids, types := res.StandsOn()
	stood.Entities, stood.Types = append(stood.Entities, ids...), append(stood.Types, types...)
	if res.IsValue {
		return g.shownValue(e, res.Value)
	}
	list := []*Resolved{}
	for _, row := range res.Rows {
		list = append(list, reach(row.ID))
	}
	return list
}
