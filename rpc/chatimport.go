package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/importing"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/rpc/host"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) chatImport(ctx context.Context, _ *Session, p protocol.ChatImport) (protocol.ChatImported, error) {
	got, err := importing.File(ctx, r.Chat, r.Audience.View(audience.Local), p.Path, importing.Options{
		DryRun: p.DryRun, Private: p.Private,
		Progress: func(done, total int64) { Report(ctx, "read", done, total) },
	})
	out := protocol.ChatImported{
		DryRun: p.DryRun, Conversations: got.Conversations, Continued: got.Continued, Unchanged: got.Unchanged,
		Messages: got.Messages, Known: got.Known, TooLarge: got.TooLarge, Full: got.Full,
		Empty: got.Read.Empty, Branches: got.Read.Branches, Attachments: got.Read.Attachments,
		Skipped: got.Read.Skipped, Problems: []protocol.ChatProblem{},
	}
	for _, x := range got.Read.Problems {
		out.Problems = append(out.Problems, protocol.ChatProblem{
			File: x.File, Number: x.Number, Offset: x.Offset, End: x.End, Reason: string(x.Reason),
		})
	}
	return out, host.AboutPath(err)
}
