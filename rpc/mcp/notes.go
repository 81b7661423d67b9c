package mcp

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// searchInput are the arguments of search_notes.
type searchInput struct {
	Query  string   `json:"query" jsonschema:"words to look for"`
	Limit  int      `json:"limit,omitempty" jsonschema:"notes at most"`
	Tags   []string `json:"tags,omitempty" jsonschema:"only notes with all of these tags"`
	Folder string   `json:"folder,omitempty" jsonschema:"only notes in this folder or one below it"`
	Types  []string `json:"types,omitempty" jsonschema:"only notes that describe an entity of one of these types, such as Person"`
	After  string   `json:"after,omitempty" jsonschema:"only notes changed on or after this date (YYYY-MM-DD) or time (RFC 3339)"`
	Before string   `json:"before,omitempty" jsonschema:"only notes changed before this date (YYYY-MM-DD) or time (RFC 3339)"`
}

func searchSchema() *jsonschema.Schema {
	return inputOf[searchInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, maxHits, 10) })
}

const (
	maxHits  = 50
	maxQuery = 8 << 10 // bytes
)

// searchOutput is the result of search_notes.
type searchOutput struct {
	Notes []foundNote `json:"notes" jsonschema:"the notes, best first"`
}

// foundNote is one note that was found. It has no score, which says nothing
// without those of other queries.
type foundNote struct {
	ID        string    `json:"id" jsonschema:"id of the note, for read_note"`
	Title     string    `json:"title" jsonschema:"its title"`
	Path      string    `json:"path,omitempty" jsonschema:"its path"`
	Snippet   string    `json:"snippet" jsonschema:"the place of its text that fits best"`
	UpdatedAt time.Time `json:"updatedAt" jsonschema:"when it was changed last"`
}

func (o searchOutput) text() string {
	if len(o.Notes) == 0 {
		return "No note was found."
	}
	var b strings.Builder
	for i, n := range o.Notes {
		b.WriteString(strconv.Itoa(i+1) + ". " + noteLabel(n.Title) + idMark(n.ID))
		if n.Path != "" {
			b.WriteString(" " + inline(n.Path))
		}
		b.WriteString("\n   " + startOfLine(n.Snippet) + "\n")
	}
	return b.String()
}

func (c *call) searchNotes(in searchInput) (searchOutput, error) {
	out := searchOutput{Notes: []foundNote{}}
	if len(in.Query) > maxQuery {
		return out, fault.TooLarge("query", len(in.Query), maxQuery, "bytes")
	}
	var found protocol.SearchResult
	err := c.ask("notes.search", protocol.NoteSearch{
		Query: in.Query, Limit: in.Limit,
		Filter: protocol.SearchFilter{Tags: in.Tags, Folder: in.Folder, Types: in.Types, After: in.After, Before: in.Before},
	}, &found)
	if err != nil {
		return out, err
	}
	for _, hit := range found.Hits {
		n, err := c.note(protocol.NoteGet{ID: hit.ID}, noNote())
		if fault.KindOf(err) == fault.NotFound {
			continue // it went meanwhile
		}
		if err != nil {
			return out, err
		}
		out.Notes = append(out.Notes,
			foundNote{ID: n.ID, Title: hit.Title, Path: hit.Path, Snippet: hit.Snippet, UpdatedAt: n.UpdatedAt})
	}
	return out, nil
}

// readInput are the arguments of read_note.
type readInput struct {
	ID       string `json:"id,omitempty" jsonschema:"id of the note"`
	Path     string `json:"path,omitempty" jsonschema:"its path, such as Meetings/Kickoff.md"`
	Title    string `json:"title,omitempty" jsonschema:"its title"`
	Offset   int    `json:"offset,omitempty" jsonschema:"where to begin in the text: nextOffset of the part before"`
	MaxChars int    `json:"maxChars,omitempty" jsonschema:"characters of text at most"`
}

const (
	standardChars = 20_000
	mostChars     = 200_000
)

func readSchema() *jsonschema.Schema {
	return inputOf[readInput](func(p map[string]*jsonschema.Schema) {
		between(p["maxChars"], 100, mostChars, standardChars)
		between(p["offset"], 0, 1<<30, 0)
	})
}

