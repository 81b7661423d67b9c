package llm_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestCHAT24_Options(t *testing.T) {
	for _, c := range []struct {
		o     llm.Options
		field string // of the error; "" for none
	}{
		{llm.Options{Kind: llm.Anthropic}, ""},
		{llm.Options{Kind: llm.OpenAI, Key: "env:A"}, ""},
		{llm.Options{Kind: llm.OpenAI, Base: "http://127.0.0.1:11434/v1", Local: true}, ""},
		{llm.Options{Kind: llm.OpenAI, Base: "http://127.0.0.1:11434/v1", Key: "keyring:a", Local: true}, ""},
		{llm.Options{Kind: llm.OpenAI, Base: "http://192.168.1.5:8080"}, ""},
		{llm.Options{Kind: llm.OpenAI, Base: "http://192.168.1.5:8080", Key: "none"}, ""},
		{llm.Options{Kind: "gemini"}, "kind"},
		{llm.Options{}, "kind"},
		{llm.Options{Kind: llm.OpenAI, Base: "http://192.168.1.5:8080", Key: "env:A"}, "base"},
		{llm.Options{Kind: llm.OpenAI, Base: "http://192.168.1.5:8080", Local: true}, "local"},
		{llm.Options{Kind: llm.Anthropic, Local: true}, "local"},
		{llm.Options{Kind: llm.OpenAI, Base: "https://x/?key=" + canaryKey}, "base"},
		{llm.Options{Kind: llm.OpenAI, Base: "https://" + canaryKey + "@x/"}, "base"},
		{llm.Options{Kind: llm.OpenAI, Base: canaryKey}, "base"},
		{llm.Options{Kind: llm.OpenAI, Key: canaryKey}, "key"},
		{llm.Options{Kind: llm.OpenAI, Model: "a\nb"}, "model"},
	} {
		c.o.Name = "test"
		err := c.o.Check()
		p, opened := llm.Open(c.o)
		var f *fault.Error
		switch {
		case fmt.Sprint(err) != fmt.Sprint(opened):
			t.Errorf("%+v: %v and %v", c.o, err, opened)
		case c.field == "" && (err != nil || p.Info().Name != "test" || p.Info().Base == ""):
			t.Errorf("%+v: %v", c.o, err)
		case c.field != "" && (!errors.As(err, &f) || f.Field != c.field || f.Kind != fault.Invalid || f.Hint == ""):
			t.Errorf("%+v: %s", c.o, said(err))
		case strings.Contains(said(err), "canary"):
			t.Errorf("the key is in the error: %s", said(err))
		}
	}
}

// TestPRIV4_WhichProviderIsLocal decides who may be given what is private.
func TestPRIV4_WhichProviderIsLocal(t *testing.T) {
	for base, local := range map[string]bool{
		"http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost:1": true, "http://llm.localhost": true,
	} {
		for _, set := range []bool{false, true} {
			p, err := llm.Open(llm.Options{Name: "test", Kind: llm.OpenAI, Base: base, Local: set})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Info().Local; got != (local && set) {
				t.Errorf("%s, local: %v: %v", base, set, got)
			}
		}
	}
	if !llm.Nobody().Info().Local {
		t.Error("nothing leaves this machine where nobody is asked")
	}
}

// TestCHAT23_KeysStaySecret puts a key everywhere where one may be found, and looks for it in all that a provider says.
func TestCHAT23_KeysStaySecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(canaryKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"env:" + keyName, "file:" + file} {
		for _, k := range llm.Kinds {
			s := play(t, k, func(w http.ResponseWriter, r *http.Request, n int) {
				if n == 1 {
					w.WriteHeader(http.StatusUnauthorized)
					send(w, fmt.Sprint(r.Header))
					return
				}
				if k == llm.Anthropic {
					send(w, `data: {"type":"message_start","message":{"model":"`+canaryKey+`"}}`+"\n\n", hello[k])
				} else {
					send(w, strings.Replace(hello[k], "{", `{"model":"`+canaryKey+`",`, 1))
				}
				send(w, "data: {\"error\":{\"type\":\""+canaryKey+"\",\"code\":\""+canaryKey+"\"}}\n\n")
			}, func(o *llm.Options) { o.Key = source })
			_, _, refused := s.ask(t.Context())
			_, a, broken := s.ask(t.Context())
			for _, r := range s.requests() {
				got := r.header.Get("x-api-key")
				if k == llm.OpenAI {
					got = strings.TrimPrefix(r.header.Get("Authorization"), "Bearer ")
				}
				if got != canaryKey || strings.Contains(r.path+r.body, "canary") {
					t.Errorf("%s, %s: the server was sent %q", source, k, got)
				}
			}
			if refused == nil || broken == nil {
				t.Errorf("%s, %s: %v %v %+v", source, k, refused, broken, s.Info())
			}
			all := fmt.Sprintf("%s %s %+v %+v %#v", said(refused), said(broken), a, s.Info(), refused)
			if strings.Contains(all, "canary") {
				t.Errorf("%s, %s: the key is in %s", source, k, all)
			}
		}
	}
}

