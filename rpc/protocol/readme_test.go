package protocol_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
)

var updateReadme = flag.Bool("update-readme", false, "write the tables of rpc/README.md anew")

// TestReadmeHasTheContract compares the tables in the README of rpc with the contract.
func TestReadmeHasTheContract(t *testing.T) {
	file := filepath.Join("..", "README.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, table := range []struct{ name, want string }{
		{"methods", openrpc.MethodTable()},
		{"first calls", openrpc.FirstCallsTable()},
		{"errors", openrpc.ErrorTable()},
		{"topics", openrpc.TopicsTable()},
		{"jobs", openrpc.JobTable()},
	} {
		begin, end := "<!-- "+table.name+" -->\n", "<!-- /"+table.name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		old, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("rpc/README.md has lost the marks of the table %s", table.name)
		}
		if old != table.want && !*updateReadme {
			t.Errorf("the table %s in rpc/README.md is out of date: run go test ./rpc/protocol -update-readme", table.name)
		}
		text = head + begin + table.want + end + tail
	}
	if *updateReadme {
		err := os.WriteFile(file, []byte(text), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	}
}
