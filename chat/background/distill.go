package background

// A Distiller asks a model what of the memories that were found for a message matters, so that more of them fit into a
// prompt (REF-13). It is the Distiller of package gather, which says what may be asked and believes nothing of the
// answer: it makes the question of that, by a template of package prompts, and reads JSON.
//
// What it asks counts as a step in the background, though somebody waits: it may be left out, so it is the first to end
// when much was spent.
//
// The daemon makes one for its life, over its providers. It keeps nothing, starts no goroutine, and may be called
// concurrently.

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities/fault"
)

// DistillerOptions say who is asked, and by which words.
type DistillerOptions struct {
	Providers *llm.Set
	Provider  string // the name of one of Providers
	Model     string // "" for that of the provider
	Prompts   *prompts.Set
}

// Distiller asks a provider.
type Distiller struct {
	DistillerOptions
	provider llm.Provider
}

// NewDistiller returns a Distiller. It reaches for nothing yet. The error is that there is no provider of the name.
func NewDistiller(o DistillerOptions) (*Distiller, error) {
	p, err := o.Providers.Provider(o.Provider)
	if err != nil {
		return nil, fault.Under("memory.distill", err)
	}
	return &Distiller{DistillerOptions: o, provider: p}, nil
}

// Name is that of the provider, with that of the model where one is set.
func (d *Distiller) Name() string {
	if d.Model == "" {
		return d.Provider
	}
	return d.Provider + "/" + d.Model
}

// Local reports whether nothing leaves this machine.
func (d *Distiller) Local() bool { return d.provider.Info().Local }

// Bounds of an answer: the texts again, their refs, and the marks of JSON.
const (
	answerBytes  = 4096
	bytesPerText = 64
	leastTokens  = 1024
)

// Distill asks what matters of texts for a message. The errors are those of llm.Provider, and fault.Unavailable for an
// answer that is none.
func (d *Distiller) Distill(ctx context.Context, message string, texts []gather.Excerpt) ([]gather.Excerpt, error) {
	asked := prompts.Distill{Message: message}
	most := answerBytes
	for _, t := range texts {
		asked.Items = append(asked.Items, prompts.Item(t))
		most += bytesPerText + 2*len(t.Text)
	}
	p := d.Prompts.Distill(asked)
	var answer strings.Builder
	a, err := d.provider.Stream(ctx, &llm.Request{
		Model: d.Model, System: p.System, Messages: []llm.Message{{Role: llm.User, Text: p.User}},
		MaxTokens: max(leastTokens, int(llm.Estimate(most))), Background: true,
	}, func(delta llm.Delta) error {
		answer.WriteString(delta.Text) // what it thinks is not asked for
		if answer.Len() > most {
			return noAnswer("its answer is longer than what it was given")
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case a.NoProvider:
		if _, err := d.Providers.Look(d.Provider); err != nil {
			return nil, err
		}
		return nil, noAnswer("nobody was asked")
	case a.Finish != llm.Stop:
		return nil, noAnswer("its answer is not whole")
	}
	return read(answer.String())
}

// read reads an answer. Some models put JSON into a fence, whatever they are told.
func read(answer string) ([]gather.Excerpt, error) {
	answer = strings.TrimSpace(answer)
	if inside, ok := strings.CutPrefix(answer, "```"); ok {
		inside, ok = strings.CutSuffix(strings.TrimPrefix(inside, "json"), "```")
		if ok {
			answer = inside
		}
	}
	var list []struct {
		Ref  *string `json:"ref"`
		Text *string `json:"text"`
	}
	dec := json.NewDecoder(strings.NewReader(answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return nil, noJSON()
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) { // there is more behind it
		return nil, noJSON()
	}
	out := make([]gather.Excerpt, len(list))
	for i, item := range list {
		if item.Ref == nil {
			return nil, noJSON()
		}
		out[i].Ref = *item.Ref
		if item.Text != nil {
			out[i].Text = *item.Text
		}
	}
	return out, nil
}

func noJSON() error { return noAnswer("its answer is not the JSON that it was asked for") }

func noAnswer(why string) error { return fault.New(fault.Unavailable, "%s", why) }
