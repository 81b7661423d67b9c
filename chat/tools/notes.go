package tools

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// What is said of a note that a tool has read or found.
const (
	readSnippet  = record.ToolReadSnippet
	foundSnippet = "Found via semantic search"
)

// cursorArgument is that of a tool whose answer has pages.
var cursorArgument = argument{name: "cursor", kind: aText, long: 200, about: "the cursor that the page before ends with"}

var readNote = shared(render.ReadNoteInfo,
	(*toolRun).readNote,
	argument{name: "id", kind: aText, long: 1 << 10, about: "the note: its id, or its title"},
	argument{name: "path", kind: aText, long: 4 << 10, about: "in the place of id: the path of the note"},
	argument{name: "heading", kind: aText, long: 1 << 10, about: "only what stands under this heading"},
	cursorArgument,
)

func (c *toolRun) readNote() error {
	n, err := c.noteToRead()
	if err != nil {
		return err
	}
	text, err := c.textOf(n)
	if err != nil {
		return err
	}
	heading := strings.TrimSpace(c.text("heading"))
	if heading != "" {
		if text.Body, err = under(text.Body, heading); err != nil {
			return err
		}
		text.Part = heading
	}
	from, err := text.Place(c.text("cursor"))
	if err != nil {
		return err
	}
	c.refer(n.ID, Reference{
		NoteID: n.ID, Path: n.Path, Title: text.Title, Heading: heading, Snippet: readSnippet, How: ExtentRead, Used: true,
	})
	c.answer(text.Page(from, c.limit))
	return nil
}

// noteToRead returns the note that id or path names.
func (c *toolRun) noteToRead() (*notes.Note, error) {
	id, path := c.text("id"), c.text("path")
	switch {
	case (strings.TrimSpace(id) == "") == (strings.TrimSpace(path) == ""):
		return nil, fault.Field("id", "read_note needs either id or path").WithHint(`give {"id": "…"} or {"path": "…"}`)
	case id != "":
		return c.note("", id)
	}
	n, err := c.view.NoteByPath(strings.TrimSpace(path))
	if err == nil || !fault.IsMissing(err) {
		return n, several("", err)
	}
	return c.note("", path) // without its ending, or with its vault
}

// textOf returns a note with its text as the reader may see it.
func (c *toolRun) textOf(n *notes.Note) (*render.NoteText, error) {
	shown, err := c.view.ShownNote(c.ctx, n)
	if err != nil {
		return nil, err
	}
	out := &render.NoteText{
		ID: n.ID, Title: c.view.CitedAs(n), Vault: c.view.VaultOf(n), Path: shown.Path, UpdatedAt: shown.UpdatedAt,
		Archived: shown.ArchivedAt != nil, EntityID: shown.EntityID, Tags: shown.Tags, Aliases: shown.Aliases,
		Version: shown.Version, Body: render.NoteBody(shown.Body),
	}
	others := c.view.Others(cmp.Or(c.text("id"), c.text("path")), n)
	out.Others = render.Others(others)
	links, _ := c.view.Links(n.ID)
	back := c.view.Backlinks(n.ID)
	c.view.CiteLinks(links, back)
	linked := make(map[string]bool)
	var shows record.StandsOn // titles
	for _, o := range others {
		shows.Note(o.ID)
	}
	for _, l := range links {
		if l.ID != "" && !linked[l.ID] {
			linked[l.ID] = true
			out.Links = append(out.Links, render.Note(cmp.Or(l.Link, l.Title))+render.ID(l.ID))
			shows.Note(l.ID)
		}
	}
	for _, l := range back {
		out.Backlinks = append(out.Backlinks, render.Note(cmp.Or(l.Link, l.Title))+render.ID(l.ID))
		shows.Note(l.ID)
	}
	c.stand(shows)
	return out, nil
}

