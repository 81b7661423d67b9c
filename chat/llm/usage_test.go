package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

// usages are how providers and servers say what an answer cost, with the figures that a test puts in.
var usages = map[string]struct {
	kind   llm.Kind
	events []string
}{
	"OpenAI": {llm.OpenAI, []string{
		`{"choices":[{"delta":{"content":"Hel"},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":IN,"completion_tokens":OUT,"total_tokens":IN,"prompt_tokens_details":{"cached_tokens":IN}}}`,
	}},
	"Gemini": {llm.OpenAI, []string{ // in each piece
		`{"choices":[{"delta":{"content":"H"}}],"usage":{"prompt_tokens":IN,"completion_tokens":OUT,"total_tokens":OUT}}`,
		`{"choices":[{"delta":{"content":"el"},"finish_reason":"stop"}],"usage":{"prompt_tokens":IN,"completion_tokens":OUT,"total_tokens":OUT}}`,
	}},
	"Ollama": {llm.OpenAI, []string{ // a whole reply
		`{"choices":[{"message":{"content":"Hel"},"finish_reason":"stop"}],"usage":{"prompt_tokens":IN,"completion_tokens":OUT,"total_tokens":IN}}`,
	}},
	"Anthropic": {llm.Anthropic, []string{
		`{"type":"message_start","message":{"usage":{"input_tokens":IN,"cache_read_input_tokens":IN,"cache_creation_input_tokens":IN,"output_tokens":1}}}`,
		`{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hel"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":OUT}}`,
	}},
}

// answerSaying is the answer of a provider that says so of what it cost.
func answerSaying(t testing.TB, shape, in, out string) llm.Answer {
	t.Helper()
	u := usages[shape]
	events := make([]string, len(u.events))
	for i, e := range u.events {
		events[i] = strings.NewReplacer("IN", in, "OUT", out).Replace(e)
	}
	a, err := llm.AnswerOf(u.kind, question(), events...)
	if err != nil {
		t.Fatalf("%s ends the answer: %v", events, err)
	}
	return a
}

// TestREL17_AFigureThatNoAnswerCosts is none: what it cost is estimated.
func TestREL17_AFigureThatNoAnswerCosts(t *testing.T) {
	for shape := range usages {
		for _, c := range []struct {
			in, out string
			want    llm.Usage
		}{
			{"4", "2", llm.Usage{In: 4, Out: 2, Cached: 4}},
			{"4.0", "1.5", llm.Usage{In: 4, Out: 2, Cached: 4}},
			{"4e0", "20e-1", llm.Usage{In: 4, Out: 2, Cached: 4}},
			{"-4", "2", llm.Usage{In: 5, Out: 1, Estimated: true}},
			{"4", "-2", llm.Usage{In: 5, Out: 1, Estimated: true}},
			{"4611686018427387904", "2", llm.Usage{In: 5, Out: 1, Estimated: true}}, // 2^62
			{"4", "9223372036854775807", llm.Usage{In: 5, Out: 1, Estimated: true}},
			{"4", "1e400", llm.Usage{In: 5, Out: 1, Estimated: true}},
			{"18446744073709551617", "18446744073709551617", llm.Usage{In: 5, Out: 1, Estimated: true}},
			{`"4"`, `{"n":2}`, llm.Usage{In: 5, Out: 1, Estimated: true}},
		} {
			got, want := answerSaying(t, shape, c.in, c.out).Usage, c.want
			if shape == "Anthropic" && !want.Estimated { // what was read and what was written, too
				want.In *= 3
			}
			if shape != "Anthropic" && shape != "OpenAI" {
				want.Cached = 0
			}
			if got != want {
				t.Errorf("%s, %s and %s: %+v, want %+v", shape, c.in, c.out, got, want)
			}
		}
	}
}

