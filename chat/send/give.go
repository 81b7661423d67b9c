package send

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// give asks the provider, runs the tools that it calls, and keeps the answer.
func (s *sending) give(ctx context.Context) (*turn.ChatSent, error) {
	s.answer.Private = s.turn.Question.Private
	s.answer.Provider, s.answer.Model = s.info.Name, s.params.Model
	s.answer.Trace = s.traced()
	s.keeper = s.keeping(ctx)
	tools := s.opts.Tools.Turn(tools.CallEnv{
		View: s.reader, Score: s.scorer(), At: tools.OrderPlace{ConversationID: s.turn.Conversation.ID, MessageID: s.turn.Question.ID},
	}, s.opts.Now)
	err := s.tellWarnings(0)
	if err == nil {
		err = s.proposeOrders()
	}
	switch {
	case err != nil:
	case s.commands():
		err = s.sayProposed()
	default:
		err = s.rounds(ctx, tools)
	}
	s.keeper.close()
	if err == nil {
		s.answer.Finish = record.FinishComplete
	}
	return s.keep(ctx, tools, err)
}

// tools are what the model may call. Who must not write has his model propose and score nothing.
func (s *sending) tools() []tools.Tool {
	if s.scorer() != nil {
		return tools.ListInConversation()
	}
	return tools.List(!s.asker.Hides())
}

// scorer scores for the tool record_response; nil: there is none. What was shown is known by who asks.
func (s *sending) scorer() tools.Scorer {
	if s.opts.Score == nil || s.asker.Hides() {
		return nil
	}
	return func(ctx context.Context, outcome string, related []string) error {
		return s.opts.Score(ctx, s.asker, s.turn.Conversation.ID, outcome, related)
	}
}

// rounds asks until the model calls no tool any more.
func (s *sending) rounds(ctx context.Context, toolset *tools.Turn) error {
	t := s.answer.Trace
	s.fitTools(len(s.system()) + len(s.params.Text) + s.attached.bytes())
	r := llm.Request{
		Model: s.params.Model, System: s.system(), Temperature: s.turn.Conversation.Temperature,
		NoRetry: s.params.Retry != nil && !*s.params.Retry,
	}
	if s.offersTools() {
		for _, t := range s.tools() {
			r.Tools = append(r.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
		}
	}
	before := len(s.answer.Warnings)
	if s.noRoom {
		s.warn("tools", "the model is given %d tokens, which have no room for the tools, so it was asked without: "+
			"start its server with a larger context, or raise maxContext of the conversation", s.maxContext)
	}
	var err error
	if r.Messages, err = s.messages(ctx, r.Tools); err != nil {
		return err
	}
	if s.reader.Hides() {
		r.Fresh = s.fresh(len(r.Messages))
	}
	t.Tools, t.Tokens = len(r.Tools), r.Tokens()
	s.keeper.first(t, s.answer.Private)
	s.stand(toolset)
	if err := s.tellWarnings(before); err != nil {
		return err
	}
	for {
		r.NoCalls = toolset.Done()
		said, a, err := s.ask(ctx, &r)
		if err != nil {
			return err
		}
		if len(a.Calls) == 0 {
			return nil
		}
		if r.NoCalls {
			return s.warnNow("tools", "the model still called tools after %d rounds, so its answer may be unfinished", toolset.Rounds())
		}
		results, err := s.call(ctx, toolset, a.Calls)
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Text: said, Calls: a.Calls, Returned: a.Returned},
			llm.Message{Role: llm.User, Results: results})
	}
}

