package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

// setOf is a set of one provider, test, whose server plays a part.
func setOf(t *testing.T, k llm.Kind, handle func(w http.ResponseWriter, r *http.Request, n int), change ...func(*llm.Options)) (*llm.Set, *scripted) {
	t.Helper()
	var o llm.Options
	server := play(t, k, handle, append(change, func(given *llm.Options) { o = *given })...)
	s, err := llm.NewSet(llm.SetOptions{Default: "test", Providers: []llm.Options{o}, Time: o.Time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, server
}

func TestCHAT24_ProbeListsModels(t *testing.T) {
	for _, k := range llm.Kinds {
		for _, end := range []string{"", "/v1", "/v1/chat/completions", "/v1/messages"} {
			if k == llm.Anthropic && strings.HasSuffix(end, "completions") || k == llm.OpenAI && strings.HasSuffix(end, "messages") {
				continue
			}
			s, server := setOf(t, k, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Method != http.MethodGet {
					t.Errorf("%s", r.Method)
				}
				send(w, `{"object":"list","data":[{"id":"llama3.2","created":1},{"id":"qwen3:8b"}]}`)
			}, func(o *llm.Options) { o.Base += end })
			o, err := s.Probe(t.Context(), "")
			if err != nil || !o.Reached || o.Total != 2 || !slices.Equal(o.Models, []string{"llama3.2", "qwen3:8b"}) {
				t.Errorf("%s%s: %+v %s", k, end, o, said(err))
			}
			r := server.requests()[0]
			if r.path != "/v1/models" || k == llm.Anthropic && (r.header.Get("x-api-key") != canaryKey || r.header.Get("anthropic-version") == "") ||
				k == llm.OpenAI && r.header.Get("Authorization") != "Bearer "+canaryKey {
				t.Errorf("%s%s: %s %v", k, end, r.path, r.header)
			}
			if rows := s.Ledger().Rows(); len(rows) != 0 {
				t.Errorf("%+v", rows)
			}
		}
	}
}

// TestCHAT24_ProbeOfAnIllServer says what is wrong with it, and shows nothing that it says but names.
func TestCHAT24_ProbeOfAnIllServer(t *testing.T) {
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
			send(w, canaryKey)
		}
	}
	text := func(s string) func(http.ResponseWriter) { return func(w http.ResponseWriter) { send(w, s) } }
	for _, c := range []struct {
		name   string
		play   func(http.ResponseWriter)
		models []string
		want   string // of the error and its hint; "" for none
	}{
		{"wants another key", status(401), nil, "what chat.providers.test.key leads to"},
		{"has no list", status(404), nil, "has no list of models"},
		{"redirects", status(302), nil, "status 302"},
		{"is broken", status(500), nil, "status 500"},
		{"sends a page", text("<html>" + canaryKey), nil, "no list of models"},
		{"sends another list", text(`[{"id":"a"}]`), nil, "no list of models"},
		{"sends nothing", text(""), nil, "no list of models"},
		{"has no models", text(`{"data":[]}`), nil, ""},
		{"quotes the key", text(`{"data":[{"id":"a"},{"id":"x-` + canaryKey + `"}]}`), []string{"a"}, ""},
		{"draws", text(`{"data":[{"id":"\u001b[31mred"},{"id":"b"},{"id":"` + strings.Repeat("x", 257) + `"},{"id":""},{"id":"a\nb"}]}`), []string{"b"}, ""},
		{"floods", text(`{"data":[{"id":"` + strings.Repeat("x", 5<<20) + `"}]}`), nil, "more than 4 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, server := setOf(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) { c.play(w) })
			o, err := s.Probe(t.Context(), "test")
			if !o.Reached || !slices.Equal(o.Models, c.models) || c.want == "" && err != nil {
				t.Errorf("%+v %s", o, said(err))
			}
			if c.want != "" && (fault.KindOf(err) != fault.Unavailable || !strings.Contains(said(err), c.want)) {
				t.Errorf("%s, want %s", said(err), c.want)
			}
			if strings.Contains(said(err), "canary") || len(server.requests()) != 1 {
				t.Errorf("%s, asked %d times", said(err), len(server.requests()))
			}
		})
	}
}

func TestCHAT24_ProbeNamesManyModels(t *testing.T) {
	var list []string
	for i := range 1200 {
		list = append(list, fmt.Sprintf(`{"id":"m%d"}`, i))
	}
	s, _ := setOf(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
		send(w, `{"data":[`+strings.Join(list, ",")+`]}`)
	})
	if o, err := s.Probe(t.Context(), ""); err != nil || o.Total != 1200 || len(o.Models) != 1000 {
		t.Errorf("%d of %d, %v", len(o.Models), o.Total, err)
	}
}

