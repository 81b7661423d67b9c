package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
)

// isOwn reports whether a file may be an export of this program.
func isOwn(r io.ReaderAt, size int64) (bool, error) {
	begin := make([]byte, min(size, 1<<10))
	n, err := r.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fault.Wrap(fault.Unavailable, err, "the file can't be read")
	}
	return isOwnExport(begin[:n]), nil
}

// readOwn is Read for an export of this program.
func readOwn(ctx context.Context, store *chat.Store, v *audience.View, r io.ReaderAt, size int64, o FileImportOptions, err error,
) (*ImportReport, error) {
	out := new(ImportReport)
	if err != nil {
		return out, err
	}
	got, err := ImportJSON(ctx, store, v, r, size, JSONImportOptions{DryRun: o.DryRun, Private: o.Private, Hide: o.hidden, Progress: o.Progress})
	if err != nil {
		return out, err
	}
	out.Messages, out.Known = got.Messages, got.Known
	out.Read.Files, out.Read.Conversations, out.Read.Messages = 1, 1, got.Messages+got.Known
	switch {
	case !got.Begun:
		out.Conversations = 1
	case got.Messages > 0:
		out.Continued = 1
	default:
		out.Unchanged = 1
	}
	out.Own = &OwnImport{ConversationID: got.ConversationID, HandleTaken: got.HandleTaken}
	return out, nil
}