func TestCHAT23_WhatLooksLikeAKey(t *testing.T) {
	for text, want := range map[string]bool{
		canaryKey: true, " sk-ant-api03-x": true, "gsk_x": true, "AIzaSy": true, "Bearer x": true,
		"": false, "llama3.2": false, "qwen3:8b": false, "skylark": false, "ours": false,
	} {
		if llm.LooksLikeKey(text) != want {
			t.Errorf("%q", text)
		}
	}
}

// TestCHAT29_NoKey has a provider that wants a key answer as nobody does.
func TestCHAT29_NoKey(t *testing.T) {
	t.Setenv("CTXD_TEST_EMPTY", "")
	for _, c := range []struct {
		o    llm.Options
		want string
	}{
		{llm.Options{Kind: llm.Anthropic, Key: "env:CTXD_TEST_EMPTY"}, "$CTXD_TEST_EMPTY"},
		{llm.Options{Kind: llm.Anthropic}, "chat.providers.test.key to env:ANTHROPIC_API_KEY"},
		{llm.Options{Kind: llm.OpenAI, Key: "none"}, "chat.providers.test.key to env:OPENAI_API_KEY"},
		{llm.Options{Kind: llm.OpenAI, Key: "file:/none/such"}, "does not exist"},
	} {
		c.o.Name, c.o.Model = "test", "m"
		p, err := llm.Open(c.o)
		if err != nil {
			t.Fatal(err)
		}
		h := &heard{}
		a, err := p.Stream(t.Context(), question(), h.take)
		if err != nil || !a.NoProvider || a.Finish != llm.Stop || !strings.Contains(h.text.String(), c.want) {
			t.Errorf("%q %+v %v", h.text.String(), a, err)
		}
	}
	t.Setenv(keyName, "two words")
	p, err := llm.Open(llm.Options{Name: "test", Kind: llm.Anthropic, Model: "m", Key: "env:" + keyName})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stream(t.Context(), question(), (&heard{}).take); fault.KindOf(err) != fault.Unavailable || strings.Contains(said(err), "two words") {
		t.Errorf("%s", said(err))
	}
}

// TestCHAT22_Nobody answers that no provider is configured, and how to get one.
func TestCHAT22_Nobody(t *testing.T) {
	p, err := llm.Open(llm.Options{Kind: llm.None})
	if err != nil {
		t.Fatal(err)
	}
	h := &heard{}
	a, err := p.Stream(t.Context(), question(), h.take)
	if err != nil || !a.NoProvider || a.Usage != (llm.Usage{}) || !strings.Contains(h.text.String(), "chat.provider") || h.deltas != 1 {
		t.Errorf("%q %+v %v", h.text.String(), a, err)
	}
	if a, err := p.Stream(t.Context(), question(), func(llm.Delta) error { return errFull }); !errors.Is(err, errFull) || a.Finish != llm.Cancelled {
		t.Errorf("%+v %v", a, err)
	}
	p.Close()
}

// TestCHAT24_WrongRequests are refused before anybody is asked.
func TestCHAT24_WrongRequests(t *testing.T) {
	s := play(t, llm.OpenAI, func(http.ResponseWriter, *http.Request, int) {}, func(o *llm.Options) { o.Model = "" })
	say := []llm.Message{{Role: llm.User, Text: "Hi"}}
	for _, c := range []struct {
		r     llm.Request
		field string
		kind  fault.Kind
	}{
		{llm.Request{}, "messages", fault.Invalid},
		{llm.Request{Messages: say}, "model", fault.Invalid},
		{llm.Request{Messages: say, Model: "a\x00"}, "model", fault.Invalid},
		{llm.Request{Messages: []llm.Message{{Role: "system", Text: "Hi"}}, Model: "m"}, "messages", fault.Invalid},
		{llm.Request{Messages: []llm.Message{{Role: llm.User, Images: []llm.Image{{Type: "text/html", Data: []byte("x")}}}}, Model: "m"}, "images", fault.Invalid},
		{llm.Request{Messages: say, System: strings.Repeat("x", 33<<20), Model: "m"}, "messages", fault.Limit},
	} {
		_, err := s.Stream(t.Context(), &c.r, (&heard{}).take)
		var f *fault.Error
		if !errors.As(err, &f) || f.Field != c.field || f.Kind != c.kind {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	if n := len(s.requests()); n != 0 {
		t.Errorf("asked %d times", n)
	}
}