// TestCHAT24_ProbeEnds after a time, and at once when its caller leaves.
func TestCHAT24_ProbeEnds(t *testing.T) {
	for _, begun := range []bool{false, true} {
		for _, leaves := range []bool{false, true} {
			asked := make(chan struct{})
			s, server := setOf(t, llm.OpenAI, func(w http.ResponseWriter, r *http.Request, _ int) {
				if begun {
					send(w, `{"data":[`)
				}
				close(asked)
				<-r.Context().Done()
			})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-asked
				if leaves {
					cancel()
				} else {
					server.clock.fire(5 * time.Second)
				}
			}()
			_, err := s.Probe(ctx, "test")
			cancel()
			switch {
			case leaves && !errors.Is(err, context.Canceled):
				t.Errorf("begun %v: %s", begun, said(err))
			case !leaves && (fault.KindOf(err) != fault.Deadline || !strings.Contains(said(err), "within 5s") || !retryable(err)):
				t.Errorf("begun %v: %s", begun, said(err))
			}
		}
	}
}

// TestCHAT23_ProbeAsksNobody where a key is missing, or would be sent for all to read.
func TestCHAT23_ProbeAsksNobody(t *testing.T) {
	t.Setenv("CTXD_TEST_EMPTY", "")
	s, err := llm.NewSet(llm.SetOptions{Providers: []llm.Options{
		{Name: "openai", Kind: llm.OpenAI}, {Name: "anthropic", Kind: llm.Anthropic, Key: "env:CTXD_TEST_EMPTY"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, want := range map[string]string{"openai": "chat.providers.openai.key", "anthropic": "$CTXD_TEST_EMPTY", "others": "no provider of this name"} {
		if o, err := s.Probe(t.Context(), name); o.Reached || !strings.Contains(said(err), want) {
			t.Errorf("%s: %+v %s", name, o, said(err))
		}
	}
	if o, err := s.Probe(t.Context(), "none"); err != nil || o.Reached {
		t.Errorf("%+v %v", o, err)
	}
	t.Setenv(keyName, "two words "+canaryKey)
	s, server := setOf(t, llm.OpenAI, func(http.ResponseWriter, *http.Request, int) {})
	t.Setenv(keyName, "two words "+canaryKey)
	if _, err := s.Probe(t.Context(), ""); fault.KindOf(err) != fault.Unavailable || strings.Contains(said(err), "canary") || len(server.requests()) != 0 {
		t.Errorf("%s", said(err))
	}
}

// TestCHAT29_Ready says without asking anybody whether the provider that answers by itself can.
func TestCHAT29_Ready(t *testing.T) {
	t.Setenv(keyName, "")
	now := noon
	set := func(o llm.Options) *llm.Set {
		o.Name = "test"
		s, err := llm.NewSet(llm.SetOptions{
			Default: "test", Providers: []llm.Options{o}, Budget: llm.Budget{TokensPerDay: 10},
			Time: llm.Timing{Now: func() time.Time { return now }},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := llm.NoSet().Ready(); err != nil {
		t.Errorf("nobody: %v", err)
	}
	for _, o := range []llm.Options{{Kind: llm.OpenAI}, {Kind: llm.Anthropic, Key: "env:" + keyName}, {Kind: llm.OpenAI, Base: "http://127.0.0.1:1", Key: "file:/none/such"}} {
		if err := set(o).Ready(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%+v: %v", o, err)
		}
	}
	t.Setenv(keyName, "good")
	for _, o := range []llm.Options{{Kind: llm.OpenAI, Base: "http://127.0.0.1:1"}, {Kind: llm.Anthropic, Key: "env:" + keyName}} {
		if err := set(o).Ready(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	s := set(llm.Options{Kind: llm.Anthropic, Key: "keyring:nothing"})
	if err := s.Ready(); err != nil {
		t.Errorf("before the keyring was asked: %v", err)
	}
	llm.KeyringSaid(s, fault.New(fault.Unavailable, "it has no key"))
	if err := s.Ready(); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no key") {
		t.Errorf("after it was asked: %v", err)
	}
	s = set(llm.Options{Kind: llm.OpenAI, Base: "http://127.0.0.1:1"})
	s.Ledger().KeepIn([]llm.Spent{{Day: "2026-03-01", Provider: "x", Model: "m", Requests: 1, In: 10}}, nil)
	if err := s.Ready(); fault.KindOf(err) != fault.Limit || !strings.Contains(said(err), "10 of 10 tokens of the day are spent; the next") || !retryable(err) {
		t.Errorf("%s", said(err))
	}
	now = noon.Add(12 * time.Hour)
	if err := s.Ready(); err != nil {
		t.Errorf("the next day: %v", err)
	}
}
