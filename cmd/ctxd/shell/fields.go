package shell

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/client/rows"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// answer is the answer to a query with what is shown of its rows.
type answer struct {
	protocol.WQLResult
	query   string
	columns []columns.Column // behind id, name and type
	asked   int              // rows at most; 0: the daemon's default
	took    time.Duration
}

// columns reads the fields that are shown of the rows: those that were asked for,
// else those that the query mentions.
func (s *session) columns(ctx context.Context, query string, ans *answer) ([]columns.Column, error) {
	q, _ := syntax.Parse(query)
	mentions := s.view.format != formatJSON && q != nil
	if len(s.view.fields) == 0 && !mentions || ans.Value.Set {
		return nil, nil
	}
	cl, err := s.conn()
	if err != nil {
		return nil, err
	}
	var list protocol.TypeList
	if err := s.call(ctx, "types.list", nil, &list); err != nil {
		return nil, err
	}
	r := rows.NewReader(list.Types, cl.Call)
	var from []string
	if q != nil {
		from = columns.From(q)
	}
	for _, name := range s.view.fields {
		path, known := r.Spelt(from, strings.Split(strings.TrimSpace(name), "."))
		if !known {
			return nil, unknownField(r, from, strings.Join(path, "."))
		}
		r.Add(path)
	}
	if len(s.view.fields) == 0 {
		r.AddMentioned(q)
	}
	return r.Fill(ctx, ans.Rows)
}

// unknownField is the error for a field that none of the types has.
func unknownField(r *columns.Reader, types []string, name string) error {
	names := slices.Clone(syntax.BuiltIn[3:])
	for _, typ := range types {
		for _, t := range r.Types(typ) {
			for _, f := range t.Fields {
				if !slices.Contains(names, f.Name) {
					names = append(names, f.Name)
				}
			}
		}
	}
	err := term.Misuse("there is no field "+name, "there are "+strings.Join(names, ", "))
	if near := text.Nearest(name, names); len(near) > 0 {
		err.Hint = "did you mean " + strings.Join(near, ", or ") + "?"
	}
	return err
}

// typesByName returns the types by the fold of their names; several of one name as one that
// has the fields of all of them.
func typesByName(list []protocol.TypeCount) map[string]*entities.Type {
	out := make(map[string]*entities.Type, len(list))
	for i := range list {
		key := entities.Fold(list[i].Name)
		have := out[key]
		if have == nil {
			out[key] = &list[i].Type
			continue
		}
		all := *have
		all.Fields = slices.Clone(have.Fields)
		for _, f := range list[i].Fields {
			if _, known := have.Field(f.Name); !known {
				all.Fields = append(all.Fields, f)
			}
		}
		out[key] = &all
	}
	return out
}
