package rpc

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// noteCiter knows what messages refer to: no handler has the Index, which tells all references (PRIV-2).
type noteCiter interface {
	Stats(ctx context.Context, v *audience.View, since time.Time, limit int) (*cites.Stats, error)
	ForNote(ctx context.Context, v *audience.View, noteID string, all bool, after *cites.CitationCursor, limit int) (*cites.Citations, error)
	Graph(ctx context.Context, v *audience.View, nodes int) (*cites.Graph, error)
}

func (c scope) chatHighlights(ctx context.Context, _ *Session, p protocol.ChatHighlightsParams) (*turn.ChatHighlights, error) {
	return c.excerpts.Of(ctx, c.view, p.MessageID, p.ConversationID)
}

func (c scope) chatSuggest(ctx context.Context, _ *Session, p protocol.ChatSuggest) (*turn.ChatSuggestions, error) {
	return c.suggests.Of(ctx, c.view, p.ConversationID, p.Limit)
}

func (c scope) chatStats(ctx context.Context, s *Session, p protocol.ChatNoteStats) (out protocol.ChatNoteStatistics, err error) {
	since, err := c.moment("since", p.Since)
	if err != nil {
		return out, err
	}
	stats, err := c.cites.Stats(ctx, c.view, since, p.Limit)
	if err != nil {
		return out, err
	}
	out = protocol.ChatNoteStatistics{Notes: stats.Notes, Total: stats.Total, Months: stats.Months}
	if c.view.Reader() == audience.Local {
		spent := s.srv.spending()
		out.Spending = &spent
	}
	return out, nil
}

func (c scope) chatCitations(ctx context.Context, _ *Session, p protocol.ChatCitationFilter) (out protocol.ChatCitations, err error) {
	var after *cites.CitationCursor
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return out, err
		}
		if after = cites.NewCitationCursor(m.Name, m.ID); after == nil {
			return out, badCursorError()
		}
	}
	page, err := c.cites.ForNote(ctx, c.view, p.NoteID, p.All, after, p.Limit)
	if err != nil {
		return out, err
	}
	out = protocol.ChatCitations{Messages: []protocol.ChatCitation{}, Total: page.Total, Conversations: page.Conversations}
	for _, one := range page.List {
		in, m := one.Conversation, one.Message
		out.Messages = append(out.Messages, protocol.ChatCitation{
			ConversationID: in.ID, Handle: in.Handle, Title: in.Title, ID: m.ID, Index: m.Index, Hash: m.Hash, Role: m.Role,
			Private: m.Private, CreatedAt: m.CreatedAt, Preview: chat.TitleOf(m.Content),
			Direct: one.Direct, Search: one.Search, Used: one.Used,
		})
	}
	if next := page.Next; next != nil {
		out.NextCursor = pageMark{Name: next.At.Format(time.RFC3339Nano), ID: next.Text()}.Cursor()
	}
	return out, nil
}

func (c scope) chatGraph(ctx context.Context, _ *Session, p protocol.ChatGraphParams) (out protocol.ChatGraph, err error) {
	g, err := c.cites.Graph(ctx, c.view, p.Nodes)
	if err != nil {
		return out, err
	}
	out = protocol.ChatGraph{Nodes: g.Nodes, Edges: g.Edges, Truncated: g.More}
	switch p.Format {
	case "dot":
		out.Text, err = graph.DrawDOT(g.Drawable())
	case "svg":
		out.Text = graph.DrawSVG(g.Drawable(), graph.SVGOptions{Title: "What conversations stood on"})
	}
	return out, err
}
