package mcp

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/markdown"
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
	maxHits     = 50
	maxQuery    = 8 << 10 // bytes
	mostSearch  = 100     // hits that the daemon gives at most
	spareSearch = 10      // that are asked for beyond what is wanted: some may have to be left out
)

// searchOutput is the result of search_notes.
type searchOutput struct {
	Notes []foundNote `json:"notes" jsonschema:"the notes, best first"`
}

// foundNote is one note that was found. It has no score: that would depend on
// how many private notes have the words too.
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
		fmt.Fprintf(&b, "%d. [[%s]] [id:%s]", i+1, oneLine(n.Title), n.ID)
		if n.Path != "" {
			b.WriteString(" " + oneLine(n.Path))
		}
		b.WriteString("\n   " + oneLine(n.Snippet) + "\n")
	}
	return b.String()
}

func (c *call) searchNotes(in searchInput) (searchOutput, error) {
	out := searchOutput{Notes: []foundNote{}}
	if len(in.Query) > maxQuery {
		return out, fault.TooLarge("query", len(in.Query), maxQuery, "bytes")
	}
	filter := protocol.SearchFilter{Tags: in.Tags, Folder: in.Folder, Types: in.Types, After: in.After, Before: in.Before}
	// Private notes may stand before the public ones that are wanted: when too
	// many had to be left out, it is looked further.
	for limit := in.Limit + spareSearch; ; limit = mostSearch {
		var found protocol.SearchResult
		if err := c.ask("notes.search", protocol.NoteSearch{Query: in.Query, Limit: limit, Filter: filter}, &found); err != nil {
			return out, err
		}
		out.Notes = out.Notes[:0]
		for _, hit := range found.Hits {
			n, err := c.found(hit, in)
			if err != nil {
				return out, err
			}
			if n != nil && len(out.Notes) < in.Limit {
				out.Notes = append(out.Notes, *n)
			}
		}
		if len(out.Notes) == in.Limit || len(found.Hits) < limit || limit == mostSearch {
			return out, nil
		}
	}
}

// found returns what may be shown of a hit, nil when nothing may.
func (c *call) found(hit protocol.SearchHit, in searchInput) (*foundNote, error) {
	n, err := c.note(hit.ID)
	if n == nil || err != nil {
		return nil, err
	}
	out := &foundNote{ID: n.ID, Title: n.Title, Path: n.Path, Snippet: hit.Snippet, UpdatedAt: n.UpdatedAt}
	if ok, err := c.hasTypes(n, in.Types); !ok || err != nil {
		return nil, err
	}
	text, masked, err := c.text(n)
	if err != nil || !masked {
		return out, err
	}
	// The snippet may show what was taken out, and that alone may be what
	// matched.
	plain := strings.Join(strings.Fields(markdown.PlainText(text)), " ")
	at := firstMatch(plain, in.Query)
	if at < 0 && firstMatch(n.Title+" "+strings.Join(n.Aliases, " "), in.Query) < 0 {
		return nil, nil
	}
	out.Snippet = excerpt(plain, at)
	return out, nil
}

// hasTypes reports whether the entity of a note, of which a search for types
// tells, may be known.
func (c *call) hasTypes(n *protocol.NoteFull, types []string) (bool, error) {
	if len(types) == 0 || n.EntityID == "" {
		return true, nil
	}
	e, err := c.entity(n.EntityID)
	return e != nil, err
}

// firstMatch returns where the first word that matches the query stands in a text, in
// bytes, or -1.
func firstMatch(text, query string) int {
	if found := search.NewMatcher(query).Matches(text); len(found) > 0 {
		return found[0][0]
	}
	return -1
}

// excerpt cuts a line out of a text, from a little before a place on.
func excerpt(text string, at int) string {
	lead := ""
	if at > search.SnippetSize/2 {
		if from := strings.LastIndexByte(text[:at-search.SnippetSize/4], ' '); from > 0 {
			lead, text = prompt.Ellipsis, text[from+1:]
		}
	}
	text, _ = prompt.Cut(text, search.SnippetSize)
	return lead + text
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
	fmt.Fprintf(&b, "[[%s]] [id:%s]\n", oneLine(o.Title), o.ID)
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + oneLine(value) + "\n")
		}
	}
	line("path", o.Path)
	line("tags", strings.Join(o.Tags, ", "))
	line("aliases", strings.Join(o.Aliases, ", "))
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
		parts[i] = fmt.Sprintf("[[%s]] [id:%s]", n.Title, n.ID)
	}
	return strings.Join(parts, ", ")
}

func (c *call) readNote(in readInput) (readOutput, error) {
	n, err := c.named(protocol.NoteGet{ID: in.ID, Path: in.Path, Title: in.Title})
	if err != nil {
		return readOutput{}, err
	}
	text, _, err := c.text(n)
	if err != nil {
		return readOutput{}, err
	}
	out := readOutput{
		ID: n.ID, Title: n.Title, Path: n.Path, Tags: n.Tags, Aliases: n.Aliases,
		UpdatedAt: n.UpdatedAt, Archived: n.ArchivedAt != nil, Links: []linkedNote{}, Backlinks: []linkedNote{},
	}
	out.Text, out.NextOffset = part(text, in.Offset, in.MaxChars)
	if err := c.around(n, &out); err != nil {
		return readOutput{}, err
	}
	return out, nil
}

// maxLinked is how many links of a note are listed in each direction.
const maxLinked = 50

// around adds the records that are tied to a note.
func (c *call) around(n *protocol.NoteFull, out *readOutput) error {
	seen := make(map[string]bool)
	for _, l := range n.Links {
		if l.ID == "" || seen[l.ID] || len(out.Links) == maxLinked {
			continue
		}
		seen[l.ID] = true
		to, err := c.note(l.ID)
		if err != nil {
			return err
		}
		if to != nil {
			out.Links = append(out.Links, linkedNote{to.ID, to.Title})
		}
	}
	for _, l := range n.Backlinks {
		if len(out.Backlinks) == maxLinked {
			break
		}
		from, err := c.note(l.ID)
		if err != nil {
			return err
		}
		if from != nil {
			out.Backlinks = append(out.Backlinks, linkedNote{from.ID, from.Title})
		}
	}
	if n.EntityID == "" {
		return nil
	}
	e, err := c.entity(n.EntityID)
	if e != nil {
		out.EntityID = e.ID
	}
	return err
}

// named finds the one note that may be shown of those with an id, path or title.
func (c *call) named(by protocol.NoteGet) (*protocol.NoteFull, error) {
	n := new(protocol.NoteFull)
	err := c.ask("notes.get", by, n)
	var f *fault.Error
	switch {
	case err == nil && c.hides(n.Private), fault.KindOf(err) == fault.NotFound:
		return nil, noNote()
	case err == nil:
		return n, c.keep(n)
	case !errors.As(err, &f) || f.Kind != fault.Conflict:
		return nil, err
	}
	visible, err := c.visible(f.Candidates)
	if err != nil {
		return nil, err
	}
	switch len(visible) {
	case 0:
		return nil, noNote()
	case 1:
		if n, err = c.note(visible[0].ID); n == nil && err == nil {
			err = noNote()
		}
		return n, err
	}
	return nil, fault.New(fault.Conflict, "several notes have that title or path").
		WithHint("name one of these by its id").WithCandidates(visible)
}

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
		at++
		if r > 0xFFFF {
			at++
		}
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
	return shown, at + entities.UTF16Len(shown)
}
