package chats

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type highlights struct {
	Conversation string         `arg:"" help:"Id or handle of the conversation, or id of a message."`
	N            term.CountFlag `arg:"" optional:"" from:"1" help:"Number of the message. Default: all of the newest branch that have excerpts."`

	connect.Audience
}

func (highlights) Help() string {
	return "Excerpts are the passages of notes that tools gave to the model for an answer. Each is shown with the path of the note and the line in which it begins. " +
		"The excerpts of a note with another text by now are not shown."
}

func (highlights) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat highlights weekend_trip_k3x9", "of all answers of a conversation"},
		{"ctxd chat highlights weekend_trip_k3x9 2", "of one answer"},
		{"ctxd chat highlights weekend_trip_k3x9 --json | jq -r '.messages[].items[].excerpts[]?.text'", "for scripts"},
	}
}

// highlighted is what --json prints.
type highlighted struct {
	Messages []*turn.ChatHighlights `json:"messages"`
}

func (c *highlights) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		out, err := c.collect(a, cl)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(out)
		}
		out.draw(a.Out)
		return nil
	})
}

// collect returns the excerpts of the messages that are meant.
func (c *highlights) collect(a *Options, cl *client.Client) (*highlighted, error) {
	out := &highlighted{Messages: []*turn.ChatHighlights{}}
	ask := func(p protocol.ChatHighlightsParams) error {
		var res turn.ChatHighlights
		err := cl.Call(a.Ctx, "chat.highlights", p, &res)
		if err == nil {
			out.Messages = append(out.Messages, &res)
		}
		return err
	}
	found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound && c.N == 0 && ask(protocol.ChatHighlightsParams{MessageID: c.Conversation}) == nil {
			return out, nil
		}
		return nil, err
	}
	if n := int(c.N); n > found.Messages {
		return nil, fault.New(fault.NotFound, "the conversation has no message %d", n).
			WithHint("it has %s; ctxd chat show lists them", term.Count(found.Messages, "message"))
	}
	branches := []string{""}
	for i := 0; i < len(branches); i++ {
		params := protocol.ChatGet{Ref: found.ID, Branch: branches[i], Limit: pageSize}
		for {
			var page protocol.ChatPage
			if err := cl.Call(a.Ctx, "chat.get", params, &page); err != nil {
				return nil, err
			}
			for _, m := range page.Messages {
				if c.N == 0 && !hasExcerpts(m) || c.N > 0 && m.Index != int(c.N) {
					continue
				}
				if err := ask(protocol.ChatHighlightsParams{MessageID: m.ID, ConversationID: found.ID}); err != nil || c.N > 0 {
					return out, err
				}
			}
			if i == 0 && c.N > 0 { // it may be on another one
				for _, b := range page.Branches {
					branches = append(branches, b.MessageID)
				}
			}
			if page.NextCursor == "" {
				break
			}
			params.Cursor = page.NextCursor
		}
	}
	return out, nil
}

// hasExcerpts reports whether the model was shown passages of notes for a message.
func hasExcerpts(m *record.ChatMessage) bool {
	for i := range m.References {
		if len(m.References[i].Ranges) > 0 {
			return true
		}
	}
	return false
}

// whyNone says why the excerpts of a note are not shown.
var whyNone = map[string]string{
	turn.HighlightChanged: "has another text by now",
	turn.HighlightGone:    "is gone",
	turn.HighlightTooLong: "has more excerpts than are shown",
}

func (h *highlighted) draw(s *term.Screen) {
	shown := 0
	for _, m := range h.Messages {
		for i := range m.Items {
			it := &m.Items[i]
			where := it.Path
			if where == "" {
				where = it.Title
			}
			if where == "" {
				where = it.NoteID
			}
			shown++
			if it.Why != "" {
				s.Say(term.Styled(term.Strong, where), term.Styled(term.Warn, "  "+whyNone[it.Why]), term.Styled(term.Faint, fmt.Sprintf("  message %d", m.Index)))
				continue
			}
			for _, e := range it.Excerpts {
				s.Say(term.Styled(term.Strong, fmt.Sprintf("%s:%d", where, e.Line)), term.Styled(term.Faint, fmt.Sprintf("  message %d", m.Index)))
				for l := range strings.SplitSeq(strings.TrimSuffix(e.Text, "\n"), "\n") {
					s.Say(term.Text("  "), term.Styled(term.Marked, l))
				}
			}
		}
	}
	if shown == 0 {
		s.Say(term.Styled(term.Faint, "the model was shown no excerpts of notes"))
	}
}
