package document_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/document"
)

func split(content string) (said, code []string) {
	for part, isCode := range document.Parts(content) {
		if isCode {
			code = append(code, part)
		} else {
			said = append(said, part)
		}
	}
	return said, code
}

func TestMEM13_BlocksOfCode(t *testing.T) {
	for content, want := range map[string][]string{
		"no code":                         nil,
		"":                                nil,
		"a\n```\nb\n```\nc":               {"```\nb\n```\n"},
		"```go\nb\n```":                   {"```go\nb\n```"},
		"~~~\nb\n```\nc\n~~~\nd":          {"~~~\nb\n```\nc\n~~~\n"},
		"````\nb\n```\nc\n````\nd":        {"````\nb\n```\nc\n````\n"},
		"a\n```\nnever ends":              {"```\nnever ends"},
		"a ``` b ``` c":                   nil,
		"```b``` is inline":               nil,
		"``` a\n1\n```\n``` b\n2\n``` \n": {"``` a\n1\n```\n", "``` b\n2\n``` \n"},
		"1. so:\n   ```\n   x\n   ```\n":  {"   ```\n   x\n   ```\n"},
	} {
		_, code := split(content)
		if !slices.Equal(code, want) {
			t.Errorf("%q: %q, want %q", content, code, want)
		}
	}
}

func FuzzMEM13_Parts(f *testing.F) {
	for _, seed := range []string{"", "a\n```\nb\n```\nc", "~~~~\n~~~", "```\n```\n```", "\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		var whole strings.Builder
		for part := range document.Parts(content) {
			if part == "" {
				t.Error("an empty part")
			}
			whole.WriteString(part)
		}
		if whole.String() != content {
			t.Errorf("%q became %q", content, whole.String())
		}
	})
}
