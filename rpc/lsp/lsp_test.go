package lsp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/server"
)

// The tables of the README are those of the code.
func TestReadme_SaysWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range server.AllSettings() {
		row := fmt.Sprintf("| `%s` | `%s` | %s |", s.Name, strings.Join(s.Values, "`, `"), s.About)
		if !strings.Contains(string(page), row) {
			t.Errorf("no row\n%s", row)
		}
	}
	var methods []string
	for _, f := range lsp.Features() {
		for _, r := range f.Requests {
			if slices.Contains(methods, r.Method()) {
				t.Errorf("two features answer %s", r.Method())
			}
			methods = append(methods, r.Method())
			if !strings.Contains(string(page), "`"+r.Method()+"`") {
				t.Errorf("the README says nothing of %s", r.Method())
			}
		}
	}
}
