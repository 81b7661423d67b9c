package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) wqlQuery(ctx context.Context, _ *Session, p protocol.WQLQuery) (*protocol.WQLResult, error) {
	engine := r.WQL
	if p.Audience == gather.Remote {
		engine = r.Gather.Public()
	}
	res, err := engine.Query(ctx, p.Query, wql.QueryOptions{This: p.This, Limit: p.Limit, Explain: p.Explain})
	if err != nil {
		return nil, err
	}
	if p.Audience == gather.Remote {
		r.Gather.Mask(res)
	}
	out := &protocol.WQLResult{Rows: res.Rows, Total: res.Total, Truncated: res.Truncated, Plan: res.Plan}
	if res.IsValue {
		out.Value = protocol.Optional[any]{Value: res.Value, Set: true, Null: res.Value == nil}
	}
	return out, nil
}

func (r *Rooms) wqlCheck(_ context.Context, _ *Session, p protocol.WQLCheck) (protocol.WQLChecked, error) {
	out := protocol.WQLChecked{OK: true, Diagnostics: r.WQL.Check(p.Query, p.Type)}
	if out.Diagnostics == nil {
		out.Diagnostics = []entities.Diagnostic{}
	}
	for _, d := range out.Diagnostics {
		if d.Severity == entities.SeverityError {
			out.OK = false
		}
	}
	return out, nil
}
