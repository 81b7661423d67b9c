package records

// ctxd books adds, lists, shows, searches, publishes and removes files that a person asks about, over the socket.

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// BooksOptions are what ctxd books runs with.
type BooksOptions struct {
	*term.Streams
	*connect.Link
}

// BooksCommand is ctxd books.
type BooksCommand struct {
	Add     putBook     `cmd:"" help:"Add files to ask about them."`
	List    listBooks   `cmd:"" help:"List the books."`
	Show    showBook    `cmd:"" help:"Show the sections of a book, or read them."`
	Search  searchBooks `cmd:"" help:"Find passages that answer a question."`
	Publish publishBook `cmd:"" help:"Show a book of a conversation to all."`
	Delete  removeBook  `cmd:"" help:"Delete a book with its passages."`
}

// Help is what --help says of the command.
func (BooksCommand) Help() string {
	return "A book is a file that you ask about: md, txt, html, csv, docx, xlsx, pdf or epub. It is cut into passages, " +
		"which searches find and prompts cite with section and page. The file itself is not kept."
}

// Examples are those of --help.
func (BooksCommand) Examples() []term.Example {
	return []term.Example{
		{"ctxd books add ~/manual.pdf", "add a file"},
		{`ctxd books search "how do I bleed the brakes?"`, "passages, with how to cite them"},
		{`ctxd prompt "how do I bleed the brakes?" --passages 4 --prompt`, "the prompt with passages"},
	}
}

type putBook struct {
	Files        []string `arg:"" name:"file" help:"The files."`
	Title        string   `help:"What the book is called. Default: what the file says, else its name."`
	Author       string   `help:"Who wrote it. Default: what the file says."`
	Format       string   `placeholder:"FORMAT" help:"Format of the files: md, txt, html, csv, docx, xlsx, pdf or epub. Default: told from name and content."`
	Private      bool     `help:"Keep the books from remote models."`
	Conversation string   `placeholder:"CONVERSATION" help:"Show the books to this conversation alone: its id or handle."`
}

// Examples are those of --help.
func (putBook) Examples() []term.Example {
	return []term.Example{
		{"ctxd books add manual.pdf prices.xlsx", "add two files"},
		{"ctxd books add contract.docx --private", "no remote model sees it"},
		{"ctxd books add notes.html --conversation weekend_trip_k3x9", "for one conversation"},
	}
}

// Run runs the command.
func (c *putBook) Run(a *BooksOptions) error {
	if c.Title != "" && len(c.Files) > 1 {
		return term.Misuse("--title is for one file", "put the files one after the other")
	}
	return a.With(func(cl *client.Client) error {
		conversation, err := conversationOf(a, cl, c.Conversation)
		if err != nil {
			return err
		}
		if len(c.Files) == 1 {
			return c.one(a, cl, c.Files[0], conversation)
		}
		return c.each(a, cl, conversation)
	})
}

// addedBook is what came of one of several files, as --json prints it.
type addedBook struct {
	File  string            `json:"file"`
	Book  *record.BookAdded `json:"added,omitempty"`
	Error *bookError        `json:"error,omitempty"`
}

type bookError struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// each adds several files. One that can't be added is named, and the next one follows.
func (c *putBook) each(a *BooksOptions, cl *client.Client, conversation string) error {
	list, failed := make([]addedBook, 0, len(c.Files)), 0
	for _, file := range c.Files {
		one := addedBook{File: file}
		params, err := c.params(file, conversation)
		if err == nil {
			one.Book = new(record.BookAdded)
			err = callAddBook(a.Ctx, a.Streams, cl, params, one.Book)
		}
		if a.Ctx.Err() != nil {
			return a.Ctx.Err()
		}
		if err != nil {
			var f *fault.Error
			one.Book, one.Error = nil, &bookError{Message: fault.Message(err)}
			if errors.As(err, &f) {
				one.Error.Hint = f.Hint
			}
			failed++
		}
		list = append(list, one)
		switch {
		case a.JSON:
		case one.Error != nil:
			a.Out.Say(term.Styled(term.Bad, "failed"), term.Text("  "+term.Clean(file+": "+one.Error.Message)))
			if one.Error.Hint != "" {
				a.Out.Say(term.Styled(term.Faint, "        "+one.Error.Hint))
			}
		default:
			drawAddedBook(a.Out, one.Book)
		}
	}
	if a.JSON {
		if err := a.Out.JSON(list); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fault.New(fault.Invalid, "%d of %d files could not be added", failed, len(list)).WithHint("add them again when they are mended; the others are there")
	}
	return nil
}

