package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

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

// everyday are the commands that ctxd --help explains; it names the others.
var everyday = []string{
	"demo", "serve", "import", "search", "prompt", "chat", "memory", "notes", "wql", "inspect", "backup", "doctor",
}

// helpWidth is how wide ctxd --help is.
const helpWidth = 80

// printOverview prints one screen about the program.
func printOverview(ctx *kong.Context) {
	w := ctx.Stdout
	fmt.Fprintf(w, "Usage: ctxd <command> [flags]\n\n%s\n\nEvery day:\n", wrapped(ctx.Model.Help, "", helpWidth))
	for _, name := range everyday {
		for _, n := range ctx.Model.Children {
			if n.Name == name {
				fmt.Fprintf(w, "  %-9s%s\n", name, wrapped(n.Help, strings.Repeat(" ", 11), helpWidth-11))
			}
		}
	}
	fmt.Fprintln(w)
	for _, g := range helpGroups {
		var names []string
		for _, n := range ctx.Model.Children {
			if n.Group != nil && n.Group.Key == g.Key && !n.Hidden {
				names = append(names, n.Name)
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(w, "%-13s%s\n", g.Title, wrapped(strings.Join(names, " "), strings.Repeat(" ", 13), helpWidth-13))
		}
	}
	fmt.Fprint(w, `
ctxd COMMAND --help   a command, with examples
ctxd help all         every command, the flags of all of them, and exit statuses
`)
}

// printGroup prints one screen about a command that has others below it: a line for each.
func printGroup(ctx *kong.Context, node *kong.Node) {
	w := ctx.Stdout
	fmt.Fprintf(w, "Usage: ctxd %s\n\n%s\n", node.Summary(), wrapped(node.Help, "", helpWidth))
	if node.Detail != "" {
		fmt.Fprintf(w, "\n%s\n", wrapped(node.Detail, "", helpWidth))
	}
	leaves := node.Leaves(true)
	longest := 0
	for _, n := range leaves {
		longest = max(longest, len(n.FullPath()))
	}
	fmt.Fprintln(w)
	for _, n := range leaves {
		fmt.Fprintf(w, "  %-*s  %s\n", longest, n.FullPath(), clause(n.Help, helpWidth-longest-4))
	}
	fmt.Fprintf(w, "\nEach has a --help of its own; ctxd help all lists the flags of every command.\n")
}

// clause returns what a width holds of a text: sentences and clauses or, where not even one fits, words.
func clause(text string, width int) string {
	text = strings.TrimSuffix(text, ".")
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	best := ""
	for i, r := range text {
		if strings.ContainsRune(".;:", r) && utf8.RuneCountInString(text[:i]) <= width {
			best = text[:i]
		}
	}
	if best == "" {
		best, _, _ = strings.Cut(wrapped(text, "", width-2), "\n")
		best += " …"
	}
	return best
}

// wrapped breaks a text into lines of at most width characters; all but the first begin with indent.
func wrapped(text, indent string, width int) string {
	return strings.Join(term.Wrap(text, width), "\n"+indent)
}

// printHelp prints what kong makes of the flags, then examples, and for the program as a whole one screen, or everything
// with the exit statuses.
func printHelp(options kong.HelpOptions, ctx *kong.Context, everything bool) error {
	node := ctx.Selected()
	if node == nil && !everything {
		printOverview(ctx)
		return nil
	}
	if node != nil && len(node.Children) > 0 {
		printGroup(ctx, node)
		return printMore(ctx, node)
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
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
	return printMore(ctx, node)
}

// printMore prints what a command adds to its help, and its examples.
func printMore(ctx *kong.Context, node *kong.Node) error {
	w := ctx.Stdout
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
