package chats

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type list struct {
	Archived bool           `help:"The archived conversations instead of the others."`
	Limit    term.CountFlag `short:"n" from:"0" default:"100" placeholder:"N" help:"Maximum number of conversations; 0 for all. Default: 100."`

	connect.Audience
}

func (list) Help() string { return "The conversation changed last comes first." }

func (list) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat list -n 10", "the last ten"},
		{"ctxd chat list --archived", "those that are archived"},
		{"ctxd chat list --audience remote", "without private ones, for a model on another machine"},
		{"ctxd chat list --json | jq -r '.conversations[].handle'", "for scripts"},
	}
}

// pageSize is how many conversations a call asks for.
const pageSize = 1000

func (c *list) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		found, more, err := c.collect(a, cl)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(map[string]any{"conversations": found, "more": more})
		}
		c.draw(a.Out, found)
		if more {
			a.Out.Say(term.Styled(term.Faint, "the last "+term.Number(len(found))+"; -n 0 shows all"))
		}
		return nil
	})
}

// collect returns the conversations, and whether there are more.
func (c *list) collect(a *Options, cl *client.Client) (found []*record.Conversation, more bool, err error) {
	found = []*record.Conversation{}
	params := protocol.ChatList{Archived: c.Archived}
	limit := int(c.Limit)
	for {
		params.Limit = pageSize
		if limit > 0 {
			params.Limit = min(pageSize, limit-len(found))
		}
		var page protocol.Conversations
		if err := cl.Call(a.Ctx, "chat.list", params, &page); err != nil {
			return nil, false, err
		}
		found = append(found, page.Conversations...)
		if page.NextCursor == "" || limit > 0 && len(found) >= limit {
			return found, page.NextCursor != "", nil
		}
		params.Cursor = page.NextCursor
	}
}

func (c *list) draw(s *term.Screen, found []*record.Conversation) {
	if len(found) == 0 {
		none := "there are no conversations; ctxd chat append \"…\" begins one"
		if c.Archived {
			none = "no conversation is archived"
		}
		s.Say(term.Styled(term.Faint, none))
		return
	}
	t := &term.Table{Right: []int{1}}
	for _, x := range found {
		private := ""
		if x.Private {
			private = "private"
		}
		title := term.Line{term.Styled(term.Strong, x.Title)}
		if x.Title == "" {
			title = term.Line{term.Styled(term.Faint, "untitled")}
		}
		t.Row(title, term.Line{term.Text(term.Count(x.Messages, "message"))},
			term.Line{term.Text(term.Day(x.UpdatedAt))}, term.Line{term.Styled(term.Warn, private)},
			term.Line{term.Styled(term.Faint, x.Handle)})
	}
	t.Draw(s)
}
