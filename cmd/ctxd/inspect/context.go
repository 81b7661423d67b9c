package inspect

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Context is ctxd prompt and ctxd inspect context.
type Context struct {
	Text         string         `arg:"" optional:"" help:"The message, with @Name and [[Title]] mentions."`
	Entity       []string       `placeholder:"NAME" sep:"none" help:"Also mention this entity, by id, name or alias. May be repeated."`
	Note         []string       `placeholder:"TITLE" sep:"none" help:"Pin this note, by id, path or title. May be repeated."`
	Memory       []string       `placeholder:"REF" sep:"none" help:"Attach this memory, by id, handle or number. May be repeated."`
	Format       string         `enum:"markdown,xml" default:"markdown" placeholder:"FORMAT" help:"Format of the prompt: markdown or xml. Default: markdown."`
	Memories     int            `default:"5" placeholder:"N" help:"How many memories and messages to find by searching for the message, 0 to 20. Default: 5."`
	Recall       string         `enum:"prefetch,passive,both" default:"prefetch" placeholder:"MODE" help:"How to find them: prefetch searches for the message, passive takes what the last turns of the conversation have found, both takes that first. Default: prefetch."`
	Conversation string         `placeholder:"REF" help:"The conversation that the message belongs to, by id or handle: what is pinned in it and what it is about stand in the prompt."`
	Search       int            `default:"3" placeholder:"N" help:"How many notes to find by searching for the message, 0 to 8. Default: 3."`
	Passages     int            `default:"3" placeholder:"N" help:"How many passages of books to find by searching for the message, 0 to 8. Default: 3."`
	Depth        int            `default:"2" placeholder:"N" help:"How many references to follow from a mentioned entity, 0 to 4. Default: 2."`
	Budget       map[string]int `mapsep:"," placeholder:"KEY=N" help:"Budget in characters; KEY is ${budgets}. May be repeated."`
	Prompt       bool           `short:"p" help:"Also print the prompt."`
	Full         bool           `help:"Show the whole report as well: the budgets, all ways to each entity, all that was left out, and the times."`
	HTML         string         `name:"html" placeholder:"FILE" help:"Write the prompt and its report to this file as a page for a browser. It needs no network, and only you can read it."`
	Force        bool           `help:"Replace the file if it exists."`

	connect.Audience `set:"audienceDefault=the prompt is for a remote model, and the report tells you what was withheld from it"`
}

// reader returns who reads the prompt: a remote model, unless it is to be a local one.
func (c *Context) reader() string {
	if c.Audience.Audience == nil {
		return protocol.Remote
	}
	return *c.Audience.Audience
}

// Help is what --help says of the command.
func (Context) Help() string {
	return "Assembles the prompt as a client would, and says what is in it and why, a line for each item, and what is " +
		"nearly in it and why it is not, a line for each cause. --full adds how much of its budget each section used, all ways " +
		"to each entity, all that was left out, and the time of each stage."
}

// Examples are those of --help.
func (Context) Examples() []term.Example {
	return []term.Example{
		{`ctxd prompt "@Alice what did we decide in [[Project Alpha Kickoff]]?"`, "what the model gets and why, and what it nearly got"},
		{`ctxd prompt "@Alice" --full`, "the whole report: budgets, ways, times"},
		{`ctxd prompt "who is on it?" --entity "Project Alpha" --depth 1`, "without typing the mention"},
		{`ctxd prompt "when could we train?" --memory 42`, "with a memory attached"},
		{`ctxd prompt "when could we train?" --conversation weekend_trip_k3x9`, "with what is pinned in a conversation"},
		{`ctxd prompt "and who leads it?" --conversation project_alpha_k3x9`, "a follow-up: what the last turns named stays, and the search knows it"},
		{`ctxd prompt "when could we train?" --memories 10 --search 0`, "with what is remembered, and no notes"},
		{`ctxd prompt "and then?" --recall both --conversation conv_running_3f2a`, "with what the last turns of a conversation have found"},
		{`ctxd prompt "@Alice" --budget total=4000 --prompt`, "what is cut at a small budget, and the prompt itself"},
		{`ctxd prompt "@Alice" --prompt --audience remote`, "the report names nothing private either, so you can share it"},
		{`ctxd prompt "@Alice" --html alice.html`, "a page with the prompt, the graph and a search"},
	}
}

