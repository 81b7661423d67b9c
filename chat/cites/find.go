package cites

// A MessageFinder searches what was said in conversations. It asks the index of messages and shows each hit as the
// reader may see it. It keeps nothing.

import (
	"context"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
)

// MessageFinder finds messages. New makes one.
type MessageFinder struct {
	chats *chat.Store
	index *search.Index
}

// NewMessageFinder returns the Finder of a store of conversations and the index of their messages.
func NewMessageFinder(chats *chat.Store, index *search.Index) *MessageFinder {
	return &MessageFinder{chats, index}
}

// FindRequest is a search.
type FindRequest struct {
	Query        string
	Mode         search.Mode
	Limit        int
	Conversation string // id or handle of the one to look in; "": all that are not archived
	Archived     bool   // archived conversations too
	Explain      bool   // say what counted
}

// MessageHit is one message that was found.
type MessageHit struct {
	*chat.FoundMessage
	Score   float64
	Found   search.Mode // by what it was found
	Snippet string
	Ranges  [][2]int    // matches in Snippet: UTF-16, half-open
	By      *search.Hit // what counted, with Explain; its Doc is not for the reader
}

// FindResult is what was found, the best first. Search says how; its own hits are not for the reader.
type FindResult struct {
	Hits   []MessageHit
	Search *search.Result
}

// Search finds the best messages for a query among those that a reader sees. The error is NotFound for
// an unknown conversation, under "conversationId".
func (f *MessageFinder) Search(ctx context.Context, v *audience.View, r FindRequest) (*FindResult, error) {
	req := search.Request{Query: r.Query, Mode: r.Mode, Limit: r.Limit, Public: v.Hides(), Snippets: true, Explain: r.Explain, Confidence: true}
	switch {
	case r.Conversation != "":
		c, err := f.chats.Get(ctx, v, r.Conversation)
		if err != nil {
			return nil, fault.Under("conversationId", err)
		}
		req.List = true
		req.Keep = document.Keep(func(id string, _ *chat.Message) bool { return id == c.ID })
	case r.Archived:
		req.Keep = func(text.Doc) bool { return true }
	}
	res, err := f.index.Search(ctx, req)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(res.Hits))
	for i := range res.Hits {
		keys[i] = res.Hits[i].Doc.ID()
	}
	shown, err := f.chats.Found(ctx, v, keys)
	if err != nil {
		return nil, err
	}
	out := &FindResult{Hits: []MessageHit{}, Search: res}
	for i, m := range shown {
		if m == nil { // it was deleted or hidden meanwhile
			continue
		}
		h := &res.Hits[i]
		out.Hits = append(out.Hits, MessageHit{m, h.Score, h.Found, h.Snippet, h.Ranges, h})
	}
	return out, nil
}
