package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// hookEvents are what hosts say, by host and event, as their documents have it.
func hookEvents(t *testing.T) (all map[string]map[string]json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hooks", "events.json"))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hooked is a host that works in a folder, and a daemon that may run.
type hooked struct {
	home
	dir    string
	client *client.Client
}

func newHooked(t *testing.T, serves bool) *hooked {
	t.Helper()
	h := &hooked{home: newHome(t), dir: t.TempDir()}
	h.env = append(h.env, "HOME="+t.TempDir())
	if !serves {
		return h
	}
	if err := h.command(t, "stdio", "--idle-exit", "never").Run(); err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(t.Context(), h.socket, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	h.client = c
	return h
}

// says calls a hook and returns what it printed. That it fails or says something else fails the test.
func (h *hooked) says(t *testing.T, input string, words ...string) string {
	t.Helper()
	cmd := h.command(t, append([]string{"hook"}, words...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr, cmd.Dir = strings.NewReader(input), &stderr, h.dir
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Errorf("ctxd hook %q: %v, %s", words, err, stderr.String())
	}
	return string(out)
}

// filled is a text of testdata with what was said.
func (h *hooked) filled(text, prompt, answer string) string {
	return strings.NewReplacer("{DIR}", h.dir, "{PROMPT}", prompt, "{ANSWER}", answer).Replace(text)
}

func (h *hooked) log(t *testing.T, prompt, answer string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hooks", "log.jsonl"))
	if err == nil {
		err = os.WriteFile(filepath.Join(h.dir, "log.jsonl"), []byte(h.filled(string(text), prompt, answer)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kept returns the messages of all conversations, each with its role before it.
func (h *hooked) kept(t *testing.T) (all []string) {
	t.Helper()
	var list protocol.Conversations
	if err := h.client.Call(t.Context(), "chat.list", protocol.ChatList{}, &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Conversations {
		var page protocol.ChatPage
		if err := h.client.Call(t.Context(), "chat.get", protocol.ChatGet{Ref: c.ID}, &page); err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Messages {
			all = append(all, m.Role+": "+m.Content)
		}
	}
	return all
}

// TestCLI12_EachHostIsToldAndKept: what is known comes at the start, what is relevant at a prompt, and what was said is
// kept once, however often and at once a host calls, with secrets masked.
func TestCLI12_EachHostIsToldAndKept(t *testing.T) {
	events := hookEvents(t)
	h := newHooked(t, true)
	h.run(t, "memory", "add", "The lighthouse is deployed on Fridays.", "--pin")
	for _, name := range slices.Sorted(maps.Keys(events)) {
		t.Run(name, func(t *testing.T) {
			asked, answered := "When is the lighthouse deployed? "+name+" password=hunter2", "On Fridays."
			h.log(t, asked, answered)
			input := func(event string) string { return h.filled(string(events[name][event]), asked, answered) }
			if told := h.says(t, input("start"), name, "start"); !strings.Contains(told, "deployed on Fridays") || !json.Valid([]byte(told)) {
				t.Errorf("at the start it told %q", told)
			}
			told := h.says(t, input("prompt"), name, "prompt")
			if takes := name != "cursor"; takes != strings.Contains(told, "deployed on Fridays") || !takes && told != "" {
				t.Errorf("at the prompt it told %q", told)
			}
			var calls sync.WaitGroup
			for range 4 {
				calls.Go(func() {
					h.says(t, input("prompt"), name, "prompt")
					h.says(t, input("stop"), name, "stop")
				})
			}
			calls.Wait()
			h.says(t, input("stop"), name, "stop")
			kept := slices.DeleteFunc(h.kept(t), func(s string) bool { return !strings.Contains(s, name) && !strings.HasPrefix(s, "assistant") })
			if !slices.Contains(kept, "user: When is the lighthouse deployed? "+name+" password=[secret]") {
				t.Errorf("kept is %q", kept)
			}
		})
	}
	if all := h.kept(t); len(all) != 2*len(events) {
		t.Errorf("%d messages were kept: %q", len(all), all)
	}
	var out struct {
		Capture []struct {
			Host     string
			Sessions int
		}
	}
	if err := json.Unmarshal([]byte(h.run(t, "inspect", "capture", "--json")), &out); err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Capture {
		if c.Sessions != 1 {
			t.Errorf("of %s %d sessions were kept", c.Host, c.Sessions)
		}
	}
	if got := h.run(t, "contexts", "list"); strings.Count(got, "The project in "+h.dir) != 1 {
		t.Errorf("the contexts are\n%s", got)
	}
}

// TestCLI12_AHookIsSilent: without a daemon, of a folder that is off, and of whatever else is wrong nothing is said or kept.
func TestCLI12_AHookIsSilent(t *testing.T) {
	events := hookEvents(t)
	none := newHooked(t, false)
	for name := range events {
		for event, input := range events[name] {
			if told := none.says(t, none.filled(string(input), "Hello", "Hi"), name, event); told != "" {
				t.Errorf("without a daemon %s was told %q at %s", name, told, event)
			}
		}
	}
	h := newHooked(t, true)
	h.run(t, "memory", "add", "The lighthouse is deployed on Fridays.", "--pin")
	for _, c := range []struct {
		input string
		words []string
	}{
		{"", []string{"gemini", "stop"}},
		{"{", []string{"gemini", "stop"}},
		{"[1]", []string{"claude-code", "start"}},
		{`{"session_id":7,"cwd":false,"prompt":[],"prompt_response":{}}`, []string{"gemini", "stop"}},
		{`{"session_id":"","prompt":"a","prompt_response":"b"}`, []string{"gemini", "stop"}},
		{`{"session_id":"s","transcript_path":"/dev/zero","last_assistant_message":""}`, []string{"claude-code", "stop"}},
		{"{}", []string{"nobody", "stop"}},
		{"{}", []string{"gemini", "never"}},
		{"{}", []string{"gemini"}},
		{"{}", []string{"gemini", "stop", "--nope"}},
	} {
		if told := h.says(t, c.input, c.words...); told != "" {
			t.Errorf("%q was told %q of %s", c.words, told, c.input)
		}
	}
	if err := os.MkdirAll(filepath.Join(h.dir, ".ctxd"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, ".ctxd", "off"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.dir = filepath.Join(h.dir, "below")
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.log(t, "Hello", "Hi")
	for name := range events {
		for event, input := range events[name] {
			if told := h.says(t, h.filled(string(input), "the lighthouse", "Hi"), name, event); told != "" {
				t.Errorf("of a folder that is off %s was told %q at %s", name, told, event)
			}
		}
	}
	if all := h.kept(t); len(all) > 0 {
		t.Errorf("kept is %q", all)
	}
}

// TestCLI12_TenMegabytes: a host that says much, and a log that is long, are kept by their ends.
func TestCLI12_TenMegabytes(t *testing.T) {
	events, h := hookEvents(t), newHooked(t, true)
	long := strings.Repeat("lighthouse ", 1<<20)
	h.says(t, h.filled(string(events["gemini"]["prompt"]), long, ""), "gemini", "prompt")
	h.log(t, "When?", "On Fridays.")
	at := filepath.Join(h.dir, "log.jsonl")
	end, err := os.ReadFile(at)
	if err == nil {
		err = os.WriteFile(at, append([]byte(`{"type":"user","uuid":"big","message":{"role":"user","content":"`+long+"\"}}\n"), end...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.says(t, h.filled(string(events["claude-code"]["stop"]), "When?", "On Fridays."), "claude-code", "stop")
	h.says(t, h.filled(string(events["claude-code"]["stop"]), "When?", "On Fridays."), "claude-code", "stop")
	if all := h.kept(t); !slices.Equal(all, []string{"user: When?", "assistant: On Fridays."}) {
		t.Errorf("kept is %.200q", all)
	}
}

// TestCLI12_AHostIsToldNothingPrivate: private records are for a host alone that is installed so, and what is kept of that
// one is private.
func TestCLI12_AHostIsToldNothingPrivate(t *testing.T) {
	events := hookEvents(t)["gemini"]
	h := newHooked(t, true)
	h.run(t, "memory", "add", "The zqcanary of the lighthouse is 4711.", "--private", "--pin")
	h.run(t, "memory", "add", "The lighthouse is deployed on Fridays.", "--pin")
	for _, event := range []string{"start", "prompt"} {
		input := h.filled(string(events[event]), "What is the zqcanary of the lighthouse?", "")
		if told := h.says(t, input, "gemini", event); strings.Contains(told, "4711") || !strings.Contains(told, "Fridays") {
			t.Errorf("at %s it told %s", event, told)
		}
		if told := h.says(t, input, "gemini", event, "--include-private"); !strings.Contains(told, "4711") {
			t.Errorf("a local host was told %s", told)
		}
	}
	h.says(t, h.filled(string(events["stop"]), "What is it?", "4711"), "gemini", "stop", "--include-private")
	var list protocol.Conversations
	if err := h.client.Call(t.Context(), "chat.list", protocol.ChatList{}, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Conversations) != 1 || !list.Conversations[0].Private {
		t.Errorf("kept is %+v", list.Conversations)
	}
}
