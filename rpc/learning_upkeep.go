package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// listedChanges is how many changes a report lists.
const listedChanges = 1000

// Upkeep is memory.upkeep.
func (r *learningHandlers) Upkeep(ctx context.Context, _ callReader, p protocol.MemoryUpkeep) (out record.Upkept, err error) {
	var rep *learn.UpkeepReport
	switch {
	case p.Undo == "":
		rep, err = r.Keeper.Run(ctx, learn.UpkeepRequest{
			DryRun: p.DryRun, Steps: p.Steps,
			Progress: func(step string, done, total int) { ReportProgress(ctx, step, int64(done), int64(total)) },
		})
	case p.DryRun || len(p.Steps) > 0:
		return out, fault.Field("undo", "undo stands beside dryRun or steps").WithHint("give it alone")
	default:
		if err := entities.CheckID("undo", p.Undo); err != nil {
			return out, err
		}
		rep, err = r.Keeper.Undo(ctx, p.Undo)
	}
	if err != nil {
		return out, err
	}
	out = record.Upkept{
		RunID: rep.RunID, Changes: []record.UpkeepChange{}, Total: len(rep.Changes), Queued: rep.Queued, Tokens: rep.Tokens,
		Facts: rep.Facts, Merged: rep.Same, Pairs: rep.Pairs, Decided: rep.Decided, Skipped: append([]string{}, rep.Skipped...),
	}
	for _, c := range rep.Changes[:min(len(rep.Changes), listedChanges)] {
		out.Changes = append(out.Changes, record.UpkeepChange(c))
	}
	return out, nil
}

// Conflicts is memory.conflicts.
func (r *learningHandlers) Conflicts(ctx context.Context, by callReader, p protocol.MemoryConflicts) (out protocol.MemoryConflicting, err error) {
	out.Conflicts = []record.Contradiction{}
	after := ""
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return out, err
		}
		after = m.ID
	}
	list, next, err := r.Keeper.Conflicts(ctx, by.View, after, p.Limit)
	if err != nil {
		return out, err
	}
	for _, c := range list {
		out.Conflicts = append(out.Conflicts, record.Contradiction{ID: c.ID, With: c.With, Why: c.Why, State: c.State})
	}
	if next != "" {
		out.NextCursor = pageMark{ID: next}.Cursor()
	}
	return out, nil
}

// Settle is memory.settle.
func (r *learningHandlers) Settle(ctx context.Context, by callReader, p protocol.MemorySettle) (out protocol.MemoryList, err error) {
	for _, id := range []struct{ field, id string }{{"id", p.ID}, {"with", p.With}} {
		if err := entities.CheckID(id.field, id.id); err != nil {
			return out, err
		}
	}
	out.Memories, err = r.Keeper.Settle(ctx, by.View, p.ID, p.With, p.Resolution)
	return out, err
}
