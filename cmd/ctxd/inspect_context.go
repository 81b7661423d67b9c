package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/client"
)

type inspectContextCmd struct {
	Text     string         `arg:"" optional:"" help:"The message, with @Name and [[Title]] mentions."`
	Entity   []string       `placeholder:"NAME" sep:"none" help:"Mention an entity besides, by id, name or alias. May be repeated."`
	Note     []string       `placeholder:"TITLE" sep:"none" help:"Pin a note, by id, path or title. May be repeated."`
	Audience string         `enum:"remote,local" default:"remote" placeholder:"WHO" help:"Who reads the prompt: remote or local. A remote model never sees private records. Default: remote."`
	Format   string         `enum:"markdown,xml" default:"markdown" placeholder:"FORMAT" help:"How the prompt is written: markdown or xml. Default: markdown."`
	Search   int            `default:"3" placeholder:"N" help:"Notes to find by a search for the message, 0 to 8. Default: 3."`
	Depth    int            `default:"2" placeholder:"N" help:"References to follow, 0 to 4. Default: 2."`
	Budget   map[string]int `mapsep:"," placeholder:"KEY=N" help:"Characters of total, pinned, entities, linked, search or client. May be repeated."`
	Prompt   bool           `short:"p" help:"Print the prompt too."`
	HTML     string         `name:"html" placeholder:"FILE" help:"Write the prompt and its report to this file, as a page that any browser shows without a network; only you can read it."`
	Force    bool           `help:"Replace the file when there is one."`
}

func (inspectContextCmd) Help() string {
	return "Assembles the prompt as a client would and draws its report: the walk through the entities with the fields that led to each, " +
		"how much of its budget each section used, what was left out and why, computed fields that failed, and the time of each stage."
}

func (inspectContextCmd) Examples() []example {
	return []example{
		{`ctxd inspect context "@Alice what did we decide in [[Project Alpha Kickoff]]?"`, "why the model sees what it sees"},
		{`ctxd inspect context "who is on it?" --entity "Project Alpha" --depth 1`, "without typing the mention"},
		{`ctxd inspect context "@Alice" --budget total=4000 --prompt`, "what is cut first, and the prompt itself"},
		{`ctxd inspect context "@Alice" --html alice.html`, "a page with the prompt, the graph and a search"},
	}
}

func (c *inspectContextCmd) Run(a *app) error {
	budgets, err := budgetsOf(c.Budget)
	if err != nil {
		return err
	}
	if strings.TrimSpace(c.Text) == "" && len(c.Entity) == 0 && len(c.Note) == 0 {
		return &usageError{"there is nothing to assemble", `give a message, --entity or --note: ctxd inspect context "@Alice"`}
	}
	if c.Force && c.HTML == "" {
		return &usageError{"--force replaces no file without --html", `ctxd inspect context "@Alice" --html alice.html --force`}
	}
	return a.with(func(cl *client.Client) error {
		p := gather.Params{
			Text: c.Text, SearchNotes: c.Search, Audience: c.Audience, MaxDepth: &c.Depth, Budgets: budgets, Explain: true,
			Format: c.Format,
		}
		for _, name := range c.Entity {
			id, err := findEntity(a.ctx, cl, name)
			if err != nil {
				return err
			}
			p.MentionedEntityIDs = append(p.MentionedEntityIDs, id)
		}
		for _, name := range c.Note {
			n, err := findNote(a.ctx, cl, name)
			if err != nil {
				return err
			}
			p.MentionedNoteIDs = append(p.MentionedNoteIDs, n.ID)
		}
		var res prompt.Result
		if err := cl.Call(a.ctx, "context.assemble", p, &res); err != nil {
			return err
		}
		if c.HTML != "" {
			if err := c.writePage(a, &res); err != nil || !a.JSON && !c.Prompt {
				return err
			}
		}
		if a.JSON {
			return a.out.json(res)
		}
		if c.Prompt {
			drawPrompt(a.out, res.System)
			a.out.say()
		}
		a.out.say(styled(strong, "Context"), styled(faint, "  "+number(res.Report.Chars)+" characters for a "+c.Audience+" model"))
		drawReport(a.out, &res.Report)
		return nil
	})
}

// writePage writes the page of --html and says so.
func (c *inspectContextCmd) writePage(a *app, res *prompt.Result) error {
	d := &contextDocument{message: c.Text, audience: c.Audience, made: time.Now(), result: res}
	page, err := d.page()
	if err == nil {
		err = writeDocument(c.HTML, c.Force, page)
	}
	if err != nil || a.JSON {
		return err
	}
	a.out.say(styled(good, "written"), text("  "), styled(strong, c.HTML), styled(faint, "  "+size(int64(len(page)))+
		", "+number(res.Report.Chars)+" characters of a prompt for a "+c.Audience+" model"))
	return nil
}

// budgetsOf checks the keys of --budget.
func budgetsOf(set map[string]int) (*gather.Budgets, error) {
	if len(set) == 0 {
		return nil, nil
	}
	var b gather.Budgets
	keys := map[string]**int{
		"total": &b.Total, "pinned": &b.Pinned, "entities": &b.Entities, "linked": &b.Linked, "search": &b.Search, "client": &b.Client,
	}
	for key, n := range set {
		to, ok := keys[key]
		if !ok {
			return nil, &usageError{"there is no budget " + key, "--budget takes " + strings.Join(slices.Sorted(maps.Keys(keys)), ", ")}
		}
		*to = &n
	}
	return &b, nil
}

// drawPrompt prints a prompt between two rules, its headings marked. Its lines
// are left to the terminal to break: it is printed as a model reads it.
func drawPrompt(s *screen, system string) {
	rule := span{strings.Repeat("─", min(s.columns(), pipeWidth)), faint}
	s.say(rule)
	for l := range strings.Lines(cleanLines(system)) {
		l = strings.TrimSuffix(l, "\n")
		st := normal
		switch {
		case strings.HasPrefix(l, "## "):
			st = strong
		case strings.HasPrefix(l, "### "):
			st = accent
		}
		s.sayWhole(span{l, st})
	}
	s.say(rule)
}