// readOutput is the result of read_note.
type readOutput struct {
	ID         string       `json:"id" jsonschema:"id of the note"`
	Title      string       `json:"title" jsonschema:"its title"`
	Path       string       `json:"path,omitempty" jsonschema:"its path"`
	Tags       []string     `json:"tags" jsonschema:"its tags"`
	Aliases    []string     `json:"aliases" jsonschema:"its other titles"`
	UpdatedAt  time.Time    `json:"updatedAt" jsonschema:"when it was changed last"`
	Archived   bool         `json:"archived" jsonschema:"whether the user has put it away"`
	EntityID   string       `json:"entityId,omitempty" jsonschema:"the entity that it describes, for get_entity"`
	Text       string       `json:"text" jsonschema:"its text, Markdown"`
	NextOffset int          `json:"nextOffset,omitempty" jsonschema:"offset of the next part; absent when there is none"`
	Links      []linkedNote `json:"links" jsonschema:"notes that it links to"`
	Backlinks  []linkedNote `json:"backlinks" jsonschema:"notes that link to it"`
}

// linkedNote is a note at the other end of a link.
type linkedNote struct {
	ID    string `json:"id" jsonschema:"id of the note"`
	Title string `json:"title" jsonschema:"its title"`
}

func (o readOutput) text() string {
	var b strings.Builder
	b.WriteString(noteLabel(o.Title) + idMark(o.ID) + "\n")
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	line("path", inline(o.Path))
	line("tags", inlineList(o.Tags))
	line("aliases", inlineList(o.Aliases))
	line("changed", o.UpdatedAt.Format(time.RFC3339))
	if o.Archived {
		line("archived", "yes")
	}
	line("entity", o.EntityID)
	line("links", titles(o.Links))
	line("linked from", titles(o.Backlinks))
	if o.NextOffset > 0 {
		line("goes on", fmt.Sprintf("with offset %d", o.NextOffset))
	}
	b.WriteString("\n" + o.Text) // last, so that nothing in it can pass for the lines above
	return b.String()
}

func titles(list []linkedNote) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = noteLabel(n.Title) + idMark(n.ID)
	}
	return strings.Join(parts, ", ")
}

func (c *call) readNote(in readInput) (readOutput, error) {
	n, err := c.note(protocol.NoteGet{ID: in.ID, Path: in.Path, Title: in.Title}, noNote())
	if err != nil {
		return readOutput{}, severalNotes(err)
	}
	out := readOutput{
		ID: n.ID, Title: n.Title, Path: n.Path, Tags: n.Tags, Aliases: n.Aliases, EntityID: n.EntityID,
		UpdatedAt: n.UpdatedAt, Archived: n.ArchivedAt != nil, Links: []linkedNote{}, Backlinks: []linkedNote{},
	}
	out.Text, out.NextOffset = part(n.Body, in.Offset, in.MaxChars)
	linked := make(map[string]bool)
	for _, l := range n.Links {
		if l.ID == "" || linked[l.ID] || len(out.Links) == maxLinked {
			continue
		}
		linked[l.ID] = true
		out.Links = append(out.Links, linkedNote{l.ID, l.Title})
	}
	for _, l := range n.Backlinks[:min(maxLinked, len(n.Backlinks))] {
		out.Backlinks = append(out.Backlinks, linkedNote{l.ID, l.Title})
	}
	return out, nil
}

// maxLinked is how many links of a note are listed in each direction.
const maxLinked = 50

// part returns at most limit code points of a text from a UTF-16 offset on, cut
// between graphemes, and the offset of the rest, 0 when there is none.
func part(text string, offset, limit int) (string, int) {
	from := len(text)
	at := 0
	for i, r := range text {
		if at >= offset {
			from = i
			break
		}
		at += utf16.RuneLen(r)
	}
	rest := text[from:]
	shown, cut := prompt.Cut(rest, limit)
	if !cut {
		return rest, 0
	}
	shown = strings.TrimSuffix(shown, prompt.Ellipsis)
	if shown == "" { // one grapheme that is longer than the limit
		shown = rest
		for i := range rest {
			if limit == 0 {
				shown = rest[:i]
				break
			}
			limit--
		}
	}
	for _, r := range shown {
		at += utf16.RuneLen(r)
	}
	return shown, at
}
