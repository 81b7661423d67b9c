package daemon

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/entities/fault"
)

// TestCHAT24_ConfiguredProvidersAnswer: what is configured for providers reaches the daemon.
func TestCHAT24_ConfiguredProvidersAnswer(t *testing.T) {
	unsetAll(t)
	conf, err := config.Load(configured(t, `
chat:
  provider: ours
  model: llama3.2
  budget: {requestsPerMinute: 1}
  providers:
    ours: {base: "http://127.0.0.1:11434/v1", local: true}
    anthropic: {key: env:CTXD_TEST_NO_SUCH_KEY, model: claude}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	opts := OptionsOf(conf, nil)
	s, err := OpenProviders(&opts.chat)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if names := s.Names(); !slices.Equal(names, []string{"openai", "anthropic", "ours"}) {
		t.Errorf("%v", names)
	}
	for name, want := range map[string]string{"": "ours llama3.2 true", "anthropic": "anthropic claude false", "none": "none  true"} {
		p, err := s.Provider(name)
		if err != nil {
			t.Fatal(err)
		}
		local := map[bool]string{true: "true", false: "false"}
		if in := p.Info(); in.Name+" "+in.Model+" "+local[in.Local] != want {
			t.Errorf("%q: %+v", name, in)
		}
	}
	var f *fault.Error
	if _, err := s.Provider("elsewhere"); !errors.As(err, &f) || !strings.Contains(f.Hint, "none, openai, anthropic, ours") {
		t.Errorf("%v", err)
	}
}

func TestCHAT22_NobodyIsConfiguredByItself(t *testing.T) {
	s, err := OpenProviders(&config.Default().Chat)
	if err != nil || s.Default() != "none" {
		t.Errorf("%v, %v", s, err)
	}
}
