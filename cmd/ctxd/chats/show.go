package chats

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type show struct {
	aConversation
	Branch string         `placeholder:"ID" help:"Show the newest branch that has this message, as the list of branches names it. Default: the newest of all."`
	Limit  term.CountFlag `short:"n" from:"0" default:"0" placeholder:"N" help:"Maximum number of messages, the first ones; 0 for all. Default: 0."`

	connect.Audience
}

func (show) Help() string {
	return "Messages are numbered from 1. For a remote reader private messages do not exist, and the others are numbered without them."
}

func (show) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat show weekend_trip_k3x9", "all of it"},
		{"ctxd chat show weekend_trip_k3x9 -n 4", "how it began"},
		{"ctxd chat show weekend_trip_k3x9 --branch 6fa459ea-ee8a-3ca4-894e-db77e160355e", "another branch of it"},
		{"ctxd chat show weekend_trip_k3x9 --audience remote", "as a model on another machine reads it"},
		{"ctxd chat show weekend_trip_k3x9 --json | jq -r '.messages[].content'", "for scripts"},
	}
}

// shown is what --json prints.
type shown struct {
	Conversation *record.Conversation  `json:"conversation"`
	Messages     []*record.ChatMessage `json:"messages"`
	Branches     []protocol.ChatBranch `json:"branches,omitempty"`
	More         bool                  `json:"more"`

	refs map[string]*protocol.ChatReferenceList // what messages stand on, by their ids
}

func (c *show) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		out := shown{Messages: []*record.ChatMessage{}}
		params := protocol.ChatGet{Ref: found.ID, Branch: c.Branch}
		limit := int(c.Limit)
		for {
			params.Limit = pageSize
			if limit > 0 {
				params.Limit = min(pageSize, limit-len(out.Messages))
			}
			var page protocol.ChatPage
			if err := cl.Call(a.Ctx, "chat.get", params, &page); err != nil {
				return err
			}
			if params.Cursor == "" {
				out.Branches = page.Branches
			}
			out.Conversation, out.More = page.Conversation, page.NextCursor != ""
			out.Messages = append(out.Messages, page.Messages...)
			if !out.More || limit > 0 && len(out.Messages) >= limit {
				break
			}
			params.Cursor = page.NextCursor
		}
		if a.JSON {
			return a.Out.JSON(out)
		}
		pins, err := pinned(a, cl, out.Conversation)
		if err != nil {
			return err
		}
		out.refs = make(map[string]*protocol.ChatReferenceList)
		for _, m := range out.Messages {
			if len(m.References) == 0 {
				continue
			}
			if out.refs[m.ID], err = referencesOf(a.Ctx, cl.Call, found.ID, m.ID); err != nil {
				return err
			}
		}
		out.draw(a.Out, pins)
		return nil
	})
}

func (v *shown) draw(s *term.Screen, pins []string) {
	c := v.Conversation
	s.Say(name(c)...)
	facts := term.Count(c.Messages, "message") + ", begun " + term.Day(c.CreatedAt)
	if c.Lost > 0 {
		facts += ", " + term.Number(c.Lost) + " lost to damage"
	}
	if c.Private {
		facts += ", private"
	}
	if c.ArchivedAt != nil {
		facts += ", archived " + term.Day(*c.ArchivedAt)
	}
	s.Say(term.Styled(term.Faint, facts))
	for _, p := range pins {
		s.Say(term.Styled(term.Faint, "pinned  "), term.Text(p))
	}
	for _, m := range v.Messages {
		line := term.Line{
			term.Styled(term.Strong, term.Number(m.Index)), term.Styled(term.Accent, "  "+m.Role),
			term.Styled(term.Faint, "  "+term.Day(m.CreatedAt)),
		}
		if m.Private {
			line = append(line, term.Styled(term.Warn, "  private"))
		}
		s.Say()
		s.Say(line...)
		for _, l := range term.Wrap(term.CleanLines(m.Content), s.Columns()-2) {
			s.Say(term.Text("  " + l))
		}
		if refs := v.refs[m.ID]; refs != nil {
			drawReferences(s, "  ", refs, referencesShown)
		}
		for i := range m.Actions {
			drawState(s, "  ", &m.Actions[i])
		}
	}
	for i := range v.Branches {
		if i == 0 {
			s.Say()
		}
		s.Say(append(term.Line{term.Styled(term.Faint, "branch  ")}, branchLine(&v.Branches[i])...)...)
	}
	if v.More {
		s.Say()
		s.Say(term.Styled(term.Faint, "the first "+term.Number(len(v.Messages))+" of "+term.Count(c.Messages, "message")))
	}
}
