package chats

import (
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type forNote struct {
	Note  string         `arg:"" help:"Id, path or title of the note."`
	All   bool           `help:"Also messages for which the note was only found."`
	Limit term.CountFlag `short:"n" from:"0" default:"50" placeholder:"N" help:"Maximum number of messages; 0 for all. Default: 50."`

	connect.Audience
}

func (forNote) Help() string {
	return "Lists the messages that name a note with a link, and the answers for which a model has read of it, newest first. " +
		"Archived conversations are looked at, too. A note that is gone is found by its id."
}

func (forNote) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat citations 'Huts in the Alps'", "where a note was used"},
		{"ctxd chat citations Travel/Huts.md --all", "also where it was only found"},
		{"ctxd chat citations 'Huts in the Alps' --json | jq -r '.messages[].handle'", "for scripts"},
	}
}

func (c *forNote) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		id, err := c.find(a, cl)
		if err != nil {
			return err
		}
		res, err := c.collect(a, cl, id)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawCitations(a.Out, res)
		return nil
	})
}

// find returns the id of the note. One that is gone is known by its id alone.
func (c *forNote) find(a *Options, cl *client.Client) (string, error) {
	name := c.Note
	n, err := connect.FindNote(a.Ctx, cl, a.Err, name)
	switch {
	case err == nil:
		return n.ID, nil
	case fault.KindOf(err) != fault.NotFound || entities.CheckID("noteId", name) != nil:
		return "", err
	}
	var page protocol.ChatCitations
	if cl.Call(a.Ctx, "chat.citations", protocol.ChatCitationFilter{NoteID: name, All: true, Limit: 1}, &page) != nil {
		return "", err
	}
	return name, nil
}

// collect returns the messages of all pages up to the limit.
func (c *forNote) collect(a *Options, cl *client.Client, id string) (*protocol.ChatCitations, error) {
	all := &protocol.ChatCitations{Messages: []protocol.ChatCitation{}}
	params := protocol.ChatCitationFilter{NoteID: id, All: c.All}
	limit := int(c.Limit)
	for {
		params.Limit = pageSize
		if limit > 0 {
			params.Limit = min(pageSize, limit-len(all.Messages))
		}
		var page protocol.ChatCitations
		if err := cl.Call(a.Ctx, "chat.citations", params, &page); err != nil {
			return nil, err
		}
		all.Messages = append(all.Messages, page.Messages...)
		all.Total, all.Conversations, all.NextCursor = page.Total, page.Conversations, page.NextCursor
		if page.NextCursor == "" || limit > 0 && len(all.Messages) >= limit {
			return all, nil
		}
		params.Cursor = page.NextCursor
	}
}

func drawCitations(s *term.Screen, res *protocol.ChatCitations) {
	if res.Total == 0 {
		s.Say(term.Styled(term.Faint, "no message used it"))
		return
	}
	for i := range res.Messages {
		m := &res.Messages[i]
		title := term.Styled(term.Strong, m.Title)
		if m.Title == "" {
			title = term.Styled(term.Faint, "untitled")
		}
		line := term.Line{
			title, term.Text("  " + term.Number(m.Index)), term.Styled(term.Accent, "  "+m.Role),
			term.Text("  " + citedAs(m)), term.Styled(term.Faint, "  "+term.Day(m.CreatedAt)+"  "+m.Handle),
		}
		if m.Private {
			line = append(line, term.Styled(term.Warn, "  private"))
		}
		s.Say(line...)
		s.Say(term.Text("  " + m.Preview))
	}
	s.Say(term.Styled(term.Faint, term.Count(res.Total, "message")+" in "+term.Count(res.Conversations, "conversation")))
	if res.NextCursor != "" {
		s.Say(term.Styled(term.Faint, "the newest "+term.Number(len(res.Messages))+"; -n 0 shows all"))
	}
}

