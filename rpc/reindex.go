package rpc

import (
	"cmp"
	"context"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Deps) adminReindex(ctx context.Context, _ *Session, p protocol.Reindex) (protocol.Reindexed, error) {
	began := time.Now()
	out := protocol.Reindexed{What: p.What, Kind: p.Kind}
	for _, x := range r.indexes() {
		if p.Kind != "" && p.Kind != cmp.Or(x.kind, protocol.KindNotes) {
			continue
		}
		docs, err := x.reindex(ctx, p.What)
		if err != nil {
			return out, err
		}
		if x.kind != "" {
			out.Others += docs
			continue
		}
		out.Notes = docs
		if p.What != protocol.ReindexWords {
			st := x.Stats().Meanings
			out.Vectors, out.Refused = st.Vectors, st.Refused
		}
	}
	out.MS = time.Since(began).Milliseconds()
	return out, nil
}

// reindex makes an index anew, and returns how many documents are in it.
func (x index) reindex(ctx context.Context, what string) (docs int, err error) {
	progress := func(stage string) func(done, total int) {
		if x.kind != "" {
			stage += " of " + x.kind
		}
		return func(done, total int) { ReportProgress(ctx, stage, int64(done), int64(total)) }
	}
	if what != protocol.ReindexVectors {
		if err := x.ReindexWords(ctx, progress("words")); err != nil {
			return 0, err
		}
		docs, _ = x.Size()
	}
	if what != protocol.ReindexWords {
		if err := x.ReindexVectors(ctx, progress("vectors")); err != nil {
			return 0, err
		}
		docs = x.Stats().Meanings.Docs
	}
	return docs, nil
}