// ask asks the provider once. said is the text of this round.
func (s *sending) ask(ctx context.Context, r *llm.Request) (said string, a llm.Answer, err error) {
	began := s.opts.Now()
	heard := false
	var first time.Duration // until the first piece
	var round strings.Builder
	before := s.content.Len()
	take := func(d llm.Delta) error {
		if d.Waits > 0 {
			return s.warnNow("provider", "%s is busy: it is asked again in %d s", s.info.Name, int(math.Ceil(d.Waits.Seconds())))
		}
		if !heard {
			heard, first = true, s.opts.Now().Sub(began)
			s.timings.first(first)
		}
		switch {
		case d.Rethought:
			round.Reset()
			return s.rethink(before)
		case d.Reasoning != "":
			return s.reason(d.Reasoning)
		case d.Text != "":
			text := d.Text
			if round.Len() == 0 && s.content.Len() > 0 { // of an earlier round
				text = "\n\n" + text
			}
			round.WriteString(d.Text)
			return s.say(text)
		}
		return nil
	}
	defer func() { said = round.String() }()
	a, err = s.provider.Stream(ctx, r, take)
	if err != nil && !heard && ctx.Err() == nil && s.withoutImages(r, err) {
		tries := a.Tries
		a, err = s.provider.Stream(ctx, r, take)
		a.Tries += tries
	}
	s.timings.add("provider", s.opts.Now().Sub(began))
	s.nobody = a.NoProvider
	s.traceRound(&a, s.opts.Now().Sub(began), first)
	s.count(&a)
	if err != nil {
		s.answer.Finish = record.FinishInterrupted
		if a.Finish == llm.Cancelled {
			s.answer.Finish = record.FinishCancelled
		}
		return said, a, err
	}
	if err := s.tellLeftOut(a.LeftOut); err != nil {
		return said, a, err
	}
	switch a.Finish {
	case llm.Length:
		err = s.warnNow("length", "the answer reached the length that the model may give, and ends there")
	case llm.Filtered:
		err = s.warnNow("filter", "the provider has withheld a part of the answer")
	}
	return said, a, err
}

// tellLeftOut tells what of a request the server refused, where the answer may be another one without it.
func (s *sending) tellLeftOut(names []string) error {
	for _, name := range names {
		if name != "images" && name != "tools" && name != "temperature" {
			continue
		}
		if name == "images" {
			s.answer.Trace.Attached.Refused = len(s.attached.images)
		}
		if err := s.warnNow(name, "%s refuses %s, so it was asked without", s.info.Name, name); err != nil {
			return err
		}
	}
	return nil
}

// withoutImages has a request that was refused say no images, in case the model takes none.
func (s *sending) withoutImages(r *llm.Request, err error) bool {
	last := &r.Messages[len(r.Messages)-1]
	if !errors.Is(err, llm.ErrContent) || len(last.Images) == 0 {
		return false
	}
	s.answer.Trace.Attached.Refused = len(last.Images)
	last.Images = nil
	return s.warnNow("images", "the model was asked without the images: it may not take any") == nil
}

// count adds what a round cost.
func (s *sending) count(a *llm.Answer) {
	if a.NoProvider {
		return
	}
	s.usage.In += a.Usage.In
	s.usage.Out += a.Usage.Out
	s.usage.Cached += a.Usage.Cached
	s.usage.Estimated = s.usage.Estimated || a.Usage.Estimated
	s.answer.Usage = &s.usage
	if a.Model != "" {
		s.answer.Model = a.Model
	}
}

func (s *sending) say(text string) error {
	s.content.WriteString(text)
	s.keeper.add(text, "")
	return s.emit(turn.Text, text, nil)
}

// rethink takes back the text behind the first bytes of the answer: the model was thinking.
func (s *sending) rethink(first int) error {
	kept := s.content.String()[:first]
	s.content.Reset()
	s.content.WriteString(kept)
	return s.emit(turn.Replace, kept, nil)
}

// maxReasoning is how much of what a model thinks is kept, in bytes.
const maxReasoning = 256 << 10

func (s *sending) reason(text string) error {
	if s.thoughts.Len()+len(text) <= maxReasoning {
		s.thoughts.WriteString(text)
		s.keeper.add("", text)
	}
	return s.emit(turn.Reasoning, text, nil)
}