// one adds one file.
func (c *putBook) one(a *BooksOptions, cl *client.Client, file, conversation string) error {
	params, err := c.params(file, conversation)
	if err != nil {
		return err
	}
	return AddBook(a.Ctx, a.Streams, cl, params)
}

func (c *putBook) params(file, conversation string) (record.BooksAdd, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return record.BooksAdd{}, fault.Wrap(fault.Unavailable, err, "cannot determine the working directory").
			WithHint("give the absolute path of the file")
	}
	return record.BooksAdd{
		Path: path, MimeType: c.Format, Title: c.Title, Author: c.Author, Private: c.Private, ConversationID: conversation,
	}, nil
}

// AddBook has the daemon read a book, draws how far it is, and prints what came of it.
func AddBook(ctx context.Context, s *term.Streams, cl *client.Client, params record.BooksAdd) error {
	var out record.BookAdded
	switch err := callAddBook(ctx, s, cl, params, &out); {
	case err != nil:
		return err
	case s.JSON:
		return s.Out.JSON(out)
	}
	drawAddedBook(s.Out, &out)
	return nil
}

func callAddBook(ctx context.Context, s *term.Streams, cl *client.Client, params record.BooksAdd, out *record.BookAdded) error {
	p := term.NewProgress(s.Err)
	defer p.Finish()
	return cl.CallProgress(ctx, "books.add", params, out, p.Wire)
}

func drawAddedBook(s *term.Screen, out *record.BookAdded) {
	done := "added"
	if out.Duplicate {
		done = "known"
	}
	s.Say(term.Styled(term.Good, done), term.Text("  "+term.Clean(out.Book.Title)), term.Styled(term.Faint, "  "+describeBook(out.Book)))
	s.SayWhole(term.Labelled("id"), term.Text(out.Book.ID))
}

// describeBook says in short what a book is.
func describeBook(b *record.Book) string {
	parts := []string{b.Format}
	if b.Vault != "" {
		parts = append(parts, term.Clean(path.Join(b.Vault, b.Path)))
	}
	if b.Pages > 0 {
		parts = append(parts, term.Count(b.Pages, "page"))
	}
	if b.TextlessPages != "" {
		parts = append(parts, "without text: pages "+b.TextlessPages)
	}
	parts = append(parts, term.Count(b.Passages, "passage"))
	if b.Private {
		parts = append(parts, "private")
	}
	if b.ConversationID != "" {
		parts = append(parts, "of a conversation")
	}
	if b.State != record.BookReady {
		parts = append(parts, b.State)
	}
	if b.Reason != "" {
		parts = append(parts, b.Reason)
	}
	return strings.Join(parts, ", ")
}

// conversationOf returns the id of a conversation that is named, "" for none.
func conversationOf(a *BooksOptions, cl *client.Client, ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	found, err := connect.FindConversation(a.Ctx, cl, ref)
	if err != nil {
		return "", err
	}
	return found.ID, nil
}

type listBooks struct {
	State        string `enum:",pending,processing,ready,failed" default:"" placeholder:"STATE" help:"Books in this state only: pending, processing, ready or failed."`
	Conversation string `placeholder:"CONVERSATION" help:"The books of this conversation as well: its id or handle."`

	connect.Audience
}

// Examples are those of --help.
func (listBooks) Examples() []term.Example {
	return []term.Example{
		{"ctxd books list", "the latest first"},
		{"ctxd books list --state failed", "with the reason"},
		{"ctxd books list --json | jq -r '.books[].id'", "for scripts"},
	}
}

