package chats

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type update struct {
	aConversation
	Title   *string `placeholder:"TEXT" help:"Its title; an empty one for the beginning of its first message."`
	Private *bool   `negatable:"" help:"Hide it from remote models, or no longer."`
	answering
}

// answering is what answers in a conversation, and how.
type answering struct {
	SystemPrompt *string  `placeholder:"TEXT" help:"What the model is told before everything else; empty for nothing."`
	Provider     *string  `placeholder:"NAME" help:"Which provider answers; empty for the one that is configured."`
	Model        *string  `placeholder:"NAME" help:"Which of its models; empty for the one that is configured."`
	MaxContext   *int     `placeholder:"TOKENS" help:"How many tokens the model is given at most: 1000 to 10000000."`
	Temperature  *float64 `placeholder:"NUMBER" help:"Of the sampling: 0 to 2."`
}

func (c *answering) given() bool {
	return c.SystemPrompt != nil || c.Provider != nil || c.Model != nil || c.MaxContext != nil || c.Temperature != nil
}

func optional[T any](p *T) protocol.Optional[T] {
	if p == nil {
		return protocol.Optional[T]{}
	}
	return protocol.Some(*p)
}

func (update) Help() string {
	return "The handle stays. What was remembered from a conversation that becomes private is private too, and stays so."
}

func (update) Examples() []term.Example {
	return []term.Example{
		{`ctxd chat set weekend_trip_k3x9 --title "Hiking in May"`, "another title"},
		{"ctxd chat set weekend_trip_k3x9 --private", "hide it from remote models"},
		{"ctxd chat set weekend_trip_k3x9 --model small --temperature 0", "another model"},
	}
}

func (c *update) Run(a *Options) error {
	if c.Title == nil && c.Private == nil && !c.given() {
		return term.Misuse("nothing to change", "ctxd chat set --help lists what can be changed")
	}
	return c.change(a, "changed", "chat.patch", func(found *record.Conversation) any {
		return protocol.ChatPatch{
			ID: found.ID, Title: c.Title, Private: c.Private, IfVersion: &found.Version,
			SystemPrompt: optional(c.SystemPrompt), Provider: optional(c.Provider), Model: optional(c.Model),
			MaxContext: optional(c.MaxContext), Temperature: optional(c.Temperature),
		}
	})
}

// change calls a method that changes a conversation, with the version that was read.
func (c *aConversation) change(a *Options, did, method string, params func(*record.Conversation) any) error {
	return a.With(func(cl *client.Client) error {
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		var now record.Conversation
		if err := cl.Call(a.Ctx, method, params(found), &now); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(now)
		}
		drawSaid(a.Out, did, &now)
		return nil
	})
}

func byID(found *record.Conversation) any {
	return protocol.ByID{ID: found.ID, IfVersion: &found.Version}
}

type archive struct{ aConversation }

func (archive) Examples() []term.Example {
	return []term.Example{{"ctxd chat archive weekend_trip_k3x9", "ctxd chat list --archived lists it from then on"}}
}

func (c *archive) Run(a *Options) error { return c.change(a, "archived", "chat.archive", byID) }

type restore struct{ aConversation }

func (restore) Examples() []term.Example {
	return []term.Example{{"ctxd chat restore weekend_trip_k3x9", "it is listed again"}}
}

func (c *restore) Run(a *Options) error { return c.change(a, "restored", "chat.restore", byID) }

type deleteOne struct {
	aConversation
	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

func (deleteOne) Help() string {
	return "It cannot be brought back. What was remembered from it stays; ctxd memory forget --conversation deletes that."
}

func (deleteOne) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat delete weekend_trip_k3x9", "show which it is, ask, and delete it"},
		{"ctxd chat delete weekend_trip_k3x9 --yes", "in a script"},
	}
}

func (c *deleteOne) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		if !c.Yes {
			err := a.Confirm(a.Ctx, "Delete this conversation for good?",
				"ctxd chat delete "+term.ShellQuoted(c.Conversation)+" --yes",
				func(s *term.Screen) {
					s.Say(append(name(found), term.Styled(term.Faint, "  "+term.Count(found.Messages, "message")))...)
				})
			if err != nil {
				return err
			}
		}
		var gone protocol.Deleted
		if err := cl.Call(a.Ctx, "chat.delete", protocol.ChatID{ID: found.ID}, &gone); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(gone)
		}
		drawSaid(a.Out, "deleted", found)
		return nil
	})
}
