package config

import (
	"slices"
	"testing"
)

// TestOpenCommand_NoPathIsParted whatever is in it, and nothing in it is a placeholder.
func TestOpenCommand_NoPathIsParted(t *testing.T) {
	const path = `/my notes/it's "a" {line} & $(rm -rf ~); -x.md`
	for text, want := range map[string][]string{
		"":                               nil,
		"  ":                             nil,
		"code --goto {path}:{line}":      {"code", "--goto", path + ":7"},
		`vim "+{line}" {path}`:           {"vim", "+7", path},
		`'/Program Files/edit' -n  "" x`: {"/Program Files/edit", "-n", "", "x", path},
		"xdg-open obsidian://open?path={urlpath}": {
			"xdg-open", "obsidian://open?path=/my%20notes/it%27s%20%22a%22%20%7Bline%7D%20%26%20$%28rm%20-rf%20~%29;%20-x.md",
		},
	} {
		if err := checkOpen(text); err != nil {
			t.Errorf("%q is refused: %v", text, err)
		}
		if got := OpenCommand(text).Args(path, 7); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"code '{path}", "code {file}", "{path}", "'' {path}", "a\nb", "code {}"} {
		if err := checkOpen(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
