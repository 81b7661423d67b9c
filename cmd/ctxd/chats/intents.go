package chats

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type intents struct {
	Text         []string `arg:"" help:"What a person types, or - for standard input."`
	Conversation string   `short:"s" placeholder:"CONVERSATION" help:"Id or handle of the conversation in which it is said: what is pinned is pinned there."`

	connect.Audience
}

func (intents) Help() string {
	var list []string
	for _, c := range turn.Commands() {
		list = append(list, c.Name+" "+c.Arg+" ("+c.About+")")
	}
	return "Shows what a message would propose, and proposes nothing. A message orders by phrases such as \"remember that …\", in many languages, and by commands: " +
		strings.Join(list, ", ") + ". They stand at the beginning of a line, in lists, or behind semicolons. ctxd chat say proposes what a message orders, and ctxd chat confirm does it."
}

func (intents) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat intents Remember that I eat no meat", "what would be remembered"},
		{`ctxd chat intents "/forget #42; /remember I live in Paris"`, "two orders"},
		{`ctxd chat intents -s weekend_trip_k3x9 "/pin [[Packing list]]"`, "what would be pinned"},
		{"ctxd chat intents - < message.txt", "a text from a file"},
		{"ctxd chat intents /goal run a marathon --json | jq '.intents[].proposal.args'", "for scripts"},
	}
}

func (c *intents) Run(a *Options) error {
	text := strings.Join(c.Text, " ")
	if text == "-" {
		var err error
		if text, err = piped(a); err != nil {
			return err
		}
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		params := protocol.IntentRoute{Text: text}
		if c.Conversation != "" {
			found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
			if err != nil {
				return err
			}
			params.ConversationID = found.ID
		}
		var res protocol.IntentRouted
		if err := cl.Call(a.Ctx, "intent.route", params, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawIntents(a.Out, &res)
		return nil
	})
}

func drawIntents(s *term.Screen, res *protocol.IntentRouted) {
	if len(res.Intents) == 0 {
		s.Say(term.Styled(term.Faint, "the message orders nothing"))
		return
	}
	for i := range res.Intents {
		in := &res.Intents[i]
		how := ""
		if !in.Command {
			how = "  " + in.Language + ", confidence " + inspect.ThreeDigits(in.Confidence)
		}
		if in.Proposal == nil {
			s.SayWhole(term.Styled(term.Bad, "✗ "), term.Styled(term.Strong, in.Kind), term.Text(" "+shortened(in.Text)), term.Styled(term.Faint, how))
			s.Say(term.Text("  " + in.Problem.Message))
			drawWhy(s, in.Problem)
			continue
		}
		a := record.ChatAction{Type: in.Proposal.Type}
		_ = json.Unmarshal(in.Proposal.Args, &a.Args) // an object, by the contract
		s.SayWhole(term.Styled(term.Warn, "? "), term.Styled(term.Strong, a.Type), term.Text(" "+argsOf(&a)), term.Styled(term.Faint, how))
		for _, w := range in.Warnings {
			s.Say(term.Styled(term.Warn, "  ! "), term.Text(w))
		}
	}
	if res.Left > 0 {
		s.Say(term.Styled(term.Faint, "… and "+term.Number(res.Left)+" more, which would not be proposed"))
	}
	s.Say(term.Styled(term.Faint, "nothing is proposed yet: ctxd chat say does that"))
}

// drawWhy says what would be right, and what may have been meant.
func drawWhy(s *term.Screen, e *protocol.Error) {
	if e.Data == nil {
		return
	}
	if e.Data.Hint != "" {
		s.Say(term.Styled(term.Faint, "  "+e.Data.Hint))
	}
	for _, c := range e.Data.Candidates {
		s.Say(term.Styled(term.Faint, "  "+c.ID+"  "), term.Text(c.Name))
	}
}

// orders are the commands of the prompt that are messages: nothing of them is done before /confirm. /pin, /search and
// /book act for the person at once.
func orders() (list []slashCommand) {
	for _, c := range turn.Commands() {
		switch c.Intent {
		case turn.Pin, turn.Search, turn.Book:
		default:
			list = append(list, slashCommand{name: c.Name, arg: c.Arg, needs: true, about: c.About + ", once you confirm it", run: func(s *conversing, ctx context.Context, arg string) error {
				_, err := s.say(ctx, c.Name+" "+arg)
				return err
			}})
		}
	}
	return list
}

// foundAtPrompt is how many notes /search shows.
const foundAtPrompt = 5

// search shows the notes that a search finds.
func (s *conversing) search(ctx context.Context, arg string) error {
	var res protocol.SearchResult
	if err := s.call(ctx, "notes.search", protocol.NoteSearch{Query: arg, Mode: "hybrid", Limit: foundAtPrompt, Explain: true}, &res); err != nil {
		return err
	}
	if s.JSON {
		return jsonLine(s.Out, res)
	}
	inspect.DrawProblems(s.Out, "", &res)
	inspect.DrawCorrected(s.Out, arg, &res)
	inspect.DrawHits(s.Out, "", &res, false)
	if len(res.Hits) == 0 {
		s.faint("no notes found")
	}
	return nil
}
