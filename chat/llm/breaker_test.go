package llm_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

// TestMEM81_AProviderThatFailsIsNotAsked: three failures in a row, then it is not asked until a probe in the background has found
// its server; the health says why meanwhile.
func TestMEM81_AProviderThatFailsIsNotAsked(t *testing.T) {
	var asked, looked atomic.Int32
	var up, gone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			looked.Add(1)
			if gone.Load() {
				panic(http.ErrAbortHandler)
			}
			send(w, `{"data":[]}`)
			return
		}
		asked.Add(1)
		if !up.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n", "data: [DONE]\n\n")
	}))
	defer server.Close()
	clock := newClock()
	set, err := llm.NewSet(llm.SetOptions{
		Default: "ours", Budget: llm.DefaultBudget, Time: clock.timing(),
		Providers: []llm.Options{{Name: "ours", Kind: llm.OpenAI, Base: server.URL, Model: "m", Local: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() error {
		p, err := set.Provider("")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Stream(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hi"}}}, func(llm.Delta) error { return nil })
		return err
	}
	fails := func(times int) {
		t.Helper()
		for range times {
			if err := ask(); fault.KindOf(err) != fault.Unavailable || strings.Contains(err.Error(), "is not asked for") {
				t.Fatalf("%v", err)
			}
		}
	}
	fails(2)
	up.Store(true)
	if err := ask(); err != nil { // begins the count anew
		t.Fatal(err)
	}
	up.Store(false)
	gone.Store(true)
	if err := set.Ready(); err != nil {
		t.Error(err)
	}
	fails(3)
	before := asked.Load()
	for range 2 {
		err := ask()
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Unavailable || !f.Retryable || !strings.Contains(f.Msg, "the provider ours has failed 3 times in a row, and is not asked for 30 s: ") || f.Hint == "" {
			t.Fatalf("%#v", err)
		}
		if err := set.Ready(); err == nil || !strings.Contains(err.Error(), "is not asked for") {
			t.Errorf("the health: %v", err)
		}
	}
	if asked.Load() != before || looked.Load() != 0 {
		t.Errorf("%d requests and %d probes while the breaker is open", asked.Load()-before, looked.Load())
	}
	clock.fire(30 * time.Second)
	if looked.Load() == 0 || ask() == nil || asked.Load() != before {
		t.Error("a server that is not there is not asked")
	}
	gone.Store(false)
	up.Store(true)
	clock.fire(30 * time.Second)
	if err := ask(); err != nil {
		t.Error(err)
	}
	if err := set.Ready(); err != nil {
		t.Error(err)
	}

	// It is probed for ten minutes at most: then a request is let through.
	up.Store(false)
	gone.Store(true)
	fails(3)
	before = looked.Load()
	for range 20 {
		if ask() == nil {
			t.Fatal("an answer")
		}
		clock.fire(30 * time.Second)
	}
	if got := looked.Load() - before; got < 20 {
		t.Errorf("%d looks", got)
	}
	fails(3)
	set.Close()
	if n := clock.left(); n != 0 {
		t.Errorf("%d timers run after the end", n)
	}
}
