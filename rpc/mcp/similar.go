package mcp

import (
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// similarInput are the arguments of similar_notes.
type similarInput struct {
	ID    string `json:"id" jsonschema:"id of the note, from search_notes or read_note"`
	Limit int    `json:"limit,omitempty" jsonschema:"notes at most"`
}

func similarSchema() *jsonschema.Schema {
	return inputOf[similarInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, maxHits, 10) })
}

// similarOutput is the result of similar_notes.
type similarOutput struct {
	Notes []similarNote `json:"notes" jsonschema:"the notes, nearest first"`
	Why   string        `json:"degraded,omitempty" jsonschema:"why notes may be missing, or were found by their words"`
}

// similarNote is one note that is near.
type similarNote struct {
	ID      string `json:"id" jsonschema:"id of the note, for read_note"`
	Title   string `json:"title" jsonschema:"its title"`
	Path    string `json:"path,omitempty" jsonschema:"its path"`
	Snippet string `json:"snippet" jsonschema:"the part of its text that is nearest"`
}

func (o similarOutput) text() string {
	var b strings.Builder
	if len(o.Notes) == 0 {
		b.WriteString("No note is near.\n")
	}
	for i, n := range o.Notes {
		b.WriteString(strconv.Itoa(i+1) + ". " + noteLabel(n.Title) + idMark(n.ID))
		if n.Path != "" {
			b.WriteString(" " + inline(n.Path))
		}
		b.WriteString("\n   " + startOfLine(n.Snippet) + "\n")
	}
	if o.Why != "" {
		b.WriteString("Notes may be missing: " + inline(o.Why) + "\n")
	}
	return b.String()
}

func (c *call) similarNotes(in similarInput) (similarOutput, error) {
	out := similarOutput{Notes: []similarNote{}}
	var found protocol.SearchResult
	err := c.ask("notes.similar", protocol.NoteSimilar{ID: in.ID, Limit: in.Limit}, &found)
	if fault.KindOf(err) == fault.NotFound {
		return out, noNote()
	}
	if err != nil {
		return out, err
	}
	if found.Degraded != nil {
		out.Why = found.Degraded.Why
	}
	for _, hit := range found.Hits {
		out.Notes = append(out.Notes, similarNote{ID: hit.ID, Title: hit.Title, Path: hit.Path, Snippet: hit.Snippet})
	}
	return out, nil
}
