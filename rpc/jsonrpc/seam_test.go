package jsonrpc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// The machinery knows no method and no record: it names none, asks the contract for
// none, and imports no room but those that are listed here.
func TestTheMachineryKnowsNoMethod(t *testing.T) {
	rooms := []string{"entities/text", "entities/fault", "entities/yield", "rpc/protocol", "rpc/socket"}
	tables := []string{"Lookup", "Methods", "Names", "Topics", "TopicTable", "Notifications"}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			path, _ := strconv.Unquote(imported.Path.Value)
			room, ours := strings.CutPrefix(path, "github.com/ctxd/ctxd/")
			if ours && !slices.Contains(rooms, room) {
				t.Errorf("%s imports %s", name, room)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				text, _ := strconv.Unquote(n.Value)
				if n.Kind == token.STRING && slices.Contains(protocol.Names(), text) {
					t.Errorf("%s names the method %s", name, text)
				}
			case *ast.SelectorExpr:
				from, ok := n.X.(*ast.Ident)
				if ok && from.Name == "protocol" && slices.Contains(tables, n.Sel.Name) {
					t.Errorf("%s asks the contract for its %s", name, n.Sel.Name)
				}
			}
			return true
		})
	}
}