// under returns what stands under a heading, with it.
func under(text, heading string) (string, error) {
	named := strings.TrimLeft(heading, "# ") // as it stands in the text, too
	block, isBlock := strings.CutPrefix(named, "^")
	part := markdown.Part{Heading: named}
	if isBlock {
		part = markdown.Part{Block: block}
	}
	spans, _ := markdown.FindParts(text, []markdown.Part{part})
	if len(spans) > 0 {
		return strings.Trim(text[spans[0].Start:spans[0].End], "\r\n"), nil
	}
	var names []string
	markdown.Headings("\n"+text, func(h markdown.Heading) { names = append(names, h.Text) })
	err := fault.Field("heading", "the note has no heading %q", clipArgument(heading))
	if len(names) == 0 {
		return "", err.WithHint("it has none: read it without heading")
	}
	return "", err.WithHint("%s", syntax.DidYouMean(heading, names, ""))
}

const (
	mostHits = 20
	maxQuery = 8 << 10 // bytes
)

var searchNotes = shared(render.SearchNotesInfo,
	(*toolRun).searchNotes,
	argument{
		name: "query", kind: aText, required: true, long: maxQuery,
		about: `what to look for: words, a question, or "a phrase"; tag:work, path:2025, before:2026-02 and after: narrow it`,
	},
	argument{name: "limit", kind: aNumber, least: 1, most: mostHits, standard: 10, about: "notes at most"},
)

func (c *toolRun) searchNotes() error {
	res, err := c.search(c.text("query"), c.number("limit"), true)
	if err != nil {
		return err
	}
	l := render.Page{Noun: "note", None: "No note was found. " + broader, Total: len(res.Hits), Head: headOf(res)}
	for i := range res.Hits {
		h := &res.Hits[i]
		n := notedoc.Note(h.Doc)
		title := c.view.CitedAs(n)
		l.Items = append(l.Items, strconv.Itoa(i+1)+". "+render.NoteLine(n.ID, title, c.view.VaultOf(n), n.Path)+meant(res, h)+"\n"+snippet(h))
		c.refer(n.ID, Reference{NoteID: n.ID, Path: n.Path, Title: title, Snippet: foundSnippet, How: ExtentFound})
	}
	return c.whole(&l)
}

// broader is what to do when nothing was found.
const broader = "Other words or fewer of them may find something."

func (c *toolRun) search(query string, limit int, snippets bool) (*search.Result, error) {
	if !c.view.CanSearch() {
		return nil, fault.New(fault.Unavailable, "there is no index to search")
	}
	return c.view.Search(c.ctx, search.Request{Query: query, Mode: search.Hybrid, Limit: limit, Snippets: snippets, Confidence: true})
}

// headOf says how a search was understood, and what may be missing.
func headOf(res *search.Result) string {
	head := ""
	if res.Degraded != "" {
		head = "Notes may be missing: " + render.Inline(res.Degraded) + "\n"
	}
	if len(res.Corrected) > 0 && len(res.Hits) > 0 {
		head += "Looked for: " + render.Corrections(res.Corrected) + "\n"
	}
	if len(res.Hits) > 0 {
		head += render.Unsure(res.Confidence, res.Reason)
	}
	if res.Understood != nil {
		for _, p := range res.Understood.Problems {
			head += render.QueryProblem(p.Text, p.Message, p.Nearest)
		}
	}
	return head
}

// meant says of a note that only its meaning was found.
func meant(res *search.Result, h *search.Hit) string {
	if res.Mode == search.Hybrid && h.Found == search.Semantic {
		return " (by meaning)"
	}
	return ""
}

func snippet(h *search.Hit) string {
	if h.Snippet == "" {
		return ""
	}
	return "   " + render.Line(h.Snippet) + "\n"
}

var findExcerpts = define("find_excerpts", "Find excerpts of the notes",
	"Find the passages of the notes that answer a question, word for word, each with its note and heading.",
	(*toolRun).findExcerpts,
	argument{
		name: "query", kind: aText, required: true, long: maxQuery,
		about: "a question, or words of what is looked for",
	},
	argument{name: "limit", kind: aNumber, least: 1, most: mostHits, standard: 5, about: "notes at most that excerpts are taken of"},
)

