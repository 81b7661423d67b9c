package chats

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type cancelling struct{ aConversation }

func (cancelling) Help() string {
	return "What came of the answer is kept. Whoever waits for it is told."
}

func (cancelling) Examples() []term.Example {
	return []term.Example{{"ctxd chat cancel weekend_trip_k3x9", "stop the answer that a client waits for"}}
}

func (c *cancelling) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		var out protocol.ChatCancelled
		if err := cl.Call(a.Ctx, "chat.cancel", protocol.ChatConversation{ConversationID: found.ID}, &out); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(out)
		}
		if !out.Cancelled {
			a.Out.Say(term.Styled(term.Faint, "no answer is being given"))
			return nil
		}
		drawSaid(a.Out, "cancelled an answer in", found)
		return nil
	})
}

type follow struct {
	aConversation
	Reasoning bool           `help:"Show all that the model thinks before it answers, not only its first line."`
	Count     term.CountFlag `short:"n" from:"1" placeholder:"N" help:"Stop after this many answers. Default: run until Ctrl-C."`
}

func (follow) Help() string {
	return "Shows what is answered from now on, whichever client asks. " +
		"With --json each delta is a line."
}

func (follow) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat follow weekend_trip_k3x9", "until Ctrl-C"},
		{"ctxd chat follow weekend_trip_k3x9 --count 1", "the next answer"},
		{`ctxd chat follow weekend_trip_k3x9 --json | jq -j 'select(.type == "text").text'`, "for scripts"},
	}
}

func (c *follow) Run(a *Options) error {
	t := &teller{Options: a}
	defer t.close()
	cl, err := t.conn()
	if err != nil {
		return err
	}
	found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
	if err != nil {
		return err
	}
	var out protocol.ChatFollowed
	if err := cl.Call(a.Ctx, "chat.follow", protocol.ChatFollow{ConversationID: found.ID}, &out); err != nil {
		return err
	}
	if a.Err.Terminal {
		a.Err.Say(term.Styled(term.Faint, "waiting for answers; Ctrl-C stops"))
	}
	var view *answerView
	for n := 0; ; {
		select {
		case d := <-t.deltas:
			if view == nil {
				view = newAnswerView(a.Streams, c.Reasoning)
			}
			if err := view.show(&d); err != nil {
				return err
			}
			if !view.done {
				continue
			}
			if err := view.end(); err != nil {
				return err
			}
			view = nil
			if n++; n == int(c.Count) {
				return nil
			}
		case <-a.Ctx.Done():
			return nil // that is how it ends
		case <-cl.Done():
			return a.ConnectionGone()
		}
	}
}

// branchLine says where a branch begins.
func branchLine(b *protocol.ChatBranch) term.Line {
	role := b.Role
	if role == record.RoleUser {
		role = "you"
	}
	return term.Line{
		term.Styled(term.Faint, "message "+term.Number(b.Index)), term.Styled(term.Accent, "  "+role),
		term.Text("  " + b.Preview), term.Styled(term.Faint, "  "+b.MessageID),
	}
}
