package llm_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
)

// telling starts a server that answers at some paths, and returns what its provider tells of model-1, and the server.
func telling(t *testing.T, kind llm.Kind, replies map[string]string) (func(ctx context.Context) llm.ModelFacts, *scripted) {
	t.Helper()
	if kind == "" {
		kind = llm.OpenAI
	}
	s := play(t, kind, func(w http.ResponseWriter, r *http.Request, _ int) {
		reply, ok := replies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		send(w, reply)
	})
	set := askingSet(t, kind, s)
	return func(ctx context.Context) llm.ModelFacts { return set.Facts(ctx, "", "") }, s
}

// askingSet is a set whose one provider asks the server, with its clock.
func askingSet(t *testing.T, kind llm.Kind, s *scripted) *llm.Set {
	t.Helper()
	set, err := llm.NewSet(llm.SetOptions{Default: "test", Time: s.clock.timing(), Providers: []llm.Options{
		{Name: "test", Kind: kind, Base: s.url, Model: "model-1", Key: "env:" + keyName},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	return set
}

// TestCHAT47_WhatServersTellOfAModel: further shapes of what servers tell, and lies. The common ones are in the matrix.
func TestCHAT47_WhatServersTellOfAModel(t *testing.T) {
	one := func(members string) string {
		return `{"object":"list","data":[{"id":"other","context_length":9999},{"id":"model-1",` + members + `}]}`
	}
	for name, c := range map[string]struct {
		replies map[string]string
		want    llm.ModelFacts
	}{
		"llama.cpp of before, with pictures": {map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"gpt-3.5-turbo","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
			"/props":     `{"default_generation_settings":{"n_ctx":16384},"modalities":{"vision":true}}`,
		}, llm.ModelFacts{Context: 16384}},
		"Ollama, a model of somebody's, not loaded": {map[string]string{
			"/v1/models":   `{"object":"list","data":[{"id":"model-1:latest","owned_by":"ann"}]}`,
			"/api/version": `{"version":"0.9.6"}`,
			"/api/show":    `{"model_info":{"general.architecture":"gemma3","gemma3.context_length":8192},"capabilities":["completion","vision"]}`,
		}, llm.ModelFacts{Context: 8192, NoTools: true}},
		"OpenRouter, plain": {map[string]string{"/v1/models": one(`"context_length":4096,"architecture":{"input_modalities":["text"]},"supported_parameters":["temperature"]`)}, llm.ModelFacts{Context: 4096, NoTools: true, NoImages: true}},

		"nothing":                 {nil, llm.ModelFacts{}},
		"no Ollama":               {map[string]string{"/api/show": `{"model_info":{"general.architecture":"a","a.context_length":8192}}`}, llm.ModelFacts{}},
		"another model":           {map[string]string{"/v1/models": `{"data":[{"id":"other","context_length":4096}]}`}, llm.ModelFacts{}},
		"a page":                  {map[string]string{"/v1/models": "<html>", "/props": "<html>", "/api/show": "<html>"}, llm.ModelFacts{}},
		"lies: 2^62":              {map[string]string{"/v1/models": one(`"context_length":4611686018427387904`)}, llm.ModelFacts{}},
		"lies: 1e400":             {map[string]string{"/v1/models": one(`"context_length":1e400`)}, llm.ModelFacts{}},
		"lies: none, and less":    {map[string]string{"/v1/models": one(`"context_length":0,"max_model_len":-5,"context_window":7`)}, llm.ModelFacts{}},
		"lies: other types":       {map[string]string{"/v1/models": one(`"context_length":{"a":1},"meta":[1],"capabilities":"tools","architecture":7,"supported_parameters":{}`)}, llm.ModelFacts{}},
		"as a string, a half":     {map[string]string{"/v1/models": one(`"context_length":"8192","max_model_len":4096.5`)}, llm.ModelFacts{Context: 4096}},
		"entries that are none":   {map[string]string{"/v1/models": `{"data":[null,7,"x",[],{"id":"model-1","context_length":4096}]}`}, llm.ModelFacts{Context: 4096}},
		"an expression of Ollama": {map[string]string{"/v1/models": one(`"owned_by":"library"`), "/api/show": `{"model_info":7,"parameters":[1],"capabilities":{}}`}, llm.ModelFacts{}},
	} {
		t.Run(name, func(t *testing.T) { wantFacts(t, llm.OpenAI, c.replies, c.want) })
	}
}

// TestCHAT47_AServerThatDoesNotTellIsNoHurdle: one that is silent is left after a second, and is not asked again soon; one that
// sends without end is left; one that redirects is not followed.
func TestCHAT47_AServerThatDoesNotTellIsNoHurdle(t *testing.T) {
	arrived, left := make(chan bool, 10), make(chan bool, 10)
	s := play(t, llm.OpenAI, func(_ http.ResponseWriter, r *http.Request, _ int) {
		arrived <- true
		<-r.Context().Done()
		left <- true
	})
	set, told := askingSet(t, llm.OpenAI, s), make(chan llm.ModelFacts)
	go func() { told <- set.Facts(t.Context(), "", "") }()
	<-arrived
	s.clock.fire(time.Second)
	if f := <-told; f != (llm.ModelFacts{}) {
		t.Errorf("%+v", f)
	}
	<-left
	asked := len(s.requests())
	if f := set.Facts(t.Context(), "", ""); f != (llm.ModelFacts{}) || len(s.requests()) != asked {
		t.Errorf("%+v, asked %d times, then %d", f, asked, len(s.requests()))
	}

	gone, leave := context.WithCancel(t.Context())
	leave()
	calm, s2 := telling(t, llm.OpenAI, map[string]string{"/v1/models": `{"data":[{"id":"model-1","context_length":4096}]}`})
	if f := calm(gone); f != (llm.ModelFacts{}) {
		t.Errorf("a caller that left was told %+v", f)
	}
	if f := calm(t.Context()); f.Context != 4096 || len(s2.requests()) == 0 {
		t.Errorf("what a caller that left was not told is kept: %+v", f)
	}

	flood := play(t, llm.OpenAI, func(w http.ResponseWriter, r *http.Request, _ int) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	})
	if f := askingSet(t, llm.OpenAI, flood).Facts(t.Context(), "", ""); f != (llm.ModelFacts{}) {
		t.Errorf("%+v", f)
	}
	if f := llm.NoSet().Facts(t.Context(), "", ""); f != (llm.ModelFacts{}) {
		t.Errorf("nobody told %+v", f)
	}
	if f := askingSet(t, llm.OpenAI, flood).Facts(t.Context(), "no such", ""); f != (llm.ModelFacts{}) {
		t.Errorf("an unknown provider told %+v", f)
	}
}