// patience is how long searches may take for a person who looks at what they find, in milliseconds.
const patience = 10_000

// Run runs the command.
func (c *Context) Run(a *Options) error {
	budgets, err := budgetsOf(c.Budget)
	if err != nil {
		return err
	}
	if strings.TrimSpace(c.Text) == "" && len(c.Entity) == 0 && len(c.Note) == 0 && len(c.Memory) == 0 && c.Conversation == "" {
		return term.Misuse("nothing to assemble",
			`give a message, --entity, --note or --memory: ctxd prompt "@Alice"`)
	}
	if c.Recall != prompt.Prefetch && c.Conversation == "" {
		return term.Misuse("--recall "+c.Recall+" needs --conversation",
			"say of which conversation: --conversation conv_running_3f2a; ctxd chat list shows them")
	}
	if c.Force && c.HTML == "" {
		return term.Misuse("--force needs --html",
			`ctxd prompt "@Alice" --html alice.html --force`)
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		p := gather.Params{
			Text: c.Text, SearchNotes: c.Search, Audience: c.reader(), MaxDepth: &c.Depth, Budgets: budgets,
			Explain: true, Memories: c.Memories, Passages: c.Passages,
			Format: c.Format, DeadlineMS: patience,
		}
		if err := c.inConversation(a, cl, &p); err != nil {
			return err
		}
		for _, name := range c.Entity {
			id, err := connect.FindEntity(a.Ctx, cl, name)
			if err != nil {
				return err
			}
			p.MentionedEntityIDs = append(p.MentionedEntityIDs, id)
		}
		for _, name := range c.Note {
			n, err := connect.FindNote(a.Ctx, cl, a.Err, name)
			if err != nil {
				return err
			}
			p.MentionedNoteIDs = append(p.MentionedNoteIDs, n.ID)
		}
		for _, ref := range c.Memory {
			var m record.Memory
			if err := cl.Call(a.Ctx, "memory.get", protocol.MemoryRef{Ref: ref}, &m); err != nil {
				return err
			}
			p.AttachedMemoryIDs = append(p.AttachedMemoryIDs, m.ID)
		}
		var res prompt.Result
		if err := cl.Call(a.Ctx, "context.assemble", p, &res); err != nil {
			return err
		}
		if c.HTML != "" {
			if err := c.writePage(a, &res); err != nil || !a.JSON && !c.Prompt {
				return err
			}
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if c.Prompt {
			DrawPrompt(a.Out, res.System)
			a.Out.Say()
		}
		a.Out.Say(term.Styled(term.Strong, "Context"),
			term.Styled(term.Faint, "  "+term.Number(res.Report.Chars)+" characters for a "+c.reader()+" model"))
		c.draw(a, cl, &res)
		if res.Report.Chars == 0 && connect.Empty(a.Ctx, cl) {
			a.Out.Say()
			connect.DrawNone(a.Ctx, cl, a.Out, "")
		}
		return nil
	})
}

// draw shows the report: what a person asks first, and with --full all of it.
func (c *Context) draw(a *Options, cl *client.Client, res *prompt.Result) {
	page.DrawBrief(a.Out, res, func(kind, id string) string { return nameOf(a.Ctx, cl, kind, id) })
	if c.Full {
		page.DrawReport(a.Out, &res.Report)
		return
	}
	a.Out.Say()
	a.Out.Say(term.Styled(term.Faint, "--full shows the budgets, all ways to each entity, all that was left out, and the times"))
}

