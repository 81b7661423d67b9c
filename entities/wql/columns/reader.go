package columns

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Get returns the live entity of an id, NotFound for none.
type Get func(ctx context.Context, id string) (*Entity, error)

// Entity is an entity with its references resolved, as entities.get gives it.
type Entity struct {
	*record.Entity
	TypeVault string         // the vault of its type, where that is one of a vault
	Fields    map[string]any // references are objects with an id
}

// Column is a field of the rows.
type Column struct {
	Name   string
	Values []any // by row: as in entities.get with resolve, a time.Time, or nil

	path []string
}

// Reader reads fields of entities, each entity once.
type Reader struct {
	get     Get
	types   map[string]*record.NamedTypes // by folded name
	columns []Column

	mu   sync.Mutex // guards read
	read map[string]*Entity
}

// NewReader makes a Reader for the types that there are. get may be nil for one that
// only looks fields up.
func NewReader(types []*record.Type, get Get) *Reader {
	r := &Reader{get: get, types: make(map[string]*record.NamedTypes, len(types)), read: make(map[string]*Entity)}
	for _, t := range types {
		key := text.Fold(t.Name)
		r.types[key] = r.types[key].With(t)
	}
	return r
}

// Types returns the types of that name: that of everybody first, then by vault.
func (r *Reader) Types(name string) []*record.Type {
	if types := r.types[text.Fold(name)].All(); len(types) > 0 {
		return types
	}
	if t := record.TypeOfTasks(name); t != nil {
		return []*record.Type{t}
	}
	return nil
}

// Field returns the declared field of the first type of a name that has it.
func (r *Reader) Field(typ, name string) (f record.Field, ok bool) {
	for _, t := range r.Types(typ) {
		if f, ok = t.Field(name); ok {
			return f, true
		}
	}
	return record.Field{}, false
}

// FieldOf returns the declared field of the type that an entity has. Of an entity whose type
// is not among them it is what Field says.
func (r *Reader) FieldOf(e *Entity, name string) (record.Field, bool) {
	if t := r.types[text.Fold(e.Type)].OfVault(e.TypeVault); t != nil {
		return t.Field(name)
	}
	return r.Field(e.Type, name)
}

// Spelt returns a path with its first field spelt as one of the types declares
// it. A path that can't be followed is not known.
func (r *Reader) Spelt(types []string, path []string) (out []string, known bool) {
	for _, name := range syntax.BuiltIn {
		if len(path) == 1 && strings.EqualFold(name, path[0]) {
			return []string{name}, true
		}
	}
	for _, typ := range types {
		f, ok := r.Field(typ, path[0])
		if !ok {
			continue
		}
		leads := f.Type.Info().To == record.ToEntity
		return append([]string{f.Name}, path[1:]...), leads || len(path) == 1
	}
	return path, false
}

// Add adds the column of a path that Spelt has returned, once. Rows have their id,
// name and type without it.
func (r *Reader) Add(path []string) {
	name := strings.Join(path, ".")
	had := slices.ContainsFunc(r.columns, func(c Column) bool { return c.Name == name })
	if had || slices.Contains(syntax.BuiltIn[:3], name) {
		return
	}
	r.columns = append(r.columns, Column{Name: name, path: path})
}

// AddMentioned adds the columns of the fields that a query mentions.
func (r *Reader) AddMentioned(q *syntax.Query) {
	from := From(q)
	for _, path := range Mentioned(q) {
		if path, known := r.Spelt(from, path); known {
			r.Add(path)
		}
	}
}

// Fill reads the columns of rows and returns them.
func (r *Reader) Fill(ctx context.Context, rows []record.WQLRow) ([]Column, error) {
	for i := range r.columns {
		if err := r.fill(ctx, &r.columns[i], rows); err != nil {
			return nil, err
		}
	}
	return r.columns, nil
}

// fill reads a column: all entities that a step of its path needs at a time.
func (r *Reader) fill(ctx context.Context, c *Column, rows []record.WQLRow) error {
	at := make([][]any, len(rows)) // by row: the references that the path has come to
	for i, row := range rows {
		if row.Task == nil {
			at[i] = []any{map[string]any{"id": row.ID}}
		}
	}
	lists := make([]bool, len(rows)) // the path has come through a list, which may be empty
	for _, name := range c.path {
		if err := r.load(ctx, at); err != nil {
			return err
		}
		for i, refs := range at {
			var next []any
			for _, ref := range refs {
				v := r.value(ref, name)
				if many, ok := v.([]any); ok {
					next, lists[i] = append(next, many...), true
				} else if v != nil {
					next = append(next, v)
				}
			}
			at[i] = next
		}
	}
	c.Values = make([]any, len(rows))
	for i, values := range at {
		switch {
		case rows[i].Task != nil:
			c.Values[i] = taskValue(rows[i].Task, c.path)
		case lists[i]:
			c.Values[i] = append([]any{}, values...)
		case len(values) > 0:
			c.Values[i] = values[0]
		}
	}
	return nil
}

// taskValue returns a field of a task, as value does of an entity.
func taskValue(t *record.Task, path []string) any {
	if len(path) != 1 {
		return nil
	}
	tags, ok := t.Value(path[0]).([]string)
	if !ok {
		return t.Value(path[0])
	}
	list := make([]any, len(tags))
	for i, tag := range tags {
		list[i] = tag
	}
	return list
}

// value returns a field of what a reference leads to.
func (r *Reader) value(ref any, name string) any {
	e := r.read[idOf(ref)]
	if e == nil {
		return nil
	}
	switch strings.ToLower(name) {
	case "id":
		return e.ID
	case "name":
		return e.Name
	case "type":
		return e.Type
	case "createdat":
		return e.CreatedAt
	case "updatedat":
		return e.UpdatedAt
	}
	f, ok := r.FieldOf(e, name)
	if !ok {
		return nil
	}
	return e.Fields[f.Name]
}

func idOf(ref any) string {
	record, _ := ref.(map[string]any)
	id, _ := record["id"].(string)
	return id
}

// readAhead is how many entities are asked for at a time: as the daemon answers
// them side by side, the way there and back is waited for rarely.
const readAhead = 8

// load reads the entities that references lead to, with their own references
// resolved. One that is gone is left out.
func (r *Reader) load(ctx context.Context, at [][]any) error {
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(readAhead)
	for _, refs := range at {
		for _, ref := range refs {
			id := idOf(ref)
			r.mu.Lock()
			_, had := r.read[id]
			if !had {
				r.read[id] = nil
			}
			r.mu.Unlock()
			if had || id == "" {
				continue
			}
			calls.Go(func() error {
				e, err := r.get(ctx, id)
				switch {
				case err != nil && fault.KindOf(err) == fault.NotFound:
					return nil
				case err != nil:
					return err
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				r.read[id] = e
				return nil
			})
		}
	}
	err := calls.Wait()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return fault.Wrap(fault.Cancelled, err, "the query was cancelled")
	}
	return err
}
