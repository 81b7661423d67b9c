package rpc

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) adminReindex(ctx context.Context, _ *Session, p protocol.Reindex) (protocol.Reindexed, error) {
	began := time.Now()
	out := protocol.Reindexed{What: p.What}
	progress := func(stage string) func(done, total int) {
		return func(done, total int) { Report(ctx, stage, int64(done), int64(total)) }
	}
	if p.What != protocol.ReindexVectors {
		if err := r.Search.ReindexWords(ctx, progress("words")); err != nil {
			return out, err
		}
		_, out.Notes, _ = r.Notes.Count()
	}
	if p.What != protocol.ReindexWords {
		if err := r.Search.ReindexVectors(ctx, progress("vectors")); err != nil {
			return out, err
		}
		st := r.Search.Stats().Meanings
		out.Notes, out.Vectors, out.Refused = st.Docs, st.Vectors, st.Refused
	}
	out.MS = time.Since(began).Milliseconds()
	return out, nil
}
