package lsp

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
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

// ProblemsResult is the result of ctxd.lsp.problems: what is wrong in a vault, as vault.problems lists it.
type ProblemsResult struct {
	Vault    string                     `json:"vault"`
	Problems []LocatedProblem           `json:"problems"`
	Counts   map[record.ProblemKind]int `json:"counts"` // of each kind, those included that the limit leaves out
	Total    int                        `json:"total"`
	File     string                     `json:"file,omitempty"` // the document that was shown
}

// LocatedProblem is one of them, with the address of its file.
type LocatedProblem struct {
	record.VaultProblem
	URI string `json:"uri"`
}

// listedProblems is how many problems are listed where the argument does not say.
const listedProblems = 1000

// problems lists what is wrong in the vault of a document, or in the only one. The document that is shown has a line for each
// as compilers write them, so that editors can jump there.
func (r *runner) problems(ctx context.Context, c *Call, a *CommandArguments, _ ProgressToken) (any, error) {
	ask := protocol.VaultProblems{Page: protocol.Page{Limit: cmp.Or(a.Limit, listedProblems)}}
	if a.URI != "" {
		at, ok, err := c.Place(ctx, a.URI)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fault.Field("uri", "the document is in no vault that ctxd knows").WithHint("import its folder")
		}
		ask.Vault = at.Vault
	}
	var page protocol.VaultProblemPage
	if err := c.Daemon(ctx, "vault.problems", ask, &page); err != nil {
		return nil, err
	}
	out := &ProblemsResult{Vault: page.Vault, Problems: []LocatedProblem{}, Counts: page.Counts, Total: page.Total}
	var lines strings.Builder
	for _, p := range page.Problems {
		file := filepath.Join(page.Folder, filepath.FromSlash(p.Path))
		out.Problems = append(out.Problems, LocatedProblem{p, FileURI(file)})
		fmt.Fprintf(&lines, "%s:%d: %s: %s (%s)\n", file, max(p.Line, 1), p.Kind, p.What, p.Fix)
	}
	if !a.Show {
		return out, nil
	}
	var err error
	out.File, err = r.show(ctx, c, "problems.txt", lines.String(), false)
	return out, err
}
