package mcp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// searchBooksInput are the arguments of search_books.
type searchBooksInput struct {
	Query string `json:"query" jsonschema:"a question, or words of what is looked for"`
	Limit int    `json:"limit,omitempty" jsonschema:"passages at most"`
	paging
}

func searchBooksSchema() *jsonschema.Schema {
	return pagesOf[searchBooksInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, maxHits, 5) })
}

func (c *call) searchBooks(in searchBooksInput) (string, error) {
	if len(in.Query) > maxQuery {
		return "", fault.TooLarge("query", len(in.Query), maxQuery, "bytes")
	}
	var found protocol.BooksFound
	if err := c.ask("books.search", protocol.BooksSearch{Query: in.Query, Limit: in.Limit}, &found); err != nil {
		return "", err
	}
	l := &render.Page{Noun: "passage", Total: len(found.Hits), None: "No passage was found."}
	if l.Total > 0 {
		l.Head = "Confidence: " + render.Inline(found.Confidence) + " (" + render.Inline(found.Reason) + ")\n" +
			"Cite what you take from a passage by what stands in brackets before it.\n"
	}
	if found.Degraded != nil {
		l.Head += "Some may be missing: " + render.Inline(found.Degraded.Why) + ".\n"
	}
	for i, h := range found.Hits {
		l.Items = append(l.Items, strconv.Itoa(i+1)+". "+passageText(h.Passage))
	}
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

// passageText shows a passage under how it is cited, and its id.
func passageText(p *record.Passage) string {
	cite := strings.TrimSuffix(strings.TrimPrefix(p.Cite, "["), "]")
	var b strings.Builder
	b.WriteString("[" + render.Inline(cite) + "]" + render.ID(p.ID) + "\n")
	for line := range strings.Lines(render.Quote(p.Text)) {
		b.WriteString("   > " + render.Inline(strings.TrimPrefix(line, "> ")) + "\n")
	}
	return b.String()
}

// readBookInput are the arguments of read_book.
type readBookInput struct {
	Book    string `json:"book" jsonschema:"the book: its id, the id of one of its passages, or its title"`
	Section string `json:"section,omitempty" jsonschema:"read this section and those below it: its heading, or several of them joined by \" > \"; without one the sections are listed"`
	Text    bool   `json:"text,omitempty" jsonschema:"read the text of the whole book, such as of one without headings"`
	paging
}

func readBookSchema() *jsonschema.Schema { return pagesOf[readBookInput](nil) }

// readBook lists the sections of a book, or shows the passages of one.
func (c *call) readBook(in readBookInput) (string, error) {
	full, err := c.findBook(in)
	if err != nil {
		return "", err
	}
	l := &render.Page{Noun: "section", None: "It has no text."}
	if len(full.Passages) > 0 {
		l.Noun = "passage"
	}
	l.Head = bookLine(full.Book)
	for _, p := range full.Passages {
		l.Items = append(l.Items, passageText(p))
	}
	for i := range full.Sections {
		l.Items = append(l.Items, sectionLine(&full.Sections[i]))
	}
	l.Total = len(l.Items)
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

// bookLine shows a book in one line, with why it can't be read.
func bookLine(b *record.Book) string {
	line := render.Inline(b.Title)
	if b.Author != "" {
		line += " by " + render.Inline(b.Author)
	}
	about := render.Inline(b.Format)
	if b.Pages > 0 {
		about += ", " + render.Plural(b.Pages, "page")
	}
	line += " (" + about + ")" + render.ID(b.ID)
	if b.State != record.BookReady {
		line += ": " + render.Inline(strings.TrimSuffix(b.State+", "+b.Reason, ", "))
	}
	return line + "\n"
}

func sectionLine(s *record.BookSection) string {
	name := "(before all headings: text reads it)"
	if len(s.Path) > 0 {
		name = render.Inline(strings.Join(s.Path, " > "))
	}
	if s.Page > 0 {
		name += fmt.Sprintf(", p. %d", s.Page)
	}
	return "- " + name + ", " + render.Plural(s.Passages, "passage") + "\n"
}

// findBook reads the book that an argument names.
func (c *call) findBook(in readBookInput) (*record.BookFull, error) {
	name := strings.TrimSpace(in.Book)
	if inner, ok := strings.CutPrefix(name, "[id:"); ok {
		name = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
	}
	if name == "" {
		return nil, fault.Field("book", "book is needed: its id or title")
	}
	p := protocol.BooksGet{Ref: name, Section: in.Section, Text: in.Text}
	if book, passage, ok := strings.Cut(name, "."); ok && record.IsID(book) && passage != "" && strings.Trim(passage, "0123456789") == "" {
		p.Ref = book
	}
	full, err := c.passagesOf(p)
	if !fault.IsMissing(err) {
		return full, err
	}
	id, err := c.bookTitled(name)
	switch {
	case err != nil:
		return nil, err
	case id != "":
		p.Ref = id
	case !record.IsID(p.Ref):
		return nil, noBook()
	}
	full, err = c.passagesOf(p)
	if fault.IsMissing(err) && id == "" {
		if in.Section == "" || c.ask("books.get", protocol.BooksGet{Ref: p.Ref}, new(record.BookFull)) != nil {
			return nil, noBook()
		}
	}
	return full, err
}

func noBook() error {
	return fault.New(fault.NotFound, "no book has this id or title").WithHint("search_books finds passages, with the ids of their books before the point")
}

// passagesOf reads a book, all that was asked for of it.
func (c *call) passagesOf(p protocol.BooksGet) (*record.BookFull, error) {
	all := new(record.BookFull)
	for {
		var page record.BookFull
		if err := c.ask("books.get", p, &page); err != nil {
			return nil, err
		}
		all.Book, all.Sections = page.Book, page.Sections
		all.Passages = append(all.Passages, page.Passages...)
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return all, nil
		}
	}
}

// bookTitled returns the id of the book that has a title, or of the one whose title has it as a part; "" for none.
func (c *call) bookTitled(title string) (string, error) {
	var same, near []fault.Candidate
	var p protocol.BooksList
	for {
		var page record.BookList
		if err := c.ask("books.list", p, &page); err != nil {
			return "", err
		}
		for _, b := range page.Books {
			found := fault.Candidate{ID: b.ID, Title: b.Title}
			switch has, wanted := strings.ToLower(b.Title), strings.ToLower(title); {
			case has == wanted:
				same = append(same, found)
			case strings.Contains(has, wanted):
				near = append(near, found)
			}
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			break
		}
	}
	if len(same) == 0 {
		same = near
	}
	switch {
	case len(same) == 0:
		return "", nil
	case len(same) > 1:
		return "", fault.Clash(fault.Ambiguous, "%d books are called so", len(same)).
			WithHint("give the id of one").WithCandidates(same[:min(len(same), 10)])
	}
	return same[0].ID, nil
}
