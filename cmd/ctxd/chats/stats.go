package chats

import (
	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type stats struct{}

func (stats) Help() string {
	return "What language models were asked, today and in all, with the tokens that the providers have counted. Where one counts none " +
		"they are estimated. What ctxd asks in the background is counted apart. Limits are chat.budget.tokensPerDay, " +
		"chat.budget.backgroundTokensPerDay and chat.budget.requestsPerMinute, see ctxd config."
}

func (stats) Examples() []command.Example {
	return []command.Example{
		{"ctxd chat stats", "what was spent"},
		{"ctxd chat stats --json | jq '[.today[].out] | add'", "tokens that models have answered with today"},
	}
}

func (c *stats) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		var res protocol.ChatProviderList
		if err := cl.Call(a.Ctx, "chat.providers", protocol.ChatProviders{}, &res); err != nil {
			return err
		}
		spent := res.Spending
		if spent == nil { // a remote connection is told nothing of it
			spent = &protocol.ChatSpending{Today: []protocol.ChatSpent{}, Total: []protocol.ChatSpent{}}
		}
		if a.JSON {
			return a.Out.JSON(spent)
		}
		if len(spent.Total) == 0 {
			a.Out.Say(term.Styled(term.Faint, "no language model was asked yet"))
		}
		drawSpending(a.Out, spent)
		return nil
	})
}
