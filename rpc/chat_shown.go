package rpc

import (
	"context"
	"fmt"

	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) chatReferences(ctx context.Context, _ *Session, p protocol.ChatReferences) (out protocol.ChatReferenceList, err error) {
	q := cites.SourceRequest{Conversation: p.ConversationID, Message: p.MessageID, Index: p.Index, All: p.All, Limit: p.Limit}
	if p.Cursor != "" {
		if q.After, err = shownPlace(p.Cursor); err != nil {
			return out, err
		}
	}
	page, err := c.shower.References(ctx, c.view, q)
	if err != nil {
		return out, err
	}
	out = protocol.ChatReferenceList{Items: page.List, Total: page.Total, Unused: page.Unused}
	if next := page.Next; next != nil {
		out.NextCursor = pageMark{ID: fmt.Sprintf("%d/%d/%d", next.Rank, next.Index, next.N)}.Cursor()
	}
	return out, nil
}

// shownPlace reads the cursor of a page of references.
func shownPlace(cursor string) (*cites.SourceCursor, error) {
	m, err := parsePageMark(cursor)
	if err != nil {
		return nil, err
	}
	var p cites.SourceCursor
	if n, err := fmt.Sscanf(m.ID, "%d/%d/%d", &p.Rank, &p.Index, &p.N); n != 3 || err != nil {
		return nil, badCursorError()
	}
	return &p, nil
}
