package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// describe returns all that a parser knows of a command and of those below it, and of the flags of all.
func describe(node *kong.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q %q %v %v\n", node.FullPath(), node.Help, node.Detail, node.Group, node.Hidden)
	for _, f := range node.Flags {
		fmt.Fprintf(&b, "  %s %q %q %v %v\n", f.Summary(), f.Help, f.Default, f.Group, f.Hidden)
	}
	for _, p := range node.Positional {
		fmt.Fprintf(&b, "  %s %q\n", p.Summary(), p.Help)
	}
	for _, child := range node.Children {
		b.WriteString(describe(child))
	}
	return b.String()
}

// TestPERF25_OneCommandIsKnownAsAmongAll: a parser that knows one command knows of it what the whole one does.
func TestPERF25_OneCommandIsKnownAsAmongAll(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	parser := func(words ...string) *kong.Node {
		t.Helper()
		var cli commandLine
		var options []kong.Option
		for _, word := range words {
			options = onlyCommand(word)
		}
		parser, err := newParser(&cli, &app{
			Streams: &term.Streams{Out: new(term.Screen), Err: new(term.Screen)}, Link: &connect.Link{Flags: &cli.Flags, Ctx: t.Context()},
		}, options...)
		if err != nil {
			t.Fatal(err)
		}
		return parser.Model.Node
	}
	whole := parser()
	for _, child := range whole.Children {
		one := parser(child.Name)
		if all := len(one.Children) > 1; all {
			if describe(one) != describe(whole) {
				t.Errorf("%s: neither one command nor all", child.Name)
			}
			continue
		}
		alone := *whole
		alone.Children = []*kong.Node{child}
		if diff := cmp.Diff(describe(&alone), describe(one)); diff != "" {
			t.Errorf("%s (-among all +alone):\n%s", child.Name, diff)
		}
	}
	for _, word := range []string{"", "nothing", "--help", "completion", "man"} {
		if got := len(parser(word).Children); got != len(whole.Children) {
			t.Errorf("%q: %d commands of %d", word, got, len(whole.Children))
		}
	}
}
