package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd/chats"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/demo"
	"github.com/ctxd/ctxd/cmd/ctxd/doctor"
	"github.com/ctxd/ctxd/cmd/ctxd/hook"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/records"
	"github.com/ctxd/ctxd/cmd/ctxd/service"
	"github.com/ctxd/ctxd/cmd/ctxd/shell"
	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/books"
)

// commandLine is everything that can be said on the command line.
type commandLine struct {
	globals

	Serve   serveCmd        `cmd:"" group:"daemon" help:"Run the daemon until Ctrl-C or ctxd stop."`
	Stop    stopCmd         `cmd:"" group:"daemon" help:"Stop the running daemon when the calls it has accepted are done."`
	Stdio   stdioCmd        `cmd:"" group:"daemon" help:"Connect a program to the daemon over standard input and output."`
	MCP     mcpCmd          `cmd:"" name:"mcp" group:"daemon" help:"Serve your notes to assistants and agents over the Model Context Protocol."`
	LSP     lspCmd          `cmd:"" name:"lsp" group:"daemon" help:"Serve your notes to an editor over the Language Server Protocol."`
	Hook    hook.Command    `cmd:"" group:"daemon" help:"Have coding assistants remember: keep their sessions, and tell them what is known."`
	Service service.Command `cmd:"" group:"daemon" help:"Start the daemon at login, with systemd or launchd."`
	Demo    demo.Command    `cmd:"" group:"daemon" help:"Show the main job on a sample vault, with a separate daemon."`

	Import   importCmd        `cmd:"" group:"notes" help:"Import a folder of Markdown notes."`
	Vault    vaultCmd         `cmd:"" group:"notes" help:"Show the folders that notes come from, stop following them, or remove them."`
	Prompt   inspect.Context  `cmd:"" group:"notes" help:"Assemble the prompt for a message, and show what went in and why."`
	Notes    records.Notes    `cmd:"" group:"notes" help:"List, show, create and change notes."`
	Entities records.Entities `cmd:"" group:"notes" help:"List, show, create and change entities."`
	Types    records.Types    `cmd:"" group:"notes" help:"List, show, declare and change types of entities."`
	Tags     records.Tags     `cmd:"" group:"notes" help:"List tags, and the notes that have one."`

	Tasks records.Tasks `cmd:"" group:"notes" help:"List the tasks of notes, and tick them off."`

	Memory   records.MemoryCommand `cmd:"" group:"notes" help:"Write down, list, show and change what is remembered about you."`
	Chat     chats.Command         `cmd:"" group:"notes" help:"Talk with a language model; list, show, write and change conversations."`
	Contexts records.Contexts      `cmd:"" group:"notes" help:"List, show, create and change the parts of your life that memories belong to."`

	Open openCmd             `cmd:"" group:"notes" help:"Open a note in your editor by its ctxd:// address, or print its path and line."`
	Refs records.RefsCommand `cmd:"" group:"notes" help:"Show what a message refers to by @, # and [[."`

	Search  inspect.SearchCommand `cmd:"" group:"notes" help:"Find notes by their words and their meaning."`
	Similar inspect.Similar       `cmd:"" group:"notes" help:"Find notes that are similar to a note."`
	WQL     shell.Command         `cmd:"" name:"wql" group:"notes" help:"Query entities: at a prompt, or from the command line."`

	Backup  store.Backup      `cmd:"" group:"store" help:"Back up the whole store to one file."`
	Restore store.Restore     `cmd:"" group:"store" help:"Replace the store with a backup."`
	Sync    store.SyncCommand `cmd:"" group:"store" help:"Share the store with your other machines."`
	Compact store.Compact     `cmd:"" group:"store" help:"Leave nothing of what was deleted in the files of the store."`
	Doctor  doctor.Command    `cmd:"" group:"store" help:"Check the store, the indexes, the embedder and the reranker, and show how to repair them."`

	Inspect inspect.Command      `cmd:"" group:"look" help:"Show what the daemon knows, and why a model sees what it sees."`
	Events  eventsCmd            `cmd:"" group:"look" help:"Show changes as they happen."`
	Call    connect.CallCommand  `cmd:"" group:"look" help:"Call any method of the protocol."`
	Tools   records.ToolsCommand `cmd:"" group:"look" help:"Show what a model can call, and what it is told."`

	Books records.BooksCommand `cmd:"" group:"notes" help:"Add files to ask about, and find what is in them."`

	Personality records.PersonalityCommand `cmd:"" group:"notes" help:"Choose and write how the assistant is to speak."`

	Templates records.PromptsCommand `cmd:"" group:"look" help:"Show what ctxd itself asks a model, as templates that you can replace."`

	Settings   config.Command         `cmd:"" name:"config" group:"shell" help:"Show every setting and where its value came from."`
	Completion completionCmd          `cmd:"" group:"shell" help:"Print a completion script for bash, zsh or fish."`
	Offer      offerCmd               `cmd:"" hidden:"" help:"Print what a word of a command line may refer to, for completion scripts."`
	Man        manCmd                 `cmd:"" hidden:"" help:"Write the manual pages, for packages of ctxd."`
	Uninstall  store.UninstallCommand `cmd:"" group:"shell" help:"Remove everything that ctxd has put on this machine. Your notes stay."`
	Model      modelCmd               `cmd:"" group:"look" help:"Show the models for search by meaning that are in the program."`
	Version    versionCmd             `cmd:"" group:"shell" help:"Print the version, as ctxd --version does."`
}

