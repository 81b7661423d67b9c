package main

import (
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/fixtures/campaign"
)

// keyCanary stands for a key of a provider.
const keyCanary = "sk-canary-4c7e19"

// misplaced are the places where a key may be put by mistake: a configuration, or a variable or arguments.
var misplaced = []struct{ file, env, arg string }{
	{file: "chat.provider: " + keyCanary},
	{file: "chat.model: " + keyCanary},
	{file: "chat.budget.tokensPerDay: " + keyCanary},
	{file: "chat.providers.openai.kind: " + keyCanary},
	{file: "chat.providers.openai.base: " + keyCanary},
	{file: "chat.providers.openai.base: https://" + keyCanary + "@api.example.org/v1"},
	{file: "chat.providers.openai.base: https://api.example.org/v1?key=" + keyCanary},
	{file: "chat.providers.openai.model: " + keyCanary},
	{file: "chat.providers.openai.key: " + keyCanary},
	{file: "chat.providers.openai.key: env:" + keyCanary},
	{file: "chat.providers.openai.key: file:" + keyCanary},
	{file: "chat.providers.openai.key: [" + keyCanary + "]"},
	{file: "chat.providers.openai.local: " + keyCanary},
	{file: "chat.providers.openai: " + keyCanary},
	{file: "chat: {providers: {openai: {key: " + keyCanary + "}}}"},
	{file: "chat.providers.openai.key: [" + keyCanary},
	{file: "chat.providers.openai.key: {" + keyCanary + ": 1"},
	{file: "chat.providers." + keyCanary + ".key: env:A"},
	{file: "chat: {providers: {" + keyCanary + ": {key: env:A}}}"},
	{file: "chat.providers.openai: {" + keyCanary + ": x}"},
	{file: keyCanary + ": env:A"},
	{file: keyCanary},
	{env: "CTXD_CHAT_PROVIDER=" + keyCanary},
	{env: "CTXD_CHAT_MODEL=" + keyCanary},
	{env: "CTXD_CHAT_PROVIDERS_OPENAI_KEY=" + keyCanary},
	{env: "CTXD_CHAT_PROVIDERS_OPENAI_BASE=https://api.example.org/?" + keyCanary},
	{env: "CTXD_CHAT_PROVIDERS_OPENAI_LOCAL=" + keyCanary},
	{arg: "chat.provider=" + keyCanary},
	{arg: "chat.providers.openai.key=" + keyCanary},
	{arg: "chat.providers.openai.model=" + keyCanary},
	{arg: "chat.providers." + keyCanary + ".key=env:A"},
	{arg: keyCanary},
	{arg: keyCanary + "=env:A"},
	{arg: "chat.budget.requestsPerMinute=" + keyCanary},
}

// keyHouse runs commands and looks for the key in all that they say.
type keyHouse struct {
	home
	t    *testing.T
	file string // the configuration
}

func (h *keyHouse) configure(text string) {
	h.t.Helper()
	if err := os.WriteFile(h.file, []byte(text+"\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// run runs a command that may fail, and returns what it said.
func (h *keyHouse) run(args ...string) string {
	h.t.Helper()
	out, err := h.command(h.t, append(args, "--config", h.file)...).CombinedOutput()
	said := string(out)
	if err != nil {
		said += err.Error()
	}
	if strings.Contains(said, "canary") {
		h.t.Errorf("ctxd %s shows the key: %s", strings.Join(args, " "), said)
	}
	return said
}

// TestCHAT23_AMisplacedKeyIsNotShown puts a key wherever settings are, and reads what is said of it.
func TestCHAT23_AMisplacedKeyIsNotShown(t *testing.T) {
	campaign.Only(t)
	h := &keyHouse{home: newHome(t), t: t, file: filepath.Join(t.TempDir(), "config.yaml")}
	env := h.env
	for _, c := range misplaced {
		h.configure(c.file)
		h.env = env
		var set []string
		if c.env != "" {
			h.env = append(append([]string{}, env...), c.env)
		}
		if c.arg != "" {
			set = []string{"--set", c.arg}
		}
		for _, args := range [][]string{{"config"}, {"config", "--json"}, {"config", "chat.providers.openai.key"}, {"serve"}, {"serve", "--json"}, {"doctor"}, {"chat", "providers"}} {
			if said := h.run(append(args, set...)...); !strings.Contains(said, "exit status") {
				t.Errorf("%+v: ctxd %s succeeds: %s", c, strings.Join(args, " "), said)
			}
		}
	}
}

// TestCHAT23_AKeyIsNotShown gives a daemon a key by each place where one belongs, and a server that quotes
// it in whatever it says.
func TestCHAT23_AKeyIsNotShown(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	server := httptest.NewServer(listsModels(keyCanary, "small"))
	defer server.Close()
	inFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(inFile, []byte(keyCanary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &keyHouse{home: newHome(t), t: t, file: filepath.Join(t.TempDir(), "config.yaml")}
	h.env = append(h.env, "PROVIDER_KEY="+keyCanary, "ANOTHER_KEY=x"+keyCanary, "ODD_KEY=two "+keyCanary)
	logged := filepath.Join(t.TempDir(), "log")
	h.configure(strings.NewReplacer("URL", server.URL, "KEYFILE", inFile, "LOGFILE", logged).Replace(`
log: {level: debug, file: LOGFILE}
chat:
  provider: another
  model: small
  providers:
    byenv: {base: URL, key: env:PROVIDER_KEY, model: small}
    byfile: {base: URL, key: file:KEYFILE, model: small}
    another: {base: URL, key: env:ANOTHER_KEY}
    odd: {base: URL, key: env:ODD_KEY}
    anthropic: {base: URL, key: env:PROVIDER_KEY}
`))
	h.run("stdio", "--idle-exit", "never") // starts a daemon
	for _, args := range [][]string{
		{"config"},
		{"config", "--json"},
		{"doctor"},
		{"doctor", "--json"},
		{"inspect", "status"},
		{"inspect", "status", "--json"},
		{"chat", "new", "Talk", "--model", keyCanary},
		{"chat", "new", "Talk", "--provider", keyCanary},
		{"inspect", "context", "hello"},
		{"call", "admin.health"},
		{"call", "admin.stats"},
		{"call", "rpc.discover"},
		{"call", "chat.providers", "probe=true"},
		{"inspect", "log"},
	} {
		h.run(args...)
	}
	said := h.run("chat", "providers", "--probe")
	if strings.Count(said, "1 model ") != 2 || !strings.Contains(said, "status 401") {
		t.Errorf("the server was not asked with the keys: %s", said)
	}
	h.run("stop")
	for _, dir := range []string{h.data, filepath.Dir(logged)} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(p)
			if strings.Contains(string(text), "canary") {
				t.Errorf("%s holds the key", p)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(logged); err != nil || len(text) == 0 {
		t.Errorf("there is no log: %v", err)
	}
}
