package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// appExamples stand under ctxd --help.
var appExamples = []term.Example{
	{"ctxd demo", "see the main job on a sample vault"},
	{"ctxd serve --vault ~/Notes", "serve your notes"},
	{`ctxd inspect context "@Alice what did we decide?"`, "what a model would see, and why"},
	{`ctxd wql "SELECT p FROM Person WHERE p.team.name = 'Engineering'"`, "query entities; without a query, an interactive prompt"},
	{"ctxd call notes.complete prefix=Pro", "any method of the protocol"},
}

// printHelp prints what kong makes of the flags, then examples, and the exit
// statuses for the program as a whole.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	node := ctx.Selected()
	w := ctx.Stdout
	if node == nil {
		printExamples(ctx, appExamples)
		fmt.Fprintln(w, "\nExit status:")
		for _, e := range exitTexts {
			fmt.Fprintf(w, "  %3d  %s\n", e.code, e.text)
		}
		fmt.Fprintln(w, exitNote)
		return nil
	}
	if more, ok := node.Target.Addr().Interface().(interface{ More() string }); ok {
		fmt.Fprint(w, "\n"+more.More())
	}
	if e, ok := node.Target.Addr().Interface().(term.Exampler); ok {
		printExamples(ctx, e.Examples())
	}
	return nil
}

func printExamples(ctx *kong.Context, examples []term.Example) {
	fmt.Fprintln(ctx.Stdout, "\nExamples:")
	for _, e := range examples {
		fmt.Fprintf(ctx.Stdout, "  %s\n      %s\n", e[0], e[1])
	}
}