// excerptChars is how long the excerpts of one note are together, and maxSnippet how much of a text stands in a
// reference.
const (
	excerptChars = 1_200
	maxSnippet   = 100
	maxNoteBytes = 1 << 20 // of a note that passages are chosen of
)

func (c *toolRun) findExcerpts() error {
	res, err := c.search(c.text("query"), c.number("limit"), true)
	if err != nil {
		return err
	}
	l := render.Page{Noun: "note", None: "No passage was found. " + broader, Head: headOf(res)}
	room := min(excerptChars, c.limit/max(1, len(res.Hits))-200)
	for i := range res.Hits {
		h := &res.Hits[i]
		item, r, err := c.excerpts(h, room)
		if err != nil {
			return err
		}
		if item != "" {
			l.Items = append(l.Items, item)
			c.refer(r.NoteID, *r)
		}
	}
	l.Total = len(l.Items)
	return c.whole(&l)
}

// excerpts returns the passages of a note that answer the query, and the reference to them; "" for a note without any.
func (c *toolRun) excerpts(h *search.Hit, room int) (string, *Reference, error) {
	n := notedoc.Note(h.Doc)
	shown, err := c.view.ShownNote(c.ctx, n)
	if err != nil {
		return "", nil, err
	}
	text := shown.Body
	if len(text) > maxNoteBytes {
		text = strings.ToValidUTF8(text[:maxNoteBytes], "")
	}
	_, start := markdown.SplitFrontmatter(text)
	seen := prompt.RenderNote(text[start:])
	list := search.FindPassages(seen, c.text("query"), h.Snippet, room)
	if len(list) == 0 {
		return "", nil, nil
	}
	r := &Reference{NoteID: n.ID, Path: n.Path, Title: c.view.CitedAs(n), How: ExtentExcerpt, Used: true}
	var b strings.Builder
	b.WriteString(render.NoteLine(n.ID, r.Title, c.view.VaultOf(n), n.Path) + "\n")
	last, at := "", placeFinder{text: shown.Body, at: start}
	for i, p := range list {
		passage := seen[p.Start:p.End]
		if p.Heading != last && p.Heading != "" {
			b.WriteString("under " + render.Inline(p.Heading) + ":\n")
		} else if i > 0 {
			b.WriteString("…\n")
		}
		last = p.Heading
		b.WriteString(render.Quote(passage))
		if place, ok := at.next(passage); ok {
			r.Ranges = append(r.Ranges, place)
		}
	}
	r.Snippet = beginning(render.OneLine(seen[list[0].Start:list[0].End]))
	r.Heading = list[0].Heading
	sum := sha256.Sum256([]byte(shown.Body))
	r.Hash = hex.EncodeToString(sum[:])
	return b.String(), r, nil
}

// beginning is what a reference has of a text.
func beginning(text string) string {
	text, _ = prompt.Cut(text, maxSnippet)
	return text
}

// placeFinder finds passages of a text that was read without its comments, in their order.
type placeFinder struct {
	text string
	at   int // bytes: where the next passage can begin
	unit int // UTF-16 code units before done
	done int // bytes
}

// next returns the place of a passage in UTF-16 code units. Where something was left out of the passage, its first and
// last lines are looked for.
func (f *placeFinder) next(passage string) (place [2]int, ok bool) {
	first, last := passage, ""
	i := strings.Index(f.text[f.at:], passage)
	if i < 0 {
		lines := strings.Split(passage, "\n")
		first, last = lines[0], lines[len(lines)-1]
		if i = strings.Index(f.text[f.at:], first); i < 0 {
			return place, false
		}
	}
	begin := f.at + i
	end := begin + len(first)
	if last != "" && last != first {
		k := strings.Index(f.text[end:], last)
		if k < 0 {
			return place, false
		}
		end += k + len(last)
	}
	f.at = end
	return [2]int{f.units(begin), f.units(end)}, true
}

// units returns how many code units stand before a place, which is behind the last one that was asked for.
func (f *placeFinder) units(at int) int {
	for _, r := range f.text[f.done:at] {
		f.unit += utf16.RuneLen(r)
	}
	f.done = at
	return f.unit
}
