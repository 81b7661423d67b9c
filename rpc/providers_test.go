package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const providerKey = "sk-canary-6a0d"

// startWith serves an empty store with providers.
func startWith(t *testing.T, o llm.SetOptions) *daemon {
	t.Helper()
	set, err := llm.NewSet(o)
	must(t, err)
	t.Cleanup(set.Close)
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	return startOver(t, db, rpc.Options{Providers: set})
}

// servesModels is the address of a server that lists models to who has the key, and quotes the key in all
// that it says.
func servesModels(t *testing.T) string {
	t.Helper()
	t.Setenv("CTXD_TEST_PROVIDER_KEY", providerKey)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Echo", r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer "+providerKey {
			http.Error(w, fmt.Sprint(r.Header), http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"data":[{"id":"small"},{"id":%q},{"id":"large"}],"echo":%q}`, providerKey, providerKey)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestCHAT24_ProvidersAreListed(t *testing.T) {
	base := servesModels(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	d := startWith(t, llm.SetOptions{Default: "ours", Providers: []llm.Options{
		{Name: "openai", Kind: llm.OpenAI},
		{Name: "ours", Kind: llm.OpenAI, Base: base, Model: "small", Key: "env:CTXD_TEST_PROVIDER_KEY", Local: true},
		{Name: "gone", Kind: llm.Anthropic, Base: gone.URL},
	}})
	out := d.do("chat.providers", `{}`)
	d.want(out, "default", "ours")
	d.want(out, "providers.0", `map[base:https://api.openai.com/v1 default:false `+
		`hint:set chat.providers.openai.key to env:OPENAI_API_KEY, or to file:PATH or keyring:NAME `+
		`keyPresent:false kind:openai local:false name:openai why:chat.providers.openai.key says nowhere where the key is]`)
	d.want(out, "providers.1", "map[base:"+base+" default:true keyPresent:true kind:openai local:true model:small name:ours]")
	d.want(out, "providers.2.why", nil)

	out = d.do("chat.providers", `{"probe":true}`)
	d.want(out, "providers.0.probe", nil)
	d.want(out, "providers.1.probe.models", "[small large]")
	d.want(out, "providers.1.probe.total", 2)
	d.want(out, "providers.1.probe.error", nil)
	d.want(out, "providers.2.probe.reached", false)
	d.want(out, "providers.2.probe.models", "[]")
	if text, hint := at(out, "providers.2.probe.error"), at(out, "providers.2.probe.hint"); !strings.Contains(fmt.Sprint(text), "takes no connection") || hint == nil {
		t.Errorf("%v, %v", text, hint)
	}
	t.Setenv("CTXD_TEST_PROVIDER_KEY", "")
	out = d.do("chat.providers", `{"probe":true}`)
	d.want(out, "providers.1.keyPresent", false)
	d.want(out, "providers.1.why", "the environment variable of the key is empty: $CTXD_TEST_PROVIDER_KEY")
	d.want(out, "providers.1.probe", nil)
}

func TestCHAT22_NoProviderIsListedAsNone(t *testing.T) {
	d := start(t)
	out := d.do("chat.providers", `{"probe":true}`)
	d.want(out, "default", "none")
	d.want(out, "providers", "[]")
}

// TestCHAT24_InitializeNamesProviders: a client learns of them without another call.
func TestCHAT24_InitializeNamesProviders(t *testing.T) {
	d := startWith(t, llm.SetOptions{Providers: []llm.Options{{Name: "b", Kind: llm.OpenAI}, {Name: "a", Kind: llm.OpenAI}}})
	c, err := client.Dial(context.Background(), d.path, client.Options{})
	must(t, err)
	defer c.Close()
	if got := c.Server().Capabilities.Providers; fmt.Sprint(got) != "[b a]" {
		t.Errorf("%v", got)
	}
}

// TestCHAT23_NoMethodTellsAKey: a key is in nothing that the daemon answers, whatever a server quotes.
func TestCHAT23_NoMethodTellsAKey(t *testing.T) {
	base := servesModels(t)
	t.Setenv("CTXD_TEST_WRONG_KEY", "other-"+providerKey)
	t.Setenv("CTXD_TEST_ODD_KEY", "odd "+providerKey)
	var list []llm.Options
	for _, name := range []string{"PROVIDER", "WRONG", "ODD"} {
		for _, k := range llm.Kinds {
			list = append(list, llm.Options{Name: strings.ToLower(name) + string(k), Kind: k, Base: base, Model: "small", Key: "env:CTXD_TEST_" + name + "_KEY"})
		}
	}
	d := startWith(t, llm.SetOptions{Default: "wrongopenai", Providers: list})
	for _, call := range []string{
		`chat.providers {}`, `chat.providers {"probe":true}`, `chat.providers {"probe":"` + providerKey + `"}`,
		`chat.put {"provider":"` + providerKey + `"}`, `chat.put {"model":"` + providerKey + `"}`,
		`admin.health {}`, `admin.stats {}`, `admin.connections {}`, `rpc.discover {}`,
	} {
		method, params, _ := strings.Cut(call, " ")
		var raw json.RawMessage
		err := d.Call(context.Background(), method, json.RawMessage(params), &raw)
		if said := fmt.Sprintf("%s %+v", raw, err); strings.Contains(said, "canary") {
			t.Errorf("%s: %s", call, said)
		}
		if method == "chat.put" && err == nil {
			t.Errorf("%s is taken", call)
		}
	}
	var out protocol.ChatProviderList
	must(t, d.Call(context.Background(), "chat.providers", protocol.ChatProviders{Probe: true}, &out))
	for _, p := range out.Providers {
		if ok := p.Name == "provideropenai"; ok != (p.Probe != nil && p.Probe.Error == "") {
			t.Errorf("%+v %+v", p, p.Probe)
		}
	}
}

// TestCHAT38_SpendingIsShown to a local reader, and to no other (PRIV-6).
func TestCHAT38_SpendingIsShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"model":"small","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3}}`)
	}))
	defer server.Close()
	set, err := llm.NewSet(llm.SetOptions{Default: "ours", Budget: llm.Budget{TokensPerDay: 25}, Providers: []llm.Options{
		{Name: "ours", Kind: llm.OpenAI, Base: server.URL, Model: "small", Local: true},
	}})
	must(t, err)
	defer set.Close()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	d := startOver(t, db, rpc.Options{Providers: set})
	d.want(d.do("admin.stats", `{}`), "chat.spending", "map[today:[] total:[]]")
	p, err := set.Provider("")
	must(t, err)
	for _, background := range []bool{false, true, false} {
		_, err := p.Stream(t.Context(), &llm.Request{
			Background: background, Messages: []llm.Message{{Role: llm.User, Text: "Hi"}},
		}, func(llm.Delta) error { return nil })
		must(t, err)
	}
	for _, list := range []any{
		at(d.do("admin.stats", `{}`), "chat.spending"), at(d.do("chat.providers", `{}`), "spending"),
		at(d.do("chat.providers", `{"audience":"local"}`), "spending"),
	} {
		for _, when := range []string{"today", "total"} {
			d.want(list, when+".0", "map[background:false estimated:0 in:24 model:small out:6 provider:ours requests:2]")
			d.want(list, when+".1.background", true)
			d.want(list, when+".2", nil)
		}
	}
	out := d.do("chat.providers", `{}`)
	if why := fmt.Sprint(at(out, "providers.0.why")); !strings.Contains(why, "30 of 25 tokens") {
		t.Error(why)
	}
	if warnings := fmt.Sprint(at(d.do("admin.health", `{}`), "warnings")); !strings.Contains(warnings, "the provider ours can't answer: 30 of 25 tokens of the day are spent") {
		t.Error(warnings)
	}
	remote, err := client.Dial(context.Background(), d.path, client.Options{Audience: protocol.Remote})
	must(t, err)
	defer remote.Close()
	for _, method := range []string{"admin.stats", "chat.providers", "admin.health"} {
		var raw json.RawMessage
		must(t, remote.Call(context.Background(), method, protocol.Empty{}, &raw))
		if strings.Contains(string(raw), "spending") || strings.Contains(string(raw), "tokens") {
			t.Errorf("%s tells a remote reader: %s", method, raw)
		}
	}
	d.want(d.do("chat.providers", `{"audience":"remote"}`), "spending", nil)
}

// TestCHAT29_HealthTellsOfAMissingKey, which a provider that nobody has chosen may lack.
func TestCHAT29_HealthTellsOfAMissingKey(t *testing.T) {
	t.Setenv("CTXD_TEST_PROVIDER_KEY", "")
	for standard, want := range map[string]string{
		"":       "",
		"ours":   "",
		"openai": "the provider openai can't answer: the environment variable of the key is empty: $CTXD_TEST_PROVIDER_KEY",
	} {
		d := startWith(t, llm.SetOptions{Default: standard, Providers: []llm.Options{
			{Name: "openai", Kind: llm.OpenAI, Key: "env:CTXD_TEST_PROVIDER_KEY"},
			{Name: "ours", Kind: llm.OpenAI, Base: "http://127.0.0.1:1", Model: "m"},
		}})
		got := fmt.Sprint(at(d.do("admin.health", `{}`), "warnings"))
		if got != "["+want+"]" {
			t.Errorf("%q: %s", standard, got)
		}
	}
}
