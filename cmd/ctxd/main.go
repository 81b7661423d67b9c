package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/rpc/client"
)

// commandLine is everything that can be said on the command line.
type commandLine struct {
	globals

	Serve   serveCmd   `cmd:"" group:"daemon" help:"Run the daemon until Ctrl-C or ctxd stop."`
	Stop    stopCmd    `cmd:"" group:"daemon" help:"End the running daemon after the calls it has accepted."`
	Stdio   stdioCmd   `cmd:"" group:"daemon" help:"Speak to the daemon over standard input and output; start it when none runs."`
	MCP     mcpCmd     `cmd:"" name:"mcp" group:"daemon" help:"Serve your notes to assistants and agents, as tools of the Model Context Protocol."`
	Service serviceCmd `cmd:"" group:"daemon" help:"Have the daemon started at login, by systemd or launchd."`
	Demo    demoCmd    `cmd:"" group:"daemon" help:"Show the whole job on a sample vault, with a daemon of its own."`

	Import importCmd `cmd:"" group:"notes" help:"Read a folder of Markdown notes into the daemon."`
	Vault  vaultCmd  `cmd:"" group:"notes" help:"Show the folders that notes come from; follow them no longer, or forget them."`
	Search searchCmd `cmd:"" group:"notes" help:"Find notes by their words and their meaning."`
	WQL    wqlCmd    `cmd:"" name:"wql" group:"notes" help:"Query entities: at a prompt, or from the command line."`

	Backup  backupCmd  `cmd:"" group:"store" help:"Write everything that is stored to one file."`
	Restore restoreCmd `cmd:"" group:"store" help:"Make the store what a backup holds."`
	Doctor  doctorCmd  `cmd:"" group:"store" help:"Look for what is wrong, and say what mends it."`

	Inspect inspectCmd `cmd:"" group:"look" help:"Show what the daemon knows, and why a model sees what it sees."`
	Events  eventsCmd  `cmd:"" group:"look" help:"Show what changes, as it happens."`
	Call    callCmd    `cmd:"" group:"look" help:"Call any method of the protocol."`

	Config     configCmd     `cmd:"" group:"shell" help:"Show every setting and where its value came from."`
	Completion completionCmd `cmd:"" group:"shell" help:"Print a completion script for bash, zsh or fish."`
	Version    versionCmd    `cmd:"" group:"shell" help:"Print the version, as ctxd --version does."`
}

// globals are the flags of every command.
type globals struct {
	Socket string `group:"global" placeholder:"PATH" help:"Socket of the daemon. Default: $$CTXD_SOCKET, else ctxd/ctxd.sock in $$XDG_RUNTIME_DIR, else ctxd-UID/ctxd.sock in the temporary directory."`
	Config string `group:"global" placeholder:"PATH" help:"Configuration file. Default: $$CTXD_CONFIG, else ctxd/config.yaml in $$XDG_CONFIG_HOME."`
	JSON   bool   `group:"global" name:"json" help:"Print JSON, errors included: one document, indented on a terminal; events and log lines one a line."`
	Color  string `group:"global" enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour: auto, always or never. Auto means on a terminal, unless $$NO_COLOR is set."`
}

// app is what a command runs with.
type app struct {
	*globals
	ctx  context.Context // ends with the first interrupt
	in   io.Reader
	out  *screen
	err  *screen
	kong *kong.Kong

	interrupts interrupts
}

// interrupts says what an interrupt does. It may be used concurrently.
type interrupts struct {
	mu    sync.Mutex // guards what follows
	other func()     // nil: it ends the command
}

// divert has an interrupt call fn, until restore is called, instead of ending
// the command.
func (i *interrupts) divert(fn func()) (restore func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.other = fn
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.other = nil
	}
}

// taken reports whether an interrupt did something else than end the command.
func (i *interrupts) taken() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.other != nil {
		i.other()
	}
	return i.other != nil
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
				if sig == os.Interrupt && a.interrupts.taken() {
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

func main() { os.Exit(run(os.Args[1:])) }

// run runs one command and returns the exit status.
func run(args []string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var cli commandLine
	buffered := bufio.NewWriter(os.Stdout)
	a := &app{globals: &cli.globals, ctx: ctx, in: os.Stdin, out: newScreen(os.Stdout, buffered), err: newScreen(os.Stderr, os.Stderr)}
	defer a.watchSignals(cancel)()
	parser, err := newParser(&cli, a)
	if err != nil {
		return a.fail(err)
	}
	a.kong = parser
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(familiar(args))
	if err != nil { // the parser has set no flags then
		cli.JSON = wantsJSON(args)
	}
	a.out.colour(cli.Color)
	a.err.colour(cli.Color)
	if err == nil {
		err = parsed.Run(a)
	}
	flushed := buffered.Flush()
	switch {
	case errors.Is(flushed, syscall.EPIPE): // nobody reads on; SIGPIPE ends all commands but the demo before
		return exitOK
	case err == nil:
		err = flushed
	}
	return a.fail(err)
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

// newParser builds the parser. Kong ends the process after --help.
func newParser(cli *commandLine, a *app) (*kong.Kong, error) {
	return kong.New(cli,
		kong.Name("ctxd"),
		kong.Description("The local context engine for note apps: it knows your notes and entities, and hands a language model exactly the context that a question needs."),
		kong.Writers(a.out, a.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
		kong.Help(printHelp),
		kong.Exit(func(code int) {
			_ = a.out.flush() // the process ends; there is nobody to tell
			os.Exit(code)
		}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "daemon", Title: "The daemon:"},
			{Key: "notes", Title: "Your notes:"},
			{Key: "store", Title: "Keeping it safe:"},
			{Key: "look", Title: "Looking inside:"},
			{Key: "shell", Title: "Your shell:"},
			{Key: "global", Title: "Flags of every command:"},
		}),
	)
}

// dial connects to the running daemon.
func (a *app) dial() (*client.Client, error) { return a.dialWith(client.Options{}) }

// dialWith is dial with options, but for the name and version.
func (a *app) dialWith(opts client.Options) (*client.Client, error) {
	conf, err := a.config(nil)
	if err != nil {
		return nil, err
	}
	return a.dialTo(conf.socket, opts)
}

// dialTo is dialWith for the daemon on another socket.
func (a *app) dialTo(path string, opts client.Options) (*client.Client, error) {
	opts.Name, opts.Version = "ctxd-cli", version()
	c, err := client.Dial(a.ctx, path, opts)
	if err != nil && a.ctx.Err() == nil && !errors.As(err, new(*client.Error)) {
		return nil, &unreachableError{socket: path, err: err}
	}
	return c, err
}

// connectionGone is the error of a connection that the daemon has ended.
func (a *app) connectionGone() error {
	conf, err := a.config(nil)
	if err != nil {
		return err
	}
	return connectionGone(a.ctx, conf.socket)
}

// lost returns the error of a view that lives on one connection: when that has
// ended, says so, whatever the call that noticed it says.
func (a *app) lost(cl *client.Client, err error) error {
	select {
	case <-cl.Done():
		return a.connectionGone()
	default:
		return err
	}
}

// with calls the daemon on a connection of its own.
func (a *app) with(fn func(c *client.Client) error) error {
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the answer is here
	return fn(c)
}
