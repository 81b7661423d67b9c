package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
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

// TestCHAT38_TheDaemonKeepsWhatIsSpent: a budget that is used up before a restart is used up behind it.
func TestCHAT38_TheDaemonKeepsWhatIsSpent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":9}}`)
	}))
	defer server.Close()
	conf := config.Default().Chat
	conf.Provider, conf.Budget.TokensPerDay = "ours", 100
	conf.Providers = append(conf.Providers, &config.ChatProvider{Name: "ours", Kind: llm.OpenAI, Base: server.URL, Model: "m", Local: true})
	data := t.TempDir()
	ask := func(d *Daemon) error {
		p, err := d.providers.Provider("")
		if err != nil {
			t.Fatal(err)
		}
		r := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello there"}}}
		_, err = p.Stream(t.Context(), r, func(llm.Delta) error { return nil })
		return err
	}
	for _, refused := range []bool{false, true, true} {
		d := startedWith(t, data, conf)
		err := ask(d)
		if refused != (fault.KindOf(err) == fault.Limit) || !refused && err != nil {
			t.Errorf("%v", err)
		}
		if rows := d.providers.Ledger().Rows(); len(rows) != 1 || rows[0].In != 90 || rows[0].Out != 9 || rows[0].Requests != 1 {
			t.Errorf("%+v", rows)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
