package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// timesOfDay are the methods that leave of a time what a clock says that can be set.
var timesOfDay = []string{"Unix", "UnixMilli", "UnixMicro", "UnixNano", "Round", "Truncate"}

// TestLayers_NothingIsTimedByTheTimeOfDay: a moment that is kept in a process, to tell what
// came after it, is a time.Time as time.Now gives it. It holds what a clock says that
// nobody sets. Numbers made of it do not: what they time waits for a year after the clock
// was set back by one.
func TestLayers_NothingIsTimedByTheTimeOfDay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	set := token.NewFileSet()
	for _, f := range sources(t) {
		if f.test || inFixtures(f.room) {
			continue
		}
		parsed, err := parser.ParseFile(set, filepath.Join(root, filepath.FromSlash(f.name)), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			of, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(timesOfDay, of.Sel.Name) {
				return true
			}
			if call, ok := of.X.(*ast.CallExpr); ok && isTimeNow(call.Fun) {
				t.Errorf("%s: time.Now().%s is the time of day", set.Position(of.Pos()), of.Sel.Name)
			}
			return true
		})
	}
}

func isTimeNow(e ast.Expr) bool {
	of, ok := e.(*ast.SelectorExpr)
	if !ok || of.Sel.Name != "Now" {
		return false
	}
	in, ok := of.X.(*ast.Ident)
	return ok && strings.EqualFold(in.Name, "time")
}
