package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

const canaryKey = "sk-canary-91ab"

// optionsOf are those of a provider, but for its time.
func optionsOf(c *Config, name string) llm.Options {
	o := c.Chat.Options(name)
	o.Time = llm.Timing{}
	return o
}

func TestCHAT24_ProvidersAreConfigured(t *testing.T) {
	emptyEnvironment(t)
	t.Setenv("CTXD_CHAT_PROVIDERS_LAN_BASE", "http://192.168.1.5:8080")
	t.Setenv("CTXD_CHAT_PROVIDERS_OURS_MODEL", "qwen3")
	p := fileOf(t, `
chat:
  provider: ours
  model: llama3.2
  budget: {tokensPerDay: 1000000, requestsPerMinute: 5}
  providers:
    ours: {base: "http://127.0.0.1:11434/v1", local: true}
    anthropic: {key: env:MY_KEY}
chat.providers.proxy.kind: anthropic
chat.providers.proxy.base: https://llm.example.org
`)
	c, err := Load(p, Given{"chat.providers.flag.key": {"keyring:flag"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []llm.Options{
		{Name: "ours", Kind: llm.OpenAI, Base: "http://127.0.0.1:11434/v1", Model: "qwen3", Local: true},
		{Name: "anthropic", Kind: llm.Anthropic, Key: "env:MY_KEY"},
		{Name: "openai", Kind: llm.OpenAI},
		{Name: "proxy", Kind: llm.Anthropic, Base: "https://llm.example.org"},
		{Name: "lan", Kind: llm.OpenAI, Base: "http://192.168.1.5:8080"},
		{Name: "flag", Kind: llm.OpenAI, Key: "keyring:flag"},
	} {
		if diff := cmp.Diff(want, optionsOf(c, want.Name), cmpopts.IgnoreFields(llm.Options{}, "Time")); diff != "" {
			t.Error(diff)
		}
	}
	c.Chat.Provider = "anthropic"
	if o := c.Chat.Options("anthropic"); o.Model != "llama3.2" {
		t.Errorf("%+v", o)
	}
	c.Chat.Provider = "ours"
	if o := c.Chat.Options("gone"); o.Kind != llm.None {
		t.Errorf("%+v", o)
	}
	want := llm.Budget{TokensPerDay: 1_000_000, BackgroundTokensPerDay: 200_000, RequestsPerMinute: 5}
	if c.Chat.Provider != "ours" || c.Chat.Budget != want {
		t.Errorf("%s %+v", c.Chat.Provider, c.Chat.Budget)
	}
	if s := c.Setting("chat.providers.ours.local"); s.Origin.Source != fromFile || s.Origin.Line != 7 {
		t.Errorf("%+v", s.Origin)
	}
	if !slices.Contains(c.Keys(), "chat.providers.lan.base") || slices.Contains(Default().Keys(), "chat.providers.lan.base") {
		t.Error("a provider is named where it was not")
	}
}

// TestCHAT24_WrongProviders names what is wrong, and shows no key that was written where none belongs (CHAT-23).
func TestCHAT24_WrongProviders(t *testing.T) {
	emptyEnvironment(t)
	for _, c := range []struct{ text, key, want string }{
		{"chat.provider: ours", "chat.provider", "chat.providers.NAME.base"},
		{"chat.provider: " + canaryKey, "chat.provider", "NAME of chat.providers.NAME"},
		{"chat.model: " + canaryKey, "chat.model", "looks like a key"},
		{"chat.model: ''", "chat.model", "empty"},
		{"chat.providers.openai.model: " + canaryKey, "chat.providers.openai.model", "looks like a key"},
		{"chat.providers.openai.key: " + canaryKey, "chat.providers.openai.key", "keyring:NAME"},
		{"chat.providers.openai.key: env:" + canaryKey, "chat.providers.openai.key", "keyring:NAME"},
		{"chat.providers.openai.key: file:" + canaryKey, "chat.providers.openai.key", "absolute path"},
		{"chat.providers.openai.key: 'keyring: x'", "chat.providers.openai.key", "keyring:NAME"},
		{"chat.providers.openai.kind: " + "gemini", "chat.providers.openai.kind", "openai, anthropic"},
		{"chat.providers.openai.base: https://" + canaryKey + "@api.example.org", "chat.providers.openai.base", "setting of its own"},
		{"chat.providers.openai.base: https://api.example.org/?key=" + canaryKey, "chat.providers.openai.base", "setting of its own"},
		{"chat.providers.openai.base: " + canaryKey, "chat.providers.openai.base", "no URL"},
		{"chat.providers.openai.local: true", "chat.providers.openai.local", "not this machine"},
		{"chat.providers.lan: {base: 'http://192.168.1.5', key: env:A}", "chat.providers.lan.base", "https://"},
		{"chat.providers.openai.bass: x", "chat.providers.openai.bass", "chat.providers.openai.base"},
		{"chat.providers.none.kind: openai", "chat.providers.none.kind", "there is no setting"},
		{"chat.providers.My-Name.kind: openai", "chat.providers.My-Name.kind", "there is no setting"},
		{"context: {reports: 5}", "context", "no setting any more"},
		{"limits.writeStall: 5s", "limits.writeStall", "it is a constant"},
		{"chat.budget.requestsPerMinute: -1", "chat.budget.requestsPerMinute", "out of range"},
	} {
		_, err := Load(fileOf(t, c.text+"\n"), nil)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		said := e.Error() + " | " + e.Fault.Hint
		if e.Key != c.key || e.At.Line != 1 || !strings.Contains(said, c.want) || strings.Contains(said, "canary") {
			t.Errorf("%s: key %s, line %d: %s, want %s", c.text, e.Key, e.At.Line, said, c.want)
		}
	}
	t.Setenv("CTXD_CHAT_PROVIDERS_ANTHROPIC_KEY", canaryKey)
	if _, err := Load("", nil); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
	t.Setenv("CTXD_CHAT_PROVIDERS_ANTHROPIC_KEY", "")
	t.Setenv("CTXD_CHAT_PROVIDERS_OURS_KIN", "x")
	if _, err := Load("", nil); err == nil || !strings.Contains(err.Error(), "no setting") {
		t.Errorf("%v", err)
	}
	t.Setenv("CTXD_CHAT_PROVIDERS_OURS_KIN", "")
	given, err := Assignments([]string{"chat.providers.ours.base=http://127.0.0.1:1", "chat.provider=ours"})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Load("", given); err != nil || c.Chat.Options("ours").Base != "http://127.0.0.1:1" {
		t.Errorf("%v", err)
	}
	var misuse *term.UsageError
	if _, err := Assignments([]string{"chat.providers.ours.bass=x"}); err == nil || errors.As(err, &misuse) {
		t.Errorf("%v", err)
	}
}
