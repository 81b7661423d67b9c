package commands

import (
	"context"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/lsp/server"
	"github.com/ctxd/ctxd/rpc/lsp/wire"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Found is the result of ctxd.lsp.search and ctxd.lsp.related: notes, the best first.
type Found struct {
	Notes   []FoundNote `json:"notes"`
	Nothing string      `json:"nothing,omitempty"` // why nothing was found
}

// FoundNote is one of them.
type FoundNote struct {
	Title   string  `json:"title"`
	URI     string  `json:"uri,omitempty"` // absent for a note of no file
	Path    string  `json:"path,omitempty"`
	Snippet string  `json:"snippet,omitempty"`
	Score   float64 `json:"score"`
	By      string  `json:"by,omitempty"` // words or meaning
}

const foundNotes = 20

func (r *runner) search(ctx context.Context, c *server.Call, a *Arguments, _ wire.ProgressToken) (any, error) {
	query := a.Text
	if query == "" {
		_, query = document(c, a)
	}
	if query == "" {
		return nil, fault.Field("text", "there is nothing to search for").WithHint("give text, or a uri with a range")
	}
	var out protocol.SearchResult
	if err := c.Daemon(ctx, "notes.search", protocol.NoteSearch{Query: query, Limit: limit(a)}, &out); err != nil {
		return nil, err
	}
	return found(ctx, c, &out)
}

func limit(a *Arguments) int {
	if a.Limit > 0 {
		return a.Limit
	}
	return foundNotes
}

func (r *runner) related(ctx context.Context, c *server.Call, a *Arguments, _ wire.ProgressToken) (any, error) {
	id, err := c.NoteID(ctx, a.URI)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, fault.Field("uri", "the document is no note that ctxd knows").WithHint("save it in a folder that is imported")
	}
	var out protocol.SearchResult
	if err := c.Daemon(ctx, "notes.similar", protocol.NoteSimilar{ID: id, Limit: limit(a)}, &out); err != nil {
		return nil, err
	}
	return found(ctx, c, &out)
}

func found(ctx context.Context, c *server.Call, res *protocol.SearchResult) (*Found, error) {
	out := &Found{Notes: []FoundNote{}}
	if res.Nothing != nil {
		out.Nothing = res.Nothing.Why
	}
	for _, h := range res.Hits {
		uri, _, err := c.URI(ctx, h.Vault, h.Path)
		if err != nil {
			return nil, err
		}
		out.Notes = append(out.Notes, FoundNote{h.Title, uri, h.Path, h.Snippet, h.Score, h.By})
	}
	return out, nil
}
