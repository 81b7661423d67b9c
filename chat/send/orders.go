package send

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// commands reports whether the message is commands to ctxd alone, so that no model is asked.
func (s *sending) commands() bool { return s.read.Commands() }

// order finds what is proposed for what the message orders. It is done when the message is stored, since what is
// remembered then says where it comes from, and before the first delta, since a remote follower gets none of a private
// answer.
func (s *sending) order(ctx context.Context) (err error) {
	if len(s.read.Orders) == 0 {
		return nil
	}
	at := tools.OrderPlace{ConversationID: s.turn.Conversation.ID, MessageID: s.turn.Question.ID}
	s.ordered, err = s.opts.Orders.Propose(ctx, s.asker, s.read, s.turn.Question.Content, at)
	if err != nil {
		return err
	}
	for i := range s.ordered.Proposed {
		s.mine.private = s.mine.private || s.ordered.Proposed[i].Private
	}
	s.timings.lap("intents")
	return nil
}

// proposeOrders has the answer propose what the message orders, and say what can't be proposed.
func (s *sending) proposeOrders() error {
	if s.ordered == nil {
		return nil
	}
	for i := range s.ordered.Proposed {
		p := &s.ordered.Proposed[i]
		if p.Private {
			s.answer.Private = true
			s.keeper.private(true)
		}
		about := string(s.ordered.Orders[i].Kind)
		if p.Problem != nil {
			if err := s.warnNow(about, "%s", problem(p.Problem)); err != nil {
				return err
			}
		}
		for _, w := range p.Warnings {
			if err := s.warnNow(about, "%s", w); err != nil {
				return err
			}
		}
		if p.Proposal == nil {
			continue
		}
		if err := s.propose(p.Proposal); err != nil {
			return err
		}
	}
	if n := s.ordered.Left; n > 0 {
		return s.warnNow("intents", "the message orders %d things, and the first %d are proposed", n+tools.MaxOrders, tools.MaxOrders)
	}
	return nil
}

func problem(f *fault.Error) string {
	if f.Hint == "" {
		return f.Msg
	}
	return f.Msg + ": " + f.Hint
}

// longProposed is how much is said of a proposal, in characters.
const longProposed = 300

// sayProposed answers a message that is commands alone.
func (s *sending) sayProposed() error {
	s.nobody = true
	if len(s.answer.Actions) == 0 {
		return s.say("Nothing is proposed.")
	}
	var b strings.Builder
	b.WriteString("Proposed, and not done before you confirm it:\n")
	for i := range s.answer.Actions {
		b.WriteString("\n- " + said(&s.answer.Actions[i]))
	}
	return s.say(b.String())
}

// said says for people what an action does that a message orders.
func said(a *record.ChatAction) string {
	text := func(arg string) string {
		value, _ := a.Args[arg].(string)
		value, _ = prompt.Cut(value, longProposed)
		return render.Inline(value)
	}
	switch a.Type {
	case record.ProposeRemember:
		what := "remember: "
		if kind := text("kind"); kind != record.MemoryFact {
			what = fmt.Sprintf("remember (%s): ", kind)
		}
		return what + text("statement")
	case record.ProposeForget:
		return "put away: " + text("statement")
	case record.ProposePin:
		return "pin in this conversation: " + text("label")
	case record.ProposeBook:
		return "read for this conversation: " + text("path")
	default:
		return "search the notes: " + text("query")
	}
}

// proposedNow tells the model what is proposed for the message that it answers, so that it does not say that it is done.
func (s *sending) proposedNow() string {
	if len(s.answer.Actions) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("ctxd has proposed to the user what the message below orders:\n")
	for i := range s.answer.Actions {
		b.WriteString("- " + s.answer.Actions[i].Type + ": " + s.state(&s.answer.Actions[i]) + "\n")
	}
	return b.String() + "\n"
}

// report is what the model was given, or would have been, with the text then; nil where none was asked for anything.
func (s *sending) report() *prompt.Report {
	if s.commands() {
		return nil
	}
	if s.nobody {
		with := s.prompt.Report
		with.Text = s.prompt.System
		return &with
	}
	return &s.prompt.Report
}