// Run runs the command.
func (c *listBooks) Run(a *BooksOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		conversation, err := conversationOf(a, cl, c.Conversation)
		if err != nil {
			return err
		}
		all := record.BookList{Books: []*record.Book{}}
		p := protocol.BooksList{State: c.State, ConversationID: conversation}
		for {
			var page record.BookList
			if err := cl.Call(a.Ctx, "books.list", p, &page); err != nil {
				return err
			}
			all.Books = append(all.Books, page.Books...)
			if p.Cursor = page.NextCursor; p.Cursor == "" {
				break
			}
		}
		if a.JSON {
			return a.Out.JSON(all)
		}
		if len(all.Books) == 0 {
			a.Out.Say(term.Styled(term.Faint, "there are no books; ctxd books add FILE adds one"))
			return nil
		}
		table := &term.Table{}
		for _, b := range all.Books {
			table.Row(term.Line{term.Styled(term.Accent, b.ID)}, term.Line{term.Text(term.Clean(b.Title))}, term.Line{term.Styled(term.Faint, describeBook(b))})
		}
		table.Draw(a.Out)
		return nil
	})
}

type showBook struct {
	Book         string `arg:"" help:"Id of the book, or a part of its title."`
	Section      string `help:"Read this section: its heading, or several joined by \" > \"."`
	Text         bool   `help:"Read the whole book."`
	Conversation string `placeholder:"CONVERSATION" help:"The conversation whose book it is: its id or handle."`

	connect.Audience
}

// Examples are those of --help.
func (showBook) Examples() []term.Example {
	return []term.Example{
		{"ctxd books show beekeeping", "its sections"},
		{`ctxd books show beekeeping --section "Winter > Feeding"`, "read one"},
	}
}

// Run runs the command.
func (c *showBook) Run(a *BooksOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		conversation, err := conversationOf(a, cl, c.Conversation)
		if err != nil {
			return err
		}
		id, err := bookOf(a, cl, c.Book, conversation)
		if err != nil {
			return err
		}
		p := protocol.BooksGet{Ref: id, Section: c.Section, Text: c.Text, ConversationID: conversation}
		var all record.BookFull
		for {
			var page record.BookFull
			if err := cl.Call(a.Ctx, "books.get", p, &page); err != nil {
				return err
			}
			all.Book, all.Sections = page.Book, page.Sections
			all.Passages = append(all.Passages, page.Passages...)
			if p.Cursor = page.NextCursor; p.Cursor == "" {
				break
			}
		}
		if a.JSON {
			return a.Out.JSON(all)
		}
		a.Out.SayWhole(term.Styled(term.Strong, term.Clean(all.Book.Title)), term.Styled(term.Faint, "  "+describeBook(all.Book)))
		for _, s := range all.Sections {
			where := term.Count(s.Passages, "passage")
			if s.Page > 0 {
				where = fmt.Sprintf("p. %d, ", s.Page) + where
			}
			name := "(before all headings)"
			if len(s.Path) > 0 {
				name = strings.Repeat("  ", len(s.Path)-1) + term.Clean(s.Path[len(s.Path)-1])
			}
			a.Out.SayWhole(term.Text(name), term.Styled(term.Faint, "  "+where))
		}
		for _, x := range all.Passages {
			drawPassage(a, x, "")
		}
		return nil
	})
}

// drawPassage shows a passage under how to cite it.
func drawPassage(a *BooksOptions, p *record.Passage, score string) {
	a.Out.Say(term.Text(""))
	a.Out.SayWhole(term.Styled(term.Accent, term.Clean(p.Cite)), term.Styled(term.Faint, score))
	for line := range strings.Lines(term.CleanLines(p.Text)) {
		a.Out.SayWhole(term.Text(strings.TrimRight(line, "\n")))
	}
}

