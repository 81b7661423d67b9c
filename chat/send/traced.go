package send

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// traced begins what is kept of how the answer was given.
func (s *sending) traced() *chat.Trace {
	t := chat.NewTrace(&s.prompt.Report, s.prompted, !s.info.Local, s.tracked())
	t.Own = prompt.Chars(strings.TrimSpace(s.told(s.turn.Conversation.SystemPrompt)))
	return t
}

// tracked reports whether the answer keeps what it stands on.
func (s *sending) tracked() bool { return s.params.TrackReferences == nil || *s.params.TrackReferences }

// traceRound adds one time that the provider was asked. first is how long its first piece took, 0 for none.
func (s *sending) traceRound(a *llm.Answer, took, first time.Duration) {
	t := s.answer.Trace
	r := chat.TraceRound{Took: took.Microseconds(), First: first.Microseconds(), Tries: a.Tries, Finish: string(a.Finish)}
	if !a.NoProvider {
		t.Asked = true
		r.Usage = &record.ChatUsage{In: a.Usage.In, Out: a.Usage.Out, Cached: a.Usage.Cached, Estimated: a.Usage.Estimated}
	}
	t.AskedOnce(r)
}

// traceCall adds a call of a tool. The name of one that there is not is a text of the model, and not kept.
func (s *sending) traceCall(c *llm.ToolCall, r *record.ChatToolCall, ran tools.CallRun) {
	call := chat.TraceCall{
		Arguments: len(c.Arguments), Chars: r.Chars, Took: ran.Took.Microseconds(), Cached: ran.Cached, Failed: r.Failed,
	}
	if slices.ContainsFunc(tools.ListInConversation(), func(t tools.Tool) bool { return t.Name == c.Name }) {
		call.Name = c.Name
	}
	s.answer.Trace.Called(call)
}

// traceEnd completes the trace before it is kept. failed is why the answer is not whole.
func (s *sending) traceEnd(tools *tools.Turn, failed error) {
	spent := maps.Clone(s.timings.spent)
	spent["own"] = s.timings.own()
	s.answer.Trace.Shown(tools.References(), s.answer.Content)
	s.answer.Trace.Ended(spent, failed)
}
