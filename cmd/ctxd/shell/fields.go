package shell

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// answer is the answer to a query with what is shown of its rows.
type answer struct {
	protocol.WQLResult
	query   string
	columns []column // behind id, name and type
	asked   int      // rows at most; 0: the daemon's default
	took    time.Duration
}

// column is a field of the rows.
type column struct {
	name   string
	path   []string
	values []any // by row: as in entities.get with resolve, a time.Time, or nil
}

// columns reads the fields that are shown of the rows: those that were asked for,
// else those that the query mentions.
func (s *session) columns(ctx context.Context, query string, ans *answer) ([]column, error) {
	paths := make([][]string, len(s.view.fields))
	for i, name := range s.view.fields {
		paths[i] = strings.Split(strings.TrimSpace(name), ".")
	}
	from, said := mentioned(query)
	chosen := len(paths) > 0
	if !chosen && s.view.format != formatJSON {
		paths = said
	}
	if len(paths) == 0 || ans.Value.Set {
		return nil, nil
	}
	var list protocol.TypeList
	if err := s.call(ctx, "types.list", nil, &list); err != nil {
		return nil, err
	}
	r := &fieldReader{session: s, types: typesByName(list.Types), read: map[string]*protocol.EntityFull{}}
	for _, path := range paths {
		path, known := r.spelt(from, path)
		name := strings.Join(path, ".")
		switch {
		case !known && chosen:
			return nil, r.unknownField(from, name)
		case !known, slices.ContainsFunc(r.columns,
			func(c column) bool { return c.name == name }), slices.Contains(syntax.BuiltIn[:3], name):
			continue
		}
		r.columns = append(r.columns, column{name: name, path: path})
	}
	for i := range r.columns {
		if err := r.fill(ctx, &r.columns[i], ans.Rows); err != nil {
			return nil, err
		}
	}
	return r.columns, nil
}

func typesByName(list []protocol.TypeCount) map[string]*entities.Type {
	out := make(map[string]*entities.Type, len(list))
	for i := range list {
		out[entities.Fold(list[i].Name)] = &list[i].Type
	}
	return out
}

// fieldReader reads fields of entities, each entity once.
type fieldReader struct {
	session *session
	types   map[string]*entities.Type
	columns []column

	mu   sync.Mutex // guards read
	read map[string]*protocol.EntityFull
}

// field returns the declared field of a type.
func (r *fieldReader) field(typ, name string) (entities.Field, bool) {
	if t := r.types[entities.Fold(typ)]; t != nil {
		return t.Field(name)
	}
	return entities.Field{}, false
}

// spelt returns a path with its first field spelt as one of the types declares
// it.
func (r *fieldReader) spelt(types []string, path []string) (out []string, known bool) {
	for _, name := range syntax.BuiltIn {
		if len(path) == 1 && strings.EqualFold(name, path[0]) {
			return []string{name}, true
		}
	}
	for _, typ := range types {
		f, ok := r.field(typ, path[0])
		if !ok {
			continue
		}
		leads := f.Type.Info().To == record.ToEntity
		return append([]string{f.Name}, path[1:]...), leads || len(path) == 1
	}
	return path, false
}

// unknownField is the error for a field that none of the types has.
func (r *fieldReader) unknownField(types []string, name string) error {
	names := slices.Clone(syntax.BuiltIn[3:])
	for _, typ := range types {
		if t := r.types[entities.Fold(typ)]; t != nil {
			for _, f := range t.Fields {
				names = append(names, f.Name)
			}
		}
	}
	err := command.Misuse("there is no field "+name, "there are "+strings.Join(names, ", "))
	if near := command.Nearest(name, names); len(near) > 0 {
		err.Hint = "did you mean " + strings.Join(near, ", or ") + "?"
	}
	return err
}

// fill reads a column: all entities that a step of its path needs at a time.
func (r *fieldReader) fill(ctx context.Context, c *column, rows []wql.Row) error {
	at := make([][]any, len(rows)) // by row: the references that the path has come to
	for i, row := range rows {
		at[i] = []any{map[string]any{"id": row.ID}}
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
	c.values = make([]any, len(rows))
	for i, values := range at {
		switch {
		case lists[i]:
			c.values[i] = append([]any{}, values...)
		case len(values) > 0:
			c.values[i] = values[0]
		}
	}
	return nil
}

// value returns a field of what a reference leads to.
func (r *fieldReader) value(ref any, name string) any {
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
	f, ok := r.field(e.Type, name)
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
func (r *fieldReader) load(ctx context.Context, at [][]any) error {
	cl, err := r.session.conn()
	if err != nil {
		return err
	}
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
				var e protocol.EntityFull
				err := cl.Call(ctx, "entities.get", protocol.EntityGet{ID: id, Resolve: 1}, &e)
				if fault.KindOf(err) == fault.NotFound && err != nil {
					return nil
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				r.read[id] = &e
				return err
			})
		}
	}
	err = calls.Wait()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return fault.Wrap(fault.Cancelled, err, "the query was cancelled")
	}
	return err
}
