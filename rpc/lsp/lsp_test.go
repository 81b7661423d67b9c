package lsp_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
)

// The tables of the README are those of the code.
func TestReadme_SaysWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range lsp.AllSettings() {
		row := fmt.Sprintf("| `%s` | `%s` | %s |", s.Name, strings.Join(s.Values, "`, `"), s.About)
		if !strings.Contains(string(page), row) {
			t.Errorf("no row\n%s", row)
		}
	}
	answered := make(map[string]bool)
	for _, f := range lsp.Features() {
		for _, r := range f.Requests {
			if answered[r.Method()] {
				t.Errorf("two features answer %s", r.Method())
			}
			answered[r.Method()] = true
		}
	}
	for _, m := range regexp.MustCompile("`((?:textDocument|completionItem|documentLink|workspace)/[a-zA-Z]+)`").FindAllStringSubmatch(string(page), -1) {
		if m[1] != "workspace/configuration" && !answered[m[1]] {
			t.Errorf("the README speaks of %s, which nobody answers", m[1])
		}
	}
}