func (s *sending) warnNow(about, format string, args ...any) error {
	s.warn(about, format, args...)
	return s.emit(turn.Warning, "", &turn.ChatDeltaData{Warning: &s.answer.Warnings[len(s.answer.Warnings)-1]})
}

// tellWarnings tells of the warnings from one on. Those of private records are in the result alone, since a remote reader may
// follow; but where the conversation has moved away from a local provider, local readers are told at once.
func (s *sending) tellWarnings(from int) error {
	for i := from; i < len(s.answer.Warnings); i++ {
		if s.answer.Warnings[i].About == record.AboutPrivate {
			if !s.moved {
				continue
			}
			if err := s.to.Local(s.ctx, turn.ChatDelta{
				ConversationID: s.turn.Conversation.ID, MessageID: s.turn.AnswerID, ClientMessage: s.params.ClientMessageID,
				Type: turn.Warning, Data: &turn.ChatDeltaData{Warning: &s.answer.Warnings[i]},
			}); err != nil {
				return err
			}
			continue
		}
		if err := s.emit(turn.Warning, "", &turn.ChatDeltaData{Warning: &s.answer.Warnings[i]}); err != nil {
			return err
		}
	}
	return nil
}

// call runs the tools that the model calls.
func (s *sending) call(ctx context.Context, toolset *tools.Turn, calls []llm.ToolCall) ([]llm.ToolResult, error) {
	began := s.opts.Now()
	list := make([]tools.Call, len(calls))
	records := make([]record.ChatToolCall, len(calls))
	for i, c := range calls {
		list[i] = tools.Call{Name: c.Name, Arguments: c.Arguments}
		records[i] = record.ChatToolCall{ID: c.ID, Name: c.Name, Arguments: kept(c.Arguments), Round: toolset.Rounds() + 1}
		if err := s.emit(turn.ToolCall, "", &turn.ChatDeltaData{Call: &records[i]}); err != nil {
			return nil, err
		}
	}
	proposed := len(toolset.Proposals())
	results, err := toolset.Round(ctx, list)
	if err != nil {
		return nil, err
	}
	s.timings.add("tools", s.opts.Now().Sub(began))
	s.answer.Private = s.answer.Private || toolset.Private()
	s.keeper.private(s.answer.Private)
	s.stand(toolset)
	out := make([]llm.ToolResult, len(calls))
	for i, r := range results {
		out[i] = llm.ToolResult{CallID: calls[i].ID, Text: r.Text, Failed: r.Error}
		records[i].Failed, records[i].Chars = r.Error, prompt.Chars(r.Text)
		s.traceCall(&calls[i], &records[i], toolset.Ran()[i])
		s.answer.ToolCalls = append(s.answer.ToolCalls, records[i])
		if err := s.emit(turn.ToolResult, "", &turn.ChatDeltaData{Call: &records[i], Result: r.Text}); err != nil {
			return nil, err
		}
	}
	for _, p := range toolset.Proposals()[proposed:] {
		if err := s.propose(&p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// propose has the answer propose an action.
func (s *sending) propose(p *record.ToolProposal) error {
	a := record.ChatAction{
		ID: uuid.NewString(), Type: p.Type, Status: record.ActionProposed, MessageID: s.turn.AnswerID, Reason: p.Reason,
		Edit: p.Edit, Version: p.Version,
	}
	until := s.opts.Now().Add(record.ActionTime).UTC().Truncate(time.Millisecond)
	a.ExpiresAt = &until
	if err := json.Unmarshal(p.Args, &a.Args); err != nil {
		return fault.Wrap(fault.Internal, err, "the arguments of a proposal are no object")
	}
	s.answer.Actions = append(s.answer.Actions, a)
	shown := a // with names, which are not stored: they change
	follower := s.opts.Views.View(audience.Remote)
	if s.answer.Private { // then nobody follows who may not see it
		follower = s.asker
	}
	shown.Names = tools.NamesIn(follower, a.Args)
	return s.emit(turn.Action, "", &turn.ChatDeltaData{Action: &shown})
}

// maxArguments is how much of the arguments of a call an answer keeps, in bytes.
const maxArguments = 4 << 10

func kept(arguments string) string {
	if len(arguments) <= maxArguments {
		return arguments
	}
	cut := maxArguments
	for !utf8.RuneStart(arguments[cut]) {
		cut--
	}
	return arguments[:cut] + "…"
}

// keep stores the answer, as far as there is one, and tells of its end. failed is why it is not whole. What is stored
// does not depend on the context of the call, which may have ended.
func (s *sending) keep(ctx context.Context, tools *tools.Turn, failed error) (*turn.ChatSent, error) {
	private := s.answer.Private
	if failed != nil && s.answer.Finish == "" {
		s.answer.Finish = record.FinishFailed
		if ctx.Err() != nil {
			s.answer.Finish = record.FinishCancelled
		}
	}
	s.answer.Content, s.answer.Reasoning = s.content.String(), s.thoughts.String()
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	s.answer.Private = s.answer.Private || s.secret && !s.nobody
	s.timings.lap("") // what was waited for is counted elsewhere
	if failed != nil && s.answer.Content == "" && s.answer.Reasoning == "" && len(s.answer.ToolCalls)+len(s.answer.Actions) == 0 {
		s.done(failed)
		return nil, failed // nothing came: the message can be said again
	}
	s.stand(tools)
	if s.tracked() {
		s.refer(write, tools)
	}
	s.traceEnd(tools, failed)
	m, err := s.opts.Chat.Answered(write, s.asker, s.turn, &s.answer)
	s.timings.lap("keep")
	if failed == nil {
		failed = err
	}
	if failed != nil {
		s.done(failed)
		return nil, failed
	}
	if s.asker.Hides() && !private && (m.Private || s.mine.private) {
		s.done(nil)
		return nil, fault.New(fault.Unavailable, "the answer was interrupted").WithHint("say it again")
	}
	told := m.References
	if !s.mine.private { // remote readers may follow
		told = s.opts.Chat.ReferencesOf(s.opts.Views.View(audience.Remote), &s.answer)
	}
	if len(told) > 0 {
		_ = s.emit(turn.References, "", &turn.ChatDeltaData{References: told}) // a caller who left is told nothing
	}
	s.done(nil)
	return &turn.ChatSent{
		ConversationID: s.turn.Conversation.ID, Content: m.Content, UserMessage: s.turn.Question, AssistantMessage: m,
		References: m.References, Actions: orEmpty(m.Actions), Warnings: orEmpty(m.Warnings), Report: s.report(),
		Timings: s.timings.all(),
	}, nil
}

func (s *sending) done(failed error) {
	finish := s.answer.Finish
	if failed != nil && finish == record.FinishComplete {
		finish = record.FinishFailed
	}
	_ = s.emit(turn.Done, "", &turn.ChatDeltaData{Finish: finish, Usage: s.answer.Usage}) // a caller who left is told nothing
}

// refer has the answer keep what it stands on.
func (s *sending) refer(ctx context.Context, tools *tools.Turn) {
	s.answer.Memories = s.shown(tools)
	before := len(s.answer.Warnings)
	shown := chat.AnswerContext{Tools: tools.References()}
	if !s.nobody { // else no model has read the prompt
		shown.Report = &s.prompt.Report
	}
	warnings, err := s.opts.Chat.Refer(ctx, s.asker, s.turn, &s.answer, &shown)
	s.answer.Warnings = append(s.answer.Warnings, warnings...)
	s.notTracked(err)
	_ = s.tellWarnings(before) // a caller who left is told nothing
	s.timings.lap("references")
}

// shown are the memories that the model was shown, in the prompt and by tools.
func (s *sending) shown(tools *tools.Turn) (ids []string) {
	known := make(map[string]bool)
	add := func(id string) {
		if id != "" && !known[id] && len(ids) < chat.MaxAnswerMemories {
			known[id] = true
			ids = append(ids, id)
		}
	}
	for i := range s.prompt.Report.Sections {
		for _, item := range s.prompt.Report.Sections[i].Items {
			if item.Kind == prompt.KindMemory {
				add(item.ID)
			}
		}
	}
	for _, r := range tools.References() {
		add(r.MemoryID)
	}
	return ids
}

// stand notes what the answer stands on by now, before anything is said that was made of it.
func (s *sending) stand(tools *tools.Turn) {
	s.answer.StandsOn = s.standsOn(tools)
	s.looked = math.MaxUint64 // what it stands on may have become private since it was read
	s.keeper.standsOn(s.answer.StandsOn)
}

// standsOn is what else the model was shown, or what that was made of.
func (s *sending) standsOn(tools *tools.Turn) (on record.StandsOn) {
	if !s.nobody { // else no model has read the prompt
		for i := range s.prompt.Report.Sections {
			for _, item := range s.prompt.Report.Sections[i].Items {
				switch item.Kind {
				case prompt.KindNote:
					on.Note(item.ID)
				case prompt.KindMemory:
					on.Memory(item.ID)
				case prompt.KindEntity:
					on.Entity(item.ID)
				case prompt.KindMessage, prompt.KindInsight:
					on.Message(item.ID)
				case prompt.KindPassage:
					book, _, _ := strings.Cut(item.ID, ".")
					on.Book(book)
				}
			}
		}
		on.All(s.prompt.Report.StandsOn)
		on.Message(s.replayed)
	}
	on.All(tools.StandsOn())
	for _, r := range tools.References() {
		on.Note(r.NoteID)
		on.Memory(r.MemoryID)
	}
	local, remote := s.opts.Views.View(audience.Local), s.opts.Views.View(audience.Remote)
	var hidden bool
	on.Bound(func(id string) string {
		if !hidden && remote.HidesEntity(id) { // by now: one is enough to make the answer private
			hidden = true
			return ""
		}
		if e := local.Entity(id); e != nil {
			return e.Type
		}
		return ""
	})
	return on
}

// timings are the times of the stages of an answer.
type timings struct {
	now   func() time.Time
	begun time.Time
	last  time.Time
	spent map[string]time.Duration
}

func newTimings(now func() time.Time) *timings {
	t := now()
	return &timings{now: now, begun: t, last: t, spent: make(map[string]time.Duration)}
}

// lap enters the time since the last lap under a stage, "" for none.
func (t *timings) lap(stage string) {
	at := t.now()
	if stage != "" {
		t.add(stage, at.Sub(t.last))
	}
	t.last = at
}

func (t *timings) add(stage string, d time.Duration) { t.spent[stage] += d }

// first enters how long the first piece of an answer took, once.
func (t *timings) first(took time.Duration) {
	if _, ok := t.spent["firstDelta"]; !ok {
		t.spent["firstDelta"] = took
	}
}

// distilled takes the time that a Distiller took out of that of the prompt.
func (t *timings) distilled(r *prompt.Report) {
	for _, st := range r.Stages {
		if st.Name == gather.DistillStage && st.Ms > 0 {
			took := time.Duration(st.Ms * float64(time.Millisecond))
			t.add("distill", took)
			t.add("assemble", -took)
		}
	}
}

// all returns the times in milliseconds, with own.
func (t *timings) all() map[string]float64 {
	out := make(map[string]float64, len(t.spent)+1)
	for stage, d := range t.spent {
		out[stage] = milliseconds(d)
	}
	out["own"] = milliseconds(t.own())
	return out
}

// own is all that was not spent waiting for the provider so far.
func (t *timings) own() time.Duration {
	return t.now().Sub(t.begun) - t.spent["provider"] - t.spent["distill"]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
