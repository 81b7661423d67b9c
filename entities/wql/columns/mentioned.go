package columns

import (
	"strings"

	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Mentioned returns the paths that the conditions and the order of a query ask for, in
// the order of the text, without the alias. Those of the operands in first stand before
// them.
func Mentioned(q *syntax.Query, first ...syntax.Operand) [][]string {
	m := &mentions{query: q}
	for _, x := range first {
		m.operand(x)
	}
	if q.Where != nil {
		m.expr(q.Where)
	}
	for _, key := range q.Order {
		m.operand(key.Key)
	}
	return m.paths
}

// From returns the names of the types of a query.
func From(q *syntax.Query) (types []string) {
	for _, name := range q.From {
		types = append(types, name.Text)
	}
	return types
}

type mentions struct {
	query *syntax.Query
	paths [][]string
}

func (m *mentions) expr(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Logic:
		for _, arg := range x.Args {
			m.expr(arg)
		}
	case *syntax.Not:
		m.expr(x.X)
	case *syntax.Compare:
		m.operand(x.Left)
		m.operand(x.Right)
	case *syntax.In:
		m.operand(x.X)
	case *syntax.Between:
		m.operand(x.X)
		m.operand(x.Low)
		m.operand(x.High)
	case *syntax.IsNull:
		m.operand(x.X)
	}
}

func (m *mentions) operand(x syntax.Operand) {
	switch x := x.(type) {
	case *syntax.Path:
		path := make([]string, 0, len(x.Segments))
		for _, name := range x.Segments {
			path = append(path, name.Text)
		}
		alias := m.query.Alias
		if alias == nil {
			alias = m.query.What.Alias // SELECT p FROM Person
		}
		if alias != nil && len(path) > 1 && strings.EqualFold(path[0], alias.Text) {
			path = path[1:]
		}
		m.paths = append(m.paths, path)
	case *syntax.Call:
		for _, arg := range x.Args {
			m.operand(arg)
		}
	case *syntax.Shift:
		m.operand(x.X)
	}
}
