package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/fixtures/llamacpp"
)

// serveModel starts a llama-server with a model, and returns a set with a provider that asks it.
func serveModel(t *testing.T, ends bool) *llm.Set {
	t.Helper()
	server, err := llamacpp.Start(context.Background(), t.TempDir(), ends)
	if errors.Is(err, llamacpp.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Close()
		if t.Failed() {
			t.Log(server.Log())
		}
	})
	s, err := llm.NewSet(llm.SetOptions{Default: "llamacpp", Providers: []llm.Options{
		{Name: "llamacpp", Kind: llm.OpenAI, Base: server.Base, Model: "alphabet", Local: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestCHAT24_LlamaCpp speaks to a real server, with a model that says the llamacpp.Alphabet.
func TestCHAT24_LlamaCpp(t *testing.T) {
	s := serveModel(t, true)
	p, err := s.Provider("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most   int
		text   string
		finish llm.Finish
	}{{0, llamacpp.Alphabet, llm.Stop}, {5, llamacpp.Alphabet[:5], llm.Length}, {1, "a", llm.Length}} {
		h, r := &heard{}, question()
		r.MaxTokens = c.most
		a, err := p.Stream(t.Context(), r, h.take)
		if err != nil || h.text.String() != c.text || a.Finish != c.finish || h.deltas < min(2, len(c.text)) && c.most != 1 {
			t.Errorf("most %d: %q in %d deltas, %+v, %s", c.most, &h.text, h.deltas, a, said(err))
		}
		tokens := int64(len(c.text))
		if a.Finish == llm.Stop {
			tokens++ // the end is one
		}
		if a.Usage.Out != tokens || a.Usage.In < 10 || a.Usage.Estimated {
			t.Errorf("most %d: %+v", c.most, a.Usage)
		}
		t.Logf("most %d: %q in %d deltas, %+v", c.most, &h.text, h.deltas, a)
	}
	if rows := s.Ledger().Rows(); len(rows) != 1 || rows[0].Requests != 3 || rows[0].Estimated != 0 {
		t.Errorf("%+v", rows)
	}
	if o, err := s.Probe(t.Context(), ""); err != nil || !o.Reached || o.Total != 1 {
		t.Errorf("%+v, %s", o, said(err))
	} else {
		t.Logf("models: %q", o.Models)
	}
}

// TestCHAT18_LlamaCppStops when its caller leaves, and answers the next.
func TestCHAT18_LlamaCppStops(t *testing.T) {
	s := serveModel(t, false)
	p, err := s.Provider("")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		h := &heard{}
		var left time.Time
		a, err := p.Stream(ctx, question(), func(d llm.Delta) error {
			if h.deltas == 20 {
				left = time.Now()
				cancel()
			}
			return h.take(d)
		})
		took := time.Since(left)
		cancel()
		if !errors.Is(err, context.Canceled) || a.Finish != llm.Cancelled || !strings.HasPrefix(h.text.String(), llamacpp.Alphabet[:20]) {
			t.Errorf("%q, %+v, %s", &h.text, a, said(err))
		}
		t.Logf("cancelled after %d deltas; that took %v; %+v", h.deltas, took, a)
	}
}
