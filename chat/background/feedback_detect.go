package background

// This file and feedback_*.go tell package learn what answers of conversations stood on: which memories a model was
// shown for an answer, and which of them the answer names.
//
// An [OutcomeDetector] has a model read the end of a conversation and say how the last answer went that the user has
// reacted to, when somebody asks for it or every four turns in the background. The model is the one that gave the last
// answer; one that is not local is asked about nothing private. It is given 500 characters of each message of four
// turns, answers in JSON, and scores nothing unless its confidence is above 0.7. Nothing that waits is kept over a
// start.
//
// Everything is read through the View of the reader. A lookup of an answer costs O(messages behind it), mostly one
// page. The error is NotFound for a message that the reader does not see.

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

const (
	fewestTurns       = 2
	mostTurns         = 4   // that a model reads
	everyTurns        = 4   // a conversation is judged
	readMessages      = 60  // of the end of a conversation
	maxDetectorTokens = 512 // of an answer
	reasoningChars    = 300
)

// DetectorDeps is where conversations are, and what was shown in them.
type DetectorDeps struct {
	Chat          *chat.Store
	Local, Remote *audience.View
	Scorer        *learn.Scorer
	// Enter runs work while the rooms can be used. It returns an error without running it once they are gone.
	Enter func(ctx context.Context, work func(ctx context.Context) error) error
}

// Inside returns the DetectorDeps of a call that is in the rooms already.
func (h DetectorDeps) Inside() DetectorDeps {
	h.Enter = func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }
	return h
}

// DetectorOptions are what a Detector works with.
type DetectorOptions struct {
	Providers *llm.Set
	Prompts   *prompts.Set
	Log       *slog.Logger
	// Automatic has conversations be judged every four turns.
	Automatic bool
	// Sleep waits for d or for the end of ctx, whose error it returns then. nil: by the clock of the machine.
	Sleep func(ctx context.Context, d time.Duration) error
}

// OutcomeDetector asks models how answers went.
type OutcomeDetector struct {
	opts  DetectorOptions
	queue *llm.Queue // nil: nothing is done in the background
}

// NewOutcomeDetector returns a Detector, and starts what it does in the background if it is Automatic.
func NewOutcomeDetector(o DetectorOptions) *OutcomeDetector {
	d := &OutcomeDetector{opts: o}
	if o.Automatic {
		d.queue = llm.NewQueue(llm.QueueOptions{Log: o.Log, What: "outcomes of answers", Sleep: o.Sleep})
	}
	return d
}

// Close gives up what waits and what is being asked, and returns when nothing is done any more. It does nothing for nil.
func (d *OutcomeDetector) Close() {
	if d != nil && d.queue != nil {
		d.queue.Close()
	}
}

// Detection is what a model says of a conversation.
type Detection struct {
	Outcome    string
	Confidence float64
	Reasoning  string
	Scored     *learn.ScoreResult // nil: nothing was
}

// Answered says that a message was answered. Every four turns the conversation is judged later, if memories were shown
// in it and nobody has told how it went. It does nothing for a nil Detector.
func (d *OutcomeDetector) Answered(h DetectorDeps, sent *turn.ChatSent) {
	if d == nil || !d.opts.Automatic || h.Scorer == nil || sent.Repeat || sent.AssistantMessage == nil {
		return
	}
	d.queue.Add(func(ctx context.Context) error { return d.later(ctx, h, sent.ConversationID) })
}

// later judges a conversation where it is due.
func (d *OutcomeDetector) later(ctx context.Context, h DetectorDeps, conversationID string) error {
	said, err := d.read(ctx, h, h.Local, conversationID)
	if err != nil || said.answerID == "" || said.turns%everyTurns != 0 || !said.unscored {
		return err
	}
	_, err = d.judge(ctx, h, h.Local, conversationID, said)
	return err
}

// Detect judges a conversation now, for a reader, and scores what was shown in it where the model is sure enough. The
// outcome is unknown where there is no model. The errors are NotFound, those of the provider, and Unavailable where
// something private would go to a model that is not local.
func (d *OutcomeDetector) Detect(ctx context.Context, h DetectorDeps, v *audience.View, conversationID string) (*Detection, error) {
	said, err := d.read(ctx, h, v, conversationID)
	if err != nil {
		return nil, err
	}
	if said.answerID == "" {
		return unknown("the user has said nothing after the first answer"), nil
	}
	return d.judge(ctx, h, v, conversationID, said)
}

// unknown is what is said where no model is asked.
func unknown(why string) *Detection {
	return &Detection{Outcome: record.OutcomeUnknown, Reasoning: why}
}

// said is the end of a conversation.
type said struct {
	turns    int
	list     []prompts.Turn
	answerID string // the last answer after which the user has said something; "" for none
	unscored bool   // it used memories, and nobody has told how it went
	private  bool   // something in it is kept from remote readers
	provider string // of the last answer
	model    string
}

