package lsp

import (
	"context"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// SearchResult is the result of ctxd.lsp.search and ctxd.lsp.related: notes, the best first.
type SearchResult struct {
	Notes   []SearchResultNote `json:"notes"`
	Nothing string             `json:"nothing,omitempty"` // why nothing was found
}

// SearchResultNote is one of them.
type SearchResultNote struct {
	Title   string  `json:"title"`
	URI     string  `json:"uri,omitempty"` // absent for a note of no file
	Path    string  `json:"path,omitempty"`
	Snippet string  `json:"snippet,omitempty"`
	Score   float64 `json:"score"`
	By      string  `json:"by,omitempty"` // words or meaning
}

const foundNotes = 20

func (r *runner) search(ctx context.Context, c *Call, a *CommandArguments, _ ProgressToken) (any, error) {
	query := a.Text
	if query == "" {
		_, query = commandDocument(c, a)
	}
	if query == "" {
		return nil, fault.Field("text", "there is nothing to search for").WithHint("give text, or a uri with a range")
	}
	var out protocol.SearchResult
	if err := c.Daemon(ctx, "notes.search", protocol.NoteSearch{Query: query, Limit: resultLimit(a)}, &out); err != nil {
		return nil, err
	}
	return searchResultOf(ctx, c, &out)
}

func resultLimit(a *CommandArguments) int {
	if a.Limit > 0 {
		return a.Limit
	}
	return foundNotes
}

func (r *runner) related(ctx context.Context, c *Call, a *CommandArguments, _ ProgressToken) (any, error) {
	id, err := c.NoteID(ctx, a.URI)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, fault.Field("uri", "the document is no note that ctxd knows").WithHint("save it in a folder that is imported")
	}
	var out protocol.SearchResult
	if err := c.Daemon(ctx, "notes.similar", protocol.NoteSimilar{Ref: id, Limit: resultLimit(a)}, &out); err != nil {
		return nil, err
	}
	return searchResultOf(ctx, c, &out)
}

func searchResultOf(ctx context.Context, c *Call, res *protocol.SearchResult) (*SearchResult, error) {
	out := &SearchResult{Notes: []SearchResultNote{}}
	if res.Nothing != nil {
		out.Nothing = res.Nothing.Why
	}
	for _, h := range res.Hits {
		uri, _, err := c.URI(ctx, h.Vault, h.Path)
		if err != nil {
			return nil, err
		}
		out.Notes = append(out.Notes, SearchResultNote{h.Title, uri, h.Path, h.Snippet, h.Score, h.By})
	}
	return out, nil
}
