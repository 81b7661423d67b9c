package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// settingsOf are settings as people and programs write them; {HOST} is the first event of a host.
var settingsOf = map[string]string{
	"empty object":         "{}",
	"empty with a line":    "{}\n",
	"empty lines":          "{\n}\n",
	"one line":             `{"model": "opus"}`,
	"compact hooks":        `{"hooks":{"EVENT":[],"Other":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
	"hooks empty":          "{\n  \"hooks\": {}\n}\n",
	"hooks empty compact":  `{"hooks":{},"a":1}`,
	"list empty":           "{\n\t\"hooks\": {\n\t\t\"EVENT\": []\n\t}\n}\n",
	"comments":             "// mine\n{\n  // a model, \"quoted\"\n  \"model\": \"opus\", /* {[ */\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\",]}, // trailing\n}\n",
	"comment behind":       "{\n  \"hooks\": {\n    \"EVENT\": [\n      {\"command\": \"mine\"} // keep this\n    ], // and this\n  },\n}\n",
	"windows":              "\ufeff{\r\n    \"model\": \"opus\",\r\n    \"env\": {}\r\n}\r\n",
	"own before":           "{\n  \"hooks\": {\n    \"EVENT\": [\n      {\n        \"matcher\": \"startup\",\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"/usr/bin/notify hook start\"}\n        ]\n      }\n    ]\n  }\n}\n",
	"says ctxd in a value": "{\n  \"env\": {\"NOTE\": \"ctxd hook claude-code start\"}\n}",
	"version":              "{\n  \"version\": 1,\n  \"hooks\": {\n    \"EVENT\": [{\"command\": \"./mine.sh\"}]\n  }\n}\n",
}

func TestCLI12_InstallAndUninstallLeaveEveryByte(t *testing.T) {
	for i := range hosts {
		h := &hosts[i]
		for name, before := range settingsOf {
			t.Run(h.name+"/"+name, func(t *testing.T) {
				before := strings.ReplaceAll(before, "EVENT", h.events[Stop])
				commands := h.commands("/home/a user/bin/ctxd", false)
				with, err := h.installed(before, commands)
				if err != nil {
					t.Fatal(err)
				}
				d, err := parse(with)
				if err != nil {
					t.Fatalf("%v in\n%s", err, with)
				}
				for _, event := range events {
					list := d.root.get("hooks").get(h.events[event])
					if list == nil || len(h.own(d, &list.node)) != 1 {
						t.Errorf("%s does not stand once in\n%s", event, with)
					}
				}
				if again, _ := h.installed(with, commands); again != with {
					t.Errorf("a second time it made\n%s\nof\n%s", again, with)
				}
				moved, err := h.installed(with, h.commands("/opt/ctxd", true))
				if err != nil || strings.Contains(moved, "a user") || strings.Count(moved, "/opt/ctxd hook ") != len(events) {
					t.Errorf("%v, of a program elsewhere it made\n%s", err, moved)
				}
				for _, text := range []string{with, moved} {
					if after, err := h.uninstalled(text); err != nil || after != before {
						t.Errorf("%v: %q was\n%q, through\n%s", err, after, before, text)
					}
				}
			})
		}
	}
}

// Settings that the program has written anew since lose the lines all the same, and what stood beside them stays.
func TestCLI12_UninstallFromSettingsWrittenAnew(t *testing.T) {
	h := find("claude-code")
	with, err := h.installed(`{"a": 1, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}`, h.commands("ctxd", false))
	if err != nil {
		t.Fatal(err)
	}
	with = strings.Replace(with, `{"type": "command", "command": "mine"}`, `{"type": "command", "command": "ctxd hook claude-code stop"}, {"type": "command", "command": "mine"}`, 1)
	var doc any
	if err := json.Unmarshal([]byte(with), &doc); err != nil {
		t.Fatal(err)
	}
	anew, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	after, err := h.uninstalled(string(anew))
	if err != nil || strings.Contains(after, "ctxd") {
		t.Fatalf("%v:\n%s", err, after)
	}
	var left any
	if err := json.Unmarshal([]byte(after), &left); err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(left); string(got) != `{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"mine","type":"command"}]}]}}` {
		t.Errorf("left is %s", got)
	}
}

func TestCLI12_SettingsThatCannotBeReadAreRefused(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	h := find("gemini")
	at := filepath.Join(home, ".gemini", "settings.json")
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, word := range map[string]string{
		"{\n  \"a\": 1\n  \"b\": 2\n}\n":   "line 3",
		"{\n  \"a\": ":                     "line 2",
		"[]":                               "no JSON object",
		"{\"hooks\": []}":                  `"hooks" is no object`,
		"{\"hooks\": {\"AfterAgent\": 1}}": `"AfterAgent" in "hooks" is no list`,
		"{} {}":                            "line 1",
	} {
		if err := os.WriteFile(at, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		_, err := h.edit(func(s string) (string, error) { return h.installed(s, h.commands("ctxd", false)) })
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCLI12_SettingsKeepTheirModeAndTheirLink(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	h := find("cursor")
	change := func(s string) (string, error) { return h.installed(s, h.commands("ctxd", false)) }
	e, err := h.edit(change)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.write(h); err != nil {
		t.Fatal(err)
	}
	if got := Installed(); len(got) != 1 || got["cursor"] == "" {
		t.Errorf("installed is %v", got)
	}
	if err := Remove("cursor"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(e.Path); !os.IsNotExist(err) {
		t.Errorf("a file that ctxd made stays: %v", err)
	}
	real := filepath.Join(home, "dotfiles.json")
	if err := os.WriteFile(real, []byte("{\"version\": 1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, ".cursor", "hooks.json")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if e, err = h.edit(change); err != nil {
		t.Fatal(err)
	}
	if err := e.write(h); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the mode is another: %v, %v", info.Mode(), err)
	}
}