// TestREL17_UsageThatIsNone ends no answer.
func TestREL17_UsageThatIsNone(t *testing.T) {
	for _, raw := range []string{`"none"`, `[]`, `7`, `{"prompt_tokens_details":[],"prompt_tokens":"x"}`} {
		for kind, events := range map[llm.Kind][]string{
			llm.OpenAI:    {`{"choices":[{"delta":{"content":"Hel"},"finish_reason":"stop"}],"usage":` + raw + `}`},
			llm.Anthropic: {`{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hel"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + raw + `}`},
		} {
			a, err := llm.AnswerOf(kind, question(), events...)
			if err != nil || a.Usage != (llm.Usage{In: 5, Out: 1, Estimated: true}) {
				t.Errorf("%s, %s: %+v, %v", kind, raw, a.Usage, err)
			}
		}
	}
}

// FuzzREL17_Usage has providers say anything: what is spent only grows, and the budget of the day holds.
func FuzzREL17_Usage(f *testing.F) {
	for _, n := range []string{"0", "12", "-1", "0.5", "1e18", "1e-9", "4611686018427387904", "9223372036854775807", "null", `"x"`, "true", "[1]"} {
		f.Add(n, "1")
		f.Add("1", n)
		f.Add(n, n)
	}
	f.Fuzz(func(t *testing.T, in, out string) {
		if !json.Valid([]byte(in)) || !json.Valid([]byte(out)) {
			t.Skip()
		}
		for shape := range usages {
			for _, background := range []bool{false, true} {
				const most = 30
				l := llm.NewLedger(llm.Budget{TokensPerDay: most, BackgroundTokensPerDay: most}, func() time.Time { return noon })
				p, before := l.Over(&spender{answer: answerSaying(t, shape, in, out)}), int64(0)
				for calls := 0; ; calls++ {
					_, err := p.Stream(t.Context(), asking(background), nil)
					if fault.KindOf(err) == fault.Limit {
						break
					}
					r := l.Rows()[0]
					if err != nil || calls > most || min(r.In, r.Out) < 0 || r.In+r.Out <= before {
						t.Fatalf("%s, call %d: %+v after %d, %v", shape, calls, r, before, err)
					}
					before = r.In + r.Out
				}
			}
		}
	})
}

// TestREL17_SumsDontOverflow of rows, of a day and of all days, with rows that were counted before figures were bounded.
func TestREL17_SumsDontOverflow(t *testing.T) {
	for _, in := range []int64{math.MaxInt64, 1 << 62, 1 << 61} {
		l := llm.NewLedger(llm.Budget{TokensPerDay: 1000}, func() time.Time { return noon })
		var rows []llm.Spent
		for i := range 8 {
			rows = append(rows, llm.Spent{Day: "2026-03-01", Provider: "ours", Model: fmt.Sprint("m", i), Requests: in, In: in, Out: in, Estimated: in})
		}
		rows = append(rows, llm.Spent{Day: "2026-02-28", Provider: "ours", Model: "m1", Requests: in, In: in, Out: in, Estimated: in})
		l.KeepIn(rows, nil)
		if _, err := l.Over(costing(8, 4)).Stream(t.Context(), asking(false), nil); fault.KindOf(err) != fault.Limit || strings.Contains(err.Error(), " -") {
			t.Errorf("%d: %v", in, err)
		}
		if _, err := l.Over(costing(in, in)).Stream(t.Context(), asking(true), nil); err != nil {
			t.Error(err)
		}
		today, total, _ := l.Spending()
		for _, r := range append(today, total...) {
			if min(r.Requests, r.In, r.Out, r.Estimated) < 0 || r.In > 1<<53 || r.Out > 1<<53 {
				t.Errorf("%d: %+v", in, r)
			}
		}
	}
}

// TestREL17_ARefusedCallCostsNothing, whatever the server that refuses it says of it.
func TestREL17_ARefusedCallCostsNothing(t *testing.T) {
	for _, kind := range []llm.Kind{llm.OpenAI, llm.Anthropic} {
		l := llm.NewLedger(llm.Budget{TokensPerDay: 100}, func() time.Time { return noon })
		s := play(t, kind, func(w http.ResponseWriter, _ *http.Request, n int) {
			send(w, `data: {"type":"message_start","message":{"usage":{"input_tokens":90}},"choices":[],"usage":{"prompt_tokens":90}}`+"\n\n"+
				`data: {"type":"error","error":{"type":"invalid_request_error"},"usage":{"input_tokens":90,"prompt_tokens":90}}`+"\n\n")
		})
		s.Provider = l.Over(s.Provider)
		for range 2 {
			if _, a, err := s.ask(t.Context()); fault.KindOf(err) != fault.Unavailable || a.Usage != (llm.Usage{}) {
				t.Errorf("%s: %+v, %v", kind, a.Usage, err)
			}
		}
		if r := l.Rows(); len(r) != 1 || r[0].Requests != 2 || r[0].In+r[0].Out != 0 {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

// TestREL17_WhatWasNeverSentIsNoRequest: it is in no row, and leaves those of the minute to others.
func TestREL17_WhatWasNeverSentIsNoRequest(t *testing.T) {
	l := llm.NewLedger(llm.Budget{RequestsPerMinute: 1}, func() time.Time { return noon })
	s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, hello[llm.OpenAI], goodbye[llm.OpenAI]) })
	p := l.Over(s.Provider)
	for range 3 {
		if _, err := p.Stream(t.Context(), &llm.Request{}, nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("without a message: %v", err)
		}
	}
	if r := l.Rows(); len(r) != 0 {
		t.Errorf("%+v", r)
	}
	h := &heard{}
	if _, err := p.Stream(t.Context(), question(), h.take); err != nil {
		t.Error(err)
	}
	var f *fault.Error
	if _, err := p.Stream(t.Context(), question(), h.take); !errors.As(err, &f) || f.Kind != fault.Limit {
		t.Errorf("the second of a minute: %v", err)
	}
}