// read reads the end of a conversation.
func (d *OutcomeDetector) read(ctx context.Context, h DetectorDeps, v *audience.View, conversationID string) (out said, err error) {
	err = h.Enter(ctx, func(ctx context.Context) error {
		c, err := h.Chat.Get(ctx, v, conversationID)
		if err != nil {
			return err
		}
		p, err := h.Chat.Messages(ctx, v, c.ID, "", max(0, c.Messages-readMessages), readMessages)
		if err != nil {
			return err
		}
		out = said{private: c.Private}
		known, err := h.Scorer.OutcomesOf(ctx, c.ID)
		if err != nil {
			return err
		}
		out.take(p.Messages, h.Remote)
		out.unscored = known[out.answerID] == record.OutcomeUnscored
		if c.Messages > readMessages {
			out.turns = c.Messages / 2 // a turn is a question and its answer, mostly
		}
		return nil
	})
	return out, err
}

// take takes the last turns of messages. A turn begins with a message of the user.
func (s *said) take(list []*record.ChatMessage, remote *audience.View) {
	var begins []int
	for i, m := range list {
		if m.Role == record.RoleUser {
			begins = append(begins, i)
		}
	}
	if s.turns = len(begins); s.turns < fewestTurns {
		return
	}
	for _, m := range list[:begins[s.turns-1]] {
		if m.Role == record.RoleAssistant {
			s.answerID = m.ID
		}
	}
	for _, m := range list[begins[max(0, s.turns-mostTurns)]:] {
		s.list = append(s.list, prompts.Turn{Role: m.Role, Text: m.Content})
		s.private = s.private || m.Private || remote.TextOf("", m.Content) != m.Content
		if m.Role == record.RoleAssistant && m.Provider != "" {
			s.provider, s.model = m.Provider, m.Model
		}
	}
}

// judge asks the model that gave the last answer, and scores by what it says.
func (d *OutcomeDetector) judge(ctx context.Context, h DetectorDeps, v *audience.View, conversationID string, of said) (*Detection, error) {
	provider, err := d.opts.Providers.Provider(of.provider)
	if err != nil {
		return nil, err
	}
	info := provider.Info()
	if info.Kind == llm.None {
		return unknown("no model is configured that could read the conversation"), nil
	}
	if of.private && !info.Local {
		return nil, fault.New(fault.Unavailable, "something in the conversation is private, and %s is not local", info.Name).
			WithHint("tell how it went with memory.outcome")
	}
	asking := outbound.Unless(ctx, func(ctx context.Context) (bool, error) {
		now, err := d.read(ctx, h, v, conversationID)
		return now.private && !info.Local, err
	})
	text, whole, err := llm.Ask(asking, provider, llm.Question{
		Model: of.model, Prompt: d.opts.Prompts.Outcome(prompts.Outcome{Turns: of.list}), MaxTokens: maxDetectorTokens,
	})
	if err != nil {
		return nil, err
	}
	out, err := parse(text)
	if err != nil || !whole {
		return nil, fault.New(fault.Unavailable, "the model did not answer with the JSON that it was asked for").
			WithHint("try again, or choose another model")
	}
	if out.Confidence <= learn.MinDetectorConfidence {
		out.Outcome = record.OutcomeUnknown
		return out, nil
	}
	err = h.Enter(ctx, func(ctx context.Context) (err error) {
		out.Scored, err = h.Scorer.Detected(ctx, v, conversationID, of.answerID, out.Outcome, out.Confidence)
		return err
	})
	return out, err
}

// parse reads what a model says. Some put JSON into a fence, whatever they are told.
func parse(answer string) (*Detection, error) {
	answer = strings.TrimSpace(answer)
	if inside, ok := strings.CutPrefix(answer, "```"); ok {
		if inside, ok = strings.CutSuffix(strings.TrimPrefix(inside, "json"), "```"); ok {
			answer = inside
		}
	}
	var said struct {
		Outcome    string   `json:"outcome"`
		Confidence *float64 `json:"confidence"`
		Indicators []string `json:"indicators"`
		Reasoning  string   `json:"reasoning"`
	}
	dec := json.NewDecoder(strings.NewReader(answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&said); err != nil {
		return nil, err
	}
	_, more := dec.Token()
	switch {
	case !errors.Is(more, io.EOF):
		return nil, errors.New("there is more behind it")
	case said.Confidence == nil || !(*said.Confidence >= 0 && *said.Confidence <= 1):
		return nil, errors.New("no confidence")
	}
	for _, known := range record.Outcomes {
		if said.Outcome == known {
			return &Detection{Outcome: known, Confidence: *said.Confidence, Reasoning: text.AnswerLine(said.Reasoning, reasoningChars)}, nil
		}
	}
	return nil, errors.New("no outcome")
}
