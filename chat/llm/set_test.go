package llm_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

func twoProviders() llm.SetOptions {
	return llm.SetOptions{Default: "ours", Providers: []llm.Options{
		{Name: "openai", Kind: llm.OpenAI, Model: "gpt"},
		{Name: "ours", Kind: llm.OpenAI, Base: "http://127.0.0.1:11434/v1", Model: "llama3.2", Local: true},
	}}
}

func TestCHAT24_ProvidersByName(t *testing.T) {
	s, err := llm.NewSet(twoProviders())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]llm.Info{
		"":       {Name: "ours", Model: "llama3.2", Local: true},
		"ours":   {Name: "ours", Model: "llama3.2", Local: true},
		"openai": {Name: "openai", Model: "gpt"},
		"none":   {Name: "none", Local: true},
	} {
		p, err := s.Provider(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		got := p.Info()
		if got.Name != want.Name || got.Model != want.Model || got.Local != want.Local {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
	if list := s.Providers(); len(list) != 2 || list[0].Info().Name != "openai" || list[1].Info().Name != "ours" {
		t.Errorf("%d providers", len(list))
	}
	if s.Default() != "ours" || !slices.Equal(s.Names(), []string{"openai", "ours"}) {
		t.Errorf("%s of %v", s.Default(), s.Names())
	}
	s.Close()
}

// TestCHAT24_UnknownProvider says what there is instead, and not what was asked for: it may be a key.
func TestCHAT24_UnknownProvider(t *testing.T) {
	s, err := llm.NewSet(twoProviders())
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Provider(canaryKey)
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Field != "provider" ||
		!strings.Contains(f.Hint, "none, openai, ours") || !strings.Contains(f.Hint, "chat.providers.NAME.base") {
		t.Errorf("%s", said(err))
	}
	if strings.Contains(said(err), "canary") {
		t.Errorf("the key is in the error: %s", said(err))
	}
	o := twoProviders()
	o.Default = "others"
	if _, err := llm.NewSet(o); !errors.As(err, &f) || f.Field != "chat.provider" {
		t.Errorf("%s", said(err))
	}
	o = twoProviders()
	o.Providers[1].Base = "elsewhere"
	if _, err := llm.NewSet(o); !errors.As(err, &f) || f.Field != "chat.providers.ours.base" {
		t.Errorf("%s", said(err))
	}
}

func TestCHAT22_NoProviders(t *testing.T) {
	s := llm.NoSet()
	p, err := s.Provider("")
	if err != nil || p != llm.Nobody() || s.Default() != "none" || s.Names() == nil || len(s.Providers()) != 0 {
		t.Errorf("%v %v %s", p, err, s.Default())
	}
}

// TestCHAT38_TheProvidersOfASetShareALedger counts what each of them is asked.
func TestCHAT38_TheProvidersOfASetShareALedger(t *testing.T) {
	server := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
		send(w, hello[llm.OpenAI], "data: [DONE]\n\n")
	})
	var o llm.SetOptions
	for _, name := range []string{"a", "b"} {
		o.Providers = append(o.Providers, llm.Options{Name: name, Kind: llm.OpenAI, Base: server.url, Model: "m"})
	}
	s, err := llm.NewSet(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range s.Names() {
		p, err := s.Provider(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = p.Stream(t.Context(), question(), (&heard{}).take) // broken off: it costs all the same
	}
	if rows := s.Ledger().Rows(); len(rows) != 2 || rows[0].Provider != "a" || rows[1].Provider != "b" {
		t.Errorf("%+v", rows)
	}
}