// globals are the flags of every command.
type globals struct {
	config.Flags

	JSON  bool   `group:"global" name:"json" help:"Print JSON, errors included: one document, indented on a terminal. Events and log entries are one a line."`
	Color string `group:"global" enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour: auto, always or never. Auto means on a terminal, unless $$NO_COLOR is set."`
}

// app is what a command runs with.
type app struct {
	*term.Streams
	*connect.Link
	kong *kong.Kong

	everything bool // ctxd help all

	interrupts term.Interrupts
}

// watchSignals has the first signal that ends a command end a.ctx, by cancel. A
// second one ends the process. stop ends the watch.
func (a *app) watchSignals(cancel func()) (stop func()) {
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, endings()...)
	go func() {
		for {
			select {
			case sig := <-signals:
				if sig == os.Interrupt && a.interrupts.Taken() {
					continue
				}
				signal.Stop(signals)
				cancel()
				return
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(over)
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == books.ChildCommand { // the daemon has started it; there is no command line to parse
		os.Exit(books.ServeChild(os.Stdin, os.Stdout))
	}
	os.Exit(run(os.Args[1:]))
}

// run runs one command and returns the exit status.
func run(args []string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var cli commandLine
	buffered := bufio.NewWriter(os.Stdout)
	a := &app{
		Streams: &term.Streams{
			In: os.Stdin, Out: term.NewScreen(os.Stdout, buffered),
			Err: term.NewScreen(os.Stderr, os.Stderr),
		},
		Link: &connect.Link{Flags: &cli.Flags, Ctx: ctx},
	}
	var warned sync.Once // a command that dials several times meets the same
	a.Warn = func(err error) { warned.Do(func() { a.warn(err) }) }
	defer a.watchSignals(cancel)()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	args = familiar(args)
	if a.everything = slices.Equal(args, []string{"all", "--help"}); a.everything {
		args = []string{"--help"}
	}
	only := onlyCommand(args[0])
	parser, err := newParser(&cli, a, only...)
	if err != nil {
		return a.fail(err)
	}
	parsed, err := parser.Parse(args)
	if err != nil && only != nil { // a command of another place may be meant
		if parser, err = newParser(&cli, a); err != nil {
			return a.fail(err)
		}
		parsed, err = parser.Parse(args)
	}
	a.kong = parser
	if err != nil { // the parser has set no flags then
		cli.JSON = wantsJSON(args)
	}
	a.JSON = cli.JSON
	a.Out.Colour(cli.Color)
	a.Err.Colour(cli.Color)
	if err == nil {
		err = parsed.Run(a.bindings()...)
	}
	flushed := buffered.Flush()
	switch {
	case errors.Is(flushed, syscall.EPIPE): // nobody reads on; SIGPIPE ends all commands but the demo before
		return term.ExitOK
	case err == nil:
		err = flushed
	}
	return a.fail(err)
}

// bindings are what the Run methods of commands take: each room has options of
// its own, and what is left runs with the app.
func (a *app) bindings() []any {
	return []any{
		a,
		&connect.CallOptions{Streams: a.Streams, Link: a.Link},
		&chats.Options{Streams: a.Streams, Link: a.Link, Interrupts: &a.interrupts, Fail: a.fail},
		&config.Options{Streams: a.Streams, Flags: a.Flags},
		&demo.Options{Streams: a.Streams, Link: a.Link},
		&doctor.Options{Streams: a.Streams, Link: a.Link},
		&hook.Options{Streams: a.Streams, Link: a.Link},
		&inspect.Options{Streams: a.Streams, Link: a.Link},
		&records.MemoryOptions{Streams: a.Streams, Link: a.Link},
		&openOptions{Streams: a.Streams, Link: a.Link},
		&records.PersonalityOptions{Streams: a.Streams, Link: a.Link},
		&records.BooksOptions{Streams: a.Streams, Link: a.Link},
		&records.Options{Streams: a.Streams, Link: a.Link},
		&records.RefsOptions{Streams: a.Streams, Link: a.Link},
		&inspect.SearchOptions{Streams: a.Streams, Link: a.Link},
		&service.Options{Streams: a.Streams, Link: a.Link},
		&page.InspectChatOptions{Streams: a.Streams, Link: a.Link},
		&shell.Options{Streams: a.Streams, Link: a.Link, Interrupts: &a.interrupts, Fail: a.fail},
		&store.Options{Streams: a.Streams, Link: a.Link},
		&store.SyncOptions{Streams: a.Streams, Link: a.Link},
		&records.PromptsOptions{Streams: a.Streams, Flags: a.Flags},
		&records.ToolsOptions{Streams: a.Streams, Link: a.Link},
		&store.UninstallOptions{Streams: a.Streams, Link: a.Link},
	}
}

// familiar spells what other programs understand as ctxd does: --version, and
// help with a command or without.
func familiar(args []string) []string {
	flags := 0 // before the command
	for flags < len(args) && strings.HasPrefix(args[flags], "-") && args[flags] != "--" {
		flags++
	}
	if flags < len(args) && args[flags] == "help" {
		return append(slices.Concat(args[:flags], args[flags+1:]), "--help")
	}
	if i := slices.Index(args, "--version"); i >= 0 && flags == len(args) {
		return slices.Concat(args[:i], []string{"version"}, args[i+1:])
	}
	return args
}

// wantsJSON reports whether a command line that can't be parsed has --json.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// endings are the signals that end a command. A hangup that the caller has
// ignored, as nohup does, stays ignored.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// helpGroups are the groups of commands and of flags, in the order of the help.
var helpGroups = []kong.Group{
	{Key: "daemon", Title: "The daemon:"},
	{Key: "notes", Title: "Your notes:"},
	{Key: "store", Title: "The store:"},
	{Key: "look", Title: "Inspection:"},
	{Key: "shell", Title: "Your shell:"},
	{Key: "global", Title: "Flags of every command:"},
}

// ofAllCommands are the commands that print something of all commands.
var ofAllCommands = []string{"completion", "man"}

// onlyCommand has the parser know no commands but one, which takes half the time of ctxd version less. It returns nothing
// where a word is no command, or where it needs all of them.
func onlyCommand(word string) []kong.Option {
	var others []string
	found := false
	t := reflect.TypeFor[commandLine]()
	for i := range t.NumField() {
		f := t.Field(i)
		if _, is := f.Tag.Lookup("cmd"); !is {
			continue
		}
		if name := cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)); name == word {
			found = true
			continue
		}
		others = append(others, f.Name)
	}
	if !found || slices.Contains(ofAllCommands, word) {
		return nil
	}
	return []kong.Option{kong.IgnoreFields("^" + t.Name() + `\.(` + strings.Join(others, "|") + ")$")}
}

// newParser builds the parser. Kong ends the process after --help.
func newParser(cli *commandLine, a *app, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(cli, append(more,
		kong.Name("ctxd"),
		kong.Description("The local context engine for note apps: it knows your notes and entities, and hands a language model exactly the context that a question needs."),
		kong.Vars{"budgets": inspect.BudgetKeys(), "audienceDefault": connect.AudienceDefault},
		records.MemoryVars(),
		chats.Vars(),
		kong.Writers(a.Out, a.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
		kong.Help(func(o kong.HelpOptions, ctx *kong.Context) error { return printHelp(o, ctx, a.everything) }),
		kong.Exit(func(code int) {
			_ = a.Out.Flush() // the process ends; there is nobody to tell
			os.Exit(code)
		}),
		kong.ExplicitGroups(helpGroups),
	)...)
}