// citedAs says how a message refers to a note.
func citedAs(m *protocol.ChatCitation) string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{{m.Direct, "link"}, {m.Used, "read"}, {m.Search && !m.Used, "found"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

type graphCmd struct {
	Format string         `enum:"list,dot,svg,json" default:"list" placeholder:"FORMAT" help:"Form of the graph: list, dot, svg or json. Default: list."`
	Nodes  term.CountFlag `short:"n" from:"2" to:"400" default:"100" placeholder:"N" help:"Maximum number of notes and conversations, 2 to 400. Default: 100."`
	Output string         `short:"o" placeholder:"FILE" help:"Write the graph to this file. Only you can read it."`
	Force  bool           `help:"Replace the file if it exists."`

	connect.Audience
}

func (graphCmd) Help() string {
	return "Shows which conversations used which notes: with how many messages that name the note, or for which a model has read of it. " +
		"Conversations that lead to the same note share it. Of many, those with most such messages are shown."
}

func (graphCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat graph", "conversations with their notes"},
		{"ctxd chat graph --format svg -o chats.svg", "a drawing"},
		{"ctxd chat graph --format dot | dot -Tpng -o chats.png", "by Graphviz"},
		{"ctxd chat graph --json | jq '.edges[0]'", "for scripts"},
	}
}

func (c *graphCmd) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		params := protocol.ChatGraphParams{Nodes: int(c.Nodes)}
		asJSON := a.JSON || c.Format == "json"
		if !asJSON && c.Format != "list" {
			params.Format = c.Format
		}
		var g protocol.ChatGraph
		if err := cl.Call(a.Ctx, "chat.graph", params, &g); err != nil {
			return err
		}
		if c.Output == "" {
			return c.show(a.Out, &g, asJSON)
		}
		var b strings.Builder
		if err := c.show(&term.Screen{Writer: &b}, &g, asJSON); err != nil {
			return err
		}
		if err := term.WriteDocument(c.Output, c.Force, b.String()); err != nil {
			return err
		}
		if !a.JSON { // which prints one document or none
			a.Out.Say(term.Styled(term.Good, "written"), term.Text("  "), term.Styled(term.Strong, c.Output),
				term.Styled(term.Faint, "  "+term.Count(len(g.Nodes), "record")+", "+term.Count(len(g.Edges), "edge")))
		}
		return nil
	})
}

// show prints a graph in the form that was asked for.
func (c *graphCmd) show(s *term.Screen, g *protocol.ChatGraph, asJSON bool) error {
	switch {
	case asJSON:
		return s.JSON(g)
	case g.Text != "":
		_, err := s.Write([]byte(g.Text))
		return err
	}
	drawChatGraph(s, g)
	return nil
}

// drawChatGraph shows each conversation with the notes that it used.
func drawChatGraph(s *term.Screen, g *protocol.ChatGraph) {
	if len(g.Edges) == 0 {
		s.Say(term.Styled(term.Faint, "no conversation used a note yet"))
		return
	}
	titles := make(map[string]string)
	for _, n := range g.Nodes {
		if n.Kind == turn.KindNote {
			titles[n.ID] = n.Title
		}
	}
	for _, n := range g.Nodes {
		if n.Kind != turn.KindConversation {
			continue
		}
		title := term.Styled(term.Strong, n.Title)
		if n.Title == "" {
			title = term.Styled(term.Faint, "untitled")
		}
		s.Say(title)
		t := &term.Table{Right: []int{1}}
		for _, e := range g.Edges {
			if e.From == n.ID {
				t.Row(append(term.Line{term.Text("  ")}, noteTitle(titles[e.To], e.To)...),
					term.Line{term.Text(term.Count(e.Weight, "message"))}, term.Line{term.Styled(term.Faint, term.Number(e.Used)+" read")})
			}
		}
		t.Draw(s)
	}
	if g.Truncated {
		s.Say(term.Styled(term.Faint, "there is more; -n shows up to 400 notes and conversations"))
	}
}
