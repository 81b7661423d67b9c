package rpc

import (
	"context"
	"errors"
	"strings"

	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Deps) chatImport(ctx context.Context, _ *Session, p protocol.ChatImport) (protocol.ChatImported, error) {
	o := transfer.FileImportOptions{
		DryRun: p.DryRun, Private: p.Private,
		Progress: func(done, total int64) { ReportProgress(ctx, "read", done, total) }, IsPrivate: r.Vaults.IsPrivateFile,
	}
	v := r.Audience.View(audience.Local)
	var got *transfer.ImportReport
	var err error
	switch {
	case (p.Path == "") == (p.Data == ""):
		return protocol.ChatImported{}, fault.Field("path", "neither path nor data is given, or both are").WithHint("give one of them")
	case p.Data != "":
		got, err = transfer.ImportReader(ctx, r.Chat, v, strings.NewReader(p.Data), int64(len(p.Data)), o)
	default:
		got, err = transfer.ImportFile(ctx, r.Chat, v, p.Path, o)
	}
	out := protocol.ChatImported{
		DryRun: p.DryRun, Conversations: got.Conversations, Continued: got.Continued, Unchanged: got.Unchanged,
		Messages: got.Messages, Known: got.Known, TooLarge: got.TooLarge, Full: got.Full,
		Empty: got.Read.Empty, Branches: got.Read.Branches, Attachments: got.Read.Attachments,
		Skipped: got.Read.Skipped, Problems: []protocol.ChatProblem{},
	}
	if got.Own != nil {
		out.Conversation, out.HandleTaken = got.Own.ConversationID, got.Own.HandleTaken
	}
	for _, x := range got.Read.Problems {
		out.Problems = append(out.Problems, protocol.ChatProblem{
			File: x.File, Number: x.Number, Offset: x.Offset, End: x.End, Reason: string(x.Reason),
		})
	}
	err = withPathParam(err)
	var known *fault.Error
	if p.Data != "" && errors.As(err, &known) && known.Field == "path" {
		about := *known
		about.Field = "data"
		err = &about
	}
	return out, err
}
