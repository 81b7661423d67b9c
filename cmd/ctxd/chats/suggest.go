package chats

import (
	"context"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type suggestFor struct {
	aConversation
	Limit term.CountFlag `short:"n" from:"1" to:"50" default:"5" placeholder:"N" help:"Maximum number of notes, 1 to 50. Default: 5."`

	connect.Audience
}

func (suggestFor) Help() string {
	return "Lists notes that are linked with notes of the conversation, that other conversations used together with them, or that have words of what you said last. " +
		"Notes that the conversation refers to already are not among them. Each note has the reason why it is there."
}

func (suggestFor) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat suggest weekend_trip_k3x9", "what else could be of use"},
		{"ctxd chat suggest weekend_trip_k3x9 -n 20", "more of them"},
		{"ctxd chat suggest weekend_trip_k3x9 --json | jq -r '.items[].title'", "for scripts"},
	}
}

func (c *suggestFor) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		var res turn.ChatSuggestions
		if err := cl.Call(a.Ctx, "chat.suggest", protocol.ChatSuggest{ConversationID: found.ID, Limit: int(c.Limit)}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawSuggestions(a.Out, res.Items)
		return nil
	})
}

func drawSuggestions(s *term.Screen, list []turn.ChatSuggestion) {
	if len(list) == 0 {
		s.Say(term.Styled(term.Faint, "no other note is related to the conversation"))
	}
	for i := range list {
		n := &list[i]
		line := term.Line{term.Styled(term.Strong, n.Title)}
		if n.Path != "" {
			line = append(line, term.Styled(term.Faint, "  "+n.Path))
		}
		if n.Vault != "" {
			line = append(line, term.Styled(term.Faint, "  "+n.Vault))
		}
		s.Say(line...)
		for _, l := range term.Wrap(n.Why, s.Columns()-2) {
			s.Say(term.Text("  " + l))
		}
	}
}

// suggested is /suggest.
func (s *conversing) suggested(ctx context.Context, _ string) error {
	if s.conversation == nil || s.conversation.ID == "" {
		s.faint("nothing was said yet")
		return nil
	}
	var res turn.ChatSuggestions
	if err := s.call(ctx, "chat.suggest", protocol.ChatSuggest{ConversationID: s.conversation.ID, Limit: suggestedAtPrompt}, &res); err != nil {
		return err
	}
	if s.JSON {
		return jsonLine(s.Out, res)
	}
	drawSuggestions(s.Out, res.Items)
	return nil
}

// suggestedAtPrompt is how many notes /suggest shows.
const suggestedAtPrompt = 5
