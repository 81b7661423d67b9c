package mcp

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// searchInput are the arguments of search_notes.
type searchInput struct {
	Query  string   `json:"query" jsonschema:"what to look for: words, a question, or \"a phrase\""`
	Limit  int      `json:"limit,omitempty" jsonschema:"notes of a page"`
	Tags   []string `json:"tags,omitempty" jsonschema:"only notes with all of these tags"`
	Folder string   `json:"folder,omitempty" jsonschema:"only notes in this folder or one below it"`
	Types  []string `json:"types,omitempty" jsonschema:"only notes that describe an entity of one of these types, such as Person"`
	After  string   `json:"after,omitempty" jsonschema:"only notes changed on or after this date: today, yesterday, 7d or 2w ago, 2026-01, 2026-01-31, or a time (RFC 3339)"`
	Before string   `json:"before,omitempty" jsonschema:"only notes changed before this date or time"`
	paging
}

func searchSchema() *jsonschema.Schema {
	return pagesOf[searchInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, maxHits, 10) })
}

const (
	maxHits  = 50
	maxQuery = 8 << 10 // bytes
	// searched is how many notes a search gives at most: so many can be counted.
	searched = 100
)

func (c *call) searchNotes(in searchInput) (string, error) {
	if len(in.Query) > maxQuery {
		return "", fault.TooLarge("query", len(in.Query), maxQuery, "bytes")
	}
	var found protocol.SearchResult
	err := c.ask("notes.search", protocol.NoteSearch{
		Query: in.Query, Limit: searched,
		Filter: protocol.SearchFilter{
			Tags: in.Tags, Folder: in.Folder, Types: in.Types, After: in.After, Before: in.Before,
		},
	}, &found)
	if err != nil {
		return "", err
	}
	l := render.Page{Noun: "note", None: "No note was found.", Most: in.Limit, Total: len(found.Hits)}
	if found.Degraded != nil {
		l.Head = "Notes may be missing: " + render.Inline(found.Degraded.Why) + "\n"
	}
	if len(found.Corrected) > 0 && l.Total > 0 {
		l.Head += "Looked for: " + render.Corrections(found.Corrected) + "\n"
	}
	if l.Total > 0 {
		l.Head += render.Unsure(found.Confidence, found.Reason)
	}
	if found.Understood != nil {
		for _, p := range found.Understood.Problems {
			l.Head += render.QueryProblem(p.Text, p.Message, p.Nearest)
		}
	}
	if l.Total == searched {
		l.Head += fmt.Sprintf("More than %d notes match; these are the best.\n", searched-1)
	}
	for i, hit := range found.Hits {
		why := ""
		if found.Mode == "hybrid" && hit.By == "meaning" {
			why = " (by meaning)"
		}
		l.Items = append(l.Items, strconv.Itoa(i+1)+". "+hitText(hit, why))
	}
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

// hitText shows a note that was found. why stands behind its path.
func hitText(hit protocol.SearchHit, why string) string {
	var b strings.Builder
	b.WriteString(render.NoteLine(hit.ID, cmp.Or(hit.Link, hit.Title), hit.Vault, hit.Path) + why + "\n")
	if hit.Snippet != "" {
		b.WriteString("   " + render.Line(hit.Snippet) + "\n")
	}
	return b.String()
}

// relatedInput are the arguments of related_notes.
type relatedInput struct {
	Note  string `json:"note" jsonschema:"the note: its title, path or id"`
	Limit int    `json:"limit,omitempty" jsonschema:"notes that are near in meaning, at most"`
	paging
}

func relatedSchema() *jsonschema.Schema {
	return pagesOf[relatedInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 0, maxHits, 10) })
}

// relatedNotes lists the notes that are near one in meaning, then those that only links
// connect it with.
func (c *call) relatedNotes(in relatedInput) (string, error) {
	if strings.TrimSpace(in.Note) == "" {
		return "", fault.Field("note", "note is needed: a title, path or id")
	}
	var links protocol.NoteLinks
	if err := c.ask("notes.links", protocol.NoteRef{Ref: in.Note}, &links); err != nil {
		return "", orNoNote(err)
	}
	var near protocol.SearchResult
	if in.Limit > 0 {
		if err := c.ask("notes.similar", protocol.NoteSimilar{Ref: in.Note, Limit: in.Limit}, &near); err != nil {
			return "", orNoNote(err)
		}
	}
	out, back := make(map[string]bool), make(map[string]bool)
	for _, l := range links.Outgoing {
		out[l.ID] = true
	}
	for _, l := range links.Incoming {
		back[l.ID] = true
	}
	nearness := "similar in meaning"
	if near.Degraded != nil {
		nearness = "similar in words"
	}
	why := func(id string, near bool) string {
		var all []string
		if near {
			all = append(all, nearness)
		}
		if out[id] {
			all = append(all, "linked from it")
		}
		if back[id] {
			all = append(all, "links to it")
		}
		return " (" + strings.Join(all, ", ") + ")"
	}
	l := render.Page{Noun: "note", None: "No note is related to it."}
	if near.Degraded != nil {
		l.Head = "Notes may be missing: " + render.Inline(near.Degraded.Why) + "\n"
	}
	listed := make(map[string]bool)
	add := func(id, text string) {
		if !listed[id] {
			listed[id] = true
			l.Items = append(l.Items, text)
		}
	}
	for _, hit := range near.Hits {
		add(hit.ID, "- "+hitText(hit, why(hit.ID, true)))
	}
	for _, n := range links.Outgoing {
		add(n.ID, "- "+render.NoteLine(n.ID, cmp.Or(n.Link, n.Title), n.Vault, n.Path)+why(n.ID, false)+"\n")
	}
	for _, n := range links.Incoming {
		add(n.ID, "- "+render.NoteLine(n.ID, cmp.Or(n.Link, n.Title), n.Vault, n.Path)+why(n.ID, false)+"\n")
	}
	l.Total = len(l.Items)
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}
