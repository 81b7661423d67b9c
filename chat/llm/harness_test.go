package llm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

const (
	canaryKey = "sk-canary-b81f44"
	keyName   = "CTXD_TEST_LLM_KEY"
)

// clock is time that stands still: a test fires timers, and pauses take no time.
type clock struct {
	mu     sync.Mutex // guards what follows
	armed  *sync.Cond // a timer was started
	timers map[int]timer
	next   int
	paused []time.Duration
	// waiting, if not nil, has pauses last until their context ends.
	waiting chan struct{}
}

type timer struct {
	after time.Duration
	f     func()
}

func newClock() *clock {
	c := &clock{timers: map[int]timer{}}
	c.armed = sync.NewCond(&c.mu)
	return c
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (c *clock) timing() llm.Timing {
	return llm.Timing{
		Now:    func() time.Time { return noon },
		Jitter: func() float64 { return 0.5 },
		AfterFunc: func(d time.Duration, f func()) func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.next++
			id := c.next
			c.timers[id] = timer{d, f}
			c.armed.Broadcast()
			return func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				_, runs := c.timers[id]
				delete(c.timers, id)
				return runs
			}
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.mu.Lock()
			c.paused = append(c.paused, d)
			c.mu.Unlock()
			if c.waiting != nil {
				close(c.waiting)
				<-ctx.Done()
			}
			return ctx.Err()
		},
	}
}

// fire waits for a timer that runs so long, and lets it end.
func (c *clock) fire(after time.Duration) {
	c.mu.Lock()
	for {
		for id, t := range c.timers {
			if t.after == after {
				delete(c.timers, id)
				c.mu.Unlock()
				t.f()
				return
			}
		}
		c.armed.Wait()
	}
}

func (c *clock) pauses() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

// left is how many timers still run.
func (c *clock) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// scripted is a server that plays a part, and a provider that asks it.
type scripted struct {
	llm.Provider
	clock *clock
	url   string
	// refuse, if not nil, says with which status and text a request is refused, 0 for not.
	refuse func(body string) (status int, text string)
	mu     sync.Mutex // guards what follows
	asked  []request
}

// request is one that the server was sent.
type request struct {
	path   string
	header http.Header
	body   string
}

func (s *scripted) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// play starts a server. handle is called with the number of the request, from 1.
func play(t testing.TB, kind llm.Kind, handle func(w http.ResponseWriter, r *http.Request, n int), change ...func(*llm.Options)) *scripted {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	s := &scripted{clock: newClock()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // one that its caller took back is short
		s.mu.Lock()
		s.asked = append(s.asked, request{r.URL.Path, r.Header, string(body)})
		n := len(s.asked)
		s.mu.Unlock()
		if s.refuse != nil {
			if status, text := s.refuse(string(body)); status != 0 {
				w.WriteHeader(status)
				send(w, text)
				return
			}
		}
		handle(w, r, n)
	}))
	t.Setenv(keyName, canaryKey)
	o := llm.Options{Name: "test", Kind: kind, Base: server.URL, Model: "model-1", Key: "env:" + keyName, Time: s.clock.timing()}
	for _, c := range change {
		c(&o)
	}
	s.url = o.Base
	p, err := llm.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Provider = p
	t.Cleanup(func() {
		p.Close()
		server.Close()
		goleak.VerifyNone(t, leaks)
		if n := s.clock.left(); n != 0 {
			t.Errorf("%d timers still run", n)
		}
	})
	return s
}

// send writes bytes at once.
func send(w http.ResponseWriter, parts ...string) {
	for _, p := range parts {
		_, _ = io.WriteString(w, p) // a caller that left is no fault
		_ = http.NewResponseController(w).Flush()
	}
}

// heard is what a caller was given.
type heard struct {
	text, reasoning, calls strings.Builder
	deltas                 int
}

func (h *heard) take(d llm.Delta) error {
	h.deltas++
	h.text.WriteString(d.Text)
	h.reasoning.WriteString(d.Reasoning)
	if d.Tool != nil {
		if d.Tool.ID != "" {
			fmt.Fprintf(&h.calls, "\n  %d %s %s ", d.Tool.Index, d.Tool.ID, d.Tool.Name)
		}
		h.calls.WriteString(d.Tool.Arguments)
	}
	return nil
}

func question() *llm.Request {
	return &llm.Request{System: "Be brief.", Messages: []llm.Message{{Role: llm.User, Text: "Hello?"}}}
}

// ask asks and gives what was heard.
func (s *scripted) ask(ctx context.Context) (*heard, llm.Answer, error) {
	h := &heard{}
	a, err := s.Stream(ctx, question(), h.take)
	return h, a, err
}

// said is an error with its hint.
func said(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Error() + " | " + f.Hint
	}
	return fmt.Sprint(err)
}

// retryable says whether the error says that another try may help.
func retryable(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Retryable
}

func crlf(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }

func cr(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r")) }
