package rpc

import (
	"context"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) wqlQuery(ctx context.Context, _ *Session, p protocol.WQLQuery) (*protocol.WQLResult, error) {
	if p.This != "" {
		e, err := c.view.FindEntity(p.This, "")
		if err != nil {
			return nil, fault.In("this", err)
		}
		p.This = e.ID
	}
	res, err := c.view.Query(ctx, p.Query, wql.QueryOptions{
		This: p.This, Limit: p.Limit, Explain: p.Explain,
	})
	if err != nil {
		return nil, err
	}
	out := &protocol.WQLResult{Rows: res.Rows, Total: res.Total, Truncated: res.Truncated, Plan: res.Plan}
	c.citeTasks(out.Rows)
	if res.IsValue {
		out.Value = protocol.Optional[any]{Value: res.Value, Set: true, Null: res.Value == nil}
	}
	return out, nil
}

// citeTasks has the rows of tasks say what leads to their notes where others are called so, too.
func (c scope) citeTasks(rows []record.WQLRow) {
	links := c.view.LinksFrom("")
	for i := range rows {
		if rows[i].Task != nil {
			rows[i].Link = links.Instead(c.view.Note(rows[i].ID))
		}
	}
}

func (c scope) wqlCheck(_ context.Context, _ *Session, p protocol.WQLCheck) (protocol.WQLChecked, error) {
	out := protocol.WQLChecked{OK: true, Diagnostics: c.view.Check(p.Query, p.Type)}
	if out.Diagnostics == nil {
		out.Diagnostics = []entities.Diagnostic{}
	}
	for _, d := range out.Diagnostics {
		if d.Severity == record.SeverityError {
			out.OK = false
		}
	}
	return out, nil
}