// bookOf returns the id of a book that is named by its id or a part of its title.
func bookOf(a *BooksOptions, cl *client.Client, name, conversation string) (string, error) {
	var one record.BookFull
	err := cl.Call(a.Ctx, "books.get", protocol.BooksGet{Ref: name, ConversationID: conversation}, &one)
	if err == nil {
		return one.Book.ID, nil
	}
	switch fault.KindOf(err) { //nolint:exhaustive // the others end here
	case fault.NotFound, fault.Invalid:
	case fault.Unavailable: // where books are switched off, they are listed all the same
	default:
		return "", err
	}
	var found []*record.Book
	p := protocol.BooksList{ConversationID: conversation}
	for {
		var page record.BookList
		if err := cl.Call(a.Ctx, "books.list", p, &page); err != nil {
			return "", err
		}
		for _, b := range page.Books {
			if strings.Contains(strings.ToLower(b.Title), strings.ToLower(name)) {
				found = append(found, b)
			}
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			break
		}
	}
	switch len(found) {
	case 0:
		return "", fault.Missing("book", name).WithHint("ctxd books list shows ids and titles")
	case 1:
		return found[0].ID, nil
	}
	return "", fault.Clash(fault.Ambiguous, "%d books are called like %q", len(found), name).
		WithHint("give the id of one; ctxd books list shows them")
}

type searchBooks struct {
	Query        string `arg:"" help:"A question, or words of what is looked for."`
	Limit        int    `short:"n" default:"5" help:"Passages at most, 1 to 50."`
	Conversation string `placeholder:"CONVERSATION" help:"The books of this conversation as well: its id or handle."`

	connect.Audience
}

// Examples are those of --help.
func (searchBooks) Examples() []term.Example {
	return []term.Example{
		{`ctxd books search "What does a night cost?"`, "the best passages"},
		{`ctxd books search "brakes" -n 1 --json | jq -r '.hits[].passage.cite'`, "how to cite the best one"},
	}
}

// Run runs the command.
func (c *searchBooks) Run(a *BooksOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		conversation, err := conversationOf(a, cl, c.Conversation)
		if err != nil {
			return err
		}
		var out protocol.BooksFound
		err = cl.Call(a.Ctx, "books.search", protocol.BooksSearch{Query: c.Query, Limit: c.Limit, ConversationID: conversation}, &out)
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.Out.JSON(out)
		}
		a.Out.Say(term.Text(term.Count(len(out.Hits), "passage")), term.Styled(term.Faint, ", confidence "+out.Confidence+": "+out.Reason))
		if out.Degraded != nil {
			a.Out.Say(term.Styled(term.Warn, out.Degraded.Why))
		}
		for _, h := range out.Hits {
			drawPassage(a, h.Passage, fmt.Sprintf("  %.2f", h.Score))
		}
		return nil
	})
}

type publishBook struct {
	Book string `arg:"" help:"Id of the book."`
}

// Examples are those of --help.
func (publishBook) Examples() []term.Example {
	return []term.Example{{"ctxd books publish 6ba7b810-9dad-41d1-80b4-00c04fd430c8", "all conversations see it from now on"}}
}

// Run runs the command.
func (c *publishBook) Run(a *BooksOptions) error {
	return a.With(func(cl *client.Client) error {
		var out record.Book
		err := cl.Call(a.Ctx, "books.publish", record.BookRef{ID: c.Book}, &out)
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.Out.JSON(out)
		}
		a.Out.Say(term.Styled(term.Good, "published"), term.Text("  "+term.Clean(out.Title)))
		return nil
	})
}

type removeBook struct {
	Book string `arg:"" help:"Id of the book, or a part of its title."`
}

// Examples are those of --help.
func (removeBook) Examples() []term.Example {
	return []term.Example{{"ctxd books delete beekeeping", "no search finds it any more"}}
}

// Run runs the command.
func (c *removeBook) Run(a *BooksOptions) error {
	return a.With(func(cl *client.Client) error {
		id, err := bookOf(a, cl, c.Book, "")
		if fault.KindOf(err) == fault.NotFound {
			id, err = c.Book, nil // it may be one of a conversation
		}
		if err != nil {
			return err
		}
		var out protocol.Deleted
		err = cl.Call(a.Ctx, "books.delete", record.BookRef{ID: id}, &out)
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.Out.JSON(out)
		}
		a.Out.Say(term.Styled(term.Good, "removed"), term.Text("  "+out.ID))
		return nil
	})
}
