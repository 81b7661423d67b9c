package config

import (
	"errors"
	"strings"
	"testing"
)

func TestREF13_TheDistillerIsConfigured(t *testing.T) {
	emptyEnvironment(t)
	for text, want := range map[string]string{
		"memory: {}":                         " ",
		"memory.distill: off":                " ",
		"memory: {distill: openai}":          "openai ",
		"memory.distill: openai/gpt-5-nano":  "openai gpt-5-nano",
		"memory.distill: openai/meta/ll-3.2": "openai meta/ll-3.2",
		"chat.providers.ours.base: http://127.0.0.1:11434/v1\nmemory.distill: ours/llama3.2:1b": "ours llama3.2:1b",
	} {
		c, err := Load(fileOf(t, text+"\n"), nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		name, model, on := c.Chat.Distiller()
		if name+" "+model != want || on != (name != "") {
			t.Errorf("%s: %q %q %v", text, name, model, on)
		}
	}
	for _, text := range []string{"none", "openai/", "openai/ ", "elsewhere", canaryKey, "openai/" + canaryKey, "[openai]", "Open AI", `""`} {
		_, err := Load(fileOf(t, "memory.distill: "+text+"\n"), nil)
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Key != "memory.distill" || wrong.Fault.Hint == "" {
			t.Errorf("%s: %v", text, err)
		} else if strings.Contains(err.Error(), canaryKey) {
			t.Errorf("%s: it shows what may be a key: %v", text, err)
		}
	}
}
