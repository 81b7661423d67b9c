package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

// spender is a provider whose answers cost what a test says.
type spender struct {
	llm.Provider
	answer llm.Answer
	during func()
}

func (s *spender) Stream(context.Context, *llm.Request, func(llm.Delta) error) (llm.Answer, error) {
	if s.during != nil {
		s.during()
	}
	return s.answer, nil
}

func (*spender) Info() llm.Info { return llm.Info{Name: "ours", Kind: llm.OpenAI} }

func costing(in, out int64) *spender {
	return &spender{answer: llm.Answer{Model: "m", Usage: llm.Usage{In: in, Out: out}}}
}

func asking(background bool) *llm.Request {
	r := question()
	r.Background = background
	return r
}

func TestCHAT38_SpendingIsCounted(t *testing.T) {
	now := noon
	l := llm.NewLedger(llm.Budget{}, func() time.Time { return now })
	l.KeepIn([]llm.Spent{
		{Day: "2026-03-01", Provider: "ours", Model: "m", Requests: 1, In: 1, Out: 1, Estimated: 2},
		{Day: "2025-01-01", Provider: "ours", Model: "m", Requests: 1, In: 7},
	}, nil)
	s := costing(10, 5)
	p := l.Over(s)
	spend := func(background bool) {
		t.Helper()
		if _, err := p.Stream(t.Context(), asking(background), nil); err != nil {
			t.Fatal(err)
		}
	}
	spend(false)
	spend(true)
	s.answer.Usage.Estimated = true
	s.answer.Model = "n"
	spend(false)
	s.answer.NoProvider = true
	spend(false)
	s.answer.NoProvider = false
	s.during = func() { now = now.Add(12 * time.Hour) } // it counts for the day on which it began
	spend(false)
	s.during = nil
	spend(false)
	want := []llm.Spent{
		{Day: "2026-03-01", Provider: "ours", Model: "m", Requests: 2, In: 11, Out: 6, Estimated: 2},
		{Day: "2026-03-01", Provider: "ours", Model: "m", Background: true, Requests: 1, In: 10, Out: 5},
		{Day: "2026-03-01", Provider: "ours", Model: "n", Requests: 2, In: 20, Out: 10, Estimated: 30},
		{Day: "2026-03-02", Provider: "ours", Model: "n", Requests: 1, In: 10, Out: 5, Estimated: 15},
	}
	if diff := cmp.Diff(want, l.Rows()); diff != "" {
		t.Error(diff)
	}
	if l.Over(llm.Nobody()) != llm.Nobody() {
		t.Error("nobody costs something")
	}
}

// TestCHAT38_AnswersWithoutUsage are counted by their bytes, also when they are broken off.
func TestCHAT38_AnswersWithoutUsage(t *testing.T) {
	l := llm.NewLedger(llm.DefaultBudget, nil)
	s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 2 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		send(w, hello[llm.OpenAI])
	})
	s.Provider = l.Over(s.Provider)
	for range 2 {
		if _, _, err := s.ask(t.Context()); err == nil {
			t.Error("no error")
		}
	}
	got := l.Rows()
	want := llm.Spent{Provider: "test", Model: "model-1", Requests: 2, In: 5, Out: 1, Estimated: 6} // of "Be brief.Hello?" and "Hel"
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	want.Day = got[0].Day
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
}

func TestCHAT38_Budgets(t *testing.T) {
	now := noon
	for _, c := range []struct {
		name       string
		budget     llm.Budget
		background bool
		passes     int
		want       string
		until      time.Time
	}{
		{"tokens", llm.Budget{TokensPerDay: 40}, false, 3, "chat.budget.tokensPerDay", noon.Add(12 * time.Hour)},
		{"tokens of the background", llm.Budget{BackgroundTokensPerDay: 40}, true, 3, "chat.budget.backgroundTokensPerDay", noon.Add(12 * time.Hour)},
		{"requests", llm.Budget{RequestsPerMinute: 2}, false, 2, "chat.budget.requestsPerMinute", noon.Add(time.Minute)},
	} {
		t.Run(c.name, func(t *testing.T) {
			now = noon
			l := llm.NewLedger(c.budget, func() time.Time { return now })
			p := l.Over(costing(8, 4))
			ask := func() error {
				_, err := p.Stream(t.Context(), asking(c.background), nil)
				return err
			}
			for range c.passes {
				if err := ask(); err != nil {
					t.Fatal(err)
				}
			}
			err := ask()
			if fault.KindOf(err) != fault.Limit || !retryable(err) || !strings.Contains(said(err), c.want) || !strings.Contains(said(err), c.until.Format(time.RFC3339)) {
				t.Errorf("%s", said(err))
			}
			if c.budget.RequestsPerMinute == 0 {
				if _, err := p.Stream(t.Context(), asking(!c.background), nil); err != nil {
					t.Errorf("the other sort is refused: %v", err)
				}
			}
			now = c.until.Add(-time.Second)
			if err := ask(); fault.KindOf(err) != fault.Limit {
				t.Errorf("a second before: %v", err)
			}
			now = c.until
			if err := ask(); err != nil {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

// TestCHAT38_ManyAtATime may not pass a budget together.
func TestCHAT38_ManyAtATime(t *testing.T) {
	l := llm.NewLedger(llm.Budget{TokensPerDay: 10}, nil) // two requests of about 5
	var passed, refused int
	var mu sync.Mutex
	release := make(chan struct{})
	s := costing(5, 0)
	entered := make(chan struct{}, 8)
	s.during = func() { entered <- struct{}{}; <-release }
	p := l.Over(s)
	var all sync.WaitGroup
	done := make(chan struct{}, 8)
	for range 8 {
		all.Go(func() {
			_, err := p.Stream(t.Context(), asking(false), nil)
			mu.Lock()
			defer mu.Unlock()
			var f *fault.Error
			if errors.As(err, &f) {
				refused++
				done <- struct{}{}
			} else {
				passed++
			}
		})
	}
	for range 6 {
		<-done
	}
	for range 2 {
		<-entered
	}
	close(release)
	all.Wait()
	if passed != 2 || refused != 6 || l.Rows()[0].In != 10 {
		t.Errorf("%d passed, %d refused, %+v", passed, refused, l.Rows())
	}
}

// TestCHAT38_RowsAreBounded has somebody name ever other models.
func TestCHAT38_RowsAreBounded(t *testing.T) {
	l := llm.NewLedger(llm.Budget{}, nil)
	s := costing(1, 1)
	p := l.Over(s)
	for i := range 2000 {
		s.answer.Model = fmt.Sprintf("model-%d", i)
		if _, err := p.Stream(t.Context(), asking(false), nil); err != nil {
			t.Fatal(err)
		}
	}
	rows, requests := l.Rows(), int64(0)
	for _, r := range rows {
		requests += r.Requests
	}
	if len(rows) > 102 || requests != 2000 {
		t.Errorf("%d rows, %d requests", len(rows), requests)
	}
}
