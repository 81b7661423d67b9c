package protocol_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

var updateReadme = flag.Bool("update-readme", false, "write the table of methods in README.md anew")

// TestReadmeHasEveryMethod compares the table of methods in the README with
// the contract.
func TestReadmeHasEveryMethod(t *testing.T) {
	const begin, end = "<!-- methods -->\n", "<!-- /methods -->"
	file := filepath.Join("..", "..", "README.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	old, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("README.md has lost the marks of the table of methods")
	}
	want := protocol.MethodTable()
	if *updateReadme {
		if err := os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != want {
		t.Error("the table of methods in README.md is out of date: run go test ./rpc/protocol -update-readme")
	}
}