// nameOf names a record that a report tells by its id alone; one that went meanwhile keeps that.
func nameOf(ctx context.Context, cl *client.Client, kind, id string) string {
	switch kind {
	case prompt.KindMessage:
		return "a message"
	case prompt.KindNote:
		var note protocol.NoteFull
		if cl.Call(ctx, "notes.get", protocol.NoteGet{Ref: id}, &note) == nil {
			return page.RecordLabel(kind, note.Title)
		}
	case prompt.KindMemory:
		var m record.Memory
		if cl.Call(ctx, "memory.get", protocol.MemoryRef{Ref: id}, &m) == nil {
			return "memory " + m.Handle
		}
	case prompt.KindPassage:
		var of record.BookFull
		if book, _, ok := strings.Cut(id, "."); ok && cl.Call(ctx, "books.get", protocol.BooksGet{Ref: book}, &of) == nil && of.Book != nil {
			return "a passage of " + of.Book.Title
		}
	}
	return kind + " " + id
}

// inConversation says which conversation the message belongs to, which has the prompt say the day, and how memories are found.
func (c *Context) inConversation(a *Options, cl *client.Client, p *gather.Params) error {
	if c.Conversation == "" {
		return nil
	}
	of, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
	if err != nil {
		return err
	}
	p.ConversationID, p.Now = of.ID, true
	if c.Memories > 0 {
		p.Recall = &prompt.Recall{Mode: c.Recall}
	}
	return nil
}

// writePage writes the page of --html and says so.
func (c *Context) writePage(a *Options, res *prompt.Result) error {
	page, err := ContextPage(c.Text, c.reader(), res)
	if err == nil {
		err = term.WriteDocument(c.HTML, c.Force, page)
	}
	if err != nil || a.JSON {
		return err
	}
	a.Out.Say(term.Styled(term.Good, "written"), term.Text("  "), term.Styled(term.Strong, c.HTML),
		term.Styled(term.Faint, "  "+term.Size(int64(len(page)))+
			", "+term.Number(res.Report.Chars)+" characters of a prompt for a "+c.reader()+" model"))
	return nil
}

// budgetsOf checks the keys of --budget.
func budgetsOf(set map[string]int) (*gather.Budgets, error) {
	if len(set) == 0 {
		return nil, nil
	}
	var budgets gather.Budgets
	table := (*prompt.BudgetTable[*int])(&budgets)
	for name, n := range set {
		i := slices.IndexFunc(prompt.AllBudgets,
			func(b prompt.Budget) bool { return b.Name == name && len(b.Sections) > 0 })
		if i < 0 {
			names := slices.Sorted(slices.Values(budgetNames()))
			return nil, term.Misuse("there is no budget "+name, "--budget takes "+strings.Join(names, ", "))
		}
		*table.At(i) = &n
	}
	return &budgets, nil
}

// budgetNames are the keys of --budget: the budgets that bound a section.
func budgetNames() []string {
	var names []string
	for _, budget := range prompt.AllBudgets {
		if len(budget.Sections) > 0 {
			names = append(names, budget.Name)
		}
	}
	return names
}

// BudgetKeys names the keys of --budget for its help.
func BudgetKeys() string {
	names := budgetNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// DrawPrompt prints a prompt between two rules, its headings marked. Its lines
// are left to the terminal to break: it is printed as a model reads it.
func DrawPrompt(s *term.Screen, system string) {
	rule := term.Span{Text: strings.Repeat("─", min(s.Columns(), term.PipeWidth)), Style: term.Faint}
	s.Say(rule)
	for l := range strings.Lines(term.CleanLines(system)) {
		l = strings.TrimSuffix(l, "\n")
		st := term.Normal
		switch {
		case strings.HasPrefix(l, "## "):
			st = term.Strong
		case strings.HasPrefix(l, "### "):
			st = term.Accent
		}
		s.SayWhole(term.Span{Text: l, Style: st})
	}
	s.Say(rule)
}
