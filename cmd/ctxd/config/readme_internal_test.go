package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of settings in cmd/ctxd/README.md anew")

// TestReadme_HasEverySetting compares the table of settings in the README of the
// command line with their declarations.
func TestReadme_HasEverySetting(t *testing.T) {
	emptyEnvironment(t)
	var table strings.Builder
	table.WriteString("| setting | default | for example | what it is |\n|---|---|---|---|\n")
	for _, s := range Default().Settings {
		example := ""
		if s.example() != s.Text() {
			example = "`" + s.example() + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", s.key, s.Text(), example, s.about)
	}
	if n := len(Default().Settings); n >= 100 {
		t.Errorf("API-11: %d settings; what nobody should set is a constant", n)
	}
	file := filepath.Join("..", "README.md")
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- settings -->\n", "<!-- /settings -->"
	head, rest, found := strings.Cut(string(doc), begin)
	shown, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("cmd/ctxd/README.md has lost the marks of the settings")
	}
	if *update {
		if err := os.WriteFile(file, []byte(head+begin+table.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != table.String() {
		t.Error("the table of settings in cmd/ctxd/README.md is out of date: run go test ./cmd/ctxd/config -update")
	}
}

// TestAPI11_EverySettingHasAnExample: one that can be written as it stands, and that shows more than none or auto.
func TestAPI11_EverySettingHasAnExample(t *testing.T) {
	emptyEnvironment(t)
	for _, s := range Default().Settings {
		switch s.example() {
		case "", Auto, "off", "never", "0":
			t.Errorf("%s: %q is no example", s.key, s.example())
		}
		c := Default()
		c.Path = "config.yaml"
		if err := (&fileReader{config: c, seen: map[string]int{}}).read([]byte(s.key + ": " + s.example())); err != nil {
			t.Errorf("%s: %v", s.key, err)
		}
	}
	for key := range samples {
		if Default().Setting(key) == nil {
			t.Errorf("%s is no setting", key)
		}
	}
}
