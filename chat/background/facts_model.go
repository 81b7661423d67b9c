package background

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities/fault"
)

const (
	maxTokens = 4096     // of an answer: models that think count that, too
	maxAnswer = 64 << 10 // bytes
	maxFacts  = 10       // of a message
)

// ask asks a model for JSON, and reads it into to. The errors are those of llm.Provider, and fault.Unavailable for an
// answer that is none.
func (m *FactModel) ask(ctx context.Context, p llm.Provider, words prompts.Prompt, to any) (tokens int64, err error) {
	var b strings.Builder
	a, err := p.Stream(ctx, &llm.Request{
		Model: m.Name, System: words.System, Messages: []llm.Message{{Role: llm.User, Text: words.User}},
		MaxTokens: maxTokens, Background: true,
	}, func(d llm.Delta) error {
		b.WriteString(d.Text) // what it thinks is not asked for
		if b.Len() > maxAnswer {
			return noModelAnswer("its answer is far too long")
		}
		return nil
	})
	tokens = a.Usage.In + a.Usage.Out
	switch {
	case err != nil:
		return tokens, err
	case a.NoProvider:
		return tokens, noModelAnswer("nobody was asked")
	case a.Finish != llm.Stop:
		return tokens, noModelAnswer("its answer is not whole")
	}
	return tokens, decodeAnswer(b.String(), to)
}

// decodeAnswer reads an answer. Some models put JSON into a fence, whatever they are told.
func decodeAnswer(answer string, to any) error {
	answer = strings.TrimSpace(answer)
	if inside, ok := strings.CutPrefix(answer, "```"); ok {
		if inside, ok = strings.CutSuffix(strings.TrimPrefix(inside, "json"), "```"); ok {
			answer = inside
		}
	}
	dec := json.NewDecoder(strings.NewReader(answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return noModelJSON()
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) { // there is more behind it
		return noModelJSON()
	}
	return nil
}

func noModelJSON() error { return noModelAnswer("its answer is not the JSON that it was asked for") }

func noModelAnswer(why string) error { return fault.New(fault.Unavailable, "%s", why) }

// find asks a model for the facts of a message.
func (m *FactModel) find(ctx context.Context, p llm.Provider, message string) (list []proposedFact, tokens int64, err error) {
	var found []struct {
		Statement  string `json:"statement"`
		Kind       string `json:"kind"`
		Quote      string `json:"quote"`
		Confidence string `json:"confidence"`
	}
	tokens, err = m.ask(ctx, p, m.Prompts.Extract(prompts.Extract{Message: message, Kinds: kinds}), &found)
	for _, f := range found[:min(len(found), maxFacts)] {
		list = append(list, proposedFact(f))
	}
	return list, tokens, err
}

// Adviser asks a model about pairs of statements, see learn.Adviser.
type Adviser struct {
	model    *FactModel
	provider llm.Provider
}

var _ learn.Adviser = (*Adviser)(nil)

// Adviser returns one, nil for a nil Model and for one whose provider there is not.
func (m *FactModel) Adviser() learn.Adviser {
	if m == nil {
		return nil
	}
	a, err := NewAdviser(m)
	if err != nil {
		return nil
	}
	return a
}

// NewAdviser returns one. It reaches for nothing yet. The error is that there is no provider of the name.
func NewAdviser(m *FactModel) (*Adviser, error) {
	p, err := m.Providers.Provider(m.Provider)
	if err != nil {
		return nil, err
	}
	return &Adviser{m, p}, nil
}

// Local reports whether nothing leaves this machine.
func (a *Adviser) Local() bool { return a.provider.Info().Local }

// Decide asks about pairs. The errors are those of llm.Provider, and fault.Unavailable for an answer that is none.
func (a *Adviser) Decide(ctx context.Context, list []learn.PairQuestion) (map[string]string, int64, error) {
	asked := make([]prompts.Compared, len(list))
	for i, q := range list {
		asked[i] = prompts.Compared{Ref: q.ID, Older: q.Older, Newer: q.Newer, OlderAt: q.OlderAt, NewerAt: q.NewAt}
	}
	var found []struct {
		Ref    string `json:"ref"`
		Answer string `json:"answer"`
	}
	tokens, err := a.model.ask(ctx, a.provider, a.model.Prompts.Compare(asked), &found)
	if err != nil {
		return nil, tokens, err
	}
	answers := make(map[string]string, len(found))
	for _, f := range found {
		if _, twice := answers[f.Ref]; twice {
			return nil, tokens, noModelAnswer("it has answered twice about one pair")
		}
		answers[f.Ref] = f.Answer
	}
	return answers, tokens, nil
}
