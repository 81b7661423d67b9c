package chats

import (
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type stats struct {
	Since string         `placeholder:"DATE" help:"Count the notes of messages said on or after this date: today, yesterday, 7d, 2w, 2026-01 or 2026-01-31. Default: all."`
	Limit term.CountFlag `short:"n" from:"1" to:"1000" default:"20" placeholder:"N" help:"Maximum number of notes, 1 to 1000. Default: 20."`
	HTML  string         `name:"html" placeholder:"FILE" help:"Write the notes with where they were used, and the graph of conversations, to this file as a page for a browser. It needs no network, and only you can read it."`
	Force bool           `help:"Replace the file if it exists."`

	connect.Audience
}

func (stats) Help() string {
	return "What language models were asked, today and in all, with the tokens that the providers have counted. Where one counts none " +
		"they are estimated. What ctxd asks in the background is counted apart. Limits are chat.budget.tokensPerDay, " +
		"chat.budget.backgroundTokensPerDay and chat.budget.requestsPerMinute, see ctxd config. " +
		"Then how many messages named each note with a link, how often a search has found it, and how often a model has read it."
}

func (stats) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat stats", "what was spent, and which notes were used"},
		{"ctxd chat stats --since 30d", "with the notes of the last 30 days"},
		{"ctxd chat stats --html used.html", "a page with the notes, where they were used, and a drawing"},
		{"ctxd chat stats --json | jq '[.today[].out] | add'", "tokens that models have answered with today"},
		{"ctxd chat stats --json | jq -r '.notes[] | [.used, .title] | @tsv'", "the notes that were read most often"},
	}
}

// shownStats is what --json prints: what was spent, and beside it the notes.
type shownStats struct {
	*protocol.ChatSpending

	Notes      []turn.ChatNoteUse `json:"notes"`
	NotesInAll int                `json:"notesInAll"` // those behind the limit included
	Months     []turn.ChatPeriod  `json:"months"`
}

func (c *stats) Run(a *Options) error {
	if c.Force && c.HTML == "" {
		return term.Misuse("--force needs --html", "ctxd chat stats --html used.html --force")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		if c.HTML != "" {
			if err := term.FreeForDocument(c.HTML, c.Force); err != nil {
				return err
			}
		}
		var res protocol.ChatNoteStatistics
		if err := cl.Call(a.Ctx, "chat.stats", protocol.ChatNoteStats{Since: c.Since, Limit: int(c.Limit)}, &res); err != nil {
			return err
		}
		if c.HTML != "" {
			if err := c.write(a, cl, &res); err != nil || !a.JSON {
				return err
			}
		}
		spent := res.Spending
		if spent == nil { // a remote connection is told nothing of it
			spent = &protocol.ChatSpending{Today: []protocol.ChatSpent{}, Total: []protocol.ChatSpent{}}
		}
		if a.JSON {
			return a.Out.JSON(shownStats{spent, res.Notes, res.Total, res.Months})
		}
		if len(spent.Total) == 0 {
			a.Out.Say(term.Styled(term.Faint, "no language model was asked yet"))
		}
		drawSpending(a.Out, spent)
		drawNoteUses(a.Out, &res)
		return nil
	})
}

// Bounds of the page.
const (
	usesOnPage  = 8 // messages of a note
	nodesOnPage = 40
)

// write writes the page.
func (c *stats) write(a *Options, cl *client.Client, res *protocol.ChatNoteStatistics) error {
	d := &page.CitedDocument{Stats: res, Since: c.Since, Remote: c.Remote(), Made: time.Now(), As: citedAs}
	for i := range res.Notes {
		uses := new(protocol.ChatCitations)
		params := protocol.ChatCitationFilter{NoteID: res.Notes[i].NoteID, All: true, Limit: usesOnPage}
		if err := cl.Call(a.Ctx, "chat.citations", params, uses); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		d.Uses = append(d.Uses, uses)
	}
	var g protocol.ChatGraph
	if err := cl.Call(a.Ctx, "chat.graph", protocol.ChatGraphParams{Format: "svg", Nodes: nodesOnPage}, &g); err != nil {
		return err
	}
	if len(g.Edges) > 0 {
		d.SVG = g.Text
	}
	doc, err := page.RenderCited(d)
	if err != nil {
		return err
	}
	if err := term.WriteDocument(c.HTML, c.Force, doc); err != nil {
		return err
	}
	if !a.JSON { // which prints one document
		a.Out.Say(term.Styled(term.Good, "written"), term.Text("  "), term.Styled(term.Strong, c.HTML), term.Styled(term.Faint, "  "+term.Count(len(res.Notes), "note")))
	}
	return nil
}

// drawNoteUses shows how often notes were used, if any was.
func drawNoteUses(s *term.Screen, res *protocol.ChatNoteStatistics) {
	if len(res.Notes) == 0 {
		return
	}
	s.Heading("Notes")
	t := &term.Table{Right: []int{1, 2, 3, 4}}
	for _, n := range res.Notes {
		t.Row(append(term.Line{term.Text("  ")}, noteTitle(n.Title, n.NoteID)...), term.Line{term.Text(term.Number(n.Used) + " read")},
			term.Line{term.Text(term.Count(n.Direct, "link"))}, term.Line{term.Text(term.Number(n.Search) + " found")},
			term.Line{term.Text(term.Count(n.Conversations, "conversation"))}, term.Line{term.Styled(term.Faint, term.Day(n.Last))})
	}
	t.Draw(s)
	if res.Total > len(res.Notes) {
		s.Say(term.Styled(term.Faint, "  the first of "+term.Count(res.Total, "note")+"; -n shows more"))
	}
	s.Heading("Notes by month")
	t = &term.Table{Right: []int{1, 2, 3, 4}}
	for _, m := range res.Months {
		t.Add("  "+m.Month, term.Number(m.Used)+" read", term.Count(m.Direct, "link"), term.Number(m.Search)+" found",
			term.Count(m.Conversations, "conversation"), term.Count(m.Notes, "note"))
	}
	t.Draw(s)
}

// noteTitle is what a note is called; one that is gone has no title.
func noteTitle(title, id string) term.Line {
	if title == "" {
		return term.Line{term.Styled(term.Faint, "a note that is gone, "+id)}
	}
	return term.Line{term.Styled(term.Strong, title)}
}
